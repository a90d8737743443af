"""The paper's table of the network's parameters: layer by layer, and the classifier's share that LASP sends."""

from hfedms_sim.exhibits import Table
from hfedms_sim.models import spec_of
from hfedms_sim.paper import published
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results
from hfedms_sim.paper.study import Study

PAPER_MODEL = spec_of("cnn")


def _outcome(_: Study, __: Results) -> ExperimentOutcome:
    model = PAPER_MODEL
    assert model.stack is not None
    layers = (*model.stack.extractor, model.stack.classifier)
    rows = [
        (number, "classifier" if layer is model.stack.classifier else "extractor", kind, printed, layer.parameters,
         1000 * layer.parameters / model.parameters)
        for (number, kind, printed), layer in zip(published.LAYERS, layers, strict=True)
    ]  # fmt: skip
    per_mille = 1000 * model.classifier_parameters / model.parameters
    totals = [
        (
            "1-4",
            "extractor",
            "",
            f"6.68M, {published.EXTRACTOR_PER_MILLE} ‰",
            model.extractor_parameters,
            1000 - per_mille,
        ),
        ("5", "classifier", "", f"6.3K, {published.CLASSIFIER_PER_MILLE} ‰", model.classifier_parameters, per_mille),
    ]
    header = ("layer", "part", "type", "published", "parameters", "per mille of all")
    sizes = f"{model.model_bytes:,} bytes on the air, the classifier {model.classifier_bytes:,}"
    note = f"{model.parameters:,} parameters; {sizes}."
    return ExperimentOutcome(
        (Table("parameters", "Parameters of the paper's network", header, (*rows, *totals), note),)
    )


PARAMETERS = Experiment("parameters", "table: parameters of the network", lambda study: [], _outcome)
