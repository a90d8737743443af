"""JSON Schema of a scenario file, for editors that complete and check YAML as you type."""

from typing import Any

from pydantic.json_schema import models_json_schema

from hfedms_sim.scenario.catalogue import shipped
from hfedms_sim.scenario.choices import Choices, NamedPart
from hfedms_sim.scenario.scenario import Scenario


def scenario_schema(choices: Choices) -> dict[str, Any]:
    """Return the schema with the settings of these parts.

    In a file a cell's profile may also be a shipped name or a path, which loading resolves before validation.
    """
    schema = Scenario.model_json_schema()
    profile = schema["$defs"]["Cell"]["properties"]["profile"]
    reference = {"$ref": profile.pop("$ref")}
    profile["anyOf"] = [{"type": "string", "examples": sorted(shipped("profile"))}, reference]
    for part, named in choices.parts.items():
        _open(schema, part, named)
    schema["properties"]["model"] |= {"enum": list(choices.models)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema | {"title": "hfedms_sim scenario"}


def _open(schema: dict[str, Any], part: str, named: NamedPart) -> None:
    """Put the settings of all that a part may name where the schema has only what they have in common."""
    key, default, base, known, _ = named
    references, settings = models_json_schema(
        [(each, "validation") for each in known.values()], ref_template="#/$defs/{model}"
    )
    del schema["$defs"][base.__name__]
    schema["$defs"] |= settings["$defs"]
    for name, each in known.items():
        if name != default:  # only the default may go without its name
            definition = schema["$defs"][each.__name__]
            definition["required"] = list(dict.fromkeys((key, *definition.get("required", ()))))
    schema["properties"][part] = {
        "oneOf": [references[each, "validation"] for each in known.values()],
        "description": Scenario.model_fields[part].description,
        "default": {key: default},
    }
