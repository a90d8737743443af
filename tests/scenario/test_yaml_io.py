"""YAML from strangers: what it means, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.scenario.yaml_io import dump_yaml, parse_yaml, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("off", "off"),
        ("on", "on"),
        ("yes", "yes"),
        ("true", True),
        ("1e-3", 0.001),
        ("4.0e6", 4e6),
        (".5", 0.5),
        ("010", 10),
        ("0x10", 16),
        ("-3", -3),
        ("1:30", "1:30"),
        ("2026-11-16", "2026-11-16"),
        ("~", None),
        ("null", None),
        ("", None),
        (".inf", float("inf")),
        ("'3'", "3"),
        ("[1, {a: off}]", [1, {"a": "off"}]),
    ],
)
def test_scalars_mean_what_yaml_1_2_says(text: str, value: Any) -> None:
    assert parse_yaml(text, "test") == value


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join(['*' + old] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, "unfolds to more than 200,000 values"),
        ("a: &a [*a]", "an alias refers to itself"),
        ("!!python/object/apply:os.system ['true']", "the tag .*os.system. is not allowed"),
        ("!unknown x", "the tag .!unknown. is not allowed"),
        ("[" * 100_000, "nested deeper than 40 levels"),
        ("- " * 100_000 + "x", "nested deeper than 40 levels"),
        ("\n".join(" " * i + "a:" for i in range(2_000)), "nested deeper than 40 levels"),
        ("a: 1\nb: 2\na: 3", "line 3: the key 'a' stands twice"),
        ("a: [1", "line 2"),
        ("a: 1\n\tb: 2", "line 2"),
        ("9" * 5_000, "a number of more than 300 digits"),
        ("a: 1\n---\nb: 2", "expected a single document"),
        ("\x00", "characters are not allowed"),
        ("0x" + "f" * 5_000, "a number of more than 300 digits"),
        ('["]",' * 60_000, "nested deeper than 40 levels"),
        ("? " * 100_000 + "x", "nested deeper than 40 levels"),
        ("x: " + "[ #]\n" * 60_000, "nested deeper than 40 levels"),
        ("!!timestamp x", "the tag .*timestamp. is not allowed"),
        ("!!map [a]", "this is no mapping"),
        ("!!int [a]", "this is no int"),
        ("!!bool x", "this is no bool"),
        ("{[1]: 2}", "unhashable"),
        ("*nobody", "undefined alias"),
    ],
    ids=lambda text: text[:20],
)
def test_what_cannot_be_meant_is_refused_in_one_line(text: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason) as caught:
        parse_yaml(text, "test")
    assert "\n" not in str(caught.value)


def test_brackets_in_text_are_no_nesting() -> None:
    assert parse_yaml('description: "' + "[" * 100 + '"', "test") == {"description": "[" * 100}


def test_an_alias_that_stays_small_is_fine() -> None:
    assert parse_yaml("a: &x {b: 1}\nc: *x", "test") == {"a": {"b": 1}, "c": {"b": 1}}


def test_a_large_file_a_directory_a_missing_and_a_binary_file_are_named(tmp_path: Path) -> None:
    large, binary = tmp_path / "large.yaml", tmp_path / "binary.yaml"
    large.write_bytes(b"a: " + b"x" * 10_000_000)
    binary.write_bytes(b"\xff\xfe\x00")
    for path, reason in (
        (large, "larger than 1 MB"),
        (tmp_path, "is a directory"),
        (tmp_path / "missing.yaml", "no such file"),
        (binary, "not UTF-8"),
    ):
        with pytest.raises(InputError, match=reason) as caught:
            read_yaml(path)
        assert str(path) in str(caught.value)


def test_what_is_dumped_is_read_again() -> None:
    value = {"a": "off", "b": [1, 0.001, 1e-7, None, True], "c": "x: y", "d": "1e3", "e": "Käfer"}
    assert parse_yaml(dump_yaml(value), "test") == value
