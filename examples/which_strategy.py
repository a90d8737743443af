# %% [markdown]
"""Which strategy is the fastest here, to a target accuracy, in simulated time?

Strategies are compared on the same streams, radio and selection draws. One seed is one sample: take several, as in
`seeds=[1, 2, 3]`, before you believe a difference; `comparison` then has means, intervals and paired differences.
"""

# %%
from hfedms_sim import compare, load_scenario

TARGET = 0.15
STRATEGIES = ["hfedms-d", "fedavg", "fedadam"]

# %% [markdown]
# Each with the settings of the quickstart that it also has. For a fair contest tune each of them: docs/paper.md.

# %%
scenario = load_scenario("quickstart", rounds=30, overrides={"targets": [TARGET], "stop_at": TARGET})
compared = compare(scenario, strategies=STRATEGIES, seeds=[1])

# %% [markdown]
# One row for each strategy, the fastest first; without figures where the target was not reached.

# %%
columns = ["strategy", "round", "simulated_s", "bytes", "energy_j"]
print(compared.targets.sort_values("simulated_s")[columns].round(1).to_string(index=False))
