"""FedProx: Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith, "Federated Optimization in Heterogeneous Networks", MLSys 2020.

FedAvg with a proximal term in the sensors' loss, (mu / 2) |w - w_start|^2, which keeps them near the model they were
sent. A step is w <- w - rate (gradient + mu (w - w_start)).
"""

from hfedms_sim.strategies.base import Algorithm
from hfedms_sim.strategies.fedavg import FedAvg

ALGORITHM = Algorithm(
    paper="Li et al., Federated Optimization in Heterogeneous Networks, MLSys 2020",
    rule="loss_k + (mu / 2) |w_k - w|^2;  w <- sum_k (n_k / n) w_k",
    planner=FedAvg,
)
