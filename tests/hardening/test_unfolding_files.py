"""Small files that unfold into gigabytes are refused before they do, in one line with both figures."""

import os
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.simulation import open_run, run
from hfedms_sim.system.reading import parse_json, read_parquet_file
from hfedms_sim.trace import read_trace_table
from tests.conftest import tiny_scenario, without_checksums
from tests.data.formats import load, png
from tests.hardening.attacked import hfedms_sim, refused

MEGABYTES = 10**6


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def little_memory(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Give what sets how much memory there seems to be."""

    def of(available_bytes: float) -> None:
        for module in ("machine", "reading"):
            monkeypatch.setattr(f"hfedms_sim.system.{module}.available_memory_bytes", lambda: int(available_bytes))

    return of


def npz_bomb(path: Path, samples: int = 100_000) -> Path:
    """Write zeros, which are a thousandth when compressed: 78 MB of pixels in less than 0.1 MB."""
    np.savez_compressed(
        path, images=np.zeros((samples, 28, 28), np.uint8), labels=np.zeros(samples, int), device=np.zeros(samples, int)
    )
    return path


def test_an_archive_of_zeros_is_refused_by_the_sizes_it_declares(
    little_memory: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = npz_bomb(Path("bomb.npz"))
    assert path.stat().st_size < 0.2 * MEGABYTES
    little_memory(100 * MEGABYTES)
    monkeypatch.setattr(np.lib.npyio.NpzFile, "__getitem__", lambda *_: pytest.fail("was unpacked"))
    with pytest.raises(
        InputError, match=r"bomb.npz: does not fit into memory \(needs about 240 MB, there are 100 MB\)"
    ):
        load("npz", path)


def test_an_archive_that_fits_is_read(little_memory: Callable[[float], None]) -> None:
    little_memory(10 * MEGABYTES)
    assert load("npz", npz_bomb(Path("small.npz"), samples=1_000)).devices == 1


def test_an_archive_whose_header_lies_is_refused_by_what_it_says(little_memory: Callable[[float], None]) -> None:
    header = BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (10**12, 28, 28)})
    small = BytesIO()
    np.save(small, np.zeros(4, int))
    with zipfile.ZipFile("lying.npz", "w") as archive:
        archive.writestr("images.npy", header.getvalue())
        archive.writestr("labels.npy", small.getvalue())
        archive.writestr("device.npy", small.getvalue())
    little_memory(100 * MEGABYTES)
    with pytest.raises(InputError, match=r"lying.npz: does not fit into memory \(needs about 2,352 TB"):
        load("npz", Path("lying.npz"))


def parquet(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path, compression="zstd", row_group_size=10**9)
    return path


def repeated(value: Any, count: int) -> pa.Array:
    """Return the value so often; Parquet writes it once."""
    return pa.array([value]).take(pa.array(np.zeros(count, dtype=np.int64)))


@pytest.mark.parametrize("is_struct", [False, True])
def test_an_image_that_is_repeated_is_counted_as_often_as_it_is(
    is_struct: bool, little_memory: Callable[[float], None]
) -> None:
    content = os.urandom(MEGABYTES // 2)
    image = repeated({"bytes": content} if is_struct else content, 500)
    path = parquet(Path("bomb.parquet"), image=image, writer_id=repeated("ann", 500), character=repeated(1, 500))
    assert path.stat().st_size < MEGABYTES
    little_memory(60 * MEGABYTES)
    before_bytes = pa.total_allocated_bytes()
    with pytest.raises(InputError, match=r"bomb.parquet: does not fit into memory \(needs about .* there are 60 MB\)"):
        load("parquet", path)
    assert pa.total_allocated_bytes() - before_bytes < 60 * MEGABYTES


def test_numbers_that_are_repeated_are_counted_by_the_rows(little_memory: Callable[[float], None]) -> None:
    rows = 10**7
    path = parquet(Path("bomb.parquet"), label=pa.array(np.zeros(rows, np.int64)))
    assert path.stat().st_size < MEGABYTES
    little_memory(100 * MEGABYTES)
    with pytest.raises(MemoryError, match=r"needs about 240 MB, there are 100 MB"):
        read_parquet_file(path)


def test_a_parquet_file_comes_out_as_it_went_in(little_memory: Callable[[float], None]) -> None:
    """Also row by row, as where one value might fill the memory."""
    values = {"a": [1, None, 3], "b": ["x", "y", None], "c": [[1.0], [2.0, 3.0], []], "d": [{"e": b"1"}, None, None]}
    path = parquet(Path("table.parquet"), **values)
    for available_bytes in (10 * MEGABYTES, 2_000):
        little_memory(available_bytes)
        assert read_parquet_file(path).equals(pq.read_table(path))
        assert read_parquet_file(path, ["c", "a", "nothing"]).equals(pq.read_table(path, columns=["a", "c"]))


def test_images_that_decode_to_more_than_there_is_are_refused_at_the_first(
    little_memory: Callable[[float], None],
) -> None:
    """A white picture of 2,000 x 2,000 has 4 MB of pixels, and a few kB as PNG."""
    white = png(np.full((2_000, 2_000), 255, np.uint8))
    assert len(white) < 0.05 * MEGABYTES
    columns = {"image": [white] * 20, "writer_id": ["ann"] * 20, "character": [1] * 20}
    path = parquet(Path("white.parquet"), **columns)
    little_memory(100 * MEGABYTES)
    with pytest.raises(InputError, match=r"white.parquet: does not fit into memory \(needs about 240 MB"):
        load("parquet", path)


def test_a_picture_that_declares_too_many_pixels_cannot_be_decoded() -> None:
    import struct
    import zlib

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    huge = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0))
    path = parquet(Path("huge.parquet"), image=[huge], writer_id=["ann"], character=[1])
    with pytest.raises(InputError, match="row 0: the image cannot be decoded"):
        load("parquet", path)


@pytest.mark.parametrize(
    ("content", "more"),
    [(b"[" + b"[]," * 10**6 + b"[]]", 25), (b"[" + b"{}," * 10**6 + b"{}]", 25), (b"[" + b"1.5," * 10**6 + b"1]", 7)],
    ids=["lists", "objects", "numbers"],
)
def test_json_is_counted_by_what_python_makes_of_it(
    content: bytes, more: int, little_memory: Callable[[float], None]
) -> None:
    little_memory(more * len(content))
    with pytest.raises(MemoryError, match="needs about"):
        parse_json(content)
    little_memory(150 * len(content))
    assert len(parse_json(content)) == 10**6 + 1


def test_a_leaf_file_that_would_unfold_is_refused(little_memory: Callable[[float], None]) -> None:
    Path("bomb.json").write_text('{"users": [' + "[]," * 10**6 + "[]]}")
    little_memory(50 * MEGABYTES)
    with pytest.raises(InputError, match=r"bomb.json: does not fit into memory"):
        load("leaf", Path("bomb.json"))
    little_memory(MEGABYTES)
    with pytest.raises(InputError, match=r"bomb.json: does not fit into memory \(needs about 3 MB, there are 1 MB\)"):
        load("leaf", Path("bomb.json"))


def test_a_run_of_somebody_else_that_would_unfold_is_refused(little_memory: Callable[[float], None]) -> None:
    run(tiny_scenario(rounds=1), out="run", timing_only=True)
    rows = 10**7
    columns = {"time_s": np.zeros(rows), "round": np.ones(rows, np.int64)}
    texts = {name: repeated("x", rows) for name in ("kind", "entity", "detail")}
    parquet(without_checksums(Path("run")) / "faults.parquet", **columns, **texts)
    little_memory(300 * MEGABYTES)
    with pytest.raises(InputError, match=r"faults.parquet: does not fit into memory \(needs about"):
        read_trace_table(Path("run"), "faults")
    assert "faults.parquet: does not fit into memory" in refused("trace", "run", "--format", "csv")
    Path("run/summary.json").write_text("[" + "[]," * 10**7 + "[]]")
    with pytest.raises(InputError, match=r"summary.json: does not fit into memory \(needs about"):
        open_run("run")


BAD_COLUMNS: dict[str, tuple[dict[str, Any], str]] = {
    "bytes that are numbers": ({"image": [{"bytes": 5}, {"bytes": 6}]}, "row 0: the image cannot be decoded"),
    "bytes that are lists": ({"image": [{"bytes": [1, 2]}] * 2}, "row 0: the image cannot be decoded"),
    "bytes that are text": ({"image": [{"bytes": "PNG"}] * 2}, "row 0: the image cannot be decoded"),
    "a split of lists": ({"split": [["train"], ["test"]]}, "row 0: split = ['train']: must be train or test"),
    "a split of structs": ({"split": [{"a": 1}] * 2}, "row 0: split = {'a': 1}: must be train or test"),
    "a split of numbers": ({"split": [0.0, 1.0]}, "row 0: split = 0.0: must be train or test"),
    "labels of lists": ({"character": [[1], [2]]}, "labels must be a list of whole numbers"),
    "writers of structs": ({"writer_id": [{"a": 1}] * 2}, "the writer must be whole numbers or names"),
    "writers of lists": ({"writer_id": [["a"], ["b"]]}, "the writer must be whole numbers or names"),
}


@pytest.mark.parametrize(("columns", "said"), BAD_COLUMNS.values(), ids=BAD_COLUMNS)
def test_a_column_of_another_kind_is_one_line(columns: dict[str, Any], said: str) -> None:
    white = png(np.full((28, 28), 255, np.uint8))
    good: dict[str, Any] = {"image": [white] * 2, "writer_id": ["ann"] * 2, "character": [1, 2]}
    path = parquet(Path("odd.parquet"), **(good | columns))
    with pytest.raises(InputError) as caught:
        load("parquet", path)
    assert str(caught.value).startswith(f"odd.parquet: {said}")


@pytest.mark.parametrize("name", ["summary.json", "provenance.json"])
@pytest.mark.parametrize("depth", [300, 900, 100_000])
def test_deeply_nested_json_of_a_run_is_no_traceback(depth: int, name: str) -> None:
    """Whether 300 levels can be read depends on how deep we are ourselves."""
    run(tiny_scenario(rounds=1), out="run", timing_only=True)
    content = Path("run", name).read_text().rstrip().removesuffix("}")
    Path("run", name).write_text(f'{content}, "x": {"[" * depth}{"]" * depth}}}')
    done = hfedms_sim("show", "run")
    assert done.exit_code == 0 or (done.exit_code == 2 and f"{name}: damaged" in done.stderr)
    assert depth < 100_000 or done.exit_code == 2
