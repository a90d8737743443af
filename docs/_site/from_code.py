"""What the reference pages say, made from the code and from the files that ship: Markdown, the same in every build."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import hfedms_sim
from hfedms_sim.data import DATA_SOURCES
from hfedms_sim.loading import load_scenario
from hfedms_sim.models import MODELS
from hfedms_sim.scenario import LocalTraining, NetworkProfile, Scenario, keys_of, load_profile, shipped
from hfedms_sim.scenario.base import Settings
from hfedms_sim.scenario.compute import DEVICES, INSTANT
from hfedms_sim.strategies import SHIPPED
from hfedms_sim.trace import TABLES
from hfedms_sim.units import format_bps

ROOT = Path(__file__).resolve().parents[2]


def profiles() -> str:
    """Return all shipped radios at a glance, and each with every figure and its source."""
    radios = {name: load_profile(name) for name in shipped("profile")}
    rows = [
        (f"[{name}](#{_anchor(name)})", format_bps(each.uplink_bps), format_bps(each.downlink_bps), each.description)
        for name, each in radios.items()
    ]
    at_a_glance = _table(("profile", "up", "down", "what it is"), rows)
    return _pages([at_a_glance, *(_profile(name, each) for name, each in radios.items())])


def _profile(name: str, profile: NetworkProfile) -> str:
    figures = profile.figures.items()
    rows = [(f"`{figure}`", _value(value), _text(profile.sources.get(figure, ""))) for figure, value in figures]
    return _pages([f"## {name}", _text(profile.description) + ".", _table(("figure", "value", "source"), rows)])


def strategies() -> str:
    """Return what all shipped strategies can be told, and each with its paper, its rule and its own settings."""
    common = set(_key_rows("strategy", LocalTraining))
    own = {
        name: [row for row in _key_rows("strategy", each.Settings) if row not in common]
        for name, each in SHIPPED.items()
    }
    return _pages(
        [
            "## Settings of all",
            _keys("strategy", LocalTraining, "name"),
            *(
                part
                for name, strategy in SHIPPED.items()
                for part in (
                    f"## {name}",
                    f"{_text(strategy.paper)}. In `{_file(strategy)}`.",
                    f"```text\n{strategy.rule}\n```",
                    _key_table([row for row in own[name] if row[0] != "`strategy.name`"]),
                )
            ),
        ]
    )


def data_sets() -> str:
    """Return every kind of data that a scenario can name, with its settings."""
    return _pages(
        part
        for name, source in DATA_SOURCES.shipped.items()
        for part in (f"## {name}", f"{_sentence(source.about)}.", _keys("data", source.Settings, "set"))
    )


def networks() -> str:
    """Return every shipped network with its size, for the data that it is shown with."""
    rows = []
    for name, model in MODELS.shipped.items():
        spec = model().spec(model.example)
        sizes = (spec.parameters, spec.classifier_parameters, spec.model_bytes, spec.multiply_adds)
        rows.append((f"`{name}`", _text(model.about), str(model.example), *(f"{size:,}" for size in sizes)))
    headings = ("network", "what it is", "samples", "parameters", "of the classifier", "bytes", "multiply-adds")
    return _table(headings, rows)


def devices() -> str:
    """Return the processors that sensors can have."""
    known = {name: device for name, device in DEVICES.items() if name != INSTANT}.items()
    rows = [(f"`{name}`", f"{device.multiply_adds_per_s:g}", f"{device.power_w:g}") for name, device in known]
    return _table(("device", "multiply-adds a second", "watts"), rows)


def scenarios() -> str:
    """Return every shipped scenario as its file has it."""
    return _pages(
        part
        for name, path in shipped("scenario").items()
        for part in (
            f"## {name}",
            f"{_text(load_scenario(name).description)}.",
            f"```yaml\n{path.read_text(encoding='utf-8').rstrip()}\n```",
        )
    )


def tables() -> str:
    """Return the columns of every table of a run."""
    return _pages(
        part
        for name, table in TABLES.items()
        for part in (
            f"## {name}",
            _table(
                ("column", "type", "null", "meaning"),
                [(f"`{c.name}`", c.type, "possible" if c.is_nullable else "", c.meaning) for c in table.columns],
            ),
        )
    )


def scenario_keys() -> str:
    """Return every key of a scenario but for those of strategies, data sets and profiles, with its default."""
    return _keys("", Scenario, "")


def profile_keys() -> str:
    """Return every key of a network profile, with its default."""
    return _keys("", NetworkProfile, "")


def api() -> str:
    """Return what `hfedms_sim` offers to Python, by its docstrings."""
    return _pages(
        part
        for name in hfedms_sim.__all__
        for part in (f"## {name}", f"```{{eval-rst}}\n{_autodoc(name)}\n```", _fields(getattr(hfedms_sim, name)))
    )


def _autodoc(name: str) -> str:
    """Return the directive for a public name; of settings what they can do, as their keys are shown as keys."""
    thing = getattr(hfedms_sim, name)
    if not isinstance(thing, type):
        return f".. autofunction:: hfedms_sim.{name}"
    if not issubclass(thing, Settings):
        return f".. autoclass:: hfedms_sim.{name}\n   :members:"
    own = {key for key, value in vars(thing).items() if callable(value) or isinstance(value, property)}
    members = sorted(key for key in own if not key.startswith("_") and getattr(thing, key).__doc__)
    return f".. autoclass:: hfedms_sim.{name}()" + (f"\n   :members: {', '.join(members)}" if members else "")


def _fields(thing: object) -> str:
    """Return the keys of settings, or where they are if they are many."""
    if not (isinstance(thing, type) and issubclass(thing, Settings)):
        return ""
    return "Its keys are in [keys.md](keys.md)." if thing in (Scenario, NetworkProfile) else _keys("", thing, "")


def examples() -> str:
    """Return the scripts of examples/, in full."""
    return _pages(
        part
        for path in sorted((ROOT / "examples").glob("*.py"))
        for part in (f"## {path.name}", f"```python\n{path.read_text(encoding='utf-8').rstrip()}\n```")
    )


def glossary() -> str:
    """Return the words of design.md's glossary, from A to Z."""
    design = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    _, _, section = design.partition("## Glossary\n")
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", section.partition("\n## ")[0], re.MULTILINE)[1:]
    return _pages(f"{words}\n: {meaning}" for words, meaning in sorted(rows, key=lambda row: row[0].lower()))


def overview() -> str:
    """Return README.md below its title."""
    return _below_title("README.md")


def changelog() -> str:
    """Return CHANGELOG.md below its title."""
    return _below_title("CHANGELOG.md")


def security() -> str:
    """Return SECURITY.md below its title."""
    return _below_title("SECURITY.md")


def contributing() -> str:
    """Return CONTRIBUTING.md below its title."""
    return _below_title("CONTRIBUTING.md")


FILLINGS: dict[str, Callable[[], str]] = {
    "profiles": profiles,
    "strategies": strategies,
    "data-sets": data_sets,
    "networks": networks,
    "devices": devices,
    "scenarios": scenarios,
    "tables": tables,
    "scenario-keys": scenario_keys,
    "profile-keys": profile_keys,
    "api": api,
    "examples": examples,
    "glossary": glossary,
    "overview": overview,
    "changelog": changelog,
    "contributing": contributing,
    "security": security,
}


def _keys(part: str, settings: type[Settings], named_by: str) -> str:
    return _key_table([row for row in _key_rows(part, settings) if row[0] != f"`{part}.{named_by}`"])


def _key_table(rows: list[tuple[str, str, str]]) -> str:
    return _table(("key", "default", "what it is"), rows) if rows else "It has no settings of its own."


def _key_rows(part: str, settings: type[Settings]) -> Iterator[tuple[str, str, str]]:
    """Yield key, default and meaning; of a setting that is made of others, theirs."""
    for key, field in keys_of(settings).items():
        name = f"{part}.{key}" if part else key
        if isinstance(field.default, Settings) and not field.discriminator:
            yield from _key_rows(name, type(field.default))
        else:
            default = "required" if field.is_required() else _value(field.get_default(call_default_factory=True))
            yield f"`{name}`", default, _text(field.description or "")


def _below_title(file: str) -> str:
    """Return a file of the repository's root, with links as from docs/."""
    _, _, text = (ROOT / file).read_text(encoding="utf-8").partition("\n")
    return re.sub(r"\]\((?![a-z]+:|#)", "](../", text.strip("\n"))


def _file(thing: type) -> str:
    return thing.__module__.replace(".", "/") + ".py"


def _table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    headings = list(headings)
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)


def _pages(parts: Iterable[str]) -> str:
    return "\n\n".join(parts)


def _value(value: Any) -> str:
    """Return a value as YAML would have it, as code."""
    if value is None or isinstance(value, bool):
        return f"`{'null' if value is None else str(value).lower()}`"
    if isinstance(value, float):
        return f"`{value:,.10g}`"
    if isinstance(value, tuple | list):
        return "; ".join(f"`{each}`" for each in value) or "`[]`"
    if isinstance(value, Settings):
        return ", ".join(f"`{key}: {each}`" for key, each in value.model_dump().items())
    return f"`{value}`" if str(value) else '`""`'


def _sentence(text: str) -> str:
    return _text(text[:1].upper() + text[1:])


def _text(text: str) -> str:
    """Return foreign text as Markdown that shows it as it is, in one line and without a full stop at its end."""
    return re.sub(r"([\\*_<>\[\]#$`])", r"\\\1", " ".join(text.split())).rstrip(".")


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
