"""The counts of one reading of a corpus, beside those that are registered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from recallbench.corpora.records import CountCheck, Haystack, Survey
from recallbench.errors import InputError
from recallbench.protocol.rules import CorpusRules


@dataclass(slots=True)
class Oddities:
    """Counts of the oddities of a corpus file that are accepted."""

    turns: int = 0
    empty_turns: int = 0
    repeated_sessions: int = 0
    repaired_evidence: int = 0
    missing_turns: int = 0
    first_missing: str = ""
    """The first of these, with its question."""
    unseen_gold: int = 0
    """References to sessions that were not yet there when the question was asked: they are left out of its gold."""

    def names_nothing(self, reference: str, question: str) -> None:
        """Count a piece of evidence that names neither a turn nor a session of the file."""
        self.missing_turns += 1
        self.first_missing = self.first_missing or f"{reference} of question {question}"


@dataclass(slots=True)
class Census:
    """Counts haystacks one by one."""

    kinds: Counter[str] = field(default_factory=Counter)
    denominators: Counter[str] = field(default_factory=Counter)
    with_evidence: int = 0
    abstentions: int = 0
    asked: int = 0
    sizes: list[int] = field(default_factory=list)
    visible: int = 0

    def count(self, haystack: Haystack) -> None:
        """Take one haystack into account."""
        self.sizes.append(len(haystack.segments))
        for question in haystack.questions:
            self.kinds[question.kind] += 1
            self.with_evidence += bool(question.gold)
            self.abstentions += question.abstention
            self.asked += question.is_asked
            self.denominators.update(question.denominators)
            if question.visible is not None:
                self.visible += question.candidates(self.sizes[-1])

    def checks(self, rules: CorpusRules, oddities: Oddities) -> tuple[CountCheck, ...]:
        """Each registered count beside the one found; none where nothing is registered."""
        if not rules.questions:
            return ()
        pairs: list[tuple[str, object, object]] = [
            ("questions", rules.questions, self.kinds.total()),
            ("questions with evidence", rules.with_evidence, self.with_evidence),
            ("segments", rules.segments, sum(self.sizes)),
        ]
        if rules.scopes:
            pairs.append(("scopes", rules.scopes, len(self.sizes)))
        if rules.segments_per_scope:
            pairs.append(("segments per scope", _row(rules.segments_per_scope), _row(self.sizes)))
        if rules.forbidden_segments:
            # Turns are what the forbidden granularity would have stored: seeing them counted shows they were merged.
            pairs.append(("turns", rules.forbidden_segments, oddities.turns))
        if rules.abstentions:
            pairs.append(("abstention questions", rules.abstentions, self.abstentions))
        if rules.missing_turns is not None:
            pairs.append(("references to missing turns", rules.missing_turns, oddities.missing_turns))
        if rules.unseen_gold is not None:
            pairs.append(("references to sessions that were yet to come", rules.unseen_gold, oddities.unseen_gold))
        if rules.visible:
            pairs.append(("visible segments of all questions", rules.visible, self.visible))
        for name, count in rules.denominators.items():
            pairs.append((f"denominator {name}", count, self.denominators[name]))
        for kind in [*rules.kinds, *sorted(self.kinds.keys() - rules.kinds.keys())]:
            pairs.append((f"questions of kind {kind}", rules.kinds.get(kind, 0), self.kinds[kind]))
        return tuple(CountCheck(name, str(expected), str(actual)) for name, expected, actual in pairs)

    def survey(
        self, path: Path, file: str, sha256: str, rules: CorpusRules, oddities: Oddities, denominators: Iterable[str]
    ) -> Survey:
        """The counts of what results call `file` as a survey; what is registered must have the registered counts."""
        survey = Survey(
            corpus=rules.name,
            file=file,
            sha256=sha256,
            registered_sha256=rules.sha256,
            scopes=len(self.sizes),
            segments=sum(self.sizes),
            turns=oddities.turns,
            questions=self.kinds.total(),
            with_evidence=self.with_evidence,
            asked=self.asked,
            kinds=_ordered(self.kinds, rules.kinds),
            denominators={name: self.denominators[name] for name in denominators},
            checks=self.checks(rules, oddities),
            repeated_sessions=oddities.repeated_sessions,
            empty_turns=oddities.empty_turns,
            repaired_evidence=oddities.repaired_evidence,
            missing_turns=oddities.missing_turns,
            segments_per_scope=tuple(self.sizes),
            unseen_gold=oddities.unseen_gold,
        )
        if rules.missing_turns is not None and oddities.missing_turns > rules.missing_turns:
            raise InputError(
                f"{path}: too much evidence names nothing",
                expected=f"at most {rules.missing_turns} references to what is not there, as registered",
                found=f"{oddities.missing_turns}, the first {oddities.first_missing}",
                remedy="use the registered files",
            )
        wrong = [check for check in survey.checks if not check.holds]
        if survey.registered and wrong:
            raise InputError(
                f"{path}: the registered file, but not the registered counts",
                expected="; ".join(f"{check.name} {check.expected}" for check in wrong),
                found="; ".join(f"{check.name} {check.found}" for check in wrong),
                remedy="nothing is wrong with the file: report this as a fault of its reader or of the protocol data",
            )
        return survey


def _row(sizes: Iterable[int]) -> str:
    return ",".join(str(size) for size in sizes)


def _ordered(counts: Counter[str], registered: Mapping[str, int]) -> dict[str, int]:
    names = [name for name in registered if name in counts]
    return {name: counts[name] for name in [*names, *sorted(counts.keys() - registered.keys())]}
