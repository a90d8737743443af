"""Views of finished runs: functions from results to figures as plain data, which pictures and the page draw alike.

A view reads a run's tables and its summary, needs no torch, and is an `InputError` where there is nothing to show.
"""
