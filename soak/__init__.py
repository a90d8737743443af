"""The command line under load for hours: `python -m soak` or `make soak`."""
