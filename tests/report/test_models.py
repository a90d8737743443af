"""Networks as tables."""

import pytest
from rich.console import Console

from hfedms_sim.models import MODELS, spec_of
from hfedms_sim.report.models import layer_rows, list_models, show_model


def printed(what: object) -> str:
    console = Console(width=150)
    with console.capture() as capture:
        console.print(what)
    return capture.get()


def test_the_papers_network_has_the_papers_layers() -> None:
    rows = list(layer_rows(spec_of("cnn")))
    assert [row.parameters for row in rows] == [832, 51_264, 6_424_576, 204_900, 6_262]
    assert [row.output_shape for row in rows] == ["32 x 14 x 14", "64 x 7 x 7", "2048", "100", "62"]
    text = printed(show_model("cnn"))
    for figure in ("832", "51,264", "6,424,576", "204,900", "6,262", "6,687,834", "26,751,336", "25,048", "0.936"):
        assert f" {figure} " in text


@pytest.mark.parametrize("name", MODELS.shipped)
def test_layers_add_up_to_the_whole_network(name: str) -> None:
    model = MODELS[name]().spec(MODELS[name].example)
    rows = list(layer_rows(model))
    assert sum(row.parameters for row in rows) == model.parameters
    counted = [row.multiply_adds for row in rows if row.multiply_adds is not None]
    assert sum(counted) == (model.multiply_adds if model.stack else 0)


@pytest.mark.parametrize("name", MODELS.shipped)
def test_every_network_is_shown_and_listed(name: str) -> None:
    assert printed(show_model(name)).startswith(f"{name}: ")
    assert f"│ {name} " in printed(list_models())


@pytest.mark.parametrize("name", ["cnn", "small-cnn", "mlp", "tiny-mlp"])
def test_output_shapes_are_those_of_the_network_that_is_trained(name: str) -> None:
    import torch

    from hfedms_sim.learning.networks import StackNetwork

    shapes, values = [], torch.zeros(1, 1, 28, 28)
    network = StackNetwork(spec_of(name))
    for module in (*network.extractor, network.classifier):
        before, values = values, module(values)
        if isinstance(module, torch.nn.MaxPool2d) or (isinstance(module, torch.nn.Linear) and before.ndim == 2):
            shapes.append(" x ".join(str(side) for side in values.shape[1:]))
    assert shapes == [row.output_shape for row in layer_rows(spec_of(name))]
