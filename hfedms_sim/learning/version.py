"""The version of what this package makes of a round. Importing it does not load torch."""

LEARNING_VERSION = 1
"""To be raised with any change here, or to a learner of `strategies/learners`, after which the same rounds give another
model, be it in the last bit: it is part of every lineage, so finished learning is not taken for what it is no more."""
