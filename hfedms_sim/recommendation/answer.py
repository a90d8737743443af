"""What a search has come to, for people and programs: the recommendation, the front, and why not the others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from hfedms_sim.exhibits import Dots, DotSet, Figure, Table
from hfedms_sim.recommendation.candidates import PLAIN, Candidate
from hfedms_sim.recommendation.found import Found, SeedTimes
from hfedms_sim.recommendation.front import Point, front_of
from hfedms_sim.recommendation.goal import Goal
from hfedms_sim.recommendation.race import behind
from hfedms_sim.units import SECONDS_PER_HOUR, format_bytes, format_joules, format_seconds


@dataclass(frozen=True)
class Answer:
    """`asked` is the goal as it was given; `found.goal` is what of it could be asked for."""

    asked: Goal
    found: Found
    cost: str
    """`price`, `joules` or `bytes`."""
    codecs: Mapping[Candidate, str] = field(default_factory=dict)
    """How each candidate sends numbers."""
    not_tried: tuple[str, ...] = ()
    extrapolated: tuple[str, ...] = ()
    """The figures behind the joules that nobody has measured on their radio, each `PROFILE: KEY`."""

    @property
    def best(self) -> Candidate | None:
        return self.found.finalists[0] if self.found.finalists else None

    @property
    def meets_goal(self) -> bool:
        """Return whether the recommended candidate meets the whole goal with every seed."""
        if self.best is None or self.found.relaxed or self.found.falls_short(self.best):
            return False
        return not self._missed(self.best)

    def _missed(self, finalist: Candidate) -> int:
        """Return with how many seeds a finalist has missed the accuracy."""
        return sum(each.reached is None for each in self.found.by_seed[finalist])

    def lines(self) -> Iterator[str]:
        """Yield the answer in sentences."""
        if self.best is None:
            yield f"Nothing can be recommended for {self.asked.words}: {self._why_nobody}."
            yield from sorted({f"{why.why}" for why in self.found.ended.values()})[:3]
            return
        times = self.found.by_seed[self.best]
        if self.meets_goal:
            yield f"For {self.asked.words}: {self.best.words}."
        else:
            for reason in self.found.relaxed:
                yield f"The goal cannot be met: {reason}."
            if missed := self._missed(self.best):
                met = f"{len(times) - missed} of {len(times)}"
                yield f"No candidate is that accurate with every seed; the nearest is with {met}."
            yield f"The nearest to {self.asked.words}: {self.best.words}."
            if self.found.nothing_learnt:
                alone = f"the most frequent class alone, {100 * self.found.chance:.1f} %"
                yield f"Nothing has learnt anything: no model is more accurate than {alone}."
        yield self._took(times)
        yield from self._lasts(self.best)
        yield self._confidence(self.best)
        yield from self._other_codecs(self.best)
        yield from self.found.notes

    @property
    def _why_nobody(self) -> str:
        if self.found.nothing_learnt:
            return "nothing has learnt anything"
        is_unmeasured = self.found.trained and not self.found.learnt
        return "nothing was measured" if is_unmeasured else "no candidate can be played"

    def _took(self, times: Sequence[SeedTimes]) -> str:
        """Say what it took, with the seeds it was not chosen by where there are any: the first one flatters it."""
        further = [each for each in times[1:] if each.point is not None]
        counted = further or [each for each in times if each.point is not None]
        known = [each.point for each in counted if each.point is not None]
        if not known:
            return "It has measured nothing."
        accuracy = fmean(point.accuracy for point in known)
        time = format_seconds(fmean(point.time_s for point in known))
        cost = self.cost_text(fmean(point.cost for point in known))
        told = f"It has {100 * accuracy:.1f} % after {time} and {cost}"
        first = times[0].point
        if not further or first is None:
            return f"{told}, with the seed that it was chosen by."
        chosen = f"{100 * first.accuracy:.1f} % after {format_seconds(first.time_s)} with the one that it was chosen by"
        return f"{told}, mean over {len(further)} further seed{'' if len(further) == 1 else 's'}; {chosen}."

    def _lasts(self, best: Candidate) -> Iterator[str]:
        lasts_s = self.found.lasting_s.get(best)
        if self.asked.battery_s is not None and lasts_s is not None:
            short = ", less than is asked for" if lasts_s < self.asked.battery_s else ""
            lasts = f"lasts {format_seconds(lasts_s)} with the worst seed{short}"
            yield f"At that pace the first battery to be empty {lasts}."

    def _confidence(self, best: Candidate) -> str:
        """Say how sure it is that the next best is slower, or less accurate where the goal is missed."""
        _, *others = self.found.finalists
        if others:
            return self._against(others[0], best)
        if not self.found.outrun:
            return "Nobody else was left for the race; the last table says why."
        next_best = min(self.found.outrun, key=lambda candidate: self.found.outrun[candidate].mean)
        longer = self.found.outrun[next_best].words
        until = f" up to {self.found.ended[next_best].step}" if self._missed(best) else ""
        return f"The next best, {next_best.words}, takes {longer} times as long: clear{until}."

    def _other_codecs(self, best: Candidate) -> Iterator[str]:
        """Say so if others send numbers otherwise: nobody shall take the codec's gain for the strategy's."""
        codec = self.codecs.get(best)
        others = [each for each in (*self.found.finalists, *self.found.ended) if self.codecs.get(each) != codec]
        if others:
            names = ", ".join(dict.fromkeys(each.strategy for each in others))
            told = f"{best.strategy} sends {'plain numbers' if codec == PLAIN else codec}, not so {names}"
            yield f"{told}: part of the difference may be the codec's; --codec is for all."

    def _against(self, other: Candidate, best: Candidate) -> str:
        compared = behind(self.found.by_seed[other], self.found.by_seed[best])
        if compared is None:
            return f"The next best, {other.words}: there is no seed that has measured both."
        verdict = "clear" if compared.is_clear else "no clear difference"
        verdict = "one seed, which decides nothing" if compared.is_clear is None else verdict
        missed = self._missed(other)
        without = f"; it has missed the goal with {_seeds(missed)}" if missed else ""
        is_empty = self.found.falls_short(other) and not self.found.falls_short(best)
        empty = "; its first battery is empty sooner than is asked for" if is_empty else ""
        return f"The next best, {other.words}, {compared.words}: {verdict}{without}{empty}."

    def cost_text(self, cost: float) -> str:
        if self.cost == "price":
            return f"a price of {cost:.3g}"
        return format_joules(cost) if self.cost == "joules" else format_bytes(cost)

    @property
    def tables(self) -> tuple[Table, ...]:
        return self._finalists_table(), self._front_table(), self._others_table()

    def _finalists_table(self) -> Table:
        rows = []
        for candidate in self.found.finalists:
            times = self.found.by_seed[candidate]
            points = [each.point for each in times if each.point is not None]
            compared = behind(times, self.found.by_seed[self.found.finalists[0]])
            told = "recommended" if candidate == self.best else "" if compared is None else compared.words
            rows.append((
                candidate.strategy, _settings(candidate), candidate.radio,
                f"{len(times) - self._missed(candidate)} of {len(times)}",
                fmean(point.accuracy for point in points) if points else None,
                fmean(point.time_s for point in points) / SECONDS_PER_HOUR if points else None,
                fmean(point.cost for point in points) if points else None,
                told,
            ))  # fmt: skip
        header = (
            "strategy",
            "settings",
            "radio",
            "seeds that met the goal",
            "accuracy",
            "hours",
            self.cost,
            "against the best",
        )
        note = f"Means over {_seeds(len(self.found.seeds))}; who has not met the goal stands where it was at its best."
        return Table("finalists", f"For {self.asked.words}", header, tuple(rows), note)

    def _front_table(self) -> Table:
        """Return the candidates that no other beats, each with the accuracies for which that holds."""
        rows = []
        for candidate, points in self.front():
            first, last = points[0], points[-1]
            rows.append((
                candidate.strategy, _settings(candidate), candidate.radio,
                first.accuracy, last.accuracy, last.time_s / SECONDS_PER_HOUR, last.cost,
            ))  # fmt: skip
        header = ("strategy", "settings", "radio", "accuracy from", "to", "hours to that", f"{self.cost} to that")
        note = f"Seed {self.found.seeds[0]}. At these accuracies nobody else measured is sooner and cheaper."
        return Table("front", "Time, cost and accuracy that no other beats", header, tuple(rows), note)

    def front(self) -> list[tuple[Candidate, list[Point]]]:
        """Return the candidates on the front with their points on it, the soonest first."""
        found = self.found
        owners = [
            (each.candidate, point)
            for each in found.prospects
            for point in each.points(found.learnt, found.goal.accuracy)
        ]
        best: dict[Candidate, list[Point]] = {}
        for index in front_of([point for _, point in owners]):
            best.setdefault(owners[index][0], []).append(owners[index][1])
        return sorted(best.items(), key=lambda pair: pair[1][-1].time_s)

    def _others_table(self) -> Table:
        """Return who was outrun, and of each other strategy and radio without a finalist how far its last one got."""
        last: dict[tuple[str, str], Candidate] = {}
        for candidate in self.found.ended:  # in the order in which they were left out
            last[candidate.strategy, candidate.radio] = candidate
        finalists = {(each.strategy, each.radio) for each in self.found.finalists}
        lasts = [candidate for pair, candidate in sorted(last.items()) if pair not in finalists]
        rows = []
        for each in dict.fromkeys([*self.found.outrun, *lasts]):
            step, why = self.found.ended[each]
            rows.append((each.strategy, each.radio, _settings(each), step, why))
        header = ("strategy", "radio", "settings", "left out after", "why")
        return Table("others", "Why not the others", header, tuple(rows), "\n".join(self.not_tried))

    @property
    def figure(self) -> Figure | None:
        """Return time against cost of all that have met the goal, with those joined that no other beats."""
        found, goal = self.found, self.found.goal.accuracy
        met = [(each.candidate, point) for each in found.prospects if (point := each.reached(found.learnt, goal))]
        if not met:
            return None
        dots = [
            DotSet(each.words, (point.time_s / SECONDS_PER_HOUR,), (point.cost,), texts=(each.words,))
            for each, point in met
        ]
        front = sorted((met[index] for index in front_of([point for _, point in met])), key=lambda pair: pair[1])
        joined = DotSet(
            "not dominated",
            tuple(point.time_s / SECONDS_PER_HOUR for _, point in front),
            tuple(point.cost for _, point in front),
            texts=tuple(each.words for each, _ in front),
            is_joined=True,
            is_named=True,
        )
        is_log = _spans_decades([point.time_s for _, point in met]) or _spans_decades([point.cost for _, point in met])
        until = f"Until {100 * goal:g} %"
        panel = Dots(until, "simulated hours", self.cost, (*dots, joined), log_x=is_log, log_y=is_log)
        return Figure("pareto", "Time against cost", (panel,), columns=1, note=f"Seed {found.seeds[0]}.")

    def as_json(self) -> dict[str, Any]:
        """Return all of it for programs."""
        found, asked = self.found, self.asked
        return {
            "goal": {"accuracy": asked.accuracy, "within_s": asked.within_s, "battery_s": asked.battery_s},
            "is_met": self.meets_goal,
            "relaxed": found.relaxed,
            "notes": found.notes,
            "recommended": None if self.best is None else _candidate_json(self.best),
            "finalists": [
                _candidate_json(each)
                | {"seeds": [_seed_json(times, self.cost) for times in found.by_seed[each]]}
                | {"battery_s": found.lasting_s.get(each)}
                for each in found.finalists
            ],
            "front": [
                _candidate_json(each) | {"points": [_point_json(point, self.cost) for point in points]}
                for each, points in self.front()
            ],
            "others": [_candidate_json(each) | ended._asdict() for each, ended in found.ended.items()],
            "not_tried": list(self.not_tried),
            "extrapolated": list(self.extrapolated),
            "trained_rounds": len(found.trained),
        }


def _spans_decades(values: Sequence[float]) -> bool:
    """Return whether an axis with these values is read better as logarithms."""
    return min(values) > 0 and max(values) > 10 * min(values)


def _settings(candidate: Candidate) -> str:
    return ", ".join(f"{key} {value}" for key, value in candidate.settings) or "as in the scenario"


def _seeds(count: int) -> str:
    return f"{count} seed{'' if count == 1 else 's'}"


def _candidate_json(candidate: Candidate) -> dict[str, Any]:
    return {"strategy": candidate.strategy, "settings": dict(candidate.settings), "radio": candidate.radio}


def _point_json(point: Point | None, cost: str) -> dict[str, float] | None:
    return None if point is None else {"time_s": point.time_s, cost: point.cost, "accuracy": point.accuracy}


def _seed_json(times: SeedTimes, cost: str) -> dict[str, Any]:
    return {"seed": times.seed, "reached": _point_json(times.reached, cost), "best": _point_json(times.best, cost)}
