"""Vibration of machines with healthy and damaged bearings; docs/vibration.md."""
