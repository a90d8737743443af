"""A hundred kills at random moments, of run, compare, sweep and paper: whatever goes on ends the same. `make slow`.

What is killed, when, and what must hold is the soak's (soak/killing.py), at fixed seeds.
"""

from collections import Counter
from pathlib import Path
from random import Random

import pytest

from soak.commands import Surroundings
from soak.killing import killed_and_finished, killed_and_read
from soak.reading import OF_RUNS, Making, Reading
from soak.scenarios import write_scenarios
from soak.scene import Scene
from soak.subjects import SUBJECTS, Wholes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"),
]
KILLS = {"run-faulty": 30, "compare-radios": 25, "sweep-faulty": 20, "paper-forgetting": 25}
READER_KILLS = 4


@pytest.fixture
def scene(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Scene:
    cache = tmp_path_factory.getbasetemp() / "samples"
    cache.mkdir(exist_ok=True)
    write_scenarios(tmp_path / "scenarios")
    wholes = Wholes(tmp_path / "wholes", tmp_path / "scenarios", cache)
    place = Surroundings(tmp_path / "scene", cache)
    return Scene(place, tmp_path / "scenarios", wholes, Random(request.node.name))


def test_there_are_a_hundred_kills() -> None:
    assert sum(KILLS.values()) == 100
    assert {SUBJECTS[name].words[0] for name in KILLS} == {"run", "compare", "sweep", "paper"}


@pytest.mark.parametrize("subject", KILLS)
def test_a_command_that_is_killed_again_and_again_ends_with_the_same_bytes(scene: Scene, subject: str) -> None:
    """What it came to is compared inside, whenever it has come to its end; here, at what it was when it was killed."""
    try:
        phases = killed_and_finished(scene, SUBJECTS[subject], KILLS[subject])
    finally:
        scene.close()
    assert phases.total() == KILLS[subject]
    assert phases >= Counter({"starting": 2, "timing": 1, "learning": 2, "writing": 1}), phases


@pytest.mark.parametrize("making", OF_RUNS, ids=lambda making: making.name)
def test_what_is_made_of_a_run_is_there_whole_or_not_at_all_when_its_maker_is_killed(
    scene: Scene, making: Making
) -> None:
    try:
        landed = killed_and_read(scene, Reading.of(scene, making, "run-timing"), READER_KILLS)
    finally:
        scene.close()
    assert landed >= 1
