"""Text of others (names of files, descriptions, runs of others) is shown and never obeyed, wherever it comes out."""

import ast
import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.table import Table

from hfedms_sim.commands.screen import Screen
from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import load_profile
from hfedms_sim.simulation import open_run, run
from hfedms_sim.system.files import write_atomically
from hfedms_sim.system.foreign_text import all_printable, is_printable, printable
from hfedms_sim.trace import read_trace_table
from tests.conftest import FAST, some_of, tiny_scenario, without_checksums
from tests.hardening.attacked import hfedms_sim, refused, written

PACKAGE = Path(__file__).parents[2] / "hfedms_sim"
EVIL = {
    "colour": "\x1b[31mred",
    "title of the window": "\x1b]0;owned\x07",
    "link": "\x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\",
    "C1": "\x9b31mred",
    "carriage return": "good\rbad",
    "backspace": "bad\b\b\bgood",
    "delete": "a\x7fb",
    "nul": "a\0b",
    "bidi override": "gnp\u202eexe.",
    "bidi isolate": "a\u2066b\u2069",
    "line separator": "a\u2028b",
    "no text at all": "a\udcffb",
}


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def assert_harmless(text: str) -> None:
    assert is_printable(text), ascii(text)


@pytest.mark.parametrize("evil", EVIL.values(), ids=EVIL)
def test_every_sign_that_would_be_obeyed_is_replaced_one_for_one(evil: str) -> None:
    shown = printable(evil)
    assert shown != evil
    assert len(shown) == len(evil)
    assert not any(sign in shown for sign in "\x1b\x07\x9b\r\b\x7f\0\u202e\u2066\u2069\u2028\udcff")
    assert all_printable({evil: [evil, 1, None]}) == {shown: [shown, 1, None]}


def test_what_people_write_stays_as_it_is() -> None:
    for text in ("plain", "two\nlines\tand a tab", "Größe ± 1 µm", "工場", "مصنع", "👩\u200d🔧", "[bold]", ":bomb:"):
        assert printable(text) == text


@pytest.mark.parametrize("evil", [each for each in EVIL.values() if "\0" not in each], ids=lambda text: ascii(text))
@pytest.mark.parametrize(
    "command",
    [
        ("run", "./{evil}.yaml"),
        ("check", "./{evil}.yaml"),
        ("show", "./{evil}.yaml"),
        ("show", "{evil}"),
        ("plot", "{evil}", "--out", "x.png"),
        ("report", "{evil}"),
        ("explain", "{evil}"),
        ("compare", "quickstart", "--profiles", "./{evil}.yaml"),
        ("sweep", "quickstart", "--grid", "{evil}"),
        ("run", "quickstart", "--set", "{evil}"),
        ("run", "quickstart", "--strategy", "{evil}"),
        ("--import", "{evil}", "list", "profiles"),
        ("{evil}",),
        ("show", "quickstart", "--{evil}"),
        ("paper", "{evil}"),
        ("validate", "{evil}"),
    ],
    ids=" ".join,
)
def test_what_an_argument_says_is_not_obeyed_in_an_error(evil: str, command: tuple[str, ...]) -> None:
    assert_harmless(refused(*(part.format(evil=evil) for part in command)))


@pytest.mark.parametrize("evil", [each for name, each in EVIL.items() if name != "no text at all"], ids=ascii)
@pytest.mark.parametrize("key", ["description", "cells.0.profile.description", "data.path"])
def test_a_scenario_has_no_control_characters_in_its_texts(evil: str, key: str) -> None:
    data = {"data.set": "npz"} if key == "data.path" else {}
    with pytest.raises(InputError) as caught:
        load_scenario(tiny_scenario(), overrides={**data, key: evil})
    assert "must have no control characters" in str(caught.value)
    assert_harmless(str(caught.value))


def test_a_profile_has_no_control_characters_in_its_sources() -> None:
    Path("p.yaml").write_text(
        '{name: p, uplink_bps: 1e3, downlink_bps: 1e3, sources: {uplink_bps: "\\e]0;owned\\a"}}', encoding="utf-8"
    )
    with pytest.raises(InputError, match=r"sources.*must have no control characters"):
        load_profile("./p.yaml")
    assert_harmless(refused("show", "./p.yaml"))
    assert_harmless(refused("check", "./p.yaml"))


def test_a_file_with_an_evil_name_and_a_good_scenario_is_named_harmlessly() -> None:
    path = written(Path("\x1b[31mred\u202e.yaml"))
    done = hfedms_sim("check", f"./{path}")
    assert done.exit_code == 0
    assert done.stdout == "./\ufffd[31mred\ufffd.yaml: ok\n"
    done = hfedms_sim("run", f"./{path}", "--timing-only", "--out", "\x1b[2Jout")
    assert done.exit_code == 0
    assert_harmless(done.output)
    assert (Path("\x1b[2Jout") / "summary.json").is_file()


@pytest.fixture
def foreign() -> Path:
    """Give a finished run in whose files somebody has put what a terminal would obey."""
    evil = "\x1b]0;owned\x07\u202e\r[/b]$x_{$ :bomb:"
    run(tiny_scenario(rounds=2), out="run", timing_only=True)
    directory = Path("run")
    summary = json.loads((directory / "summary.json").read_text())
    summary |= {"scenario": evil, "strategy": evil, "profile": evil, "faults": {evil: 3}, "energy_missing": [evil]}
    summary["limited_by"] |= {"cause": evil, "text": evil}
    (directory / "summary.json").write_text(json.dumps(summary))
    provenance = json.loads((directory / "provenance.json").read_text())
    provenance |= {"platform": evil, "git_revision": evil, evil: evil}
    (directory / "provenance.json").write_text(json.dumps(provenance))
    row = {"time_s": [1.0], "kind": [evil], "entity": [evil], "round": [1], "detail": [evil]}
    pq.write_table(pa.table(row), directory / "faults.parquet")
    return without_checksums(directory)


@pytest.mark.parametrize(
    "command",
    [
        ("show", "run"),
        ("show", "run", "--format", "markdown"),
        ("show", "run", "--format", "latex"),
        ("show", "run", "--table", "closing", "--format", "csv"),
        ("explain", "run", "--no-what-ifs"),
        ("explain", "run", "--no-what-ifs", "--json"),
        ("report", "run"),
        ("plot", "run", "--kind", "utilisation", "--out", "x.svg"),
    ],
    ids=" ".join,
)
def test_a_run_of_somebody_else_does_not_steer_the_terminal(command: tuple[str, ...], foreign: Path) -> None:
    done = hfedms_sim(*command)
    assert done.exit_code == 0, done.output
    assert_harmless(done.output)


def test_a_run_of_somebody_else_steers_no_file_that_is_made_of_it(foreign: Path) -> None:
    for command in (
        ("report", "run", "--quiet", "--out", "page.html"),
        ("plot", "run", "--kind", "utilisation", "--out", "use.svg"),
        ("plot", "run", "--kind", "transfers", "--out", "transfers.svg"),
        ("plot", "run", "--kind", "energy", "--out", "energy.svg"),
        ("trace", "run", "--format", "csv", "--out", "tables"),
        ("trace", "run", "--format", "perfetto", "--out", "trace.json"),
    ):
        done = hfedms_sim(*command)
        assert done.exit_code in (0, 2), done.output  # the energy of this radio is not known
    made = [Path("page.html"), Path("use.svg"), Path("trace.json"), *Path("tables").iterdir()]
    for path in made:
        assert_harmless(path.read_text(encoding="utf-8"))
    row = next(csv.DictReader(Path("tables/faults.csv").read_text(encoding="utf-8").splitlines()))
    assert row["kind"].startswith("\ufffd]0;owned")


def test_texts_in_tables_of_somebody_else_are_made_printable_and_bytes_refused(foreign: Path) -> None:
    assert_harmless("".join(read_trace_table(foreign, "faults")["detail"].to_pylist()))
    assert_harmless(json.dumps(open_run(foreign).provenance, ensure_ascii=False))
    raw = pa.array([b"\xff\xfe"]).view(pa.string())
    row = {"time_s": [1.0], "kind": raw, "entity": ["x"], "round": [1], "detail": ["x"]}
    pq.write_table(pa.table(row), foreign / "faults.parquet")
    with pytest.raises(InputError, match=r"kind is not UTF-8"):
        read_trace_table(foreign, "faults")


def printed(renderable: Any) -> str:
    screen = Screen(stderr=False, width=80)
    with screen.capture() as capture:
        screen.print(renderable)
    return capture.get()


def test_rich_reads_no_markup_and_no_pictures_into_names() -> None:
    table = Table(title="[red]title[/red] :bomb:")
    table.add_column("[link=http://evil]heading[/link]")
    table.add_row("[/b] closes nothing", style="bold")
    for text in (printed(table), printed("[red]plain[/red] :bomb:")):
        assert "bomb:" in text
        assert "[" in text
    assert "[/b] closes nothing" in printed(table)


@pytest.mark.parametrize("evil", [each for name, each in EVIL.items() if name != "no text at all"], ids=ascii)
def test_rich_passes_on_its_own_styles_only(evil: str) -> None:
    table = Table(title=evil, caption=evil)
    table.add_column(evil)
    table.add_row(evil)
    assert_harmless(printed(table))
    assert_harmless(printed(evil))


def test_a_campaign_names_files_with_evil_names_harmlessly_in_its_tables() -> None:
    radio = Path("\x1b[31mradio.yaml")
    radio.write_text(json.dumps(FAST))
    command = ("compare", f"./{written(Path('s.yaml'))}", "--profiles", f"./{radio}", "--timing-only", "--out", "out")
    done = hfedms_sim(*command)
    assert done.exit_code == 0, done.output
    assert_harmless(done.output)
    for name in ("comparison.csv", "trials.csv", "curves.csv"):
        assert_harmless((Path("out") / name).read_text(encoding="utf-8"))
    for again in ((*command, "--resume"), ("show", "out"), ("show", "out", "--table", "trials")):
        done = hfedms_sim(*again)
        assert done.exit_code == 0, done.output
        assert "played again" not in done.output  # its record is sound, whatever the file is called
        assert_harmless(done.output)


@pytest.mark.parametrize("value", some_of(('"[/b]"', '"[red]x"', '"$x_{$"', "':bomb:'"), kept=('"[/b]"', '"$x_{$"')))
def test_a_value_of_a_grid_with_brackets_or_dollars_is_text_in_every_table(value: str) -> None:
    source = written(Path("s.yaml"))
    done = hfedms_sim(
        "sweep", f"./{source}", "--grid", f"description={value},plain", "--timing-only", "--rounds", "1", "--out", "out"
    )
    assert done.exit_code == 0, done.output
    assert value in done.stdout
    assert hfedms_sim("plot", "out", "--kind", "utilisation", "--out", "x.svg").exit_code == 0
    assert hfedms_sim("report", "out", "--quiet").exit_code == 0


def test_a_text_file_is_written_without_signs_that_a_terminal_would_obey() -> None:
    for evil in EVIL.values():
        write_atomically(Path("file.csv"), f"name,{evil}\n")
        assert_harmless(Path("file.csv").read_text(encoding="utf-8"))


def test_pictures_read_no_formulas_into_labels(tmp_path: Path) -> None:
    for number, name in enumerate(("$x_{$", "a$\\frac{1}{$b", "_hidden", "\x1b[31m")):
        (tmp_path / f"d{number}{name.replace('/', '')}").mkdir()
    results = [one_run(directory) for directory in sorted(tmp_path.iterdir()) if directory.is_dir()]
    paths = [str(result.directory) for result in results]
    for ending in ("svg", "png", "pdf"):
        done = hfedms_sim("plot", *paths, "--kind", "utilisation", "--out", f"x.{ending}")
        assert done.exit_code == 0, done.output
    assert_harmless(Path("x.svg").read_text(encoding="utf-8"))


def one_run(directory: Path) -> RunResult:
    return run(tiny_scenario(rounds=1), out=directory / "run", timing_only=True)


def calls_in(path: Path) -> set[str]:
    """Return what a file calls, as it is written: `click.echo`, `print`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def test_whatever_commands_print_goes_through_one_place() -> None:
    files = [*PACKAGE.glob("commands/*.py"), PACKAGE / "cli.py"]
    assert len(files) > 10
    for path in files:
        forbidden = {"click.echo", "click.secho", "print", "sys.stdout.write", "sys.stderr.write", "Console"}
        allowed = {"click.echo"} if path.name == "terminal.py" else set()
        assert not calls_in(path) & forbidden - allowed, path
