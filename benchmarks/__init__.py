"""Speed, measured: `python -m benchmarks` or `make bench`."""
