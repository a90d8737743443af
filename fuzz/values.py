"""Values that somebody might write into a file or on a command line, by mistake or on purpose."""

import sys
from random import Random
from typing import Any

NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 7, 100, 1_000_000, 10**9, 2**31, 2**53 + 1, 2**63, 10**30, 10**400, 0.0, -0.0, 0.1, 0.5, 0.999999,
    0.9999999999, 1.0000001, 1e-9, 1e-300, 5e-324, 1e9, 1e15, 1e300, 1e308, -1e308, float("inf"), float("-inf"),
    float("nan"), True, False,
)  # fmt: skip
TEXTS: tuple[str, ...] = (
    "", " ", "x", "null", "1e9999999", "0x10", "1_000", "²", "\U0001d7d9", "-", "--help", "a,b", "a:b:c", "1:9:0",
    "5:1", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b31m", "\u202eevil", "line\nbreak", "tab\tbed", "\x00", "\x7f",
    "[/b]", "[bold]x[/bold]", "[/]", "$x_{$", "\\frac{", "%s", "{0}", "../../x", "/etc/passwd", "~", ".", "..", "CON",
    "<script>alert(1)</script>", "'; drop", "=cmd()", "é" * 300, "x" * 5000, "\ud800", "2001-01-01", "!!python/name:os",
)  # fmt: skip
NAMES = ("fedavg", "hfedms-d", "lte-cat-m2", "lorawan-eu868-sf7", "ethernet", "cnn", "glyphs", "npz", "quickstart")


def hostile(random: Random, depth: int = 2) -> Any:
    """Return a value of any kind, lists and mappings of such values included."""
    kind = random.randrange(10 if depth else 8)
    if kind < 4:
        return random.choice(NUMBERS)
    if kind < 7:
        return random.choice(TEXTS)
    if kind == 7:
        return random.choice((None, *NAMES))
    if kind == 8:
        return [hostile(random, depth - 1) for _ in range(random.choice((0, 1, 2, 5)))]
    return {str(hostile(random, 0)): hostile(random, depth - 1) for _ in range(random.randrange(3))}


def scaled(random: Random, number: float) -> float:
    """Return a number of another size, or the same with the other sign."""
    if abs(number) > sys.float_info.max:  # a whole number of many digits
        return -number
    return random.choice((number * 10.0 ** random.randint(-12, 12), -number, number + 1, number * 0.999))


def hostile_word(random: Random) -> str:
    """Return a word for a command line, which cannot hold a zero byte or half a character."""
    value = hostile(random, 0)
    text = str(value) if not isinstance(value, str) else value
    return text.replace("\x00", "0").encode("utf-8", "replace").decode()
