"""Commands that do not fit into cli.py, and what commands share."""
