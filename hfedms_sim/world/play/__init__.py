"""A round as steps on the clock: reports, chains, scattering, and how each kind of round puts them together."""
