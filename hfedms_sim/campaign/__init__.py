"""Many runs: compare network profiles and strategies, sweep settings; each round of learning is trained once.

A campaign is a directory of ordinary run directories, its cells. All cells are timed first, without training, which
tells under which lineages each would learn. Cells that share a beginning are related: one trains it, and the others
take it from that run's lineage store. Who trains what is settled before anything is trained, so that it does not
depend on how many processes there are.
"""

from hfedms_sim.campaign.campaign import Campaign, CellResult, Options, Standing
from hfedms_sim.campaign.cells import Axes, Cell, cells_of
from hfedms_sim.campaign.comparison import Row, comparison
from hfedms_sim.campaign.workers import Workers

__all__ = [
    "Axes", "Campaign", "Cell", "CellResult", "Options", "Row", "Standing", "Workers", "cells_of", "comparison",
]  # fmt: skip
