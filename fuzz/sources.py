"""The real files that cases are made of: written once, before the first case, by the program itself."""

import json
import shutil
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from hfedms_sim import compare, load_scenario, run
from hfedms_sim.loading import CHOICES
from hfedms_sim.scenario import NetworkProfile, scenario_schema
from hfedms_sim.system.files import shipped_files

_TINY = {"name": "tiny", "rounds": 2, "model": "tiny-mlp", "sensors": {"count": 6, "types": 2},
         "strategy": {"name": "hfedms-d", "beta": 2, "interval": 2, "sample_ratio": 0.5},
         "cells": [{"name": "hall", "profile": "lte-cat-m2"}]}  # fmt: skip


CSV_FILES: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
    "positions.csv": ("sensor,x_m,y_m", [(sensor, 10 * sensor, 5 * sensor) for sensor in range(6)]),
    "arrivals.csv": ("sensor,time_s", [(sensor, 7.5 * number) for number in range(40) for sensor in range(6)]),
    "devices.csv": ("sensor,device", [(sensor, "mcu") for sensor in range(6)]),
    "there.csv": ("sensor,from_s,until_s", [(sensor, 0, 1e6 + sensor) for sensor in range(6)]),
}


class Sources:
    """Files below a directory, made when it is first asked for them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def make(self) -> None:
        """Write the runs, campaigns and data that cases copy, unless they are there."""
        if (self.directory / "done").is_file():
            return
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        scenario = load_scenario(_TINY)
        run(scenario, out=self.directory / "run")
        run(scenario, timing_only=True, out=self.directory / "timed")
        compare(scenario, strategies=["fedavg", "hfedms-d"], timing_only=True, out=self.directory / "campaign")
        _write_data(self.directory)
        (self.directory / "done").touch()

    @cached_property
    def scenarios(self) -> list[dict[str, Any]]:
        """The shipped scenarios and a tiny one, as mappings."""
        return [_TINY, *(yaml.safe_load(path.read_text()) for path in shipped_files("scenarios").values())]

    @cached_property
    def profiles(self) -> list[dict[str, Any]]:
        return [yaml.safe_load(path.read_text()) for path in shipped_files("network_profiles").values()]

    @cached_property
    def scenario_keys(self) -> list[str]:
        """Every name that a key of a scenario may have, at any depth."""
        return sorted(set(_property_names(scenario_schema(CHOICES))))

    @cached_property
    def profile_keys(self) -> list[str]:
        return sorted(set(_property_names(NetworkProfile.model_json_schema())))

    def copy(self, name: str, target: Path) -> Path:
        """Copy a run, a campaign or a data file to a place where it may be spoilt."""
        source = self.directory / name
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)
        return target


def _property_names(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for part in schema.values():
            yield from _property_names(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _property_names(part)


def _write_data(directory: Path) -> None:
    """Write a few samples in each format that is read, and the CSV files that scenarios may name."""
    draws = np.random.default_rng(1)
    images = draws.integers(0, 256, (60, 28, 28), dtype=np.uint8)
    labels, device = draws.integers(0, 62, 60), np.arange(60) % 6
    np.savez_compressed(directory / "data.npz", images=images, labels=labels, device=device)
    columns = {"image": [each.tobytes() for each in images], "label": labels, "device": device}
    pq.write_table(pa.table(columns), directory / "data.parquet")
    (directory / "leaf").mkdir()
    for part in ("train", "test"):
        (directory / "leaf" / part).mkdir()
        users = {f"u{user}": {"x": [(each / 255).ravel().tolist() for each in images[:3]], "y": labels[:3].tolist()}
                 for user in range(6)}  # fmt: skip
        content = {"users": [*users], "num_samples": [3] * 6, "user_data": users}
        (directory / "leaf" / part / "all.json").write_text(json.dumps(content))
    for name, (header, rows) in CSV_FILES.items():
        lines = "".join(",".join(map(str, row)) + "\n" for row in rows)
        (directory / name).write_text(f"{header}\n{lines}")
