"""The HFedMS paper's tables and figures as named experiments."""
