"""Where sensors and base stations stand, what reaches them, and at which rates."""
