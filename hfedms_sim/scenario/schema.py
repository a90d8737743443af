"""JSON Schema of a scenario file, for editors that complete and check YAML as you type."""

from typing import Any

from hfedms_sim.scenario.catalogue import shipped
from hfedms_sim.scenario.scenario import Scenario
from hfedms_sim.scenario.strategy import STRATEGY_SETTINGS, HFedMSDynamicSettings


def scenario_schema() -> dict[str, Any]:
    """In a file a cell's profile may also be a shipped name or a path, which loading resolves before validation."""
    schema = Scenario.model_json_schema()
    profile = schema["$defs"]["Cell"]["properties"]["profile"]
    reference = {"$ref": profile.pop("$ref")}
    profile["anyOf"] = [{"type": "string", "examples": sorted(shipped("profile"))}, reference]
    for name, settings in STRATEGY_SETTINGS.items():
        if name != HFedMSDynamicSettings().name:  # only the default may go without its name
            schema["$defs"][settings.__name__]["required"] = ["name"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema | {"title": "hfedms_sim scenario"}
