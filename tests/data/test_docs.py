"""The examples of docs/data.md run as they stand, one after the other in a directory of their own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hfedms_sim.data.loaders.arrays import Reading
from hfedms_sim.data.loaders.leaf import read_leaf
from hfedms_sim.data.loaders.npz import read_npz
from hfedms_sim.data.loaders.parquet import read_parquet
from hfedms_sim.data.partition import Partition
from hfedms_sim.scenario.models import DataShape

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
OF_FORMATS_AND_ARRAYS = 4


def test_the_example_of_a_format_has_ten_lines_at_most() -> None:
    for example in EXAMPLES[:OF_FORMATS_AND_ARRAYS]:
        assert len([line for line in example.splitlines() if line and "import" not in line]) <= 10


@pytest.mark.thorough
def test_the_examples_run_and_write_what_the_page_says(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-c", "\n".join(EXAMPLES)]
    ended = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    features = read_npz(tmp_path / "features.npz", Reading())
    assert (features.shape, features.devices) == (DataShape((16,), 4), 20)
    series = read_parquet(tmp_path / "series.parquet", Reading(partition=Partition(kind="column", column="machine")))
    assert (series.shape, series.devices) == (DataShape((1, 128), 3), 20)
    images = read_leaf(tmp_path / "all_data.json", Reading())
    assert (images.shape, images.devices, images.is_image) == (DataShape((1, 28, 28), 10), 12, True)
