"""What the contestants train is what hfedms_sim trains, and whoever trains something else is found out."""

import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import torch

from benchmarks.peers.contest import Contestant
from benchmarks.peers.making import make_workload
from benchmarks.peers.outcomes import distance, same_outcomes
from benchmarks.peers.plain import train_round
from benchmarks.peers.workload import (
    Network,
    Outcome,
    Weights,
    Workload,
    load_workload,
    save_outcome,
    save_workload,
    stored_order,
)
from hfedms_sim.learning.networks import StackNetwork as OurNetwork
from hfedms_sim.models import spec_of

ROOT = Path(__file__).parents[3]
LISTS = sorted((ROOT / "benchmarks" / "peers").glob("requirements-*.txt"))


@pytest.fixture(scope="module")
def workload() -> Workload:
    return make_workload(clients=2, samples=10)


@pytest.fixture
def path(workload: Workload, tmp_path: Path) -> Path:
    save_workload(tmp_path / "workload.npz", workload)
    return tmp_path / "workload.npz"


class Claimant:
    """Hands in what it is given."""

    name = "claimant"

    def __init__(self, weights: Weights, order: torch.Tensor) -> None:
        self._outcome = Outcome(weights, order)

    def save(self, path: Path) -> None:
        save_outcome(path, self._outcome)


def test_the_peers_network_is_ours(workload: Workload) -> None:
    theirs, ours = Network(), OurNetwork(spec_of("cnn"))
    theirs.load_state_dict(workload.start)
    ours.load(workload.start)
    assert torch.equal(theirs(workload.images[0]), ours(workload.images[0]))


def test_a_workload_is_read_as_it_was_written(workload: Workload, path: Path) -> None:
    read = load_workload(path)
    assert torch.equal(read.images, workload.images)
    assert torch.equal(read.labels, workload.labels)
    assert distance(read.start, workload.start) == 0
    assert read[3:] == workload[3:]


@pytest.mark.thorough
@pytest.mark.parametrize("module", [["benchmarks.peers.plain"], ["benchmarks.peers.ours", "generic"]])
def test_a_contestant_ends_its_round_with_the_plain_loops_model(
    module: list[str], workload: Workload, path: Path, tmp_path: Path
) -> None:
    contestant = Contestant(module[0], [sys.executable, "-m", *module], path, tmp_path / "log")
    with closing(contestant):
        assert contestant.turn().seconds > 0
        assert same_outcomes([contestant], workload, tmp_path) == [True]


def test_the_reference_follows_the_order_in_which_a_contestant_went(workload: Workload, tmp_path: Path) -> None:
    order = stored_order(workload).flip(1)
    weights = train_round(Network(), workload.start, workload, order)
    assert same_outcomes([Claimant(weights, order)], workload, tmp_path) == [True]
    assert same_outcomes([Claimant(weights, stored_order(workload))], workload, tmp_path) == [False]


def test_a_round_without_its_last_step_is_found_out(workload: Workload, tmp_path: Path) -> None:
    order = stored_order(workload)
    weights = train_round(Network(), workload.start, workload, order[:, : -workload.batch_size])
    assert same_outcomes([Claimant(weights, order)], workload, tmp_path) == [False]


def test_a_round_without_one_of_its_clients_is_found_out(workload: Workload, tmp_path: Path) -> None:
    fewer = workload._replace(images=workload.images[:-1], labels=workload.labels[:-1])
    weights = train_round(Network(), workload.start, fewer, stored_order(fewer))
    assert same_outcomes([Claimant(weights, stored_order(workload))], workload, tmp_path) == [False]


def test_a_slightly_wrong_learning_rate_is_found_out(workload: Workload, tmp_path: Path) -> None:
    wrong = workload._replace(learning_rate=workload.learning_rate * 1.05)
    weights = train_round(Network(), workload.start, wrong, stored_order(workload))
    assert same_outcomes([Claimant(weights, stored_order(workload))], workload, tmp_path) == [False]


def test_what_a_framework_prints_is_no_answer(path: Path) -> None:
    chatty = "from benchmarks.peers.rounds import Rounds; r = Rounds(); print('hello'); r.between(dict)"
    done = subprocess.run(
        [sys.executable, "-c", chatty], input="end\n", capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert re.fullmatch(r'\{"versions": \{"torch": "[^"]+"\}\}\n', done.stdout)
    assert "hello" in done.stderr


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_every_peer_has_exact_versions_and_our_torch(path: Path) -> None:
    pins = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.\[\]-]+==[\w.]+", pin) for pin in pins)
    ours = (ROOT / "constraints.txt").read_text().splitlines()
    assert [pin for pin in pins if pin.startswith("torch")] == [pin for pin in ours if pin.startswith("torch==")]


def test_there_are_three_peers() -> None:
    assert [path.stem for path in LISTS] == ["requirements-flgo", "requirements-flower", "requirements-pfl"]
