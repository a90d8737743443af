"""Data sets of arrays, and the files they are read from."""
