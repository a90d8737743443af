# %% [markdown]
"""How does the result depend on a setting? Here: on the interval T of HFedMS-D, and on the rate of the uplink.

Only the clock is played, which takes seconds; without `timing_only=True` the table has accuracies too.
"""

# %%
from hfedms_sim import load_scenario, sweep

# %% [markdown]
# Every combination of the values is a trial. Keys are those of docs/scenario.md.

# %%
swept = sweep(
    load_scenario("quickstart", rounds=18),
    {"strategy.interval": [1, 3, 5, 9], "cells.0.profile.uplink_bps": [1e6, 7e6]},
    timing_only=True,
)

# %% [markdown]
# Simulated seconds, and joules of all sensors: intervals down, rates across.

# %%
for measure in ("simulated_s", "energy_j"):
    table = swept.trials.pivot(index="strategy.interval", columns="cells.0.profile.uplink_bps", values=measure)
    print(measure, table.round(1).to_string(), sep="\n")
