"""Units: the few constants that convert between them, and how quantities are written for people."""

BITS_PER_BYTE = 8
BYTES_PER_PARAMETER = 4  # float32
SECONDS_PER_HOUR = 3600.0
TEBIBYTE = 2**40  # the paper's "TB"
TERABYTE = 10**12


def format_bytes(count: float) -> str:
    """Decimal units, as network engineers count: 26751336 -> '26.8 MB'."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(count) < 1000 or unit == "TB":
            return (
                f"{count:.0f} B" if unit == "B" else f"{count:.3g} {unit}" if count < 1000 else f"{count:,.0f} {unit}"
            )
        count /= 1000
    raise AssertionError("unreachable")


def format_seconds(seconds: float) -> str:
    """The two largest units that matter: 8642.5 -> '2 h 24 min'."""
    if seconds < 1:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    if seconds < 3600:
        return _two_units(seconds, 60, "min", 1, "s")
    if seconds < 86400:
        return _two_units(seconds, 3600, "h", 60, "min")
    return _two_units(seconds, 86400, "d", 3600, "h")


def _two_units(seconds: float, large_s: int, large: str, small_s: int, small: str) -> str:
    whole, rest = divmod(round(seconds / small_s), large_s // small_s)
    return f"{whole:,} {large} {rest} {small}"


def format_bps(rate_bps: float) -> str:
    for factor, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if rate_bps >= factor:
            return f"{rate_bps / factor:g} {unit}"
    return f"{rate_bps:g} bit/s"
