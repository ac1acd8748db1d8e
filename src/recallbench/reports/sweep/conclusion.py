"""How a sweep ends: the point to take, what it is worth on questions held out, and whether one can believe it."""

from __future__ import annotations

from pathlib import Path

from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.escaping import shell
from recallbench.reports.cells import figure, milliseconds
from recallbench.reports.conclusions.names import joined
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.typed_command import TypedCommand
from recallbench.reports.sweep.applying import K, applied
from recallbench.reports.sweep.words import named
from recallbench.results.environment import recorded_load
from recallbench.results.folder import folder_word
from recallbench.results.metrics import EstimatePart
from recallbench.results.sweep.document import BASELINE, SweepDocument, SweepPointPart


def conclusion(
    document: SweepDocument,
    corpus: tuple[str, ...] = ("CORPUS",),
    file: Path = Path("sweep.toml"),
    combinations: int = 0,
    command: TypedCommand | None = None,
) -> Conclusion:
    """Return which point to take, whether one can believe it, and what to do next.

    `corpus`, the words that name it, `file` and `command` are as they were typed; so many `combinations` can't be
    measured.
    """
    same = "the same command again" if command is None else command.again()
    those_again = f"try those alone: {same}"
    choice, measured = document.choice, len(document.points)
    lost = [
        *([f"{len(document.failed)} of {measured} points failed"] if document.failed else []),
        *left_out(combinations),
    ]
    chosen = document.point(choice.chosen)
    if chosen is None:
        then = those_again if document.failed else "weaken the gate that turns most away, or add points to the file"
        return Conclusion(f"Nothing is chosen: {choice.why_none}", "; ".join(lost), then, tone="bad")
    missed = ", ".join(gate.gate for gate in choice.missed)
    better = choice.gain is not None and choice.gain < 0
    run = applied(document, chosen, corpus, file)
    folder = f"results/{folder_word(chosen.name)}"
    gated = applied(document, chosen, corpus, file, folder), shell.command("gate", folder, "--init")
    held = document.split is not None and document.split.chooses
    known = choice.gain is None or choice.gain_low is not None or _is_baseline(document, chosen)
    sure = choice.shown and held and known
    if missed:
        then = "take another point, or hold out more questions"
    elif not document.is_whole:
        then = those_again
    elif _is_baseline(document, chosen):
        then = f"keep it, and hold it in CI: {'; then '.join(gated)}"
    elif better:
        then = f"keep the {BASELINE}, or hold {chosen.name} against it: {run}"
    elif _is_undecided(document, chosen):
        then = _more_questions(document, corpus, same)
    elif not sure:
        other = "set" if is_set_name(document.corpus) else "corpus"
        again = applied(document, chosen, ("OTHER",), file)
        then = f"measure it on another {other} before you rely on it: {again}"
    else:
        then = "; then hold it in CI: ".join(gated)
    return Conclusion(
        _taken(document, chosen, missed),
        "; ".join([*_believed(document, chosen), *lost]),
        then,
        tone="bad" if missed or not document.is_whole else "good" if sure and not better else "open",
    )


def left_out(combinations: int) -> list[str]:
    """Return how many combinations of parameters can't be measured; nothing where all can."""
    return [f"{combinations} combination{'s' if combinations > 1 else ''} left out"] if combinations else []


def _taken(document: SweepDocument, chosen: SweepPointPart, missed: str) -> str:
    """Return the point to take, with its worth, what it gains on the baseline, and what it costs."""
    choice, out = document.choice, chosen.held_out
    known = out or chosen.estimate
    measure = document.measure if known is None else known.measure
    if out is None:
        worth = f"{measure} {figure(chosen.tuning)} on the questions that chose it"
    else:
        worth = f"held-out {measure} {_interval(out)}, n {out.n}"
    costs = [
        *([f"p95 {milliseconds(chosen.p95_ms)} ms"] if chosen.p95_ms is not None else []),
        *([f"{chosen.usd_per_1000:.3f} USD/1000"] if chosen.usd_per_1000 is not None else []),
    ]
    told = ", ".join([worth, *_gained(document), *costs])
    if missed:
        return f"Don't take {named(chosen)}: on the questions held out it is shown to miss {missed}; {told}"
    if _is_baseline(document, chosen):
        same = f"No point is seen better than the {BASELINE}: {named(chosen)} is the same system"
        return ", ".join([same, worth, *costs])
    if choice.gain is not None and choice.gain < 0:
        better = "shown to be better" if (choice.gain_high or 0.0) < 0 else "seen better, which is not shown"
        keep = f"Keep the {BASELINE} where {measure} decides: held out it is {better}"
        return f"{keep}; of the points {named(chosen)}: {told}"
    if _is_undecided(document, chosen):
        return f"{_open(document)}; {named(chosen)} was seen best: {told}{_cheaper(document, chosen)}"
    return f"Take {named(chosen)}: {told}"


def _open(document: SweepDocument) -> str:
    """Return that no point can be chosen, and what the questions can't tell."""
    choice, split = document.choice, document.split
    # What can't be split is one cluster, however many questions it has.
    count, unit = (1, "cluster") if split is None else (split.tuning_units, split.unit)
    asked = f"{count:,} {unit}{'' if count == 1 else 's'}"
    if len(choice.set) < 2:
        return f"No point can be chosen: {asked} can't show any to be no worse by more than {choice.margin:g}"
    return f"No point can be chosen: {asked} can't tell {joined(choice.set)} apart"


def _cheaper(document: SweepDocument, chosen: SweepPointPart) -> str:
    cheapest = document.choice.cheapest
    return f"; {cheapest} is cheaper" if cheapest not in (None, chosen.name) else ""


def _more_questions(document: SweepDocument, corpus: tuple[str, ...], same: str) -> str:
    if is_set_name(document.corpus):
        return f"label more questions: {shell.command('label', *corpus)}; then {same}"
    return "sweep a corpus with more questions (recallbench corpora), or your own (recallbench label DIR)"


def _is_compared(document: SweepDocument) -> bool:
    """Return whether there was another point to choose."""
    return sum(point.passes and point.tuning is not None for point in document.measured) != 1


def _is_undecided(document: SweepDocument, chosen: SweepPointPart) -> bool:
    """Return whether the point is only the one seen best of several, and nothing else speaks against it."""
    choice = document.choice
    seen_worse = bool(choice.missed) or (choice.gain is not None and choice.gain < 0)
    return not (choice.shown or seen_worse or _is_baseline(document, chosen)) and _is_compared(document)


def _is_baseline(document: SweepDocument, chosen: SweepPointPart) -> bool:
    """Return whether a point answers as the baseline does, and hands on as many hits."""
    baseline = document.point(BASELINE)
    if baseline is None or baseline.answers_sha256 != chosen.answers_sha256:
        return False
    return baseline.in_force.get(K) == chosen.in_force.get(K)


def _gained(document: SweepDocument) -> list[str]:
    choice = document.choice
    if choice.gain is None:
        return []
    units = document.split.held_out_units if document.split is not None else 0
    between = ""
    if choice.gain_low is not None and choice.gain_high is not None:
        between = f" ({choice.gain_low:+.4f} to {choice.gain_high:+.4f})"
    elif document.clusters:
        between = f" (no interval: {units} clusters held out are too few)"
    return [f"{choice.gain:+.4f}{between} against the {BASELINE}"]


def _believed(document: SweepDocument, chosen: SweepPointPart) -> list[str]:
    """Return whether the choice can be believed: whether it is shown, what is held out, and what disturbed it."""
    choice = document.choice
    dropped = sum(point.dropped_after is not None for point in document.points)
    if not _is_compared(document):
        told = ["no other point could be chosen, so that nothing was compared"]
        if dropped:
            told = [f"the race told {dropped} other{'s' if dropped > 1 else ''} from it, {choice.confidence:.0%} sure"]
    elif choice.shown:
        told = [f"the fastest shown to be no worse than any other by more than {choice.margin:g}"]
    elif _is_undecided(document, chosen):
        told = []
    else:
        told = [
            f"only the one seen best: not shown to be no worse by more than {choice.margin:g}, so luck may have made it"
        ]
    if document.split is None:
        told.append("no question is held out, so its worth is flattered by the choice")
    elif not document.split.chooses and told:
        told.append("the questions are too few to choose by")
    if choice.gain_low is not None and choice.gain_high is not None and choice.gain_low <= 0 <= choice.gain_high:
        told.append(f"that it differs from the {BASELINE} is not shown")
    if not choice.missed and (seen := [gate.gate for gate in choice.gates if gate.kept is False]):
        told.append(f"held out it seems to miss {', '.join(seen)}, which is not shown")
    spread = _spread(document, chosen)
    load = recorded_load(document.environment)
    return [*told, *spread, *(["the machine was busy, so don't rely on the times"] if load and not load.quiet else [])]


def _spread(document: SweepDocument, chosen: SweepPointPart) -> list[str]:
    """Return how far the measure moved when the point was asked again; nothing where it was not."""
    for spread in document.stability.spreads if document.stability is not None else []:
        if spread.point == chosen.name and "@" in spread.figure:
            runs = sum(map(len, spread.runs))
            return [f"asked again {runs} times it moves by {spread.most - spread.least:.4f}"]
    return []


def _interval(part: EstimatePart) -> str:
    value = figure(part.value)
    return value if part.low is None or part.high is None else f"{value} ({part.low:.4f} to {part.high:.4f})"
