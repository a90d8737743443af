"""Whether a finished run, or a campaign, still holds what it held: the data behind `hfedms-sim verify`.

Its files are compared with their checksums, its tables with its summary and with what the store says was learnt, and
everything that does not depend on learning with a replay. Nothing is printed here and nothing is written.
"""

from hfedms_sim.integrity.checks import At, Check, Verification
from hfedms_sim.integrity.verifying import verify

__all__ = ["At", "Check", "Verification", "verify"]
