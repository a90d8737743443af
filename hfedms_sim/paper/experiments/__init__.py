"""The paper's tables and figures, one experiment each, and what several of them share."""
