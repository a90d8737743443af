"""FedAdagrad, FedAdam, FedYogi: Reddi, Charles, Zaheer, Garrett, Rush, Konecny, Kumar, McMahan, "Adaptive Federated
Optimization", ICLR 2021.

The sensors do what FedAvg's do. The server takes the mean change of the round, Delta = sum_k (n_k / n) (w_k - w), as
a pseudo-gradient and steps with an adaptive optimiser (learning/server_optimisers.py). Server rates and tau are the
values that the authors found best for EMNIST character recognition; b2 = 0.99 is that of their algorithm.
"""

from hfedms_sim.strategies.base import Algorithm
from hfedms_sim.strategies.fedavg import FedAvg


def _algorithm(moments: str) -> Algorithm:
    return Algorithm(
        paper="Reddi et al., Adaptive Federated Optimization, ICLR 2021",
        rule=f"D = sum_k (n_k / n) (w_k - w);  {moments};  w <- w + rate m / (sqrt(v) + tau)",
        planner=FedAvg,
    )


FEDADAGRAD = _algorithm("m = D, v <- v + D^2")
FEDADAM = _algorithm("m <- b1 m + (1 - b1) D, v <- b2 v + (1 - b2) D^2")
FEDYOGI = _algorithm("m <- b1 m + (1 - b1) D, v <- v - (1 - b2) D^2 sign(v - D^2)")
