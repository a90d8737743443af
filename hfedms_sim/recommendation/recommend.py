"""The whole way of a question to its answer: candidates, search, and what is left of it in a directory.

DIR/recommend.json         what was asked, and in which scenario; earlier ones are without the scenario
DIR/search/                the campaigns of the search (playing.py)
DIR/campaign.json, ...     the finalists with all seeds, an ordinary campaign
DIR/recommendation.json    the answer
DIR/recommended.yaml       the scenario of the recommended candidate, ready to run
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hfedms_sim.campaign import write_tables
from hfedms_sim.data import open_dataset
from hfedms_sim.errors import RunError
from hfedms_sim.recommendation.answer import Answer
from hfedms_sim.recommendation.budget import affordable, search_s, training_s
from hfedms_sim.recommendation.candidates import PLAIN, Candidate, Question, candidates_of
from hfedms_sim.recommendation.playing import CampaignPlayer
from hfedms_sim.recommendation.search import search
from hfedms_sim.result import read_json
from hfedms_sim.run_directory import require_marked
from hfedms_sim.scenario import Scenario, scenario_yaml
from hfedms_sim.strategies import STRATEGIES
from hfedms_sim.system.files import shipped_files, write_atomically
from hfedms_sim.units import format_seconds

ASKED, ANSWER, SCENARIO = "recommend.json", "recommendation.json", "recommended.yaml"


@dataclass(frozen=True)
class Choice:
    """What there is to choose from; `budget_s`: processor seconds that the training may take."""

    strategies: tuple[str, ...]
    profiles: tuple[str, ...]
    seeds: tuple[int, ...]
    budget_s: float | None = None


def require_place(directory: Path, question: Question, choice: Choice, *, resume: bool) -> None:
    """Refuse a directory that is not this question's, before anything is written."""
    identity, marker = _identity(question, choice), directory / ASKED
    if resume and marker.is_file() and "scenario" not in read_json(marker):  # an earlier version's
        del identity["scenario"]
    require_marked(directory, ASKED, identity, resume=resume, no="holds no recommendation", was="was asked")


def recommend(player: CampaignPlayer, choice: Choice, *, on_step: Callable[[str], None] = lambda line: None) -> Answer:
    """Search, and write what was found into the player's directory."""
    question, directory = player.question, player.directory
    candidates, refused = candidates_of(question, choice.strategies, choice.profiles)
    question.require_prices(each.radio for each in candidates)
    chance = _chance(question.base, choice.seeds[0])
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if not (directory / ASKED).exists():  # what was asked first holds
            write_atomically(directory / ASKED, _json(_identity(question, choice)))
        tried, least = _tried(question, choice, candidates)
        for line in least:
            on_step(line)
        every = question.base.evaluate_every
        found = search(player, tried, question.goal, choice.seeds, every, chance, on_step=on_step)
        radios, left_out = {each.radio for each in candidates}, len(candidates) - len(tried)
        codecs = {each: question.codec_of(each) for each in candidates}
        not_tried = (*_not_tried(choice, radios, refused, left_out), *least, *_uncompressed(codecs))
        extrapolated = tuple(player.extrapolated) if player.cost == "joules" else ()
        answer = Answer(question.goal, found, player.cost, codecs, not_tried, extrapolated)
        if answer.best is not None:
            on_step(f"the last {len(found.finalists)} once more, with all seeds: nothing is trained again")
            finished = player.finish(found)
            write_tables(finished.results, directory, finished.refusals)
            best = question.scenario(answer.best, choice.seeds[0])
            write_atomically(directory / SCENARIO, scenario_yaml(best))
        write_atomically(directory / ANSWER, _json(answer.as_json()))
    except OSError as error:
        raise RunError(f"{error.filename or directory}: cannot be written ({error.strerror or error})") from None
    return answer


def _chance(scenario: Scenario, seed: int) -> float:
    """Return how accurate it is to name the most frequent class always; 0 where nothing is tested."""
    count, types = scenario.sensors.count, scenario.sensors.types
    dataset = open_dataset(scenario.data, sensors=count, types=types, seed=seed)
    labels = np.concatenate([dataset.test_labels(sensor) for sensor in range(count)])
    return float(np.bincount(labels).max() / len(labels)) if len(labels) else 0.0


def _tried(question: Question, choice: Choice, candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[str]]:
    """Return who is searched among, and a line if even that is estimated to take more than the budget."""
    if choice.budget_s is None:
        return list(candidates), []
    whole_s = training_s(question, candidates)
    tried = affordable(candidates, whole_s, len(choice.seeds), choice.budget_s)
    least_s = search_s(tried, whole_s, len(choice.seeds))
    if least_s <= choice.budget_s:
        return tried, []
    budget = format_seconds(choice.budget_s)
    return tried, [f"One candidate of each strategy is estimated at {format_seconds(least_s)}, the budget is {budget}."]


def _not_tried(choice: Choice, radios: set[str], refused: Sequence[str], left_out: int) -> list[str]:
    """Return what the search has not looked at, a line each."""
    strategies = [name for name in STRATEGIES if name not in choice.strategies]
    profiles = [name for name in shipped_files("network_profiles") if name not in radios]
    lines = [f"Not tried: the strategies {', '.join(strategies)}."] if strategies else []
    lines += [f"Not tried: the radios {', '.join(profiles)}."] if profiles else []
    lines += [f"Not tried, because the budget does not allow it: {left_out} candidates."] if left_out else []
    return [*lines, *(f"Not possible: {line}." for line in refused)]


def _uncompressed(codecs: Mapping[Candidate, str]) -> list[str]:
    """Return a line about strategies that send plain numbers where others send fewer bytes."""
    short = {each.strategy for each, codec in codecs.items() if codec != PLAIN}
    plain = dict.fromkeys(each.strategy for each in codecs if each.strategy not in short)
    if not short or not plain:
        return []
    given = f"Not tried: fewer bytes a number for {', '.join(plain)}, as {', '.join(sorted(short))} has"
    return [f"{given}; all have them with --codec int8."]


def _identity(question: Question, choice: Choice) -> dict[str, Any]:
    asked = {
        "goal": asdict(question.goal),
        "rounds": question.rounds,
        "overrides": list(question.overrides),
        "prices": dict(question.prices),
        "codec": question.codec,
        "choice": asdict(choice),
        "scenario": _without_paths(question.base.model_dump(mode="json")),
    }
    as_written: dict[str, Any] = json.loads(json.dumps(asked))
    return as_written


def _without_paths(part: Any) -> Any:
    """Leave out where files are, so that a search can go on elsewhere; campaigns compare what is in them."""
    if isinstance(part, dict):
        return {key: _without_paths(value) for key, value in part.items() if key != "path"}
    return [_without_paths(each) for each in part] if isinstance(part, list) else part


def _json(content: Any) -> str:
    return json.dumps(content, indent=2, allow_nan=False) + "\n"
