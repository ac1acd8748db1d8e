"""`report.html`: a result on one page, from a sentence and a picture to the questions that failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from recallbench.corpora.labelled_sets.set_name import short_names
from recallbench.escaping.terminal import shortened
from recallbench.escaping.web import html
from recallbench.reports.answers import answer_part, judged
from recallbench.reports.canary.drawn import canary_sentences
from recallbench.reports.cells import figure, interval, saturation, share
from recallbench.reports.conclusions.labels import notes
from recallbench.reports.controls.columns import control_names, controls
from recallbench.reports.coverage import READING, coverage_table
from recallbench.reports.latency import latency_reading, latency_table
from recallbench.reports.own_encoder import encoder_remarks, encoder_words
from recallbench.reports.page import Page, captioned, listing
from recallbench.reports.panel import INK, SECOND, Axis, Panel
from recallbench.reports.plot import Plot
from recallbench.reports.returned import returned_part
from recallbench.reports.stages import table as stage_table
from recallbench.reports.stages.beside import StageCosts, stage_costs
from recallbench.reports.stages.flow import FLOW_STYLE, flow
from recallbench.reports.standing.section import STANDING, standing_sentences
from recallbench.reports.summary import about_corpus, leading, opening_sentence, title, verdict_sentence
from recallbench.reports.table import Table
from recallbench.reports.time.later import later_listing
from recallbench.results.known_texts import KnownTexts
from recallbench.results.latency import StageLatency, folder_latencies
from recallbench.results.metrics import COMPARED, OVERALL, EstimatePart, Metrics
from recallbench.results.rankings import Rankings
from recallbench.results.result import Result
from recallbench.scoring.editions import EDITIONS
from recallbench.scoring.quantiles import quantile
from recallbench.scoring.returned import ReturnedRows, returned_rows

PAGE = "report.html"
"""The page in a result folder; results of earlier releases have none."""
RANKS = ((1, 1), (2, 3), (4, 5), (6, 10), (11, 20), (21, 50), (51, 10**6))
"""The first and the last place of each group of ranks."""
SHOWN = 10
"""Hits that are shown of a question that failed."""
WITHOUT_TEXTS = (
    "Texts are left out here: they are the corpus's, whose licence may not let you publish them. To read them, make a "
    "page of your own: recallbench report FOLDER --with-text, where FOLDER is this result's."
)
"""Without a figure: pages of earlier releases are held to theirs."""
EXCERPT = 200
"""Characters shown of a segment's text: whole sessions would make a page of LongMemEval 30 MB."""
FILTER = """const rows = [...document.querySelectorAll('#failures tbody tr')];
const kind = document.getElementById('kind'), words = document.getElementById('words');
const shown = document.getElementById('shown');
function filter() {
  let left = 0;
  for (const row of rows) {
    const fits = (!kind.value || row.dataset.kind === kind.value)
      && row.textContent.toLowerCase().includes(words.value.toLowerCase());
    row.hidden = !fits;
    left += fits;
  }
  shown.textContent = left + ' of ' + rows.length;
}
document.getElementById('filter').hidden = false;
kind.addEventListener('change', filter);
words.addEventListener('input', filter);
filter();
"""
"""Hides the failures that a reader did not ask for; without it all of them are shown."""
SCRIPTS = frozenset({"82819a6635c89bca5ea05dc70122545fe6766c8662d739699e2299f54fb08ef4"})
"""The sha256 of each script that a release wrote into the page of a result."""


def page_of(
    result: Result,
    metrics: Metrics,
    texts: KnownTexts | None = None,
    *,
    with_returned: bool = True,
    early: bool = False,
) -> str:
    """Return the page of a folder's rankings and times, with these figures; `with_returned` tells of short answers.

    What the protocol calls the result is the last section; `early` is for pages of release 0.1, which began with it.
    """
    by_state = folder_latencies(result.folder, ("cold", "warm"))
    pipeline, asked = metrics.pipeline, metrics.retrieval.asked
    costs = None if pipeline is None else stage_costs(result.folder, pipeline, asked)
    rankings = result.rankings
    returned = returned_rows(rankings.calls, rankings.kinds) if with_returned else ()
    return page(metrics, rankings, by_state, texts, costs, result.environment, returned, early=early)


def page(
    metrics: Metrics,
    rankings: Rankings,
    by_state: Mapping[str, Sequence[StageLatency]],
    texts: KnownTexts | None = None,
    costs: StageCosts | None = None,
    environment: Mapping[str, Any] = MappingProxyType({}),
    returned: Sequence[ReturnedRows] = (),
    *,
    early: bool = False,
) -> str:
    """Return the whole page; `by_state` are the times of single queries, cold and warm, `costs` those of stages."""
    sections = (
        _picture(metrics),
        _kinds(metrics),
        _stages(metrics, costs),
        answer_part(metrics),
        _first_hits(rankings),
        _measures(metrics, early=early),
        _coverage(metrics),
        returned_part(returned),
        _exposure(metrics),
        later_listing(metrics.later),
        _latency(metrics, by_state, environment),
        _failures(metrics, rankings, texts or KnownTexts()),
        _identity(metrics, early=early),
    )
    body = [
        f"<p><strong>{html(opening_sentence(metrics))}</strong></p>",
        *(f"<p>{html(text)}</p>" for text in _told_first(metrics, early=early)),
        *(f"<p>{html(told)}</p>" for told in about_corpus(metrics)),
        *(f"<p>{html(sentence)}</p>" for sentence in (canary_sentences(metrics.canary) if metrics.canary else ())),
        *(line for section in sections for line in section),
    ]
    script = FILTER if failed_questions(metrics, rankings) else ""
    return Page(title(metrics), body, script, "" if metrics.pipeline is None else FLOW_STYLE).html()


def _told_first(metrics: Metrics, *, early: bool) -> list[str]:
    """Return what stands below the first sentence: what decides the figures, in earlier pages the labels."""
    return [verdict_sentence(metrics)] if early else list(map(short_names, notes(metrics.deviations)))


def _picture(metrics: Metrics) -> list[str]:
    drawn = plot(metrics)
    caption = "The share of questions with something relevant among the first k hits."
    return [] if drawn is None else captioned(drawn.element(), caption)


def plot(metrics: Metrics) -> Plot | None:
    """Return the plot of recall against k, beside BM25, chance and ceiling; None where no depth has a figure."""
    depths = [(int(e.measure.partition("@")[2]), e) for e in metrics.estimates[OVERALL] if _is_leading(e)]
    bm25 = [(int(e.measure.partition("@")[2]), e) for e in metrics.control_bm25[OVERALL] if _is_leading(e)]
    if not depths:
        return None
    ks = [float(k) for k, _ in depths]
    panel = Panel(
        "", Axis("k", ticks=[(k, f"{k:.0f}") for k in ks], logarithmic=True), Axis("recall_any@k", low=0.0, high=1.02)
    )
    for dash, name, values in (
        ("dotted", "chance", [estimate.chance for _, estimate in depths]),
        ("solid", "ceiling", [estimate.ceiling for _, estimate in depths]),
    ):
        panel.line(ks, [_number(value) for value in values], INK, name, "none", dash)
    panel.line([float(k) for k, _ in bm25], [_number(e.value) for _, e in bm25], SECOND, "BM25", "square", "dashed")
    panel.intervals(ks, [estimate for _, estimate in depths])
    panel.line(
        ks,
        [_number(estimate.value) for _, estimate in depths],
        label="the pipeline" if metrics.pipeline else metrics.store.name,
    )
    said = "; ".join(f"{e.measure} {figure(e.value)} ({interval(e)}), chance {figure(e.chance)}" for _, e in depths)
    return Plot("Recall against k, beside BM25, chance and ceiling", 680, 280, [panel], f"{said}.")


def _is_leading(estimate: EstimatePart) -> bool:
    return estimate.measure.startswith("recall_any@")


def _number(value: float | None) -> float:
    return float("nan") if value is None else value


def _kinds(metrics: Metrics) -> list[str]:
    kinds = {kind: estimates for kind, estimates in metrics.estimates.items() if kind != OVERALL}
    if len(kinds) < 2:
        return []
    names = [name for name in COMPARED if any(e.measure == name for e in metrics.estimates[OVERALL])]
    rows = []
    for kind, estimates in kinds.items():
        by_name = {estimate.measure: estimate for estimate in estimates}
        cells = [f"{figure(by_name[name].value)} ({interval(by_name[name])})" for name in names]
        rows.append([kind, str(by_name[names[0]].n), *cells])
    table = Table(("kind", "n", *names), rows, caption="In brackets the 95% interval")
    return ["<h2>By kind</h2>", *table.html()]


def _stages(metrics: Metrics, costs: StageCosts | None) -> list[str]:
    pipeline = metrics.pipeline
    if pipeline is None:
        return []
    beside = {} if costs is None else costs.beside
    idle = stage_table.idle_sentences(pipeline)
    return [
        "<h2>From the question to what comes out</h2>",
        *flow(pipeline, {**beside, **judged(metrics)}),
        *(f"<p><strong>{html(sentence)}.</strong></p>" for sentence in idle),
        *(line for table in stage_table.tables(pipeline, beside) for line in table.html()),
        *listing(stage_table.reading(pipeline, costs)),
    ]


def _first_hits(rankings: Rankings) -> list[str]:
    answerable = rankings.answerable
    first = rankings.calls[-1].first[answerable]
    rows = []
    for low, high in RANKS:
        count = int(((first >= low) & (first <= high)).sum())
        if count or high <= SHOWN:
            name = f"{low}" if low == high else f"{low} to {high}" if high < 10**6 else f"{low} and beyond"
            rows.append([name, str(count), share(count / len(first) if len(first) else None)])
    none = int((first == 0).sum())
    rows.append(["nowhere", str(none), share(none / len(first) if len(first) else None)])
    depth = rankings.calls[-1].depth
    table = Table(("place", "questions", "share"), rows, caption=f"Place of the first relevant hit, {depth} looked at")
    return ["<h2>Where the first relevant hit landed</h2>", *table.html()]


def _coverage(metrics: Metrics) -> list[str]:
    if metrics.coverage is None:
        return []
    reading = [sentence.replace("*", "") for sentence in READING]
    return ["<h2>Coverage</h2>", *coverage_table(metrics.coverage).html(), *listing(reading)]


def _exposure(metrics: Metrics) -> list[str]:
    exposure, lines = metrics.exposure, []
    if exposure is not None:
        lines.append(
            f"{exposure.truncated:,} of {exposure.segments:,} segments ({share(exposure.truncated_share)}) are longer "
            f"than {exposure.max_tokens} tokens and were cut there; the longest has {exposure.longest:,}."
        )
        if exposure.gold_turns_cut_share is not None:
            lines.append(
                f"Of {exposure.gold_turns:,} turns labelled as evidence, {exposure.gold_turns_cut:,} "
                f"({share(exposure.gold_turns_cut_share)}) start behind the cut."
            )
    lines += encoder_remarks(metrics)
    return ["<h2>What the encoder did not see</h2>", *listing(lines)] if lines else []


def _latency(
    metrics: Metrics, by_state: Mapping[str, Sequence[StageLatency]], environment: Mapping[str, Any]
) -> list[str]:
    if not any(by_state.values()):
        return []
    if EDITIONS[metrics.statistics_edition].bounded_times:
        reading = latency_reading(metrics, by_state, environment)
        return ["<h2>Latency</h2>", *latency_table(by_state).html(), *listing(reading)]
    times = {state: latencies[0].milliseconds for state, latencies in by_state.items() if latencies}
    rows = [
        [state, str(len(taken)), *(figure(quantile(taken, part), 2) for part in (0.5, 0.95)), f"{max(taken):.2f}"]
        for state, taken in times.items()
    ]
    table = Table(("state", "queries", "p50 ms", "p95 ms", "slowest ms"), rows, caption="One query at a time")
    return ["<h2>Latency</h2>", *table.html()]


def _failures(metrics: Metrics, rankings: Rankings, texts: KnownTexts) -> list[str]:
    k, failed = _leading_depth(metrics), failed_questions(metrics, rankings)
    head = [f"<h2>Questions without a relevant hit among the first {k}</h2>"]
    if not failed:
        return [*head, "<p>None.</p>"]
    kinds = sorted({rankings.kinds[i] for i in failed})
    choices = "".join(f'<option value="{html(kind)}">{html(kind)}</option>' for kind in kinds)
    rows = [_failure(rankings, i, texts, rankings.hit_ids[rankings.call_reaching(k)][i]) for i in failed]
    columns = "".join(f'<th scope="col">{name}</th>' for name in ("question", "kind", "first", "relevant", "came back"))
    return [
        *head,
        f"<p>{len(failed):,} of {int(rankings.answerable.sum()):,}. <em>first</em> is the place of the first relevant "
        f"hit{'' if k >= SHOWN else '; relevant ones are bold'}.</p>",
        *([] if texts.questions else [f"<p>{html(WITHOUT_TEXTS)}</p>"]),
        '<form id="filter" hidden>',
        f'<label>kind <select id="kind"><option value="">all</option>{choices}</select></label>',
        '<label>words <input id="words" type="search"></label>',
        '<output id="shown"></output>',
        "</form>",
        '<div class="wide" role="region" aria-label="Questions that failed" tabindex="0">',
        '<table id="failures">',
        f"<thead><tr>{columns}</tr></thead>",
        "<tbody>",
        *rows,
        "</tbody>",
        "</table>",
        "</div>",
    ]


def _leading_depth(metrics: Metrics) -> int:
    estimate = leading(metrics)
    return int(estimate.measure.partition("@")[2]) if estimate is not None else SHOWN


def failed_questions(metrics: Metrics, rankings: Rankings) -> list[int]:
    """Return the places of the questions that the page shows: those without a relevant hit among the first."""
    return _failed(rankings, _leading_depth(metrics))


def _failed(rankings: Rankings, k: int) -> list[int]:
    """Return the places of the questions without a relevant hit among the first k of the call that counts."""
    first = rankings.calls[rankings.call_reaching(k)].first
    return np.flatnonzero(rankings.answerable & ((first < 1) | (first > k))).tolist()


def _failure(rankings: Rankings, i: int, texts: KnownTexts, hit_ids: Sequence[str]) -> str:
    gold = set(rankings.gold_ids[i])
    rank = int(rankings.calls[-1].first[i])
    question = html(rankings.questions[i])
    if text := texts.questions.get(rankings.questions[i]):
        question += f"<br>{html(text)}"
    between = "" if texts.segments else ", "
    came_back = between.join(_hit(rankings, id, id in gold, texts) for id in hit_ids[:SHOWN])
    relevant = between.join(_hit(rankings, id, False, texts) for id in rankings.gold_ids[i])
    return (
        f'<tr data-kind="{html(rankings.kinds[i])}"><th scope="row">{question}</th><td>{html(rankings.kinds[i])}</td>'
        f"<td>{rank or '–'}</td><td>{relevant}</td><td>{came_back or 'nothing'}</td></tr>"
    )


def _hit(rankings: Rankings, id: str, relevant: bool, texts: KnownTexts) -> str:
    name = html(rankings.name_of(id))
    shown = f"<b>{name}</b>" if relevant else name
    if not texts.segments:
        return shown
    if id not in texts.segments:
        return f"<div>{shown}</div>"
    return f"<details><summary>{shown}</summary>{html(shortened(texts.segments[id], EXCERPT))}</details>"


def _measures(metrics: Metrics, *, early: bool) -> list[str]:
    lines = [
        "recall_any: how often a relevant segment is among the first k; recall_all: how often all of them are.",
        "recall_frac: the share of a question's relevant segments that is among the first k.",
        "mrr: 1 / the place of the first relevant segment, 0 where none is among the first k.",
        "chance: the expected value for a random order.",
        "ceiling: what an oracle reaches.",
        "saturated: the share of questions whose haystack has no more than k segments; not of what counts the order.",
    ]
    return ["<h2>All measures</h2>", *measure_table(metrics, early=early).html(), *listing(lines)]


def measure_table(metrics: Metrics, *, early: bool = False) -> Table:
    """Return a row for each measure over all questions, beside chance, ceiling and BM25."""
    rows = [
        [
            estimate.measure,
            figure(estimate.value),
            interval(estimate),
            figure(estimate.chance),
            figure(estimate.ceiling),
            *controls(metrics, estimate.measure),
            saturation(estimate, early=early),
        ]
        for estimate in metrics.estimates[OVERALL]
    ]
    head = ("measure", "value", "95% interval", "chance", "ceiling", *control_names(metrics), "saturated")
    return Table(head, rows, caption="Over all questions")


def _identity(metrics: Metrics, *, early: bool) -> list[str]:
    rows = [
        ("corpus", short_names(metrics.corpus.name)),
        ("sha256 of its file", metrics.dataset_sha256),
        ("store", f"{metrics.store.name}, {metrics.store.version}"),
        *((f"setting {name}", value) for name, value in metrics.guc_state.items()),
        ("encoder", encoder_words(metrics)),
        *((("protocol", metrics.protocol.cited_as),) if early else ()),
        ("RecallBench", metrics.recallbench_version),
    ]
    deviations = [short_names(f"{deviation.kind}: {deviation.detail}") for deviation in metrics.deviations] or ["none"]
    identity = ["<h2>What was measured</h2>", *Table(("what", "value"), rows, caption="Identity").html()]
    if early:
        return [*identity, "<h2>Deviations from the protocol</h2>", *listing(deviations)]
    return [
        *identity,
        f"<h2>{STANDING}</h2>",
        *(f"<p>{html(told)}</p>" for told in standing_sentences(metrics)),
        "<h3>Deviations from the protocol</h3>",
        *listing(deviations),
    ]
