# %% [markdown]
"""How long does a sensor's battery last, on which radio, with how many rounds a day?

The clock and the radio's currents are enough: nothing is trained. `energy_extrapolated` says which figures of a radio
were not measured on it.
"""

# %%
import pandas as pd

from hfedms_sim import load_scenario, sweep

RADIOS = ["lte-cat-m2", "nb-iot-nb2"]  # of some radios, such as wifi-halow, no currents are known

# %% [markdown]
# Every radio with one round a day and with one an hour.

# %%
scenario = load_scenario("quickstart", rounds=5, overrides={"sensors.battery_wh": 8.6})
swept = sweep(scenario, {"sensors.rounds_per_day": [1.0, 24.0]}, profiles=RADIOS, timing_only=True)

# %% [markdown]
# The life of the mean sensor, and of the one that spends most.

# %%
rows = []
for run in swept.runs().values():
    summary = run.summary
    if summary["battery_life"] is None:
        print(f"{summary['profile']}: joules are not known ({'; '.join(summary['energy_missing'])})")
        continue
    life = summary["battery_life"]["rounds_per_day"]
    rows.append(
        {
            "profile": summary["profile"],
            "rounds a day": run.scenario.sensors.rounds_per_day,
            "mean, days": life["mean_d"],
            "worst, days": life["worst_d"],
            "extrapolated figures": len(summary["energy_extrapolated"]),
        }
    )
print(pd.DataFrame(rows).round(1).to_string(index=False))
