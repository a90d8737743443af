"""The HFedMS paper's tables and figures as named experiments: published figures beside ours, and its claims judged.

Each experiment is a campaign in a directory of its own (conduct.py). Published figures are in published.py, sizes in
scales.py, the two readings of the paper in readings.py.
"""
