"""How each kind of panel is drawn on a matplotlib axes; figures.py puts panels together."""
