"""The docs say what the program does: commands, scenario keys, trace columns, links, examples.

After a change to the command line, write the help blocks of docs/cli.md anew with

    python -m tests.test_docs
"""

import ast
import json
import re
import shlex
import tokenize
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any, NamedTuple, get_args

import click
import pytest
from click.testing import CliRunner
from pydantic.fields import FieldInfo

import hfedms_sim
from hfedms_sim.campaign import CampaignResult
from hfedms_sim.cli import main
from hfedms_sim.data import DATA_SOURCES
from hfedms_sim.loading import load_scenario
from hfedms_sim.models import MODELS, Model
from hfedms_sim.report.not_modelled import OMISSIONS
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import LocalTraining, NetworkProfile, Scenario, is_path, keys_of
from hfedms_sim.scenario.base import Settings
from hfedms_sim.scenario.data import DEFAULT_ARRIVAL, DEFAULT_DATA_SET, DataSettings, Stream
from hfedms_sim.scenario.strategy import DEFAULT_STRATEGY
from hfedms_sim.simulation import run
from hfedms_sim.strategies import SHIPPED
from hfedms_sim.trace import TABLES
from hfedms_sim.world.streams.streams import STREAMS
from tests.conftest import FAST, tiny_scenario

ROOT = Path(__file__).resolve().parent.parent
CLI, SCENARIO, TRACE, PYTHON = (ROOT / "docs" / name for name in ("cli.md", "scenario.md", "trace.md", "python.md"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = ["", *sorted(main.commands)]
HELP_WIDTH = 98  # of a terminal with 100 columns: click leaves two free
PROFILE_HEADING = "Network profile keys"
TOLD_APART = {"strategies", "sets", "arrivals", "kinds"}
"""Columns that say which settings have a key."""
SHELL_LANGUAGES = {"", "sh", "bash", "shell", "console", "text"}


# --------------------------------------------------------------------------------------------- reading Markdown


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


class Block(NamedTuple):
    language: str
    lines: list[str]


def blocks(text: str) -> list[Block]:
    """The code blocks: fenced ones, and lines indented by four spaces."""
    fenced = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
    found = [Block(match[2], match[3].splitlines()) for match in fenced.finditer(text)]
    indented = re.findall(r"(?:^\n|\A)((?: {4}.*\n)+)", fenced.sub("", text), re.MULTILINE)
    return found + [Block("", [line[4:] for line in lines.splitlines()]) for lines in indented]


def prose(text: str) -> str:
    """Without fenced code blocks."""
    return re.sub(r"^( *)```.*?^\1```", "", text, flags=re.MULTILINE | re.DOTALL)


def sections(text: str) -> dict[str, str]:
    """Heading -> what stands between it and the next one."""
    _, *parts = re.split(r"^#+ (.*)\n", prose(text), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def table_rows(text: str) -> list[dict[str, str]]:
    """The rows of all tables, by column heading."""
    rows: list[dict[str, str]] = []
    for table in re.findall(r"(?:^\|.*\n?)+", text, re.MULTILINE):
        headings, _, *lines = ([cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines())
        rows += [dict(zip(headings, cells, strict=True)) for cells in lines]
    return rows


def ticked(cell: str) -> list[str]:
    return re.findall(r"`([^`]*)`", cell)


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


# ------------------------------------------------------------------------------------------------- command line


def prompt_of(command: str) -> str:
    return " ".join(f"$ hfedms-sim {command} --help".split())


def real_help(command: str) -> str:
    arguments = [*command.split(), "--help"]
    result = CliRunner().invoke(main, arguments, prog_name="hfedms-sim", terminal_width=HELP_WIDTH)
    assert result.exit_code == 0
    return "\n".join(line.rstrip() for line in result.output.rstrip().splitlines())


def documented_help() -> dict[str, str]:
    """Prompt -> what the page shows under it."""
    helps = [block.lines for block in blocks(text_of(CLI)) if block.lines[0].endswith("--help")]
    return {prompt: "\n".join(lines) for prompt, *lines in helps}


def write_help_blocks() -> None:
    """A new command's block comes last on the page, from where it is to be moved."""
    text = text_of(CLI)
    for command in COMMANDS:
        start = f"```\n{prompt_of(command)}\n"
        before, _, after = text.partition(start) if start in text else (f"{text}\n", "", "")
        _, _, rest = after.partition("```\n")
        text = f"{before}{start}{real_help(command)}\n```\n{rest}"
    CLI.write_text(text, encoding="utf-8")


def test_every_command_has_a_help_block() -> None:
    assert sorted(documented_help()) == sorted(prompt_of(command) for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_help_block_is_what_the_command_prints(command: str) -> None:
    assert documented_help()[prompt_of(command)] == real_help(command), "run: python -m tests.test_docs"


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_option_of_a_command_is_documented(command: str) -> None:
    options = {name for option in main.commands[command].params for name in option.opts if name.startswith("-")}
    shown = set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", documented_help()[prompt_of(command)]))
    assert options <= shown


# ------------------------------------------------------------------------------------------------ scenario keys


class Setting(NamedTuple):
    """What the page must say of a key."""

    values: str
    default: str


def settings_of(model: type[Settings], prefix: str = "") -> Iterator[tuple[str, Setting]]:
    """Every key below `model`, dotted. A profile, strategies, data sets, arrivals and kinds have their own tables."""
    schema = model.model_json_schema()
    for key, field in keys_of(model).items():
        nested = settings_in(field.annotation)
        if nested == [LocalTraining]:
            yield f"{prefix}{key}.name", Setting(listed(list(SHIPPED)), f"`{DEFAULT_STRATEGY}`")
        elif nested == [DataSettings]:
            yield f"{prefix}{key}.set", Setting(listed(list(DATA_SOURCES.shipped)), f"`{DEFAULT_DATA_SET}`")
        elif nested == [Stream]:
            yield f"{prefix}{key}.arrival", Setting(listed(list(STREAMS)), f"`{DEFAULT_ARRIVAL}`")
        elif len(nested) > 1:
            yield from kind_settings(f"{prefix}{key}", field, values_of(schema["properties"][key]))
        elif nested and nested[0] is field.annotation and nested[0] is not NetworkProfile:
            yield from settings_of(nested[0], f"{prefix}{key}.")
        else:
            yield prefix + key, Setting(values_of(schema["properties"][key]), default_of(field))
            if nested and nested[0] is not NetworkProfile:
                place = ".N." if values_of(schema["properties"][key]).startswith("list") else "."
                yield from settings_of(nested[0], f"{prefix}{key}{place}")


def kind_settings(key: str, field: FieldInfo, values: str) -> Iterator[tuple[str, Setting]]:
    """What is one of several kinds: which there are; what a list has before it."""
    kinds = listed([kind_of(each) for each in settings_in(field.annotation)])
    if values.startswith("list"):
        yield key, Setting(values, default_of(field))
        yield f"{key}.N.kind", Setting(kinds, "required")
    else:
        yield f"{key}.kind", Setting(kinds, f"`{field.default.kind}`")


def kind_of(settings: type[Settings]) -> str:
    (kind,) = get_args(settings.model_fields["kind"].annotation)
    assert isinstance(kind, str)
    return kind


def kinds_of(key: str) -> dict[str, type[Settings]]:
    """The kinds that a dotted key of scenarios has, by name."""
    *parents, last = key.split(".")
    model: type[Settings] = Scenario
    for parent in parents:
        (model,) = settings_in(keys_of(model)[parent].annotation)
    return {kind_of(each): each for each in settings_in(keys_of(model)[last].annotation)}


def settings_in(annotation: Any) -> list[type[Settings]]:
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return [annotation]
    return [found for argument in get_args(annotation) for found in settings_in(argument)]


def default_of(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    return f"`{default}`" if isinstance(default, str) and default else f"`{json.dumps(default)}`"


def values_of(schema: dict[str, Any]) -> str:
    """A JSON Schema in the words of the page."""
    if "oneOf" in schema:
        return "mapping"
    if "anyOf" in schema:
        return " or ".join(values_of(choice) for choice in schema["anyOf"])
    if "$ref" in schema:
        return "shipped name, path or mapping" if schema["$ref"].endswith("NetworkProfile") else "mapping"
    if "enum" in schema or "const" in schema:
        return listed(schema.get("enum", [schema.get("const")]))
    if schema["type"] == "array":
        return list_of(schema)
    if schema["type"] == "object":
        return f"mapping of text to {values_of(schema['additionalProperties'])}"
    words = {"integer": "whole number", "number": "number", "boolean": "`true`, `false`", "null": "`null`"}
    words["string"] = "name" if "pattern" in schema else "text"
    return words[schema["type"]] + bounds(schema)


def list_of(schema: dict[str, Any]) -> str:
    return f"list{item_count(schema)}; each: {values_of(schema['items'])}"


def item_count(schema: dict[str, Any]) -> str:
    least, most = schema.get("minItems"), schema.get("maxItems")
    if least is not None and most is not None:
        return f" of {least:,} to {most:,}"
    if most is not None:
        return f" of at most {most:,}"
    return "" if least is None else f" of at least {least:,}"


def bounds(schema: dict[str, Any]) -> str:
    words = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    return "".join(f", {word} {number(schema[key])}" for key, word in words.items() if key in schema)


def number(value: float) -> str:
    if value == 2**63:
        return "2^63"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def listed(values: Sequence[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def documented(rows: list[dict[str, str]]) -> dict[str, Setting]:
    return {ticked(row["key"])[0]: Setting(row["values"], row["default"]) for row in rows}


def scenario_rows() -> list[dict[str, str]]:
    """The tables of keys but for the settings of strategies, data sets, arrivals and kinds."""
    pages = sections(text_of(SCENARIO))
    text = "".join(content for heading, content in pages.items() if heading != PROFILE_HEADING)
    return [row for row in table_rows(text) if "key" in row and not TOLD_APART & row.keys()]


def strategy_rows(strategy: str) -> list[dict[str, str]]:
    """Return the rows of the table that says which strategies have a key."""
    return rows_that_name("strategies", strategy)


def rows_that_name(column: str, name: str) -> list[dict[str, str]]:
    """Return the rows of the table with this column in which it says the name, or all."""
    rows = [row for row in table_rows(text_of(SCENARIO)) if column in row]
    return [row for row in rows if row[column] == "all" or name in ticked(row[column])]


def data_rows(data_set: str) -> list[dict[str, str]]:
    """Return the rows of the table that says which data sets have a key."""
    return [row for row in table_rows(text_of(SCENARIO)) if data_set in ticked(row.get("sets", ""))]


def kind_rows(key: str, kind: str) -> list[dict[str, str]]:
    """Return the rows of the table that says which kinds have a key below `key`."""
    rows = [row for row in table_rows(text_of(SCENARIO)) if kind in ticked(row.get("kinds", ""))]
    return [row for row in rows if ticked(row["key"])[0].startswith(f"{key}.")]


def test_every_scenario_key_is_documented_with_its_values_and_default() -> None:
    assert documented(scenario_rows()) == dict(settings_of(Scenario))


def test_every_profile_key_is_documented_with_its_values_and_default() -> None:
    rows = table_rows(sections(text_of(SCENARIO))[PROFILE_HEADING])
    assert documented(rows) == dict(settings_of(NetworkProfile))


@pytest.mark.parametrize("strategy", SHIPPED)
def test_every_setting_of_a_strategy_is_documented_with_its_values_and_default(strategy: str) -> None:
    expected = dict(settings_of(SHIPPED[strategy].Settings, "strategy."))
    del expected["strategy.name"]
    assert documented(strategy_rows(strategy)) == expected


@pytest.mark.parametrize("data_set", DATA_SOURCES.shipped)
def test_every_setting_of_a_data_set_is_documented_with_its_values_and_default(data_set: str) -> None:
    expected = dict(settings_of(DATA_SOURCES.shipped[data_set].Settings, "data."))
    del expected["data.set"]
    assert documented(data_rows(data_set)) == expected


@pytest.mark.parametrize("arrival", STREAMS)
def test_every_setting_of_a_stream_is_documented_with_its_values_and_default(arrival: str) -> None:
    expected = dict(settings_of(STREAMS[arrival], "stream."))
    del expected["stream.arrival"]
    assert documented(rows_that_name("arrivals", arrival)) == expected


@pytest.mark.parametrize(
    ("key", "prefix", "kind"),
    [("faults", "faults.N.", kind) for kind in kinds_of("faults")]
    + [("availability", "availability.", kind) for kind in kinds_of("availability")]
    + [("sensors.placement", "sensors.placement.", kind) for kind in kinds_of("sensors.placement")],
)
def test_every_setting_of_a_kind_is_documented_with_its_values_and_default(key: str, prefix: str, kind: str) -> None:
    expected = dict(settings_of(kinds_of(key)[kind], prefix))
    del expected[f"{prefix}kind"]
    assert documented(kind_rows(key, kind)) == expected


@pytest.mark.parametrize("key", ["faults", "availability", "sensors.placement"])
def test_no_kind_is_documented_that_does_not_exist(key: str) -> None:
    rows = [row for row in table_rows(text_of(SCENARIO)) if "kinds" in row and f"`{key}." in row["key"]]
    assert {kind for row in rows for kind in ticked(row["kinds"])} <= kinds_of(key).keys()


def test_the_sizes_of_the_models_are_documented() -> None:
    rows = [row for row in table_rows(text_of(SCENARIO)) if "model bytes" in row]
    figures = {ticked(model)[0]: sizes for model, *sizes in (row.values() for row in rows)}
    assert figures == {name: list(_sizes(model)) for name, model in MODELS.shipped.items()}


def _sizes(model: type[Model]) -> Iterator[str]:
    yield str(model.example)
    spec = model().spec(model.example)
    for size in (spec.parameters, spec.classifier_parameters, spec.model_bytes, spec.classifier_bytes):
        yield f"{size:,}"


# -------------------------------------------------------------------------------------------------------- trace


@pytest.mark.parametrize("table", TABLES)
def test_every_column_of_a_table_is_documented_with_its_type(table: str) -> None:
    rows = table_rows(sections(text_of(TRACE))[table])
    shown = [(*ticked(row["column"]), row["type"]) for row in rows]
    assert shown == [(column.name, column.type) for column in TABLES[table].columns]


@pytest.mark.parametrize("table", TABLES)
def test_a_column_means_what_its_table_says(table: str) -> None:
    """The page may add to the meaning."""
    rows = table_rows(sections(text_of(TRACE))[table])
    for row, column in zip(rows, TABLES[table].columns, strict=True):
        assert row["meaning"].replace("`", "").startswith(column.meaning)


@pytest.mark.parametrize("file", ["summary", "provenance"])
def test_every_key_of_the_json_files_is_documented(file: str) -> None:
    currents = {"voltage_v": 1.0, "sleep_ma": 1.0, "connected_ma": 1.0, "receive_ma": 1.0, "transmit_ma": 1.0}
    cells = [{"name": "hall", "profile": FAST | {"energy": currents}}]
    content = getattr(run(tiny_scenario(cells=cells), timing_only=True), file)
    rows = table_rows(sections(text_of(TRACE))[f"{file}.json"])
    assert [ticked(row["key"])[0] for row in rows] == list(json_keys(content))


def json_keys(content: Any, prefix: str = "") -> Iterator[str]:
    """Dotted; the versions of packages are one key, and so are the counts of faults."""
    for key, value in content.items():
        if isinstance(value, dict) and key not in ("versions", "faults"):
            yield from json_keys(value, f"{prefix}{key}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield from json_keys(value[0], f"{prefix}{key}[].")
        else:
            yield prefix + key


def test_the_python_examples_print_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["run", "quickstart", "--timing-only"]).exit_code == 0
    listing = blocks(text_of(TRACE))
    examples = [(block, shown) for block, shown in pairwise(listing) if block.language == "python"]
    assert len(examples) == 2
    for example, shown in examples:
        printed = StringIO()
        with redirect_stdout(printed):
            exec("\n".join(example.lines), {})
        assert [line.rstrip() for line in printed.getvalue().splitlines()] == shown.lines


# ------------------------------------------------------------------------------------------------------- Python


def test_the_python_page_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its blocks are read from top to bottom, as in a notebook."""
    monkeypatch.chdir(tmp_path)
    listing = [block for block in blocks(text_of(PYTHON)) if block.lines]
    known: dict[str, Any] = {}
    for block, below in zip(listing, [*listing[1:], Block("python", [])], strict=True):
        if block.language != "python":
            continue
        printed = StringIO()
        with redirect_stdout(printed):
            exec("\n".join(block.lines), known)
        shown = below.lines if below.language == "" else []
        assert [line.rstrip() for line in printed.getvalue().splitlines()] == shown


def test_the_python_page_names_everything_public() -> None:
    named = {word for span in ticked(text_of(PYTHON)) for word in re.findall(r"\w+", span)}
    members = {name for kind in (RunResult, CampaignResult) for name in public(kind)} - {"tables", "model", "predict"}
    assert set(hfedms_sim.__all__) | members <= named | {"played", "is_temporary"}


def public(kind: type) -> set[str]:
    return {name for name in (*vars(kind), *kind.__dataclass_fields__) if not name.startswith("_")}  # type: ignore[attr-defined]


def test_what_is_not_modelled_is_the_same_on_pages_and_in_the_docs() -> None:
    rows = table_rows(sections(text_of(ROOT / "docs" / "world.md"))["What is not modelled"])
    assert [tuple(row.values()) for row in rows] == [(each.what, each.would_change) for each in OMISSIONS]


# --------------------------------------------------------------------------------------------- links and commands


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\](?:\(|: +)([^)\s]+)", prose(text_of(page))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(text_of(target)), link


class Shown(NamedTuple):
    """A command line in a code block, and what the block shows under it."""

    page: str
    arguments: list[str]
    output: list[str]


def shown_commands() -> list[Shown]:
    return [
        command
        for page in PAGES
        for block in blocks(text_of(page))
        if block.language in SHELL_LANGUAGES
        for command in commands_in(page.name, block)
    ]


def commands_in(page: str, block: Block) -> Iterator[Shown]:
    """Lines after a prompt; in a block without prompts, all lines that start with the program's name."""
    lines = "\n".join(block.lines).replace("\\\n", " ").splitlines()
    has_prompts = any(line.startswith("$ ") for line in lines)
    for index, line in enumerate(lines):
        if has_prompts and not line.startswith("$ "):
            continue
        match = re.match(r"(?:\$ )?(?:[A-Z_]+=\S* )*(?:\S*/)?hfedms-sim\b(.*)", line)
        if match:
            output = takewhile(lambda below: not below.startswith("$ "), lines[index + 1 :])
            yield Shown(page, until_operator(shlex.split(match[1], comments=True)), list(output))


def until_operator(words: list[str]) -> list[str]:
    """Up to the first pipe, redirection or further command."""
    end = next((i for i, word in enumerate(words) if re.match(r"[0-9]*[|>&<]|;", word)), len(words))
    return words[:end]


def parse(arguments: list[str]) -> click.Context | None:
    """As click does before it calls the command; None where parsing ends the program, as --help does."""
    parent = click.Context(main, info_name="hfedms-sim")
    command = main.get_command(parent, arguments[0]) if arguments and not arguments[0].startswith("-") else main
    if command is None:
        raise click.UsageError(f"No such command '{arguments[0]}'.")
    try:
        with redirect_stdout(StringIO()):
            rest = list(arguments) if command is main else arguments[1:]
            return command.make_context(command.name, rest, parent=None if command is main else parent)
    except click.exceptions.Exit:
        return None


def describe(command: Shown) -> str:
    return f"{command.page}: {shlex.join(command.arguments)}"


def test_the_docs_show_commands() -> None:
    assert {command.page for command in shown_commands()} >= {"cli.md", "scenario.md", "trace.md"}


@pytest.mark.parametrize("command", shown_commands(), ids=describe)
def test_a_command_line_in_the_docs_parses(command: Shown) -> None:
    try:
        parse(command.arguments)
    except click.UsageError as error:
        pytest.fail(error.format_message())


@pytest.mark.parametrize(
    "command", [c for c in shown_commands() if c.arguments[:1] == ["run"] and "--help" not in c.arguments], ids=describe
)
def test_a_scenario_run_in_the_docs_is_sound_or_shown_to_fail(
    command: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    context = parse(command.arguments)
    assert context is not None
    changes = {key: context.params[key] for key in ("profile", "strategy", "rounds", "seed", "overrides")}
    if is_path(context.params["scenario"]) or is_path(changes["profile"] or ""):
        return  # the reader's own file
    if command.output and command.output[0].startswith("error:"):
        result = CliRunner().invoke(main, command.arguments, prog_name="hfedms-sim")
        assert (result.exit_code, result.output.splitlines()) == (2, command.output)
    else:
        load_scenario(context.params["scenario"], **changes)


if __name__ == "__main__":
    write_help_blocks()


@pytest.mark.parametrize(
    ("heading", "at_least"),
    [("The way of a trained run", 30), ("What happens when a sensor crashes while it trains", 15)],
)
def test_the_way_of_a_run_names_functions_that_there_are(heading: str, at_least: int) -> None:
    rows = table_rows(sections(text_of(ROOT / "docs" / "design.md"))[heading])
    named = [place for row in rows for place in ticked(row["where"])]
    assert len(named) > at_least
    way = [place.partition(": ") for place in named]
    assert [place for place in way if place[2] not in functions_of(ROOT / "hfedms_sim" / place[0])] == []


def functions_of(path: Path) -> set[str]:
    """Return the functions of a module, and its classes' as `Class.function`."""
    body = ast.parse(text_of(path)).body
    own = {each.name for each in body if isinstance(each, ast.FunctionDef)}
    classes = [each for each in body if isinstance(each, ast.ClassDef)]
    return own | {
        f"{kind.name}.{each.name}" for kind in classes for each in kind.body if isinstance(each, ast.FunctionDef)
    }


def test_every_errand_leads_to_files_that_there_are() -> None:
    errands = text_of(ROOT / "CONTRIBUTING.md").partition("## Errands")[2].partition("## Releasing")[0]
    named = re.findall(r"`([a-z_/]+(?:/|\.py))`", errands)
    assert len(named) > 30
    assert [path for path in named if not any((root / path).exists() for root in (ROOT, ROOT / "hfedms_sim"))] == []


SOURCES = sorted((ROOT / "hfedms_sim").rglob("*.py"))


def test_a_package_with_more_than_twenty_files_has_rooms() -> None:
    packages = {path.parent for path in SOURCES}
    large = [each for each in packages if sum(path.parent == each for path in SOURCES) > 20]
    assert [str(each) for each in large if not any(other.parent == each for other in packages)] == []


def test_files_that_docstrings_and_comments_name_are_there() -> None:
    """A bare name is in the file's own directory or below; a path, or a name further up, starts at one around it."""
    named = [(path, name) for path in SOURCES for name in python_files_named_in(path)]
    assert len(named) > 80
    assert [(str(path.relative_to(ROOT)), name) for path, name in named if not is_there(path, name)] == []


def python_files_named_in(path: Path) -> Iterator[str]:
    """Yield what looks like a Python file in a module's comments, its docstrings and those of its attributes."""
    text = text_of(path)
    said = [each.string for each in tokenize.generate_tokens(StringIO(text).readline) if each.type == tokenize.COMMENT]
    statements = (each.value for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Expr))
    said += [each.value for each in statements if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    for each in said:
        yield from re.findall(r"(?<![\w./*-])(?:[\w-]+/)*[\w-]+\.py\b", each)


def is_there(path: Path, name: str) -> bool:
    around = [each for each in path.parents if each.is_relative_to(ROOT)]
    return any((each / name).is_file() for each in around) or ("/" not in name and any(path.parent.rglob(name)))
