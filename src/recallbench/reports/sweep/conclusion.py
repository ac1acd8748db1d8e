"""How a sweep ends: the point to take, what it is worth on questions held out, and whether one can believe it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.escaping import shell
from recallbench.reports.cells import figure
from recallbench.reports.conclusions.names import NAMED, listed
from recallbench.reports.printing.conclusion import Conclusion, Tone
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.reports.sweep.applying import K, applied
from recallbench.results.environment import recorded_load
from recallbench.results.sweep.document import BASELINE, SweepDocument, SweepPointPart


def conclusion(
    document: SweepDocument,
    corpus: tuple[str, ...] = ("CORPUS",),
    file: Path = Path("sweep.toml"),
    command: TypedCommand | None = None,
) -> Conclusion:
    """Return which point to take, the first reason to doubt it, and what to do next; the tables have all the rest.

    `corpus`, the words that name it, `file` and `command` are as they were typed.
    """
    same = "the same command again" if command is None else command.again()
    choice, chosen = document.choice, document.point(document.choice.chosen)
    lost = [f"{len(document.failed)} of {len(document.points)} points failed"] if document.failed else []
    if chosen is None:
        then = f"try those alone: {same}" if lost else "weaken the gate that turns most away, or add points to the file"
        return Conclusion(f"Nothing is chosen: {choice.why_none}", "; ".join(lost), then, tone="bad")
    doubts = [*lost, *_doubts(document, chosen)]
    sure = _is_sure(document, chosen)
    if choice.missed:
        then = "take another point, or hold out more questions"
    elif lost:
        then = f"try those alone: {same}"
    elif _is_baseline(document, chosen):
        then = applied(document, chosen, corpus, file)
    elif _is_worse(document):
        then = "" if _is_shown_worse(document) else "to be sure, ask more questions"
    elif _is_undecided(document, chosen):
        then = _more_questions(document, corpus)
    elif not sure:
        other = "set" if is_set_name(document.corpus) else "corpus"
        then = f"try another {other}: {applied(document, chosen, ('OTHER',), file)}"
    else:
        then = applied(document, chosen, corpus, file)
    bad = choice.missed or not document.is_whole
    tone: Tone = "bad" if bad else "good" if sure and not _is_worse(document) else "open"
    return Conclusion(_taken(document, chosen), next(iter(doubts), _shown(document)), then, tone)


def left_out(combinations: int) -> list[str]:
    """Return how many combinations of parameters can't be measured; nothing where all can."""
    return [f"{combinations} combination{'s' if combinations > 1 else ''} left out"] if combinations else []


def _taken(document: SweepDocument, chosen: SweepPointPart) -> str:
    """Return the point to take, with what it is worth."""
    choice, worth = document.choice, _worth(document, chosen)
    if choice.missed:
        missed = listed([gate.gate for gate in choice.missed], 1)
        return f"Don't take {chosen.name}: held out it is shown to miss {missed}; {worth}"
    if _is_baseline(document, chosen):
        return f"No point is seen better than the {BASELINE}: {worth}"
    if _is_worse(document):
        return f"Keep the {BASELINE}: {chosen.name} is no better, {worth}"
    if _is_undecided(document, chosen):
        return f"{_open(document)}; {chosen.name} was seen best{'' if document.failed else f': {worth}'}"
    return f"Take {chosen.name}: {worth}"


def _worth(document: SweepDocument, chosen: SweepPointPart) -> str:
    """Return what a point gains on the baseline, on the questions held out; without one, what it is worth there."""
    choice, out = document.choice, chosen.held_out
    known = out or chosen.estimate
    measure = document.measure if known is None else known.measure
    if out is None:
        return f"{measure} {figure(chosen.tuning)} on the questions that chose it"
    if choice.gain is None or _is_baseline(document, chosen) or _is_undecided(document, chosen):
        between = "" if out.low is None or out.high is None else f" ({out.low:.4f} to {out.high:.4f})"
        return f"held-out {measure} {figure(out.value)}{between}, n {out.n}"
    between = ""
    if choice.gain_low is not None and choice.gain_high is not None:
        between = f" ({choice.gain_low:+.4f} to {choice.gain_high:+.4f})"
    return f"held-out {measure} {choice.gain:+.4f}{between} against the {BASELINE}, n {out.n}"


def _open(document: SweepDocument) -> str:
    """Return that no point can be chosen, and what the questions can't tell."""
    choice, split = document.choice, document.split
    # What can't be split is one cluster, however many questions it has.
    count, unit = (1, "cluster") if split is None else (split.tuning_units, split.unit)
    asked = f"{count:,} {unit}{'' if count == 1 else 's'}"
    if len(choice.set) < 2:
        return f"No point can be chosen: {asked} can't show any to be best within {choice.margin:g}"
    few = f"{', '.join(choice.set[:-1])} and {choice.set[-1]}"
    names = few if len(choice.set) <= NAMED else f"{len(choice.set)} points"
    return f"No point can be chosen: {asked} can't tell {names} apart"


def _more_questions(document: SweepDocument, corpus: tuple[str, ...]) -> str:
    if is_set_name(document.corpus):
        return f"label more questions: {shell.command('label', *corpus)}"
    return "sweep more questions, such as your own: recallbench label DIR"


def _is_compared(document: SweepDocument) -> bool:
    """Return whether there was another point to choose."""
    return sum(point.passes and point.tuning is not None for point in document.measured) != 1


def _is_worse(document: SweepDocument) -> bool:
    """Return whether the baseline was seen better on the questions held out."""
    return document.choice.gain is not None and document.choice.gain < 0


def _is_shown_worse(document: SweepDocument) -> bool:
    return document.choice.gain_high is not None and document.choice.gain_high < 0


def _is_undecided(document: SweepDocument, chosen: SweepPointPart) -> bool:
    """Return whether the point is only the one seen best of several, and nothing else speaks against it."""
    choice = document.choice
    against = bool(choice.missed) or _is_worse(document) or _is_baseline(document, chosen)
    return not (choice.shown or against) and _is_compared(document)


def _is_baseline(document: SweepDocument, chosen: SweepPointPart) -> bool:
    """Return whether a point answers as the baseline does, and hands on as many hits."""
    baseline = document.point(BASELINE)
    if baseline is None or baseline.answers_sha256 != chosen.answers_sha256:
        return False
    return baseline.in_force.get(K) == chosen.in_force.get(K)


def _is_sure(document: SweepDocument, chosen: SweepPointPart) -> bool:
    """Return whether the choice is shown, by questions enough, and its gain on the baseline known."""
    choice, split = document.choice, document.split
    known = choice.gain is None or choice.gain_low is not None or _is_baseline(document, chosen)
    return choice.shown and split is not None and split.chooses and known


def _shown(document: SweepDocument) -> str:
    """Return what is shown of the choice, where nothing is doubted."""
    choice = document.choice
    if choice.missed or not choice.shown:
        return ""
    if _is_worse(document):
        return "the interval excludes 0" if _is_shown_worse(document) else ""
    dropped = sum(point.dropped_after is not None for point in document.points)
    if dropped and not _is_compared(document):
        others = f"{dropped} other{'s' if dropped > 1 else ''}"
        return f"the race told {others} from it, {choice.confidence:.0%} sure"
    return f"shown to be within {choice.margin:g} of the best"


def _doubts(document: SweepDocument, chosen: SweepPointPart) -> Iterator[str]:
    """Yield the reasons to doubt the choice, the gravest first."""
    choice, split, worse = document.choice, document.split, _is_worse(document)
    undecided, same = _is_undecided(document, chosen), _is_baseline(document, chosen)
    if not (choice.missed or worse) and (seen := [gate.gate for gate in choice.gates if gate.kept is False]):
        yield f"{listed(seen, 1)} is not shown"
    if split is None:
        yield "no question is held out"
    raced = any(point.dropped_after is not None for point in document.points)
    if not (_is_compared(document) or raced or worse):
        yield "no other point could be chosen"
    if not (choice.shown or undecided or worse):
        yield "it was only seen best, perhaps by luck"
    if split is not None and not split.chooses and not undecided:
        yield "the questions are too few to choose by"
    if choice.gain is not None and not (same or undecided):
        if choice.gain_low is None or choice.gain_high is None:
            if document.clusters and split is not None:
                yield f"{split.held_out_units} clusters held out are too few for an interval"
        elif choice.gain_low <= 0 <= choice.gain_high:
            yield f"that it differs from the {BASELINE} is not shown"
    load = recorded_load(document.environment)
    if load and not load.quiet and not (undecided or worse):
        yield "the machine was busy, so don't rely on the times"
