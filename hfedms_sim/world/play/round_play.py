"""A round with a barrier: its chains, all of which it awaits unless it is closed before, and the scatter after them."""

from collections.abc import Sequence

from hfedms_sim.rounds import Group, Participation, RoundRecord
from hfedms_sim.world.play.chains import Chains
from hfedms_sim.world.play.scattering import Place, Scattering


class RoundPlay(Chains):
    """One round of chains, and the scatter after it."""

    def play(self, start_s: float) -> RoundRecord:
        """Play the round, which began then, and return what happened."""
        plan = self._plan
        chains: list[list[Participation]] = [[] for _ in plan.groups]
        self.run_until_closed(map(self._chain, range(len(chains)), plan.groups, chains))
        arrived = [number in self._arrived for number in range(len(chains))]
        counts = self._apply_quorum(arrived, asked=plan.closes_after or len(chains))
        if plan.scatter is not None:
            Scattering(self._floor, plan.scatter).play(_places(plan.groups, chains, counts))
        return RoundRecord(
            round=plan.round,
            cycle=plan.cycle,
            phase=plan.phase,
            chains=tuple(map(tuple, chains)),
            arrived=tuple(counts),
            start_s=start_s,
            end_s=self.env.now,
            arrivals=sum(arrived),
            late=self._late,
            participants=plan.participants,
        )

    def leave(self, number: int) -> None:
        super().leave(number)
        if len(self._arrived) == self._plan.closes_after:
            self.close()


def _places(groups: Sequence[Group], chains: Sequence[list[Participation]], counts: Sequence[bool]) -> list[Place]:
    """Return the places of the sensors that handed over in a chain that counts."""
    return [
        Place(group.number, hop, chain)
        for group, chain, does_count in zip(groups, chains, counts, strict=True)
        if does_count
        for hop in range(len(chain))
    ]
