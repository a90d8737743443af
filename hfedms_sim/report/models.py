"""Networks, for people: layer by layer, with what each costs on the air (parameters) and in the processor."""

from collections.abc import Iterator
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hfedms_sim.scenario import MODELS
from hfedms_sim.scenario.models import Layer, ModelSpec
from hfedms_sim.units import BYTES_PER_PARAMETER

IMAGE_SIDE_PIXELS = 28
_POOLING = 2  # a convolution is followed by a 2x2 max-pool, which halves its sides
_SHIPPED = {
    "cnn": "the HFedMS paper's network",
    "small-cnn": "the same kind, a hundredth of the size; the quickstart's",
    "mlp": "dense layers only",
    "tiny-mlp": "one hidden layer, for tests",
}


class LayerRow(NamedTuple):
    """A layer of a network. `output_shape` is what the next layer gets, after ReLU and pooling."""

    layer: str
    output_shape: str
    parameters: int
    multiply_adds: int


def layer_rows(model: ModelSpec) -> Iterator[LayerRow]:
    """Return the layers from the image to the classes; those without parameters are part of the one before them."""
    convolutions = dense = 0
    for layer in model.extractor:
        if layer.kernel > 1:
            convolutions += 1
            size = f"{layer.kernel}x{layer.kernel}"
            yield _row(layer, f"convolution {convolutions} ({size}, ReLU, 2x2 max-pool)", layer.side // _POOLING)
        else:
            dense += 1
            yield _row(layer, f"dense {dense} (ReLU)")
    yield _row(model.classifier, "classifier (dense)")


def _row(layer: Layer, name: str, side: int = 0) -> LayerRow:
    shape = f"{layer.outputs} x {side} x {side}" if side else f"{layer.outputs}"
    return LayerRow(name, shape, layer.parameters, layer.multiply_adds)


def show_model(name: str) -> RenderableType:
    """Return the network's layers, totals and the split into extractor and classifier."""
    model = MODELS[name]
    table = Table(show_footer=True)
    totals = ("", "", f"{model.parameters:,}", "100%", f"{model.multiply_adds:,}")
    headings = ("layer", "output shape", "parameters", "share", "multiply-adds")
    for index, (heading, total) in enumerate(zip(headings, ("total", *totals[1:]), strict=True)):
        table.add_column(heading, footer=total, justify="left" if index < 2 else "right")
    image = f"1 x {IMAGE_SIDE_PIXELS} x {IMAGE_SIDE_PIXELS}"
    table.add_row("image", image, "0", "0%", "0")
    for row in layer_rows(model):
        share = f"{row.parameters / model.parameters:.3%}"
        table.add_row(row.layer, row.output_shape, f"{row.parameters:,}", share, f"{row.multiply_adds:,}")
    return Group(Text(f"{name}: {_SHIPPED[name]}", style="bold"), table, _split(model))


def _split(model: ModelSpec) -> Table:
    """Return the parts that a full and a calibration round send. Multiply-adds are of one sample, forward."""
    table = Table()
    for heading in ("part", "parameters", "per mille", "bytes", "multiply-adds"):
        table.add_column(heading, justify="left" if heading == "part" else "right")
    parts = {
        "extractor": (model.extractor_parameters, model.extractor_multiply_adds),
        "classifier": (model.classifier_parameters, model.classifier_multiply_adds),
        "model": (model.parameters, model.multiply_adds),
    }
    for part, (parameters, multiply_adds) in parts.items():
        per_mille = f"{1000 * parameters / model.parameters:.3f}"
        size = f"{BYTES_PER_PARAMETER * parameters:,}"
        table.add_row(part, f"{parameters:,}", per_mille, size, f"{multiply_adds:,}")
    return table


def list_models() -> Table:
    """Return the shipped networks, a row each."""
    table = Table()
    for heading in ("model", "parameters", "classifier", "bytes", "multiply-adds", "what it is"):
        table.add_column(heading, justify="left" if heading in ("model", "what it is") else "right")
    for name, model in MODELS.items():
        figures = (model.parameters, model.classifier_parameters, model.model_bytes, model.multiply_adds)
        table.add_row(name, *(f"{figure:,}" for figure in figures), _SHIPPED[name])
    return table
