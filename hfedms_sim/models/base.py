"""What a network is: a name, and a module for whatever shape the data have.

The extractor is everything up to the classifier, which is a dense layer whose outputs are the logits; its input is the
semantic vector. Parameters, bytes and multiply-adds are counted from the module itself. Modules need torch, which is
imported when a module is made: naming a model does not load it.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from hfedms_sim.errors import InputError
from hfedms_sim.known_parts import path_of
from hfedms_sim.scenario import CHARACTER_IMAGES, DataShape, ModelSpec

if TYPE_CHECKING:
    from torch import nn


class Model(ABC):
    """A network of one's own is a subclass with a `name` and a `module`."""

    name: ClassVar[str]
    """How scenarios call it."""
    about: ClassVar[str] = ""
    """A line for `list models`."""
    example: ClassVar[DataShape] = CHARACTER_IMAGES
    """Data to show it for."""
    classifier: ClassVar[str | None] = None
    """The dotted name of the classifier in the module; None: its last dense layer (nn.Linear)."""

    @abstractmethod
    def module(self, input_shape: tuple[int, ...], classes: int) -> "nn.Module":
        """Return the network for samples of this shape (channels first, without the batch) and this many classes."""

    def spec(self, data: DataShape) -> ModelSpec:
        """Return what the network costs on such data, counted from the module. Loads torch."""
        from hfedms_sim.learning.module_specs import spec_of_module

        try:
            return spec_of_module(self.name, self.module, data, self.classifier)
        except Exception as error:  # whatever somebody else's code raises
            words = (str(error).splitlines() or [""])[0]
            said = words if isinstance(error, ValueError) else f"raised {type(error).__name__}: {words}"
            raise InputError(f"model '{self.name}' ({path_of(type(self))}): {said}") from None
