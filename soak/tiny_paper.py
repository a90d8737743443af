"""The command line with a scale of the paper's experiments that takes seconds: `python -m soak.tiny_paper paper NAME`.

It is the scale smoke with fewer sensors and rounds and the smallest network. What experiments find at it means nothing,
but everything is played and written that the others are.
"""

from dataclasses import replace

from hfedms_sim.cli import main
from hfedms_sim.paper.scales import SCALES

if __name__ == "__main__":
    SCALES["smoke"] = replace(SCALES["smoke"], rounds=12, sensors=20, model="tiny-mlp", evaluate_every=3)
    main(prog_name="hfedms-sim")
