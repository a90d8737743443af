"""FedCS: Nishio, Yonetani, "Client Selection for Federated Learning with Heterogeneous Resources in Mobile Edge", ICC
2019.

Each round some sensors, drawn anew, say what they could do; the server takes as many of them as fit into a budget of
time. It adds the sensor that makes the round longest the least, until none fits:

    T_d     downloads one after the other: sum of 8 B / r_down, over the channels of the cell
    Theta   when the last upload ends: Theta + 8 B / r_up + max(0, T_d + work - Theta), uploads one after the other
    T_d + work and Theta are of each cell alone; the round is as long as its slowest cell

Rates are those of the links, work is what the sensor took when it last took part (nothing before that). At least one
sensor takes part. Training and the server's mean are FedAvg's; with a budget that all fit into, so are the rounds.
Left out: what sensors say they could do is sent for nothing, and the paper's multicast of the model.
"""

from typing import ClassVar, Literal

import numpy as np

from hfedms_sim.rounds import NetworkView, PlanContext
from hfedms_sim.scenario import PositiveFloat
from hfedms_sim.strategies.fedavg import Averaging, AveragingSettings
from hfedms_sim.units import BITS_PER_BYTE


class FedCSSettings(AveragingSettings):
    plan_keys: ClassVar[frozenset[str]] = AveragingSettings.plan_keys | {"budget_s"}

    name: Literal["fedcs"] = "fedcs"
    budget_s: PositiveFloat = 60.0
    """How long a round may take, by the server's estimate."""


class FedCS(Averaging[FedCSSettings]):
    paper = "Nishio, Yonetani, Client Selection for Federated Learning with Heterogeneous Resources, ICC 2019"
    rule = "S = as many of the drawn as end within the budget, greedily;  w <- sum_{k in S} (n_k / n) w_k"
    Settings: ClassVar = FedCSSettings

    def participants(self, state: int, context: PlanContext) -> list[int]:
        """Return those of the drawn that fit into the budget, in the order in which they were drawn."""
        drawn = super().participants(state, context)
        costs = self.costs(self.settings, self.factory.model)
        down_bits, up_bits = BITS_PER_BYTE * costs.model_bytes, BITS_PER_BYTE * costs.bytes_up
        chosen = set(fitting(drawn, context.network(), down_bits, up_bits, self.settings.budget_s))
        return [sensor for sensor in drawn if sensor in chosen]


def fitting(
    candidates: list[int], network: NetworkView, down_bits: float, up_bits: float, budget_s: float
) -> list[int]:
    """Return the candidates that a round of this many seconds has time for, the quickest to add first; at least one."""
    cell = network.cell[candidates]
    down_s = down_bits / network.downlink_bps[candidates] / np.maximum(1.0, network.downlink_channels[cell])
    up_s = up_bits / network.uplink_bps[candidates] / np.maximum(1.0, network.uplink_channels[cell])
    work_s = np.nan_to_num(network.last_work_s[candidates])
    downloaded_s, uploaded_s = np.zeros(len(network.uplink_channels)), np.zeros(len(network.uplink_channels))
    left, chosen = np.ones(len(candidates), dtype=bool), list[int]()
    while left.any():
        ready_s = downloaded_s[cell] + down_s + work_s
        ends_s = np.where(left, np.maximum(uploaded_s[cell], ready_s) + up_s, np.inf)
        best = int(ends_s.argmin())
        if ends_s[best] > budget_s and chosen:
            break
        chosen.append(candidates[best])
        left[best] = False
        downloaded_s[cell[best]] += down_s[best]
        uploaded_s[cell[best]] = ends_s[best]
    return chosen
