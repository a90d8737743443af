# %% [markdown]
"""How long until the model is good enough, over this radio or over that one?

The two radios differ in time alone: what is learnt is the same, so it is trained once. The model of the quickstart
reads 60 % after half a minute of training; a lower target, as here, takes seconds.
"""

# %%
from hfedms_sim import compare, load_scenario
from hfedms_sim.units import format_bytes, format_joules, format_seconds

TARGET = 0.25
RADIOS = ["lte-cat-m2", "wifi-halow"]

# %% [markdown]
# Stop at the target, and look at it after every round.

# %%
scenario = load_scenario("quickstart", overrides={"targets": [TARGET], "stop_at": TARGET, "evaluate_every": 1})
compared = compare(scenario, profiles=RADIOS)

# %% [markdown]
# What each took to get there; energy is not known of every radio.

# %%
for run in compared.runs().values():
    seconds, sent = run.time_to_accuracy(TARGET), run.bytes_to_accuracy(TARGET)
    energy_j = run.energy_to_accuracy_j(TARGET)
    if seconds is None or sent is None:
        print(f"{run.scenario.profile_names}: not within {run.scenario.rounds} rounds")
        continue
    energy = "energy unknown" if energy_j is None else format_joules(energy_j)
    print(f"{run.scenario.profile_names}: {TARGET:.0%} after {format_seconds(seconds)}, {format_bytes(sent)}, {energy}")
