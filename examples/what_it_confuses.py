# %% [markdown]
"""Which classes does the model not recognise, and what does it take them for?

A short training, so that there is something to confuse. A finished run directory answers the same after
`open_run("runs/mine")`.
"""

# %%
from pathlib import Path

from hfedms_sim import load_scenario, run
from hfedms_sim.simulation import parts_of

# %%
scenario = load_scenario("quickstart", rounds=26, overrides={"evaluate_every": 26})
result = run(scenario)
names = dict(enumerate(parts_of(scenario).dataset.class_names))
print(f"{result.summary['final_accuracy']:.0%} of all test samples are recognised")

# %% [markdown]
# The classes that are recognised least, among those that are seen often enough to tell.

# %%
matrix = result.confusion_matrix().rename(index=names, columns=names)
by_class = result.accuracy_by_class().rename(index=names).to_frame().assign(samples=matrix.sum(axis="columns"))
print(by_class[by_class["samples"] >= 20].nsmallest(5, "accuracy").round(2).to_string())

# %% [markdown]
# The most frequent confusions. Rows of the matrix are what a sample is, columns what it is taken for.

# %%
counts = matrix.reset_index().melt("label", value_name="samples")
confused = counts[counts["label"] != counts["predicted"]].nlargest(5, "samples")
for label, predicted, samples in confused.itertuples(index=False):
    print(f"{label} taken for {predicted}: {samples} of {matrix.loc[label].sum()}")

# %% [markdown]
# The whole matrix, for other programs.

# %%
Path("runs").mkdir(exist_ok=True)
matrix.to_csv("runs/confusion.csv")
