"""Real files made worse: bytes of any file, and the trees behind YAML and JSON."""

import copy
from collections.abc import Sequence
from random import Random
from typing import Any

import yaml

from fuzz.values import hostile, scaled

Tree = Any


def mutated_bytes(random: Random, content: bytes) -> bytes:
    """Return the content with a few bits, bytes or stretches changed."""
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        place = random.randrange(len(changed) + 1)
        kind = random.randrange(6)
        if kind == 0 and changed:
            changed[min(place, len(changed) - 1)] ^= 1 << random.randrange(8)
        elif kind == 1:
            changed[place:place] = random.randbytes(random.choice((1, 4, 64)))
        elif kind == 2:
            del changed[place : place + random.choice((1, 16, 1000))]
        elif kind == 3:
            del changed[place:]
        elif kind == 4:
            changed[place:place] = changed[place // 2 : place]
        else:
            changed[place : place + 8] = random.choice((b"\xff" * 8, b"\x00" * 8, b"99999999", b"\x1b[31m##"))
    return bytes(changed)


def mutated_tree(random: Random, tree: Tree, names: Sequence[str]) -> Tree:
    """Return the tree with a few of its values, keys or items changed; `names` are keys that may be added."""
    changed = copy.deepcopy(tree)
    for _ in range(random.choice((1, 1, 2, 3))):
        _change(random, changed, names)
    return changed


def yaml_text(tree: Tree) -> str:
    """Return the tree as YAML; what YAML cannot write is written as what Python shows."""
    try:
        return str(yaml.safe_dump(tree, allow_unicode=True, sort_keys=False))
    except (yaml.YAMLError, ValueError):
        return repr(tree)


def _change(random: Random, tree: Tree, names: Sequence[str]) -> None:
    places = [place for place in _places(tree) if isinstance(place, dict | list) and (place or isinstance(place, dict))]
    if not places:
        return
    place = random.choice(places)
    kind = random.randrange(6)
    if isinstance(place, dict) and (kind == 0 or not place):
        place[random.choice(names)] = hostile(random)
        return
    key = random.choice(list(place)) if isinstance(place, dict) else random.randrange(len(place))
    if kind == 1:
        del place[key]
    elif kind == 2 and isinstance(place, list):
        place *= random.choice((2, 50))
    elif kind == 3 and isinstance(place[key], int | float):
        place[key] = scaled(random, place[key])
    else:
        place[key] = hostile(random)


def _places(tree: Tree) -> list[Tree]:
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return [tree, *(place for each in inner for place in _places(each))]
