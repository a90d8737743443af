# %% [markdown]
"""How do I follow a run in TensorBoard?

A function is called after every round and writes what it is told. Look at it, while the run goes on or later, with
`tensorboard --logdir runs/tensorboard`. The axis STEP counts rounds; RELATIVE is the simulated time, because each point
is written with the simulated clock instead of the wall's.

It needs the package that also shows the curves: `pip install 'hfedms_sim[tensorboard]'`.
"""

# %%
from torch.utils.tensorboard import SummaryWriter

from hfedms_sim import Progress, load_scenario, run

# %% [markdown]
# `figures` are simulated seconds, bytes, joules and updated parameters so far; accuracy and loss if the round was
# evaluated.

# %%
scenario = load_scenario("quickstart", rounds=12, overrides={"evaluate_every": 3})


def log(progress: Progress) -> None:
    for name, figure in progress.figures().items():
        writer.add_scalar(name, figure, progress.round, walltime=progress.simulated_s)


with SummaryWriter(f"runs/tensorboard/{scenario.name}-{scenario.strategy.name}-seed{scenario.seed}") as writer:
    result = run(scenario, on_round=log)
print(result)
