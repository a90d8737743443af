"""Outside numbers beside ours: rows of data, each with the run that reproduces it; docs/validation.md."""
