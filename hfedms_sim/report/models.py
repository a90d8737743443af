"""Networks, for people: layer by layer, with what each costs on the air (parameters) and in the processor."""

from collections.abc import Iterator
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hfedms_sim.models import MODELS
from hfedms_sim.scenario import Layer, LayerStack, ModelSpec, shape_text
from hfedms_sim.units import BYTES_PER_PARAMETER


class LayerRow(NamedTuple):
    """A layer of a network. `output_shape` is what the next layer gets, after ReLU and pooling."""

    layer: str
    output_shape: str
    parameters: int
    multiply_adds: int | None
    """Unknown for the layers of modules, of which only the sum is counted."""


def layer_rows(model: ModelSpec) -> Iterator[LayerRow]:
    """Return the layers from the input to the classes; those without parameters are part of the one before them."""
    if model.stack is not None:
        yield from _stack_rows(model.stack)
        return
    from hfedms_sim.learning.module_specs import leaf_rows  # here: it loads torch

    for leaf in leaf_rows(model):
        yield LayerRow(f"{leaf.name} ({leaf.kind})", _spaced(leaf.output_shape), leaf.parameters, None)


def _stack_rows(stack: LayerStack) -> Iterator[LayerRow]:
    convolutions = dense = 0
    for layer in stack.extractor:
        if layer.kernel > 1:
            convolutions += 1
            size = f"{layer.kernel}x{layer.kernel}"
            yield _row(layer, f"convolution {convolutions} ({size}, ReLU, 2x2 max-pool)", *layer.pooled)
        else:
            dense += 1
            yield _row(layer, f"dense {dense} (ReLU)")
    yield _row(stack.classifier, "classifier (dense)")


def _row(layer: Layer, name: str, *pooled: int) -> LayerRow:
    return LayerRow(name, _spaced((layer.outputs, *pooled)), layer.parameters, layer.multiply_adds)


def _spaced(shape: tuple[int, ...]) -> str:
    return " x ".join(str(length) for length in shape)


def show_model(name: str) -> RenderableType:
    """Return the network's layers, totals and the split into extractor and classifier."""
    known = MODELS[name]
    model = known().spec(known.example)
    table = Table(show_footer=True)
    totals = ("total", "", f"{model.parameters:,}", "100%", f"{model.multiply_adds:,}")
    headings = ("layer", "output shape", "parameters", "share", "multiply-adds")
    for index, (heading, total) in enumerate(zip(headings, totals, strict=True)):
        table.add_column(heading, footer=total, justify="left" if index < 2 else "right")
    table.add_row("input", _spaced(model.data.input_shape), "0", "0%", "0")
    for row in layer_rows(model):
        share = f"{row.parameters / model.parameters:.3%}"
        work = "" if row.multiply_adds is None else f"{row.multiply_adds:,}"
        table.add_row(row.layer, row.output_shape, f"{row.parameters:,}", share, work)
    title = Text(f"{name}: {known.about}", style="bold")
    built_for = f"Shown for samples of {model.data}; it is built for the shape of a scenario's data."
    return Group(title, Text(built_for), table, _split(model))


def _split(model: ModelSpec) -> Table:
    """Return the parts that a full and a calibration round send. Multiply-adds are of one sample, forward."""
    table = Table()
    for heading in ("part", "parameters", "per mille", "bytes", "multiply-adds"):
        table.add_column(heading, justify="left" if heading == "part" else "right")
    buffers = BYTES_PER_PARAMETER * model.buffers
    parts = {
        "extractor": (model.extractor_parameters, buffers, model.extractor_multiply_adds),
        "classifier": (model.classifier_parameters, 0, model.classifier_multiply_adds),
        "model": (model.parameters, buffers, model.multiply_adds),
    }
    for part, (parameters, buffer_bytes, multiply_adds) in parts.items():
        per_mille = f"{1000 * parameters / model.parameters:.3f}"
        size = f"{BYTES_PER_PARAMETER * parameters + buffer_bytes:,}"
        table.add_row(part, f"{parameters:,}", per_mille, size, f"{multiply_adds:,}")
    return table


def list_models() -> Table:
    """Return the known networks, a row each."""
    table = Table()
    for heading in ("model", "shown for", "parameters", "classifier", "bytes", "multiply-adds", "what it is"):
        table.add_column(heading, justify="left" if heading in ("model", "shown for", "what it is") else "right")
    for name, known in MODELS.items():
        model = known().spec(known.example)
        figures = (model.parameters, model.classifier_parameters, model.model_bytes, model.multiply_adds)
        shown_for = f"{shape_text(known.example.input_shape)}, {known.example.classes}"
        table.add_row(name, shown_for, *(f"{figure:,}" for figure in figures), Text(known.about))
    return table
