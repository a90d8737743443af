# %% [markdown]
"""Where did the time go, and which sensors are the slowest?

Every transfer is a row of a table, with when it was ready, when it began and when it had arrived.
"""

# %%
from itertools import islice

from hfedms_sim import load_scenario, play, run

# %% [markdown]
# The clock alone is enough to ask for time.

# %%
scenario = load_scenario("quickstart", rounds=12)
result = run(scenario, timing_only=True)

# %% [markdown]
# What the rounds waited for, in shares of their critical paths.

# %%
print(result.summary["limited_by"]["text"])
for share in result.summary["limited_by"]["shares"]:
    print(f"  {share['share']:6.1%}  {share['cause']}")
print(result.utilisation.rename("airtime used").round(3).to_string())

# %% [markdown]
# The sensors whose transfers took longest, from ready to arrived, and how much of that was airtime of their own.

# %%
transfers = result.transfers.assign(taken_s=lambda rows: rows["end_s"] - rows["ready_s"])
of_sensors = transfers.groupby("sensor")[["taken_s", "airtime_s", "bytes"]].sum()
print(of_sensors.nlargest(5, "taken_s").round(2).to_string())

# %% [markdown]
# The same round by round, while it is played: here the first two.

# %%
for plan, record, cost in islice(play(scenario), 2):
    sensors = [sensor for group in plan.groups for sensor in group.sensors]
    print(f"round {record.round}: {record.end_s - record.start_s:.1f} s and {cost.energy_j:.1f} J for {sensors}")
