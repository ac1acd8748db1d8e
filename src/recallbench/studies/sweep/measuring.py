"""Every point of a sweep asked: all questions of each, or as far as a race lets it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

from recallbench.embedding.embedder import Embedder
from recallbench.embedding.machine import cpu_model
from recallbench.errors import RecallBenchError
from recallbench.progress import Progress
from recallbench.retrieval.pipeline.shared_legs import SharedLegs
from recallbench.retrieval.record import Calls
from recallbench.runs.embedded_texts import embed_texts
from recallbench.scoring.calls import judge_calls, judge_positions
from recallbench.scoring.choice.race import Race, Raced
from recallbench.scoring.judgement import Floats, Judged, reaching
from recallbench.scoring.measures.measure import Measure
from recallbench.studies.address import answers_address
from recallbench.studies.sweep.asking import AskedSystem
from recallbench.studies.sweep.kept import Answers, SweepCache
from recallbench.studies.sweep.points import SweepPoint
from recallbench.studies.sweep.questions import SweepQuestions

Encoder = tuple[str | None, int | None]


@dataclass(slots=True)
class PointOutcome:
    """What came of one point."""

    point: SweepPoint
    address: str = ""
    answers: Answers | None = None
    kept: bool = False
    """Its answers had been measured before this sweep."""
    failure: str = ""
    one_caller: str = ""
    """Why a single caller asked it, where several were to."""

    def judged(self, questions: SweepQuestions, places: Sequence[int]) -> list[Judged]:
        """Return the judgements of its answers to the questions at these places, by call."""
        assert self.answers is not None
        plan = self.point.plan
        calls = Calls(plan.rules.default_k, plan.options.depth)
        return list(judge_calls(self.answers.retrieval(questions.at(places), questions.sizes, calls)))

    def values(self, questions: SweepQuestions, places: Sequence[int]) -> Floats:
        """Return the value of each of these questions."""
        measure = self.point.measure
        return measure.values(reaching(self.judged(questions, places), measure.k))

    def handed_on(self, questions: SweepQuestions, places: Sequence[int], measure: Measure) -> Judged:
        """Return the judgement, for another measure, of the hits that it hands on: its k best, and none below."""
        assert self.answers is not None
        plan, k = self.point.plan, min(measure.k, self.point.measure.k)
        calls = Calls(plan.rules.default_k, plan.options.depth)
        retrieval = self.answers.retrieval(questions.at(places), questions.sizes, calls)
        shallow = retrieval.short if k <= calls.k else None
        rankings = retrieval.rankings if shallow is None else shallow
        return judge_positions(retrieval, [ranking.positions[:k] for ranking in rankings], measure.k)

    def asked(self, questions: SweepQuestions) -> list[int]:
        """Return the places of the questions that it was asked."""
        if self.failure or self.answers is None:
            return []
        answered = self.answers.deep
        return [place for place, question in enumerate(questions.asked) if question.id in answered]

    def has(self, questions: SweepQuestions, places: Sequence[int]) -> bool:
        """Return whether all of these questions were asked of it."""
        return not self.failure and self.answers is not None and not self.answers.missing(questions.at(places))


AskElsewhere = Callable[
    [Sequence[PointOutcome], Sequence[int], bool], Iterable[tuple[str, PointOutcome | RecallBenchError]]
]
"""Has points asked the questions at these places, and yields what came of each by its address; the flag says that none
of them is asked anything after that."""


class Measuring:
    """The points of a sweep while they are asked: encoders, shared legs and open systems, and what is kept."""

    def __init__(
        self,
        points: Sequence[SweepPoint],
        questions: SweepQuestions,
        cache: SweepCache | None,
        sweep: str,
        progress: Progress,
        today: date,
        at_once: int = 1,
        ask_elsewhere: AskElsewhere | None = None,
    ) -> None:
        """Without a cache nothing is kept, and nothing that is kept is taken.

        `ask_elsewhere` has points asked by others than this process, who say what came of each address.
        """
        self._at_once = at_once
        self._ask_elsewhere = ask_elsewhere
        self.outcomes = [PointOutcome(point) for point in points]
        self.questions, self._cache, self._sweep = questions, cache, sweep
        self.computed = 0
        """The texts that had no vector yet."""
        self._progress, self._today = progress, today
        self._closing = ExitStack()
        self._embedders: dict[Encoder, Embedder | None] = {}
        self._legs: dict[Encoder, SharedLegs] = {}
        self._systems: dict[str, AskedSystem] = {}
        self._fresh: set[str] = set()
        self._cpu = cpu_model()
        self._elsewhere: set[str] = set()
        """Other processors that kept times are of."""

    @property
    def question_count(self) -> int:
        """How many questions there are."""
        return len(self.questions.asked)

    def close(self) -> None:
        """Close every system, then the legs and the encoders."""
        self._closing.close()

    def open_encoders(self) -> None:
        """Embed every text for every encoder, and look what is kept of each point. Points of one that fails, fail."""
        self._admit(self.outcomes)

    def join(self, points: Sequence[SweepPoint]) -> list[PointOutcome]:
        """Return the outcomes of further points, to be asked as the others are; they are none of the sweep's own."""
        joined = [PointOutcome(point) for point in points]
        self._admit(joined)
        return joined

    def ask_fresh(self, point: SweepPoint, seed: int, places: Sequence[int]) -> Answers:
        """Return what a system answers that is opened and filled anew, with nothing of what is kept or shared.

        The seed decides the order in which haystacks are filled and questions asked. Raises what the system raises.
        """
        with ExitStack() as closing:
            memo = Path(closing.enter_context(TemporaryDirectory(prefix="recallbench-")))
            plan = replace(point.plan, options=replace(point.plan.options, cache_dir=memo))
            legs = SharedLegs()
            closing.callback(legs.close)
            embedder = self._embedders[point.encoder]
            system = AskedSystem(
                plan, embedder, self.questions.haystacks, None, legs, self._progress, self._today, seed=seed
            )
            closing.callback(system.close)
            asked = self.questions.at(places)
            Random(seed).shuffle(asked)
            system.ask(asked)
            return system.answers

    def _admit(self, outcomes: Sequence[PointOutcome]) -> None:
        groups: dict[Encoder, list[PointOutcome]] = {}
        for outcome in outcomes:
            groups.setdefault(outcome.point.encoder, []).append(outcome)
        for group in groups.values():
            try:
                embedder = self._open_embedder(group[0].point)
                sha256, sweep = self.questions.sha256, self._sweep
                addresses = [answers_address(outcome.point.plan, sha256, embedder, sweep) for outcome in group]
            except RecallBenchError as error:
                for outcome in group:
                    self._fail(outcome, error)
                continue
            for outcome, outcome.address in zip(group, addresses, strict=True):
                outcome.answers = self._find(outcome.address)

    def _open_embedder(self, point: SweepPoint) -> Embedder | None:
        """Open the encoder of a point with the legs that its points share, and embed every text; once for each."""
        encoder = point.encoder
        if encoder not in self._embedders:
            embedder = self._closing.enter_context(point.plan.open_embedder(self._progress))
            if embedder is not None:
                parts = embed_texts(self.questions.haystacks, embedder, sum(self.questions.sizes.values()))
                self.computed += sum(part.computed for part in parts.values())
            self._embedders[encoder], self._legs[encoder] = embedder, SharedLegs()
            self._closing.callback(self._legs[encoder].close)
        return self._embedders[encoder]

    def ask_each(self, outcomes: Sequence[PointOutcome], places: Sequence[int], what: str) -> None:
        """Ask these points the questions at these places, one point after the other; a failed one stops no other."""
        with self._progress.stage(what, len(outcomes), "points") as advance:
            self._have_asked(outcomes, places, last=True)
            for outcome in outcomes:
                self.ask(outcome, places)
                self.end(outcome)
                advance(1)

    def race(self, raced: Sequence[PointOutcome], race: Race, tuning: Sequence[int]) -> Raced:
        """Ask these points block by block, as long as the race does not drop them; one that fails is the worst then."""
        everything = len(race.blocks) * len(raced)
        with self._progress.stage("the race", everything, "blocks of a point") as advance:
            for number, block in enumerate(race.blocks, 1):
                places = [tuning[place] for place in block.tolist()]
                values = []
                self._have_asked([raced[point] for point in race.alive], places, last=False)
                for point in race.alive:
                    self.ask(raced[point], places)
                    failed = bool(raced[point].failure)
                    values.append(np.zeros(len(places)) if failed else raced[point].values(self.questions, places))
                    advance(1)
                dropped = race.add(np.stack(values))
                running = {raced[point].address for point in race.alive}
                for drop in dropped:
                    if raced[drop.point].address not in running:
                        self.end(raced[drop.point])
                advance(len(dropped) * (len(race.blocks) - number))
                if dropped and number < len(race.blocks):
                    self._progress.note(
                        f"{len(dropped)} dropped after {dropped[0].asked} questions; {len(race.alive)} still run"
                    )
                if len(race.alive) == 1:
                    break
        return race.raced()

    def _have_asked(self, outcomes: Sequence[PointOutcome], places: Sequence[int], *, last: bool) -> None:
        """Have others ask what these points lack; what they say is then kept like what was asked here."""
        if self._ask_elsewhere is None:
            return
        questions = self.questions.at(places)
        lacking = {
            outcome.address: outcome
            for outcome in outcomes
            if not outcome.failure and (outcome.answers is None or outcome.answers.missing(questions))
        }
        for address, came in self._ask_elsewhere(list(lacking.values()), places, last):
            for outcome in [each for each in outcomes if each.address == address]:
                if isinstance(came, RecallBenchError):
                    self._fail(outcome, came)
                else:
                    outcome.answers, outcome.one_caller = came.answers, came.one_caller
            if not isinstance(came, RecallBenchError) and came.answers is not None:
                self._systems.pop(address, None)
                self._fresh.add(address)
                if self._cache is not None:
                    self._cache.keep(address, came.answers)

    def ask(self, outcome: PointOutcome, places: Sequence[int]) -> None:
        """Ask a point the questions at these places that it lacks; its system stays open, its failure is noted."""
        questions = self.questions.at(places)
        if outcome.failure:
            return
        try:
            system = self._system(outcome)
            system.ask(questions)
        except RecallBenchError as error:
            self.end(outcome)
            self._fail(outcome, error)
            return
        outcome.answers, outcome.one_caller = system.answers, system.one_caller or outcome.one_caller
        if system.asked:
            self._fresh.add(outcome.address)
            if self._cache is not None:
                self._cache.keep(outcome.address, system.answers)
        outcome.kept = outcome.address not in self._fresh

    def _system(self, outcome: PointOutcome) -> AskedSystem:
        """Return the system of a point; those that differ in nothing but k have one."""
        system = self._systems.get(outcome.address)
        if system is None:
            plan, encoder = outcome.point.plan, outcome.point.encoder
            found = outcome.answers or self._find(outcome.address)
            system = self._systems[outcome.address] = AskedSystem(
                plan,
                self._embedders[encoder],
                self.questions.haystacks,
                found,
                self._legs[encoder],
                self._progress,
                self._today,
                at_once=self._at_once,
            )
            self._closing.callback(system.close)
        return system

    def _find(self, address: str) -> Answers | None:
        """Return what is kept at an address, without the times of another processor and the answers they are of."""
        found = None if self._cache is None else self._cache.find(address)
        if found is None:
            return None
        here = found.timed_on(self._cpu)
        if here is not found and found.cpu not in self._elsewhere:
            self._elsewhere.add(found.cpu)
            self._progress.note(f"some times that are kept are of {found.cpu}: the timed questions are asked again")
        return here

    def end(self, outcome: PointOutcome) -> None:
        """Close the system of a point; the next one that needs it opens it again."""
        system = self._systems.pop(outcome.address, None)
        if system is not None:
            system.close()

    def _fail(self, outcome: PointOutcome, error: RecallBenchError) -> None:
        outcome.answers, outcome.failure = None, error.brief
        self._progress.note(f"{outcome.point.name} failed: {error.brief}")
