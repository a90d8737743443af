"""verify: a run or a campaign, whichever a directory holds."""

from collections.abc import Callable, Iterator
from pathlib import Path

from hfedms_sim.campaign import is_campaign
from hfedms_sim.campaign.directory import MANIFEST
from hfedms_sim.errors import InputError
from hfedms_sim.integrity.campaigns import check_campaign
from hfedms_sim.integrity.checks import At, Check, OnProgress, Verification
from hfedms_sim.integrity.runs import check_run
from hfedms_sim.result import is_finished, is_run
from hfedms_sim.system.checksums import Checksums


def verify(
    directory: Path | str,
    *,
    replay: bool = True,
    on_check: Callable[[Check], None] = lambda check: None,
    on_progress: Callable[[At], None] = lambda at: None,
) -> Verification:
    """Verify that a finished run, or a campaign, holds what it held when it was written. Nothing is changed.

    Arguments:
        directory: a run directory, or a campaign's.
        replay: also play the clock again without training, and compare everything that is not learnt.
        on_check: called with each `Check` as soon as it is done; `str` of it is the line that the command prints.
        on_progress: called with how far it is: an `At`, in rounds of a run or in trials of a campaign.

    Returns:
        The `Verification`: `problems` and `notes`, a line each, and every check.

    Raises:
        InputError: there is no such directory, or it is neither a finished run nor a campaign.

    Example:

        verify("runs/quickstart-001", replay=False).problems
    """
    path = Path(directory)
    require_place(path)
    checks = list[Check]()
    for check in _checks(path, replay, on_progress):
        checks.append(check)
        on_check(check)
    return Verification(path, tuple(checks))


def require_place(path: Path) -> None:
    """Refuse what is neither a finished run nor a campaign, nor was one by its list of checksums."""
    if not path.is_dir():
        raise InputError(f"{path}: no such directory")
    if is_campaign(path) or is_finished(path):
        return
    listed = Checksums(path).listed() or {}
    if listed.keys().isdisjoint({"scenario.yaml", MANIFEST}):
        what = "not a finished run; --resume goes on with it" if is_run(path) else "neither a run nor a campaign"
        raise InputError(f"{path}: is {what}")


def _checks(path: Path, replays: bool, on_progress: OnProgress) -> Iterator[Check]:
    check = check_campaign if is_campaign(path) else check_run
    return check(path, replays=replays, on_progress=on_progress)
