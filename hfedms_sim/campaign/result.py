"""CampaignResult: the trials of a campaign as tables and as runs.

Tables are read from the campaign's CSV files, so that they have the very columns and figures of these.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from weakref import finalize

import numpy as np
import pandas as pd
import pyarrow as pa

from hfedms_sim.campaign.comparison import END, Row, comparison
from hfedms_sim.campaign.finished import finished_trials
from hfedms_sim.errors import InputError
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import open_run
from hfedms_sim.system.checksums import Checksums

_TEXTS = (
    "trial",
    "profile",
    "strategy",
    "target",
    "stopped",
    "stopped_detail",
    "refused",
    "lineage",
    "limited_by",
    "reason",
    "phase",
)


@dataclass(frozen=True, repr=False)
class CampaignResult:
    """What `compare` and `sweep` return: pandas DataFrames, read when first asked for, and the runs behind them.

    What tells trials apart are the columns profile, strategy, one for each key of a grid, and seed.
    """

    directory: Path
    """The campaign's directory. A temporary one is removed together with the result."""
    played: Sequence[str]
    """The names of the trials that were played, in their order; the others were refused."""
    is_temporary: bool = False

    def __post_init__(self) -> None:
        if self.is_temporary:
            finalize(self, shutil.rmtree, self.directory.parent, ignore_errors=True)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """One row a trial, at its end: accuracy, round, simulated_s, bytes, energy_j, ... The columns of trials.csv.

        A trial that the simulator refuses has a row without figures, and the reason in `refused`.
        """
        return self._of_trials[self._of_trials["target"] == END].reset_index(drop=True)

    @cached_property
    def targets(self) -> pd.DataFrame:
        """One row for each trial and target accuracy: what it took to get there; without figures where it did not."""
        rows = self._of_trials[self._of_trials["target"] != END].reset_index(drop=True)
        return rows.assign(target=rows["target"].astype(float))

    @cached_property
    def comparison(self) -> pd.DataFrame:
        """One row for each variant and target, and one for its end: means over seeds, intervals, paired differences."""
        return self._table("comparison")

    def rows(self) -> list[Row]:
        """Return the rows of the table that `hfedms-sim compare` prints: each variant and target, with intervals."""
        return comparison(*finished_trials(self.directory))

    @cached_property
    def rounds(self) -> pd.DataFrame:
        """All rounds of all trials: a run's table `rounds`, after the columns that tell trials apart."""
        tables = [open_run(self._path_of(name)).arrow("rounds") for name in self.played]
        trials = self.trials.set_index("trial", drop=False).loc[list(self.played)]
        telling = trials.iloc[:, : list(trials).index("seed") + 1]
        repeated = telling.iloc[np.repeat(np.arange(len(tables)), [table.num_rows for table in tables])]
        rounds = pa.concat_tables(tables).to_pandas() if tables else pd.DataFrame()
        return pd.concat([repeated.reset_index(drop=True), rounds], axis=1)

    def runs(self) -> dict[str, RunResult]:
        """Return the runs by the names of their trials, in their order.

        Runs of a temporary directory are read into memory, so that they outlive this result.

            {name: run.time_to_accuracy(0.5) for name, run in result.runs().items()}
        """
        opened = {name: open_run(self._path_of(name)) for name in self.played}
        return {name: run.in_memory() for name, run in opened.items()} if self.is_temporary else opened

    def _path_of(self, name: str) -> Path:
        return self.directory / "trials" / name

    @cached_property
    def _of_trials(self) -> pd.DataFrame:
        return self._table("trials")

    def _table(self, name: str) -> pd.DataFrame:
        path = self.directory / f"{name}.csv"
        Checksums(self.directory).require(path.name)
        if not path.is_file():
            raise InputError(f"{path}: is missing, the campaign is not finished or has no such table")
        return pd.read_csv(
            path,
            dtype=dict.fromkeys(_TEXTS, str),
            float_precision="round_trip",
            keep_default_na=False,
            na_values=[""],
        )

    def __repr__(self) -> str:
        refused = len(self.trials) - len(self.played)
        where = "a temporary directory" if self.is_temporary else str(self.directory)
        return f"CampaignResult({len(self.played)} trials{f', {refused} refused' if refused else ''}, in {where})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the table of trials."""
        return self.trials.to_html(max_rows=20, index=False)


def open_campaign(directory: Path | str) -> CampaignResult:
    """Return a finished campaign as it was left in its directory. Tables and runs are read when they are asked for.

    Arguments:
        directory: what `compare(..., out=directory)` or the command line has made, such as `runs/radios`.

    Returns:
        The `CampaignResult` that `compare` or `sweep` has returned.

    Raises:
        InputError: there is no campaign, it is not finished, or a file is damaged.

    Example:

        open_campaign("runs/radios").comparison
    """
    path = Path(directory)
    return CampaignResult(path, tuple(result.trial.name for result in finished_trials(path).results))
