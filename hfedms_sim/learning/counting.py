"""Counts a network: which layer is its classifier, how many numbers it sends, how many multiply-adds a sample takes.

One sample of zeros passes forward under torch's own counter of floating-point operations, two of which make a
multiply-add. Products of matrices and convolutions count. Left out: activations, normalisation and pooling, a few per
cent of the work; and paths that only other samples take.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from hfedms_sim.learning.modules.shapes import shape_text
from hfedms_sim.scenario import Matrices

MakeModule = Callable[[tuple[int, ...], int], nn.Module]
"""Makes a network for inputs of a shape (channel-first, without the batch) and a number of classes."""


class Counted(NamedTuple):
    """Multiply-adds are of one sample, forward."""

    classifier: str
    """The dotted name of the last dense layer, which makes the logits."""
    semantic_size: int
    """How many numbers the classifier takes."""
    classifier_parameters: int
    """Those that are trained."""
    extractor_parameters: int
    """Those that are trained."""
    buffers: int
    """Numbers that travel with the model and are not trained: running means and variances, frozen parameters."""
    classifier_multiply_adds: int
    extractor_multiply_adds: int
    matrices: Matrices
    """Those of the whole network."""
    classifier_matrices: Matrices


class _Call(NamedTuple):
    """One use of a dense layer in the forward pass."""

    layer: nn.Linear
    output: Tensor
    version: int
    """Changes when the output is changed in place."""


class _Pass(NamedTuple):
    """What one forward pass showed."""

    calls: list[_Call]
    output: object
    multiply_adds: int


def counted(make: MakeModule, input_shape: tuple[int, ...], classes: int, classifier: str | None = None) -> Counted:
    """Count the network that is made for this shape and this many classes.

    The classifier is the dense layer of this dotted name or else the last one in the order of the forward pass. Raises
    ValueError, in one line, if the network cannot be trained as an extractor and a classifier. Torch's generator is
    left as it was.
    """
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        module = make(input_shape, classes)
        if not isinstance(module, nn.Module):
            raise ValueError(f"the function makes a {type(module).__name__}, not a torch.nn.Module")
        passed = _pass_of_one_sample(module.eval(), input_shape)
    name, layer = _classifier(module, passed.calls, classifier)
    _check_logits(name, layer, passed, classes)
    _check_numbers(module)
    in_classifier, trained = _trained_numbers(layer), _trained_numbers(module)
    multiply_adds = layer.in_features * layer.out_features
    return Counted(
        classifier=name,
        semantic_size=layer.in_features,
        classifier_parameters=in_classifier,
        extractor_parameters=trained - in_classifier,
        buffers=_untrained_numbers(module),
        classifier_multiply_adds=multiply_adds,
        extractor_multiply_adds=passed.multiply_adds - multiply_adds,
        matrices=_matrices(module),
        classifier_matrices=_matrices(layer),
    )


def _pass_of_one_sample(module: nn.Module, input_shape: tuple[int, ...]) -> _Pass:
    calls: list[_Call] = []

    def note(layer: nn.Module, _: object, output: Tensor) -> None:
        assert isinstance(layer, nn.Linear)
        calls.append(_Call(layer, output, output._version))

    hooks = [each.register_forward_hook(note) for each in module.modules() if isinstance(each, nn.Linear)]
    sample = torch.zeros(1, *input_shape)
    with _countable_kernels(), FlopCounterMode(display=False) as counter:
        try:
            output = module(sample)
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise ValueError(f"the network takes no input of shape {shape_text(input_shape)}: {reason}") from error
        finally:
            for hook in hooks:
                hook.remove()
    return _Pass(calls, output, counter.get_total_flops() // 2)


@contextmanager
def _countable_kernels() -> Iterator[None]:
    """Have LSTMs and attention computed by products of matrices: the counter sees nothing of fused kernels."""
    onednn, flash = torch.backends.mkldnn.enabled, torch.backends.cuda.flash_sdp_enabled()
    torch.backends.mkldnn.enabled = False  # type: ignore[assignment]  # torch types the property, not its value
    torch.backends.cuda.enable_flash_sdp(False)
    try:
        yield
    finally:
        torch.backends.mkldnn.enabled = onednn
        torch.backends.cuda.enable_flash_sdp(flash)


def _classifier(module: nn.Module, calls: list[_Call], name: str | None) -> tuple[str, nn.Linear]:
    """Return the classifier with its dotted name."""
    layers = {each: layer for each, layer in module.named_modules() if isinstance(layer, nn.Linear)}
    if not calls:
        raise ValueError("the network uses no torch.nn.Linear, so nothing in it can be the classifier")
    if name is None:
        return next((each, layer) for each, layer in layers.items() if layer is calls[-1].layer)
    if name not in layers:
        raise ValueError(f"classifier = '{name}': the network has no such torch.nn.Linear; it has {', '.join(layers)}")
    return name, layers[name]


def _check_logits(name: str, layer: nn.Linear, passed: _Pass, classes: int) -> None:
    """Raise unless the network ends with the classifier, and with a number for each class."""
    calls = [call for call in passed.calls if call.layer is layer]
    if len(calls) != 1:
        raise ValueError(f"the network uses its classifier '{name}' {len(calls)} times in a forward pass, not once")
    if not isinstance(passed.output, Tensor):
        raise ValueError(f"the network returns a {type(passed.output).__name__}, not a tensor of logits")
    if passed.output.shape != (1, classes):
        found = shape_text(tuple(passed.output.shape))
        raise ValueError(f"the network returns an output of shape {found} for one sample, not 1x{classes} logits")
    if passed.output is not calls[0].output or passed.output._version != calls[0].version:
        raise ValueError(f"the network does not end with its classifier '{name}': it must return the logits unchanged")


def _check_numbers(module: nn.Module) -> None:
    """Raise unless something is trained and all that is sent takes four bytes a number."""
    if not any(each.requires_grad for each in module.parameters()):
        raise ValueError("the network has no parameters that are trained")
    for name, tensor in [*module.named_parameters(), *_sent_buffers(module)]:
        if tensor.dtype != torch.float32:
            raise ValueError(f"'{name}' is {tensor.dtype}: parameters and buffers of a network must be torch.float32")


def _trained_numbers(module: nn.Module) -> int:
    return sum(each.numel() for each in module.parameters() if each.requires_grad)


def _matrices(module: nn.Module) -> Matrices:
    found = [each for each in module.parameters() if each.requires_grad and each.dim() > 1]
    return Matrices(sum(each.numel() for each in found), sum(len(each) for each in found))


def _untrained_numbers(module: nn.Module) -> int:
    frozen = sum(each.numel() for each in module.parameters() if not each.requires_grad)
    return frozen + sum(buffer.numel() for _, buffer in _sent_buffers(module))


def _sent_buffers(module: nn.Module) -> list[tuple[str, Tensor]]:
    """Return the buffers that are part of the model's state and no counters, such as those of seen batches."""
    state = module.state_dict()
    return [(name, each) for name, each in module.named_buffers() if name in state and each.is_floating_point()]
