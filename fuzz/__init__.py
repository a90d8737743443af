"""Hostile input, thousands of times over: every entry point of the command line must succeed or refuse in one line.

    python -m fuzz --cases 20000 --processes 500 --seed 1

A case is a command and the files that it is given, made of real ones (shipped scenarios and profiles, data, runs and
campaigns) by mutation. It is a function of the seed, the entry point and a number, so that one that fails can be played
again alone: `python -m fuzz --only ENTRY/NUMBER --seed 1`. What is asked of every outcome is in judging.py.
"""
