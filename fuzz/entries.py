"""The entry points: how each of them is given hostile input. A function each, which writes its files into a directory.

Every function returns the words of a command line. Its working directory is the one that it is given.
"""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.mutations import mutated_bytes, mutated_tree, yaml_text
from fuzz.sources import CSV_FILES, Sources
from fuzz.values import TEXTS, hostile, hostile_word

Words = list[str]
_OUT = ["--out", "out"]
_SCENE = {"name": "tiny", "rounds": 1, "model": "tiny-mlp", "sensors": {"count": 6}, "cells": [
    {"name": "hall", "profile": "lte-cat-m2"}]}  # fmt: skip
_READERS: tuple[Words, ...] = (
    ["show", "DIR"], ["show", "DIR", "--table", "sensors"], ["show", "DIR", "--format", "markdown"],
    ["plot", "DIR", "--out", "picture.svg"], ["plot", "DIR", "--kind", "gantt", "--out", "picture.svg"],
    ["report", "DIR", "--out", "page.html"], ["trace", "DIR", "--format", "csv", "--out", "csv"],
    ["trace", "DIR", "--format", "perfetto", "--out", "p.json"], ["explain", "DIR"], ["verify", "DIR"],
    ["verify", "DIR", "--no-replay"],
)  # fmt: skip


def scenario_file(random: Random, place: Path, sources: Sources) -> Words:
    tree = mutated_tree(random, random.choice(sources.scenarios), sources.scenario_keys)
    _write_text(random, place / "scenario.yaml", yaml_text(tree))
    return random.choice((["check", "scenario.yaml"], ["run", "./scenario.yaml", "--timing-only", *_OUT],
                          ["run", "./scenario.yaml", "--timing-only", "--rounds", "1", *_OUT],
                          ["show", "./scenario.yaml"]))  # fmt: skip


def profile_file(random: Random, place: Path, sources: Sources) -> Words:
    tree = mutated_tree(random, random.choice(sources.profiles), sources.profile_keys)
    _write_text(random, place / "radio.yaml", yaml_text(tree))
    scenario = random.choice(("quickstart", "assembly-hall", "lorawan-yard"))
    played = ["run", scenario, "--profile", "./radio.yaml", "--timing-only", "--rounds", "1", *_OUT]
    return random.choice((["check", "radio.yaml"], ["show", "./radio.yaml"], played))


def overrides(random: Random, place: Path, sources: Sources) -> Words:
    keys = (".".join(random.choice(sources.scenario_keys) for _ in range(random.choice((1, 2, 3)))) for _ in range(3))
    words = [word for key in keys for word in ("--set", f"{key}={_inline(random)}")][: 2 * random.choice((1, 1, 2, 3))]
    options = random.choice(([], ["--rounds", hostile_word(random)], ["--seed", hostile_word(random)]))
    return ["run", "quickstart", "--timing-only", *words, *options, *_OUT]


def lists(random: Random, place: Path, sources: Sources) -> Words:
    values = ",".join(hostile_word(random) for _ in range(random.choice((1, 2, 3))))
    spans = random.choice(("1:3", "1:9:2", "0.1:0.5:0.1", "1:1e9", "3:1", "1e308:2e308", "::", "1:2:3:4"))
    chosen = random.choice((values, spans, f"{spans},{values}"))
    option = random.choice(("--seeds", "--profiles", "--strategies", "--grid"))
    if option == "--grid":
        key = random.choice((*sources.scenario_keys, "strategy.interval", "rounds"))
        return ["sweep", "quickstart", "--grid", f"{key}={chosen}", "--timing-only", "--rounds", "1", *_OUT]
    return ["compare", "quickstart", option, chosen, "--timing-only", "--rounds", "1", *_OUT]


def csv_file(random: Random, place: Path, sources: Sources) -> Words:
    name = random.choice(list(CSV_FILES))
    text = (sources.directory / name).read_text()
    if random.randrange(2):
        lines = [line.split(",") for line in text.splitlines()]
        row = random.choice(lines)
        row[random.randrange(len(row))] = str(hostile(random, 0))
        text = "\n".join(",".join(line) for line in lines)
        (place / name).write_text(text, encoding="utf-8", errors="surrogatepass")
    else:
        (place / name).write_bytes(mutated_bytes(random, text.encode()))
    hall = {"placement": {"kind": "csv", "path": name, "width_m": 100, "length_m": 60}, "count": 6}
    parts: dict[str, dict[str, Any]] = {
        "positions.csv": {"sensors": hall, "cells": [_SCENE["cells"][0] | {"x_m": 5, "y_m": 5}]},  # type: ignore[index]
        "arrivals.csv": {"stream": {"arrival": "trace", "path": name, "short": "take"}},
        "devices.csv": {"compute": {"path": name}},
        "there.csv": {"availability": {"kind": "csv", "path": name}},
    }
    (place / "scenario.yaml").write_text(yaml_text(_SCENE | parts[name]))
    return ["run", "./scenario.yaml", "--timing-only", *_OUT]


def data_file(random: Random, place: Path, sources: Sources) -> Words:
    name = random.choice(("data.npz", "data.parquet", "leaf"))
    copied = sources.copy(name, place / name)
    path = random.choice(sorted(copied.rglob("*.json"))) if copied.is_dir() else copied
    if path.suffix == ".json" and random.randrange(2):
        path.write_text(json.dumps(mutated_tree(random, json.loads(path.read_text()), ["users", "user_data", "x"])))
    else:
        path.write_bytes(mutated_bytes(random, path.read_bytes()))
    scene = _SCENE | {"data": {"set": name.rpartition(".")[2], "path": f"./{name}"}}
    (place / "scenario.yaml").write_text(yaml_text(scene))
    return random.choice((["check", "scenario.yaml"], ["show", f"./{name}"],
                          ["run", "./scenario.yaml", "--timing-only", *_OUT]))  # fmt: skip


def names(random: Random, place: Path, sources: Sources) -> Words:
    word = hostile_word(random)
    return random.choice((
        ["--import", word, "list", "strategies"], ["run", word, "--timing-only"], ["show", word], ["check", word],
        ["run", "quickstart", "--strategy", word, "--timing-only", "--rounds", "1", *_OUT],
        ["run", "quickstart", "--profile", word, "--timing-only", "--rounds", "1", *_OUT],
        ["run", "quickstart", "--timing-only", "--rounds", "1", "--out", word], ["list", word], [word], ["paper", word],
        ["run", "quickstart", "--rounds", "1", "--set", f"model={word}", *_OUT], ["explain", word], ["report", word],
    ))  # fmt: skip


def run_directory(random: Random, place: Path, sources: Sources) -> Words:
    directory = sources.copy(random.choice(("run", "timed")), place / "spoilt")
    _spoil(random, directory, sources)
    words = random.choice((*_READERS, ["run", "spoilt/scenario.yaml", "--timing-only", "--resume", "--out", "spoilt"],
                           ["run", "spoilt/scenario.yaml", "--resume", "--out", "spoilt"],
                           ["run", "spoilt/scenario.yaml", "--learn-from", "spoilt", *_OUT]))  # fmt: skip
    return ["spoilt" if word == "DIR" else word for word in words]


def campaign_directory(random: Random, place: Path, sources: Sources) -> Words:
    directory = sources.copy("campaign", place / "spoilt")
    _spoil(random, directory, sources)
    resumed = ["compare", str(sources.directory / "run" / "scenario.yaml"), "--strategies", "fedavg,hfedms-d",
               "--timing-only", "--resume", "--out", "spoilt"]  # fmt: skip
    words = random.choice((*_READERS, resumed))
    return ["spoilt" if word == "DIR" else word for word in words]


def tuned_file(random: Random, place: Path, sources: Sources) -> Words:
    tree = {"stream": {"fedavg": {"learning_rate": 0.05}}, "evidence": [{"a": 1}]}
    (place / "tuned.json").write_text(json.dumps(mutated_tree(random, tree, ["stream", "static", "fedavg"])))
    return ["paper", random.choice(("parameters", "settings")), "--tuned", "tuned.json", *_OUT]


ENTRIES: dict[str, Callable[[Random, Path, Sources], Words]] = {
    "scenario-file": scenario_file,
    "profile-file": profile_file,
    "overrides": overrides,
    "lists": lists,
    "csv-file": csv_file,
    "data-file": data_file,
    "names": names,
    "run-directory": run_directory,
    "campaign-directory": campaign_directory,
    "tuned-file": tuned_file,
}
WEIGHTS = (6, 4, 4, 3, 2, 2, 2, 4, 2, 1)


def _inline(random: Random) -> str:
    """Return a value as it is written on a command line: plain, or as YAML in brackets."""
    if random.randrange(3):
        return hostile_word(random)
    return json.dumps(hostile(random), default=str).encode("utf-8", "replace").decode()


def _write_text(random: Random, path: Path, text: str) -> None:
    """Write the text, one time in four with some of its bytes changed."""
    content = text.encode("utf-8", "surrogatepass")
    path.write_bytes(content if random.randrange(4) else mutated_bytes(random, content))


def _spoil(random: Random, directory: Path, sources: Sources) -> None:
    """Change, cut, exchange, remove or redirect one or two of a directory's files."""
    for _ in range(random.choice((1, 1, 2))):
        files = sorted(path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
        path = random.choice(files)
        kind = random.randrange(6)
        if kind == 0:
            path.unlink()
        elif kind == 1 and (tree := _json_of(path)) is not None:
            path.write_text(json.dumps(mutated_tree(random, tree, ["a", "rounds", "bytes"])))
        elif kind == 2 and (table := _table_of(path)) is not None:
            pq.write_table(_retyped(random, table), path)
        elif kind == 3:
            path.write_bytes(random.choice(files).read_bytes())
        elif kind == 4:
            path.unlink()
            path.symlink_to(random.choice((sources.directory.parent / "sentinel" / "precious", Path("nowhere"))))
        else:
            path.write_bytes(mutated_bytes(random, path.read_bytes()))
    if random.randrange(2):  # as somebody would who also renews the checksums
        (directory / "SHA256SUMS").unlink(missing_ok=True)


def _json_of(path: Path) -> dict[str, Any] | None:
    """Return what a file of JSON holds; None if it is none, or not any more."""
    try:
        found = json.loads(path.read_bytes()) if path.suffix == ".json" else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _table_of(path: Path) -> pa.Table | None:
    """Return what a Parquet file holds; None if it is none, or not any more."""
    try:
        return pq.read_table(path, partitioning=None) if path.suffix == ".parquet" else None
    except (pa.ArrowException, OSError):
        return None


def _retyped(random: Random, table: pa.Table) -> pa.Table:
    """Return a table with a column of hostile text, without one, or with one of another name."""
    column = random.randrange(table.num_columns)
    name = table.column_names[column]
    kind = random.randrange(3)
    if kind == 0:
        return table.drop_columns([name])
    if kind == 1:
        return table.rename_columns([f"{each}_" if each == name else each for each in table.column_names])
    text = random.choice([each for each in TEXTS if each.isprintable() or "\x1b" in each])
    values = [text.encode("utf-8", "replace").decode()] * len(table)
    return table.set_column(column, name, [values])
