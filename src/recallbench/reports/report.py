"""`report.md`: a result in words and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.escaping.markdown import Markup, code, fenced, inline, opening
from recallbench.reports import set_report, summary
from recallbench.reports.answers import answer_section
from recallbench.reports.cells import TOO_SHORT, figure, in_no_mean, interval, saturation, share, system
from recallbench.reports.circumstances.section import circumstances
from recallbench.reports.conclusions.labels import notes
from recallbench.reports.conclusions.measured import counted
from recallbench.reports.controls.columns import control_names, controls
from recallbench.reports.controls.section import control_section
from recallbench.reports.coverage import READING, coverage_table
from recallbench.reports.own_encoder import encoder_remarks, encoder_words
from recallbench.reports.returned import returned_section
from recallbench.reports.slices import slice_table
from recallbench.reports.stages import table as stage_table
from recallbench.reports.stages.beside import StageCosts
from recallbench.reports.standing.section import deviations, gates, last_section, standing
from recallbench.reports.table import Table
from recallbench.reports.time.later import later_section
from recallbench.results.metrics import OVERALL, Metrics
from recallbench.retrieval.timing import Timings
from recallbench.scoring.intervals import is_too_short
from recallbench.scoring.returned import ReturnedRows


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """The circumstances of a run, which no other run repeats."""

    environment: Mapping[str, Any]
    timings: Timings
    costs: StageCosts | None = None
    """Of the stages of a pipeline, as the files of the result have them: the digits of an audit's."""
    returned: Sequence[ReturnedRows] = ()


def render(metrics: Metrics, run: ReportedRun, *, early: bool = False) -> str:
    """Return the whole report: what a reader wants first, settings, plans and hashes near its end.

    What the protocol calls the result is the last section. `early` is for reports of release 0.1, which began with it
    and told more that says nothing of the result.
    """
    title = [f"# {inline(summary.title(metrics))}", "", f"**{inline(summary.opening_sentence(metrics))}**"]
    sections = _sections(metrics, run, short_names, early=early)
    if early:
        return _joined([[*title, "", *standing(metrics)], *sections])
    told = [*notes(metrics.deviations), *summary.about_corpus(metrics)]
    first = [*title, *(line for text in told for line in ("", inline(short_names(text))))]
    return _joined([first, *sections, last_section(metrics)])


def render_without_sentence(metrics: Metrics, run: ReportedRun) -> str:
    """Return the report with the first lines of the results that have no page."""
    title = f"# {inline(f'{metrics.corpus.name}: {system(metrics)} with {encoder_words(metrics)}')}"
    return _joined([[title, "", *standing(metrics)], *_sections(metrics, run, str, early=True)])


def _joined(sections: Iterable[Sequence[str]]) -> str:
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _sections(metrics: Metrics, run: ReportedRun, named: Callable[[str], str], *, early: bool) -> tuple[list[str], ...]:
    return (
        _headline(metrics, early=early),
        deviations(metrics, named) if early else [],
        _kinds(metrics),
        answer_section(metrics),
        _abilities(metrics),
        *set_report.sections(metrics),
        _measures(metrics, early=early),
        _coverage(metrics),
        control_section(metrics),
        _denominators(metrics),
        later_section(metrics.later),
        _abstention(metrics),
        _exposure(metrics),
        _retrieval(metrics, abstaining=not early),
        returned_section(run.returned),
        _pipeline(metrics, run.costs),
        circumstances(metrics, run.environment, run.timings, early=early),
        gates(metrics) if early else [],
        *set_report.sources(metrics),
        _identity(metrics, early=early),
    )


def _headline(metrics: Metrics, *, early: bool) -> list[str]:
    rows = [
        (
            part.protocol_name,
            code(part.estimate.measure),
            Markup(f"**{figure(part.estimate.value)}**"),
            interval(part.estimate),
            str(part.estimate.n),
            figure(part.estimate.chance),
            figure(part.estimate.ceiling),
            *controls(metrics, part.estimate.measure),
        )
        for part in metrics.headline
    ]
    head = (
        "protocol name",
        "what it counts",
        "value",
        "95% interval",
        "n",
        "chance",
        "ceiling",
        *control_names(metrics),
    )
    notes = sorted({part.estimate.method for part in metrics.headline if part.estimate.low is not None})
    method = ["", inline(f"Intervals: {'; '.join(notes)}."), *_reading_intervals(notes)] if notes else []
    return ["## Headline", "", *Table(head, rows).markdown(), *method, *(_bands(metrics) if early else [])]


def _reading_intervals(methods: Sequence[str]) -> list[str]:
    """Return what the names of the methods mean; without a figure, as earlier reports are held to theirs."""
    if not any(method.startswith("jackknife") for method in methods):
        return []
    return [
        "Questions of a cluster, such as those of a conversation, depend on each other. So each cluster is left out in",
        "turn, and the interval follows from how far the value moves; on the logit scale it stays within what a share",
        "can be.",
    ]


def _bands(metrics: Metrics) -> list[str]:
    """Return the protocol's bands, which judge repeats: of a single run none applies."""
    told = (
        f"Band for {part.protocol_name}: {'none' if part.band is None else f'± {part.band}'}, {part.band_status}."
        for part in metrics.headline
    )
    return ["", *map(inline, told)]


def _measures(metrics: Metrics, *, early: bool) -> list[str]:
    rows = [
        (
            code(estimate.measure),
            figure(estimate.value),
            interval(estimate),
            figure(estimate.chance),
            figure(estimate.ceiling),
            *controls(metrics, estimate.measure),
            "–" if estimate.design_effect is None else f"{estimate.design_effect:.2f}",
            saturation(estimate, early=early),
        )
        for estimate in metrics.estimates[OVERALL]
    ]
    head = (
        "measure",
        "value",
        "95% interval",
        "chance",
        "ceiling",
        *control_names(metrics),
        "design effect",
        "saturated",
    )
    return [
        "## All measures",
        "",
        *Table(head, rows).markdown(),
        "",
        "*Chance* is the expected value for a random order, *ceiling* what an oracle reaches, *saturated* the share of",
        "questions whose haystack is no larger than k: a recall there is 1 whatever the store does; nDCG and MRR count",
        "the order, and have none. *Design effect* compares the variance with that of as many independent questions:",
        "it is larger where the questions of a conversation tend to be found or missed together, and a fraction where",
        "the conversations differ less than chance would have them. A dash stands where there is no interval: all",
        "questions equal, or only one conversation.",
        *_too_short(metrics),
    ]


def _coverage(metrics: Metrics) -> list[str]:
    if metrics.coverage is None:
        return []
    return ["## Coverage", "", *coverage_table(metrics.coverage).markdown(), "", *READING]


def _too_short(metrics: Metrics) -> list[str]:
    tables = (metrics.estimates, metrics.control_bm25, metrics.tenants or {}, metrics.abilities or {})
    shown = [estimate for slices in tables for row in slices.values() for estimate in row]
    if not any(is_too_short(estimate.value, estimate.design_effect) for estimate in shown):
        return []
    # No figure in these words: the audit compares the figures of first-edition reports, which lack them.
    return [
        f"An interval that is {TOO_SHORT} is one of a value near its bounds that few conversations decide: the truth",
        "lies outside more often than once in twenty times.",
    ]


def _kinds(metrics: Metrics) -> list[str]:
    reading = "In brackets the 95% interval and the chance level."
    return ["## By kind", "", *slice_table(metrics, "kind", metrics.estimates), "", reading]


def _abilities(metrics: Metrics) -> list[str]:
    if not metrics.abilities:
        return []
    reading = (
        "The kinds rolled up into what the corpus' paper calls abilities; a question that should find nothing asks for",
        "abstention, whatever its kind. In brackets the 95% interval and the chance level.",
    )
    return ["## By ability", "", *slice_table(metrics, "ability", metrics.abilities), "", *reading]


def _denominators(metrics: Metrics) -> list[str]:
    if not metrics.denominators:
        return []
    names = list(metrics.denominators[0].values)
    rows = [
        (
            f"{denominator.name}{' (headline)' if denominator.headline else ''}",
            str(denominator.count),
            str(denominator.scored),
            *(f"{figure(denominator.values[name])} (chance {figure(denominator.chance[name])})" for name in names),
        )
        for denominator in metrics.denominators
    ]
    return [
        "## Denominators",
        "",
        *Table(("denominator", "questions", "scored", *names), rows).markdown(),
        "",
        "A question that a denominator counts but that has no evidence to find counts as 0 there.",
    ]


def _exposure(metrics: Metrics) -> list[str]:
    exposure, remarks = metrics.exposure, encoder_remarks(metrics)
    heading = ["## What the embedder saw", ""]
    if exposure is None:
        return [*heading, *map(inline, remarks)] if remarks else []
    lines = [
        *heading,
        f"{exposure.truncated} of {exposure.segments} segments ({share(exposure.truncated_share)}) are longer than"
        f" {exposure.max_tokens} tokens and were cut; the longest has {exposure.longest}, all together"
        f" {exposure.tokens}.",
    ]
    if exposure.gold_turns_cut_share is not None:
        lines.append(
            f"Of {exposure.gold_turns} turns labelled as evidence, {exposure.gold_turns_cut}"
            f" ({share(exposure.gold_turns_cut_share)}) start after the cut."
        )
    return [*lines, *map(inline, remarks)]


def _abstention(metrics: Metrics) -> list[str]:
    abstention = metrics.abstention
    if abstention is None:
        return []
    wrong = interval(abstention.false_retrieval_interval, abstention.false_retrieval)
    auroc = interval(abstention.auroc_interval, abstention.auroc)
    return [
        "## Abstention",
        "",
        f"{abstention.questions} questions ask for what was never said, {abstention.answerable} can be answered.",
        f"AUROC of the top score: {figure(abstention.auroc)} ({auroc}). False"
        f" retrieval: {figure(abstention.false_retrieval)} ({wrong}) at a threshold of"
        f" {figure(abstention.threshold)}: {inline(abstention.threshold_rule)}.",
    ]


def _retrieval(metrics: Metrics, *, abstaining: bool) -> list[str]:
    """Return the section; reports of release 0.1 did not tell there how many questions should find nothing."""
    search = metrics.retrieval
    calls = " and ".join(f"k = {k}" for k in search.calls)
    scope = "its own haystack" if search.scope == "own" else "all haystacks pooled"
    lines = [
        "## Retrieval",
        "",
        f"{counted(search.asked)} asked over {search.segments} segments, each from {scope}, with calls of {calls}."
        f" Questions without evidence, which the means leave out: {search.left_out}.",
    ]
    if metrics.abstention is not None and abstaining:
        lines[-1] += f" Of those asked, {in_no_mean(metrics.abstention.questions)}."
    if search.agreement is not None:
        lines.append(
            f"Top 10 of the two calls: identical for {share(search.agreement.identical)} of the questions,"
            f" mean overlap {share(search.agreement.overlap)}."
        )
    if search.short_questions:
        lines.append(
            f"**{search.short_questions} questions got too few hits; {search.missing_hits} are missing in total.**"
        )
    if search.failed:
        named = ", ".join(map(code, search.failed))
        what, times = "store", "none of the times below is theirs"
        if metrics.pipeline is not None:
            what, times = "pipeline", "none of the times below is theirs, but those told as failed"
        lines.append(
            f"**The {what} failed on {len(search.failed)} of them: {named}.** They count as empty rankings, and as"
            f" false retrievals where nothing should be found; {times}."
        )
    return lines


def _pipeline(metrics: Metrics, costs: StageCosts | None) -> list[str]:
    pipeline = metrics.pipeline
    if pipeline is None:
        return []
    lines = ["## Stages of the pipeline", "", f"{code(pipeline.words)}, sha256 {code(pipeline.sha256)}."]
    if idle := stage_table.idle_sentences(pipeline):
        lines += ["", *(f"- **{inline(sentence)}**" for sentence in idle)]
    for table in stage_table.tables(pipeline, None if costs is None else costs.beside):
        lines += ["", f"{inline(table.caption)}:", "", *table.markdown()]
    return [*lines, "", *(f"- {inline(sentence)}" for sentence in stage_table.reading(pipeline, costs))]


def _identity(metrics: Metrics, *, early: bool) -> list[str]:
    corpus, store = metrics.corpus, metrics.store
    rows: list[tuple[str, str]] = [
        ("file of the corpus", Markup(f"{inline(corpus.file)}, sha256 {code(corpus.sha256)}")),
        ("counts", f"{corpus.scopes} haystacks, {corpus.segments} segments, {corpus.questions} questions"),
        *_oddities(metrics, early=early),
        ("store", f"{store.name}, {store.version}"),
        *((Markup(f"setting {code(name)}"), code(value)) for name, value in metrics.guc_state.items()),
        *((name, code(value)) for name, value in store.evidence.items() if "\n" not in value),
        ("protocol", Markup(f"{inline(metrics.protocol.version)}, sha256 {code(metrics.protocol.sha256)}")),
        (
            "its clarifications that apply",
            Markup(
                f"{', '.join(map(str, metrics.protocol.clarifications))};"
                f" sha256 {code(metrics.protocol.clarifications_sha256)}"
            ),
        ),
        ("seed", str(metrics.seed)),
    ]
    if metrics.embedder is not None:
        rows.append(("embedder fingerprint", code(metrics.embedder.fingerprint_sha256)))
        rows += [(f"embedder {name}", code(value)) for name, value in metrics.embedder.fingerprint.items() if value]
    long = {name: value for name, value in store.evidence.items() if "\n" in value}
    blocks = [
        line for name, value in long.items() for line in ("", opening(f"{name.capitalize()}:"), "", *fenced(value))
    ]
    return ["## What was measured", "", *Table(("", ""), rows).markdown(), *blocks]


def _oddities(metrics: Metrics, *, early: bool) -> list[tuple[str, str]]:
    """Return what is odd in the file of the corpus, and how it was read; early reports tell of what is not, too."""
    corpus = metrics.corpus
    counts = (
        ("haystacks with a repeated session id", corpus.repeated_sessions),
        ("empty turns", corpus.empty_turns),
        ("evidence strings read as their authors meant them", corpus.repaired_evidence),
        ("references to missing turns", corpus.missing_turns),
    )
    told = [f"{what}: {count}" for what, count in counts if early or count]
    told += [f"references to sessions that were yet to come: {corpus.unseen_gold}"] if corpus.unseen_gold else []
    if not told:
        return []
    published = metrics.dataset_sha256 == corpus.registered_sha256
    expected = "; the published file is so, and every run finds the same" if published else ""
    return [("oddities of the file", "; ".join(told) + expected)]
