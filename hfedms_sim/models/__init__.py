"""The neural networks, by name. Naming one needs no torch; making its module does."""

from hfedms_sim.known_parts import Known
from hfedms_sim.models.base import Model
from hfedms_sim.models.known_models import KIND, code_digest, model_class, require_sound
from hfedms_sim.models.modules import Conv1d, Lstm, ResNet8
from hfedms_sim.models.stacks import Cnn, Mlp, SmallCnn, TinyMlp
from hfedms_sim.scenario import CHARACTER_IMAGES, DataShape, ModelSpec

MODELS: Known[Model] = Known(KIND, (Cnn, SmallCnn, Mlp, TinyMlp, ResNet8, Conv1d, Lstm))


def spec_of(name: str, data: DataShape = CHARACTER_IMAGES) -> ModelSpec:
    """Return what the network of this name costs on such data."""
    return MODELS[name]().spec(data)


__all__ = ["MODELS", "Model", "code_digest", "model_class", "require_sound", "spec_of"]
