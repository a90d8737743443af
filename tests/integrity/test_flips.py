"""Single bits of a run's files, flipped one at a time: every flip is noticed, and none changes what is read."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from hfedms_sim import InputError, RunResult, open_run, run, verify
from hfedms_sim.trace import TABLES
from tests.conftest import tiny_scenario

NOTHING = object()


class Flip(NamedTuple):
    path: Path
    place: int
    bit: int

    def apply(self) -> None:
        content = bytearray(self.path.read_bytes())
        content[self.place] ^= 1 << self.bit
        self.path.write_bytes(content)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "one"
    run(tiny_scenario(rounds=4, probe_round=2, targets=[0.01]), out=out)
    return out


def flips(directory: Path, count: int) -> Iterator[Flip]:
    """Give half of the flips to all files alike, half by their sizes; each part of a file gets one."""
    random = Random("flips")
    sizes = {path: path.stat().st_size for path in sorted(directory.rglob("*")) if path.is_file()}
    for path, size in sizes.items():
        share = (1 / len(sizes) + size / sum(sizes.values())) / 2
        parts = max(1, round(count * share))
        for part in range(parts):
            first, last = part * size // parts, max(part * size // parts, (part + 1) * size // parts - 1)
            yield Flip(path, random.randint(first, last), random.randrange(8))


READERS: dict[str, Callable[[RunResult], Any]] = {
    "scenario": lambda opened: opened.scenario.model_dump(mode="json"),
    "summary": lambda opened: opened.summary,
    "provenance": lambda opened: opened.provenance,
    "weights": lambda opened: {name: values.tobytes() for name, values in opened.weights().items()},
    "limits": lambda opened: opened.limits.summary(),
} | {name: lambda opened, name=name: opened.arrow(name) for name in TABLES}


def read_all(directory: Path) -> dict[str, Any]:
    """Return what a run gives, by what was asked for; `NOTHING` where that was refused."""
    opened = tried(lambda: open_run(directory))
    if opened is NOTHING:
        return dict.fromkeys(READERS, NOTHING)
    return {name: tried(lambda reader=reader: reader(opened)) for name, reader in READERS.items()}


def tried(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except InputError:
        return NOTHING


def assert_noticed(directory: Path, count: int) -> None:
    sound, refused = read_all(directory), 0
    assert NOTHING not in sound.values()
    assert verify(directory, replay=False).is_sound
    drawn = list(flips(directory, count))
    assert {flip.path for flip in drawn} == {path for path in directory.rglob("*") if path.is_file()}
    assert len(drawn) == pytest.approx(count, rel=0.1)
    for flip in drawn:
        before = flip.path.read_bytes()
        flip.apply()
        assert verify(directory, replay=False).problems, flip
        for name, value in read_all(directory).items():
            assert value is NOTHING or value == sound[name], (flip, name)
            refused += value is NOTHING
        flip.path.write_bytes(before)
    assert refused > count / 2
    assert verify(directory, replay=False).is_sound


def test_sixty_flipped_bits_are_noticed_and_none_changes_what_is_read(directory: Path) -> None:
    assert_noticed(directory, 60)


@pytest.mark.slow
def test_a_thousand_flipped_bits_are_noticed_and_none_changes_what_is_read(directory: Path) -> None:
    assert_noticed(directory, 1000)
