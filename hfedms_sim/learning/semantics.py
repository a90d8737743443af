"""Semantic compression and compensation (SCC): what a sensor remembers, as tensors. HFedMS, section on SCC.

A memory holds up to Q semantic vectors z with their labels, in the space of some extractor phi_bak. When a sensor
takes part again, the extractor has moved on to phi. Compensation estimates the drift on its new batch,

    Delta_c = mean of h(x; phi) - mean of h(x; phi_bak)  over the samples of class c,

and adds it to every stored vector of class c. Storage takes the old vectors and all those of the cycle as
candidates and keeps the Q that are nearest the mean of their class.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from hfedms_sim.learning.networks import Weights

_TIE_DECIMALS = 9


class Semantics(NamedTuple):
    vectors: Tensor
    labels: Tensor


@dataclass(frozen=True, slots=True)
class Memory:
    """`extractor` is the one whose space the vectors are in: shared by reference between sensors, never copied."""

    vectors: Tensor
    labels: Tensor
    extractor: Weights


def drift(
    new: Tensor,
    old: Tensor,
    labels: Tensor,
    stored_labels: Tensor,
    *,
    per_class: bool = True,
    absent_class: Literal["batch-mean", "zero"] = "batch-mean",
) -> Tensor:
    """What to add to each stored vector. `new` and `old` are the batch's vectors in the two spaces."""
    moved = new - old
    overall = moved.mean(dim=0)
    if not per_class:
        return overall.expand(len(stored_labels), -1)
    absent = overall if absent_class == "batch-mean" else torch.zeros_like(overall)
    of_class = absent.repeat(1 + int(torch.cat([labels, stored_labels]).max()), 1)
    for label in labels.unique().tolist():
        of_class[label] = moved[labels == label].mean(dim=0)
    return of_class[stored_labels]


def nearest_to_class_mean(
    vectors: Tensor,
    labels: Tensor,
    capacity: int,
    *,
    rule: Literal["overall", "per-class"] = "overall",
    reference: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """Which candidates stay, in their order, which is by age; among equals the older ones do.

    Means are over the candidates of a class; with a `reference` batch (vectors, labels), over its vectors of the
    class where it has any. `per-class` gives every class the same number of places as far as it can fill them.
    """
    distance = _distance_to_class_mean(vectors.double(), labels, reference)
    if rule == "per-class":
        rank = torch.empty_like(labels)
        for label in labels.unique().tolist():
            members = (labels == label).nonzero().flatten()
            rank[members[distance[members].argsort(stable=True)]] = torch.arange(len(members))
        by_distance = distance.argsort(stable=True)
        order = by_distance[rank[by_distance].argsort(stable=True)]
    else:
        order = distance.argsort(stable=True)
    kept: Tensor = order[:capacity].sort().values
    return kept


def _distance_to_class_mean(vectors: Tensor, labels: Tensor, reference: tuple[Tensor, Tensor] | None) -> Tensor:
    """Rounded, so that equals are equal: the two vectors of a class of two are as far from its mean as each other."""
    means = torch.empty_like(vectors)
    for label in labels.unique().tolist():
        own = labels == label
        means[own] = vectors[own].mean(dim=0)
        if reference is not None and (reference[1] == label).any():
            means[own] = reference[0][reference[1] == label].double().mean(dim=0)
    distance: Tensor = (vectors - means).norm(dim=1)
    return distance.round(decimals=_TIE_DECIMALS)
