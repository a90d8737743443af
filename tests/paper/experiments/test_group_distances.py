"""How alike groups are, on the embedded data set."""

from hfedms_sim.data.glyphs.glyphs import Glyphs
from hfedms_sim.grouping import CpdKind
from hfedms_sim.paper.experiments.group_distances import WAYS, spreads_of


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
