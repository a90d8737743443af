"""Joules and connected time of the sensors' radios."""
