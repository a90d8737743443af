"""Rows of a CSV file a stranger wrote, or one line that says where it is wrong.

UTF-8, with or without a spreadsheet's byte order mark; the header as given; blank lines are passed over. A row that
its reader refuses with a ValueError becomes an InputError that names file and line.
"""

import csv
import math
from collections.abc import Callable
from io import StringIO
from pathlib import Path

from hfedms_sim.errors import InputError, quoted


def read_rows(path: Path, header: list[str], take: Callable[[list[str]], None]) -> str:
    """Gives every row, which has as many values as the header, to `take`. Returns how errors call the file."""
    name = str(path) if str(path).isprintable() else repr(str(path))
    reader = csv.reader(StringIO(_text(path, name), newline=""), strict=True, skipinitialspace=True)
    try:
        _check_header(next(reader, None), header)
        for row in reader:
            if row:
                if len(row) != len(header):
                    raise ValueError(
                        f"row = {quoted(','.join(row))}: must have {len(header)} values, {','.join(header)}"
                    )
                take(row)
    except (ValueError, csv.Error) as error:
        raise InputError(f"{name}, line {max(1, reader.line_num)}: {error}") from None
    return name


def sensor_of(text: str, sensors: int) -> int:
    digits = text.strip()
    # The length first: Python refuses to read thousands of digits.
    if len(digits) < 19 and digits.isascii() and digits.isdigit() and (sensor := int(digits)) < sensors:
        return sensor
    raise ValueError(f"sensor = {quoted(text)}: must be a whole number from 0 to {sensors - 1}")


def number_of(key: str, text: str, largest: float, allowed: str) -> float:
    """A number from 0 to `largest`; `allowed` says so in words."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= largest or value == math.inf or "_" in text:
        raise ValueError(f"{key} = {quoted(text)}: must be {allowed}")
    return value


def _text(path: Path, name: str) -> str:
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{name}: is a directory or a device, not a CSV file")
        content = path.read_bytes()
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name}, line {line}: byte {content[error.start]:#x} is not UTF-8 text") from None
    except (OSError, ValueError) as error:  # ValueError: a path no file can have
        raise InputError(f"{name}: cannot be read ({getattr(error, 'strerror', None) or error})") from None


def _check_header(row: list[str] | None, header: list[str]) -> None:
    if row is None or [column.strip() for column in row] != header:
        raise ValueError(f"header = {quoted(','.join(row or []))}: must be {','.join(header)}")
