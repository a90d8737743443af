"""FedFusion: Yao, Huang, Wu, Zhang, Sun, "Towards Faster and Better Federated Learning: A Feature Fusion Approach",
ICIP 2019.

A sensor keeps the convolutions it was sent frozen beside those it trains, and fuses the features of both before the
dense layers (learning/fusion.py): by a 1x1 convolution (conv), or by a weight for each channel (multi) or for all
(single). The fusion's weights are trained, sent and averaged too; the server moves gamma by a tenth of the way only.
"""

from hfedms_sim.strategies.base import Algorithm
from hfedms_sim.strategies.fedavg import FedAvg

ALGORITHM = Algorithm(
    paper="Yao et al., Towards Faster and Better Federated Learning: A Feature Fusion Approach, ICIP 2019",
    rule="features = F(E_k, E);  w, F <- sum_k (n_k / n) (w_k, F_k);  gamma <- 0.9 gamma + 0.1 mean gamma_k",
    planner=FedAvg,
)
