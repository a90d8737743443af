"""Text that somebody else wrote (names of files, descriptions, runs of others), made fit to be shown.

Some signs are not shown but obeyed: control characters move a terminal's cursor, colour it, rename its window or paste
into it; marks for text that runs from right to left make `exe.gnp` of a name's end; lone surrogates, which Python makes
of file names that are no text, cannot be written at all. Each of them becomes a replacement character, one for one.
"""

from typing import Any

_UNKNOWN_SIGN = "\N{REPLACEMENT CHARACTER}"
_LAYOUT = "\n\t"
_CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]  # C0, delete, C1
_LINE_ENDS = [0x2028, 0x2029]
_DIRECTIONS = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_SURROGATES = range(0xD800, 0xE000)
_OBEYED = dict.fromkeys((*_CONTROLS, *_LINE_ENDS, *_DIRECTIONS, *_SURROGATES), _UNKNOWN_SIGN)
_OBEYED |= {ord(sign): sign for sign in _LAYOUT}


def printable(text: str) -> str:
    """Return the text with every sign replaced that would be obeyed instead of shown. Lines and tabs stay."""
    return text if text.isprintable() else text.translate(_OBEYED)


def is_printable(text: str) -> bool:
    """Return whether a text has nothing in it that would be obeyed instead of shown."""
    return printable(text) == text


def all_printable(value: Any) -> Any:
    """Return a value of JSON with every text in it made printable, keys too."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {all_printable(key): all_printable(own) for key, own in value.items()}
    return [all_printable(own) for own in value] if isinstance(value, list) else value
