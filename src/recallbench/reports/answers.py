"""The section of a report on answers: right or wrong by kind, beside what was retrieved for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recallbench.escaping.markdown import Markup, inline
from recallbench.reports.cells import figure, interval
from recallbench.reports.page import listing
from recallbench.reports.table import Table
from recallbench.results.answers_part import AnswerSharePart, AnswersPart, TokensPart
from recallbench.results.metrics import COMPARED, OVERALL, Metrics

RECALL = COMPARED[0]
"""The measure that stands beside the answers."""
READING = (
    "Correct is the mean of what the judge found, over the questions whose right answer is known; faithful the share "
    "of answers that their context supports.",
    "A question that got no answer counts as the worst, and so does an answer that could not be judged.",
    "Recall is of the ranking, whatever was answered, and stays the headline. In brackets the 95% interval.",
)


def answer_section(metrics: Metrics) -> list[str]:
    """Return the section of the report; empty for a result whose pipeline does not answer."""
    part = metrics.answers
    if part is None:
        return []
    tables = [line for table in _tables(metrics, part) for line in ("", *table.markdown())]
    return ["## Answers", "", *map(inline, _told(part)), *tables, "", *map(inline, READING)]


def answer_part(metrics: Metrics) -> list[str]:
    """Return the section of the page; empty for a result whose pipeline does not answer."""
    part = metrics.answers
    if part is None:
        return []
    tables = [line for table in _tables(metrics, part) for line in table.html()]
    return ["<h2>Answers</h2>", *listing(_told(part)), *tables, *listing(READING)]


def judged(metrics: Metrics) -> dict[str, dict[str, str]]:
    """Return the figures of each judge by its name, under what they are."""
    judges = metrics.answers.judges if metrics.answers is not None else []
    return {
        "correct": {judge.name: figure(judge.correct[OVERALL].value) for judge in judges},
        "faithful": {judge.name: figure(judge.faithful[OVERALL].value) for judge in judges if judge.faithful},
    }


def answer_lines(metrics: Metrics) -> list[str]:
    """Return what each judge says of the answers, in a line; none for a result whose pipeline does not answer."""
    part = metrics.answers
    return [
        f"answers: {figure(judge.correct[OVERALL].value)} correct (n = {judge.correct[OVERALL].n})"
        + (f", {figure(judge.faithful[OVERALL].value)} faithful" if judge.faithful else "")
        + f", by {judge.name}"
        + (f"; {judge.undecided} undecided" if judge.undecided else "")
        for judge in (part.judges if part is not None else ())
    ]


def _told(part: AnswersPart) -> Iterator[str]:
    context = "" if part.context is None else f", each from {part.context:.1f} segments on average"
    answered = part.questions - len(part.failed)
    yield f"{answered} of {part.questions} questions answered by {part.generator}{context}."
    if part.tokens is not None:
        yield f"Answering took {_in_words(part.tokens)}."
    if part.unknown:
        yield f"Of {_counted(part.unknown, 'question')} no right answer is known."
    if part.cut:
        yield f"{_counted(part.cut, 'answer')} reached the greatest length there may be."
    if part.failed:
        yield (
            f"No answer came to {_counted(len(part.failed), 'question')}, which counts as the worst: "
            f"{', '.join(part.failed)}."
        )
    for judge in part.judges:
        if judge.failed:
            yield (
                f"{judge.name} could not judge {_counted(len(judge.failed), 'answer')} in full, and what is missing "
                f"counts as the worst: {', '.join(judge.failed)}."
            )


def _tables(metrics: Metrics, part: AnswersPart) -> list[Table]:
    judges = [_judges(part)] if part.judges else []
    return [_by_kind(metrics, part), *judges, *([_agreements(part)] if part.agreement else [])]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _by_kind(metrics: Metrics, part: AnswersPart) -> Table:
    columns = [(f"correct ({judge.name})", judge.correct) for judge in part.judges]
    columns += [(f"faithful ({judge.name})", judge.faithful) for judge in part.judges if judge.faithful]
    rows = []
    for kind, estimates in metrics.estimates.items():
        recall = next((estimate for estimate in estimates if estimate.measure == RECALL), None)
        shares = [shares.get(kind) for _, shares in columns]
        answered = next((str(share.n) for share in shares if share is not None), "–")
        rows.append((kind, answered, "–" if recall is None else figure(recall.value), *map(_share, shares)))
    return Table(("kind", "n", RECALL, *(name for name, _ in columns)), rows)


def _judges(part: AnswersPart) -> Table:
    rows = [
        (
            judge.name,
            _with_n(judge.with_gold),
            _with_n(judge.without_gold),
            str(judge.undecided),
            "–" if judge.tokens is None else _in_words(judge.tokens),
        )
        for judge in part.judges
    ]
    return Table(("judge", "correct with gold in context", "correct without", "undecided", "tokens"), rows)


def _agreements(part: AnswersPart) -> Table:
    rows: Sequence[tuple[str, ...]] = [
        (f"{pair.first}, {pair.second}", pair.of, str(pair.n), figure(pair.agreement), figure(pair.kappa))
        for pair in part.agreement
    ]
    return Table(("two judges", "of", "n", "agreement", "Cohen's kappa"), rows)


def _share(share: AnswerSharePart | None) -> str | Markup:
    if share is None or share.value is None:
        return "–"
    bounds = interval(share)
    return Markup(f"{figure(share.value)}{'' if share.low is None else f' ({bounds})'}")


def _with_n(share: AnswerSharePart) -> str:
    return f"{figure(share.value)} (n = {share.n})"


def _in_words(tokens: TokensPart) -> str:
    kept = f", {tokens.cache_read:,} of them kept by the endpoint" if tokens.cache_read else ""
    uncounted = f"; {tokens.uncounted} answers not counted" if tokens.uncounted else ""
    prompt = tokens.fresh + tokens.cache_read + tokens.cache_write
    return f"{prompt:,} tokens of prompts{kept}, {tokens.output:,} of answers{uncounted}"
