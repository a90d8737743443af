"""How alike groups are, on the embedded data set, and what the experiment makes of a data set of one's own."""

from pathlib import Path

from hfedms_sim.data.glyphs.glyphs import Glyphs
from hfedms_sim.grouping import CpdKind
from hfedms_sim.paper.experiments.group_distances import WAYS, spreads_of
from hfedms_sim.paper.experiments.grouping import GROUPING
from hfedms_sim.paper.scales import SCALES
from hfedms_sim.paper.study import Study
from tests.data.formats import raw_samples, write
from tests.paper.made_up import results


def test_on_glyphs_matched_beats_icg_beats_random_beats_single_sensors() -> None:
    spreads = spreads_of(Glyphs(seed=1, devices=368, types=10), groups=(10,))
    assert [spread.way for spread in spreads] == list(WAYS)
    kinds: tuple[CpdKind, ...] = ("onehot", "entries")
    for kind in kinds:
        single, random, icg, matched = (spread.median(kind) for spread in spreads)
        assert matched < icg < random < single
    assert spreads[3].objective < spreads[2].objective < spreads[1].objective


def test_each_seed_has_a_median_of_its_own() -> None:
    (spread, *_) = spreads_of(Glyphs(seed=1, devices=20, types=2), groups=(4,), seeds=3)
    medians = spread.seed_medians("onehot")
    assert len(medians) == 3
    assert min(medians) <= spread.median("onehot") <= max(medians)


def test_published_ratios_stand_beside_those_of_a_file(tmp_path: Path) -> None:
    data = write("npz", raw_samples(devices=20, samples=1200), tmp_path)
    here = Study(SCALES["smoke"], data=data)
    outcome = GROUPING.outcome(here, results(GROUPING, here))
    (table,) = outcome.tables
    assert "20 devices of " in table.note
    assert [(row[0], row[1]) for row in table.rows] == [
        (10, "single sensors"), (10, "random groups"), (10, "ICG"), (10, "ICG, matched")
    ]  # fmt: skip
    ratios = {name: [row[number] for row in table.rows] for number, name in enumerate(table.header)}
    assert ratios["onehot, to sensors"][0] == 1
    assert ratios["to sensors, published"] == [None, 0.625, 0.25, None]  # 0.25 / 0.40: the paper names two of the three
    assert ratios["to random, published"] == [None, None, 0.4, None]
    (claim,) = outcome.claims
    assert claim.name == "Q6"
    assert [len(part.values) for part in claim.parts] == [6, 6, 6, 6]
    assert [part.shown.split(", ")[1] for part in claim.parts] == 2 * ["published 0.4", "published 0.625"]
    (figure,) = outcome.figures
    assert [panel.title for panel in figure.panels] == [
        "10 groups: classes as one-hot points", "10 groups: probabilities as samples"
    ]  # fmt: skip
