"""FedMMD: Yao, Huang, Sun, "Two-Stream Federated Learning: Reduce the Communication Costs", VCIP 2018.

A sensor has two streams: the model it trains and the one it was sent, frozen. Its loss is the cross-entropy of the
first and lambda times the squared maximum mean discrepancy between the outputs of both on the same mini-batch
(learning/mmd.py). Only the trained model is sent back, and averaged as in FedAvg. One more forward pass a sample.
"""

from hfedms_sim.strategies.base import Algorithm
from hfedms_sim.strategies.fedavg import FedAvg

ALGORITHM = Algorithm(
    paper="Yao et al., Two-Stream Federated Learning: Reduce the Communication Costs, VCIP 2018",
    rule="loss_k + lambda MMD^2(logits of w, logits of w_k);  w <- sum_k (n_k / n) w_k",
    planner=FedAvg,
)
