"""Reading YAML that a stranger wrote, and writing YAML that a stranger reads.

Safe loading, with the scalars of YAML 1.2: `off` is a word, not false; `1e-3` is a number; `010` is ten. Refused in
one line: files over 1 MB, aliases that unfold into a flood or into themselves, deep nesting, duplicate keys, tags
of other programs.
"""

import math
import re
from pathlib import Path
from typing import Any, ClassVar

import yaml

from hfedms_sim.errors import InputError

MAX_BYTES = 1_000_000
MAX_NODES = 200_000
MAX_DEPTH = 40
MAX_DIGITS = 300

_BaseLoader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BaseLoader):  # type: ignore[misc]
    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


class _Dumper(yaml.SafeDumper):
    """Quotes what either YAML would take for something else than text."""


def _construct_bool(loader: Any, node: yaml.ScalarNode) -> bool:
    return str(_matching(node, "bool")).lower() == "true"


def _construct_int(loader: Any, node: yaml.ScalarNode) -> int:
    text = _matching(node, "int")
    if len(text) > MAX_DIGITS:
        raise _fault(f"a number of more than {MAX_DIGITS} digits", node)
    return int(text, {"0x": 16, "0o": 8}.get(text[:2], 10))


def _construct_float(loader: Any, node: yaml.ScalarNode) -> float:
    text = _matching(node, "float").lower()
    if text.endswith(".nan"):
        return math.nan
    return float(text.replace(".inf", "inf"))


def _matching(node: yaml.Node, kind: str) -> str:
    """The text of a scalar, which an explicit tag may have called what it is not."""
    if not isinstance(node, yaml.ScalarNode) or not _PATTERNS[kind].match(node.value):
        raise _fault(f"this is no {kind}", node)
    return str(node.value)


def _fault(problem: str, node: yaml.Node) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _construct_mapping(loader: Any, node: yaml.MappingNode) -> dict[Any, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise _fault("this is no mapping", node)
    seen: set[str] = set()
    for key, _ in node.value:
        if isinstance(key, yaml.ScalarNode):
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key.value}' stands twice", key.start_mark
                )
            seen.add(key.value)
    mapping: dict[Any, Any] = loader.construct_mapping(node, deep=True)
    return mapping


def _refuse_tag(loader: Any, node: yaml.Node) -> None:
    raise _fault(f"the tag '{node.tag}' is not allowed", node)


_SCALARS = (
    ("null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    ("bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    ("int", re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"), list("-+0123456789")),
    (
        "float",
        re.compile(
            r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list("-+0123456789."),
    ),
)
_PATTERNS = {tag: pattern for tag, pattern, _ in _SCALARS}
for _tag, _pattern, _first in _SCALARS:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, _first)
    _Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", _pattern, _first)
_Loader.add_constructor("tag:yaml.org,2002:bool", _construct_bool)
_Loader.add_constructor("tag:yaml.org,2002:int", _construct_int)
_Loader.add_constructor("tag:yaml.org,2002:float", _construct_float)
_Loader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)
for _foreign in (None, *(f"tag:yaml.org,2002:{name}" for name in ("binary", "timestamp", "omap", "pairs", "set"))):
    _Loader.add_constructor(_foreign, _refuse_tag)


def read_yaml(path: Path) -> Any:
    """The content of a YAML file, or an InputError that names the file."""
    try:
        if path.is_dir():
            raise InputError(f"{path}: is a directory, not a YAML file")
        if path.exists() and not path.is_file():
            raise InputError(f"{path}: is no regular file")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError:
        raise InputError(f"{str(path)!a}: is no file name") from None
    if len(content) > MAX_BYTES:
        raise InputError(f"{path}: larger than {MAX_BYTES // 1_000_000} MB; that is no scenario or profile")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text") from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, label: str) -> Any:
    """YAML text as plain Python values. `label` says in errors where the text came from."""
    try:
        _refuse_deep_nesting(text, label)
        loader = _Loader(text)
    except (yaml.YAMLError, UnicodeError) as error:
        raise InputError(f"{label}: {_one_line(error)}") from None
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        if _unfolded_size(node, {}, label) > MAX_NODES:
            raise InputError(f"{label}: unfolds to more than {MAX_NODES:,} values")
        return loader.construct_document(node)
    except yaml.YAMLError as error:
        raise InputError(f"{label}: {_one_line(error)}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{label}: {str(error).splitlines()[0]}") from None
    finally:
        loader.dispose()


def dump_yaml(value: Any) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def _refuse_deep_nesting(text: str, label: str) -> None:
    """Before composing, which recurses in C: the parser's events do not."""
    depth = 0
    for event in yaml.parse(text, Loader=_BaseLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise InputError(f"{label}: nested deeper than {MAX_DEPTH} levels")


def _unfolded_size(node: yaml.Node, known: dict[int, int], label: str) -> int:
    """Values the document would have with every alias written out; aliases make `known` nodes recur."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    key = id(node)
    if known.get(key) == 0:
        raise InputError(f"{label}: an alias refers to itself")
    if key not in known:
        known[key] = 0
        children = node.value if isinstance(node, yaml.SequenceNode) else [part for pair in node.value for part in pair]
        known[key] = 1 + sum(_unfolded_size(child, known, label) for child in children)
    return known[key]


def _one_line(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}: " if mark else ""
        what = ", ".join(part for part in (error.context, error.problem) if part)
        return f"{where}{what}".replace("\n", " ")
    return " ".join(str(error).split())
