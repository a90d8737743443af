"""JSON Schema of a scenario file, for editors that complete and check YAML as you type."""

from typing import Any

from pydantic.json_schema import models_json_schema

from hfedms_sim.scenario.catalogue import shipped
from hfedms_sim.scenario.scenario import DEFAULT_STRATEGY, Scenario, StrategySettings


def scenario_schema(strategies: StrategySettings) -> dict[str, Any]:
    """Return the schema with the settings of these strategies.

    In a file a cell's profile may also be a shipped name or a path, which loading resolves before validation.
    """
    schema = Scenario.model_json_schema()
    profile = schema["$defs"]["Cell"]["properties"]["profile"]
    reference = {"$ref": profile.pop("$ref")}
    profile["anyOf"] = [{"type": "string", "examples": sorted(shipped("profile"))}, reference]
    references, settings = models_json_schema(
        [(each, "validation") for each in strategies.values()], ref_template="#/$defs/{model}"
    )
    del schema["$defs"]["LocalTraining"]
    schema["$defs"] |= settings["$defs"]
    for name, each in strategies.items():
        if name != DEFAULT_STRATEGY:  # only the default may go without its name
            schema["$defs"][each.__name__]["required"] = ["name"]
    schema["properties"]["strategy"] = {
        "oneOf": [references[each, "validation"] for each in strategies.values()],
        "description": Scenario.model_fields["strategy"].description,
        "default": {"name": DEFAULT_STRATEGY},
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema | {"title": "hfedms_sim scenario"}
