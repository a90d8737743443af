"""IDA: Yeganeh, Farshad, Navab, Albarqouni, "Inverse Distance Aggregation for Federated Learning with Non-IID Data",
DCL workshop at MICCAI 2020 (arXiv:2008.07665).

The server weighs each model by the inverse of its distance to the mean of the round's models: outliers count less.
Variants multiply by the number of samples (fedavg) or by the inverse training accuracy 1 / max(1 / F, accuracy)
(intrac), which favours sensors whose data the model does not know yet; they send that one number.

Of the paper only the abstract was at hand. Not confirmed from it: the Euclidean norm over all parameters, eps, and
intrac's formula. What other programs make of it: docs/learning.md.
"""

from hfedms_sim.strategies.base import Algorithm
from hfedms_sim.strategies.fedavg import FedAvg

ALGORITHM = Algorithm(
    paper="Yeganeh et al., Inverse Distance Aggregation for Federated Learning with Non-IID Data, DCL at MICCAI 2020",
    rule="w <- sum_k a_k w_k / sum_k a_k,  a_k = 1 / (|mean w - w_k| + eps)",
    planner=FedAvg,
)
