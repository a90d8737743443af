# %% [markdown]
"""How do I keep my runs in MLflow?

A function is called after every round and logs what it is told; a step is a round. Simulated time is a metric, and can
be chosen as the axis of any other. Here the store is a file, which `mlflow ui --backend-store-uri
sqlite:///runs/mlflow.db` shows; the address of a server works as well.

The extra `pip install 'hfedms_sim[mlflow]'` is enough to log; the user interface is in the whole package, `mlflow`.
"""

# %%
import mlflow

from hfedms_sim import Progress, load_scenario, run

# %% [markdown]
# `figures` are simulated seconds, bytes, joules and updated parameters so far; accuracy and loss if the round was
# evaluated.

# %%
scenario = load_scenario("quickstart", rounds=12, overrides={"evaluate_every": 3})
mlflow.set_tracking_uri("sqlite:///runs/mlflow.db")
mlflow.set_experiment(scenario.name)


def log(progress: Progress) -> None:
    mlflow.log_metrics(progress.figures(), step=progress.round)


with mlflow.start_run(run_name=f"{scenario.strategy.name} over {scenario.profile_names}"):
    mlflow.log_params(scenario.strategy.model_dump() | {"profile": scenario.profile_names, "seed": scenario.seed})
    result = run(scenario, on_round=log)
print(result)
