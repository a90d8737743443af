"""HFedMS-D's learning rule: the full model in the first round of a cycle, the classifier on semantics in the others.

What happens to a sensor within a cycle of T rounds, phi being the extractor that the full round's merge made:

    round 0       train the model on the batch D; when the merged model arrives, extract S = h(D; phi)
    round 1       extract the new batch's S with phi and with phi_bak; compensate the memory (learning/semantics.py)
    rounds 1..    calibrate: train the classifier on S and the memory; the extractor stays as it is, bit for bit
    round T - 1   store: the memory's vectors and all S of the cycle are candidates, Q of them stay

Where the server sends in fewer bytes (`compression.downlink`), phi is what sensors received of it; the server keeps its
own in full precision.

The oracle keeps every raw sample instead, and extracts them anew in each cycle.

With `initial_memory: local-set` a sensor remembers its whole train set from before the run, in the initial extractor's
space. It is extracted when the sensor first takes part, which gives the same vectors as before the run would.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from hfedms_sim.learning.distillation import distilling
from hfedms_sim.learning.engine import LocalSet, Loss
from hfedms_sim.learning.learner import ChainLearner, LearnerContext, arrived_chains
from hfedms_sim.learning.memory_state import (
    cycle_from,
    cycle_state,
    memories_from,
    memories_state,
    seen_from,
    seen_state,
)
from hfedms_sim.learning.networks import Weights
from hfedms_sim.learning.samples import captured_samples, local_samples
from hfedms_sim.learning.semantics import Memory, Semantics, drift, nearest_to_class_mean
from hfedms_sim.lineage import State
from hfedms_sim.rounds import Participation, RoundRecord, Samples
from hfedms_sim.schedule import position_in_cycle
from hfedms_sim.strategies.hfedms import HFedMSDynamicSettings


class CalibratingLearner(ChainLearner):
    def __init__(self, settings: HFedMSDynamicSettings, context: LearnerContext) -> None:
        super().__init__(settings, context)
        self._scc = settings
        self.memories: dict[int, Memory] = {}
        self._initial = self._own_extractor() if settings.has_initial_memory else {}
        self._extractor: Weights = {}  # of this cycle, as sensors hold it
        self._cycle: dict[int, list[Semantics]] = {}  # what each participant has extracted in it
        self._captured: dict[int, list[Samples]] = {}  # and captured, for the oracle
        self._seen: dict[int, dict[tuple[int, int], None]] = {}  # raw samples the oracle keeps, in order

    def learn(self, record: RoundRecord) -> None:
        if record.phase == "full":
            super().learn(record)
            self._begin_cycle(record)
        else:
            self._calibrate(record)
        if position_in_cycle(record.round, self._scc.interval) == self._scc.interval - 1:
            self._end_cycle()

    def state(self) -> State:
        """The cycle's extractor follows from the model's own from the first full round on."""
        state = super().state() | memories_state(self.memories, self._extractor, self._initial)
        return state | cycle_state(self._cycle, self._captured) | seen_state(self._seen)

    def restore(self, state: State) -> None:
        super().restore(state)
        self._extractor = self._scattered_extractor()
        self.memories = memories_from(state, self._extractor, self._initial)
        self._cycle, self._captured = cycle_from(state)
        self._seen = seen_from(state)

    def _own_extractor(self) -> Weights:
        return {name: value for name, value in self.weights.items() if not self._is_classifier(name)}

    def _scattered_extractor(self) -> Weights:
        """Return what sensors hold of the model's extractor: it does not change between two full rounds."""
        return self._engine.received(self._own_extractor())

    def _loss(self) -> Loss:
        if not self._scc.distillation:
            return super()._loss()
        return distilling(self._scc.distillation)

    def _begin_cycle(self, record: RoundRecord) -> None:
        self._cycle, self._captured = {}, {}
        self._extractor = self._scattered_extractor()
        if self._scc.interval > 1 and self._scc.scc != "off":
            received = [each for each in record.participations if each.got_scatter]
            for participation, semantics in zip(received, self._extract(received, self._extractor), strict=True):
                self._note(participation, semantics)
            if self._scc.has_initial_memory:
                self._remember_local_sets([each.sensor for each in received])

    def _remember_local_sets(self, sensors: Sequence[int]) -> None:
        """Give the sensors that take part for the first time the memory they have had since before the run."""
        for sensor in sensors:
            if sensor not in self.memories:
                inputs, labels = local_samples(self._source, sensor)
                self.memories[sensor] = Memory(self._engine.extract(self._initial, inputs), labels, self._initial)

    def _calibrate(self, record: RoundRecord) -> None:
        chains = arrived_chains(record)
        participants = list(record.participations)  # also of chains that did not arrive: their sensors remember
        extracted = dict(
            zip((p.sensor for p in participants), self._extract(participants, self._extractor), strict=True)
        )
        if self._scc.scc == "on":
            self._compensate([each for each in participants if each.captured], extracted)
        elif self._scc.scc == "oracle":
            self._recall(participants)
        sets = [
            [self._calibration_set(p, extracted[p.sensor], record.round) for p in chain if p.trained]
            for chain in chains
        ]
        start = {name: value for name, value in self.weights.items() if self._is_classifier(name)}
        classifier = self._engine.train_classifiers(start, sets, self._shares(chains, sets), self._sgd)
        self.weights = self.weights | classifier
        if self._scc.scc != "off":
            for participation in participants:
                self._note(participation, extracted[participation.sensor])

    def _calibration_set(self, participation: Participation, new: Semantics, round_number: int) -> LocalSet:
        """The new batch's semantics and the memory's."""
        vectors, labels = new
        memory = self.memories.get(participation.sensor)
        if memory is not None and self._scc.scc != "off":
            vectors, labels = torch.cat([vectors, memory.vectors]), torch.cat([labels, memory.labels])
        sensor = participation.sensor
        epochs = self._shuffles.of(sensor, round_number, len(labels), self._scc.calibration_epochs)
        return LocalSet(vectors, labels, epochs, self._shuffles.seed(sensor, round_number), sensor)

    def _compensate(self, participants: Sequence[Participation], extracted: dict[int, Semantics]) -> None:
        """Moves the memories that are still in an older extractor's space into that of this cycle's."""
        behind: dict[int, list[Participation]] = {}  # by the identity of the extractor they are in
        for participation in participants:
            memory = self.memories.get(participation.sensor)
            if memory is not None and memory.extractor is not self._extractor:
                behind.setdefault(id(memory.extractor), []).append(participation)
        for group in behind.values():
            backup = self.memories[group[0].sensor].extractor
            for participation, old in zip(group, self._extract_again(group, backup), strict=True):
                new, memory = extracted[participation.sensor], self.memories[participation.sensor]
                vectors = memory.vectors if old is None else self._moved(memory, new, old)
                self.memories[participation.sensor] = Memory(vectors, memory.labels, self._extractor)

    def _extract_again(self, group: Sequence[Participation], backup: Weights) -> Sequence[Semantics | None]:
        return [None] * len(group) if self._scc.compensation == "off" else self._extract(group, backup)

    def _moved(self, memory: Memory, new: Semantics, old: Semantics) -> Tensor:
        moved = memory.vectors + drift(
            new.vectors,
            old.vectors,
            new.labels,
            memory.labels,
            per_class=self._scc.compensation == "class",
            absent_class=self._scc.absent_class,
        )
        return moved.clamp(min=0) if self._scc.clamp_semantics else moved

    def _recall(self, participants: Sequence[Participation]) -> None:
        """The oracle's memory: everything the sensor has seen in earlier cycles, through this cycle's extractor."""
        for participation in participants:
            memory, seen = self.memories.get(participation.sensor), self._seen.get(participation.sensor)
            if seen and (memory is None or memory.extractor is not self._extractor):
                everything = participation._replace(samples=tuple(seen))
                (semantics,) = self._extract([everything], self._extractor)
                self.memories[participation.sensor] = Memory(*semantics, self._extractor)

    def _note(self, participation: Participation, semantics: Semantics) -> None:
        self._cycle.setdefault(participation.sensor, []).append(semantics)
        self._captured.setdefault(participation.sensor, []).append(participation.samples)

    def _end_cycle(self) -> None:
        if self._scc.scc == "on":
            self._compensate_late()
        for sensor, extracted in self._cycle.items():
            if self._scc.scc == "oracle":
                ranges = (each for samples in self._captured[sensor] for each in samples)
                self._seen.setdefault(sensor, {}).update(dict.fromkeys(ranges))
            else:
                self._store(sensor, extracted)
        self._cycle, self._captured = {}, {}

    def _compensate_late(self) -> None:
        """Memories of sensors that captured only in the full round: with what they captured there."""
        late: dict[int, tuple[Participation, Semantics]] = {}
        for sensor, captured in self._captured.items():
            for samples, semantics in zip(captured, self._cycle[sensor], strict=True):
                if len(semantics.labels):
                    late[sensor] = (Participation(sensor, samples, True, True), semantics)
        self._compensate([each for each, _ in late.values()], {sensor: each for sensor, (_, each) in late.items()})

    def _store(self, sensor: int, extracted: list[Semantics]) -> None:
        memory = self.memories.get(sensor)
        if memory is not None and memory.extractor is not self._extractor:
            return  # nothing was captured to compensate it with: it waits in its own space
        older = [Semantics(memory.vectors, memory.labels)] if memory is not None else []
        vectors = torch.cat([each.vectors for each in (*older, *extracted)])
        labels = torch.cat([each.labels for each in (*older, *extracted)])
        reference = extracted[-1] if self._scc.storage_mean == "batch" else None
        kept = nearest_to_class_mean(vectors, labels, self._scc.memory, rule=self._scc.storage, reference=reference)
        if len(kept):
            self.memories[sensor] = Memory(vectors[kept], labels[kept], self._extractor)

    def _extract(self, participants: Sequence[Participation], extractor: Weights) -> list[Semantics]:
        """Return the semantics of what each captured, of all samples in one go."""
        if not participants:
            return []
        batches = [captured_samples(self._source, participation) for participation in participants]
        vectors = self._engine.extract(extractor, torch.cat([inputs for inputs, _ in batches]))
        sizes = [len(labels) for _, labels in batches]
        return [Semantics(*each) for each in zip(vectors.split(sizes), (labels for _, labels in batches), strict=True)]
