"""Everything that can be looked at in one run directory."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.integrity.checks import At, Check, OnProgress, check_files, has_problem, note, ok, problem
from hfedms_sim.integrity.content import Content, check_tables, read_content
from hfedms_sim.integrity.learnt import check_learning
from hfedms_sim.integrity.replay import Replay, other_versions, replay, unlike_summaries, unlike_tables
from hfedms_sim.lineage.teachers import ROOT, root_settings
from hfedms_sim.result import differences
from hfedms_sim.rounds import lineage_root
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import Parts, open_run, parts_of
from hfedms_sim.simulation.engines import Computing
from hfedms_sim.simulation.opening import require_outside_parts
from hfedms_sim.simulation.output import files_of_run
from hfedms_sim.simulation.session import lineage_settings
from hfedms_sim.system.checksums import SUMS
from hfedms_sim.trace import TABLES

_MOST_SAID = 3
_MACHINE = ("engine", "threads", "device", "instruction_set", "torch", "learning_version")
_PARTS = ("data", "module", "outside_code", "outside_model", "outside_data")
"""Settings of a lineage that say on what it was trained, and with which data and whose code."""


def check_run(directory: Path, *, replays: bool, on_progress: OnProgress = lambda at: None) -> Iterator[Check]:
    """Look at all of a run; where files are damaged, at no more than these."""
    files = list(check_files(directory, files_of_run(directory)))
    yield from files
    if has_problem(files):
        return
    try:
        content = read_content(directory)
    except InputError as error:
        yield problem(str(error))
        return
    yield from check_tables(content)
    if content.is_trained:
        yield from check_learning(content)
    try:
        scenario = open_run(directory).scenario
    except InputError as error:
        yield _unknown_scenario(directory, error)
        return
    if replays:
        yield _check_replay(content, scenario, on_progress)


def _unknown_scenario(directory: Path, error: InputError) -> Check:
    """Return what it means that a scenario cannot be loaded: it is damaged, unless it is as it was or needs a part."""
    if (directory / SUMS).is_file():
        return note(f"{directory}: cannot be replayed here: {error}")
    try:
        require_outside_parts(directory)
    except InputError as needed:
        return note(f"{directory}: cannot be replayed here: {needed}")
    return problem(str(error))


def _check_replay(content: Content, scenario: Scenario, on_progress: OnProgress) -> Check:
    """Play a run again, if it can be played here as it was, and say where that differs."""
    directory, lineages = content.directory, content.rounds("lineage")
    if not lineages:
        return note(f"{directory}: has no round to replay")
    root = _root(content)
    try:
        parts = parts_of(scenario)
        others = _other_settings(root, scenario, parts)
        if others:
            return disagreement(f"{directory}: its scenario is not what was trained", others, content.provenance)
        again = replay(
            scenario,
            parts,
            len(lineages),
            lambda progress: on_progress(At(progress.round, len(lineages), "rounds")),
            before=[None if root is None else lineage_root(root), *lineages[:-1]],
        )
    except (InputError, RunError) as error:
        return note(f"{directory}: cannot be replayed here: {error}")
    unlike = list(_unlike(content, again, is_rooted=root is not None))
    if unlike:
        return disagreement(f"{directory}: a replay does not agree", unlike, content.provenance)
    return ok(f"{directory}: {len(lineages)} rounds replayed, tables, lineage and summary are the same")


def disagreement(what: str, unlike: list[str], provenance: Any) -> Check:
    """Return that something computed again is not the same; other versions of packages may be why."""
    more = [f"{len(unlike) - _MOST_SAID} more"] if len(unlike) > _MOST_SAID else []
    line = f"{what}: {'; '.join([*unlike[:_MOST_SAID], *more])}"
    versions = other_versions(provenance)
    return note(f"{line}; it was made with {versions}, which may be why") if versions else problem(line)


def _root(content: Content) -> dict[str, Any] | None:
    """Return the settings that the lineages of a trained run start from; None of a run that was only timed."""
    settings = root_settings(content.learning / ROOT) if content.is_trained else None
    return settings if isinstance(settings, dict) else None


def _other_settings(root: dict[str, Any] | None, scenario: Scenario, parts: Parts) -> list[str]:
    """Return in which settings a scenario is not the one that the store was trained with, whatever the machine.

    Data and code that are not what they were are refused: of course they would play otherwise.
    """
    if root is None:
        return []
    now = lineage_settings(scenario, parts, Computing.of(scenario, parts.model, threads=1, device="cpu"))
    found = list(differences(root, json.loads(json.dumps(now))))
    deciding = [(key, was, here) for key, was, here in found if key.partition(".")[0] not in (*_MACHINE, *_PARTS)]
    if deciding:
        return [f"{key} was {was!r:.40}, is {here!r:.40}" for key, was, here in deciding]
    for key, was, here in found:
        if key.partition(".")[0] in _PARTS:
            raise InputError(f"its data or code have changed since ({key} was {was!r:.40}, is {here!r:.40})")
    return []


def _unlike(content: Content, again: Replay, *, is_rooted: bool) -> Iterator[str]:
    """Return where a run and its replay differ. Without a root, the lineage of the first round names this machine."""
    yield from unlike_tables(_written(content), again.tables)
    pairs = list(zip(content.rounds("round"), content.rounds("lineage"), again.links, strict=False))
    for number, lineage, link in pairs if is_rooted else pairs[1:]:
        if lineage != link:
            yield f"the lineage of round {number} does not follow from what happened in it"
            break
    yield from unlike_summaries(content.summary, again.summary)


def _written(content: Content) -> dict[str, pa.Table]:
    """Return the tables with the columns that are in their files: an earlier version may have had fewer."""
    found: dict[str, pa.Table] = {}
    for name, table in content.tables.items():
        path, former = content.directory / f"{name}.parquet", TABLES[name].former_names
        if path.is_file():
            written = set(pq.read_schema(path).names)
            kept = [each for each in table.column_names if each in written or former.get(each) in written]
            found[name] = table.select(kept)
    return found
