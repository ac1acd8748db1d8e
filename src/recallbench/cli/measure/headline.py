"""The last lines that a run prints."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.escaping.shell import command
from recallbench.escaping.terminal import shortened, visible
from recallbench.machine_load import MachineLoad
from recallbench.reading import document, parsed
from recallbench.reports.answers import answer_lines
from recallbench.reports.canary.drawn import canary_doubt, canary_lines
from recallbench.reports.cells import figure, in_no_mean, interval, saturation, system
from recallbench.reports.conclusions.labels import mattering, of_protocol
from recallbench.reports.conclusions.measured import Measured, counted, gate_words
from recallbench.reports.controls.columns import control_names, controls
from recallbench.reports.latency import folder_impossible_times, times_line
from recallbench.reports.own_encoder import encoder_words, pack_sentence
from recallbench.reports.reproduction import LABEL, PAGE_NAME, ReproductionRecord
from recallbench.reports.result_page import PAGE
from recallbench.reports.returned import returned_sentences
from recallbench.reports.stages.table import idle_sentences
from recallbench.reports.summary import about_corpus
from recallbench.reports.table import Part, Table
from recallbench.results.environment import recorded_load
from recallbench.results.metrics import Metrics
from recallbench.results.result import ENVIRONMENT, Result
from recallbench.results.sets.asked_depth import AskedDepth
from recallbench.retrieval.record import Retrieval, question_labels
from recallbench.runs.run import Outcome
from recallbench.scoring.returned import returned_rows


def headline(
    metrics: Metrics, folder: Path, today: date, *, labels: bool = False, asked: AskedDepth | None = None
) -> list[Part]:
    """Return the corpus, the figures, what has to be said of them, and the paths of page and report.

    The protocol's verdict and every deviation from it are told of a run under it, and where `labels` are asked for.

    With `asked` the figure at that k comes first. `today` decides whether a canary whose questions were asked is stale.
    """
    rows = []
    if asked is not None:
        e, bm25 = asked.estimate, asked.bm25
        control = [figure(bm25) if name == "BM25" else "–" for name in control_names(metrics)]
        found = (figure(e.value), interval(e), str(e.n), figure(e.chance))
        rows.append((f"recall@{e.measure.partition('@')[2]}", e.measure, *found, *control, saturation(e)))
    for primary in metrics.headline:
        e = primary.estimate
        rows.append(
            (
                primary.protocol_name,
                e.measure,
                figure(e.value),
                interval(e),
                str(e.n),
                figure(e.chance),
                *controls(metrics, e.measure),
                saturation(e),
            )
        )
    embedder = encoder_words(metrics)
    table = Table(("", "measure", "value", "95% interval", "n", "chance", *control_names(metrics), "saturated"), rows)
    corpus = plain_names(metrics.corpus.name)
    lines: list[Part] = [f"{corpus}, {system(metrics)}, {embedder}; {metrics.store.version}", table]
    shown = [primary.estimate for primary in metrics.headline] + ([] if asked is None else [asked.estimate])
    if any(estimate.saturated and not estimate.ordered for estimate in shown):
        lines.append("saturated: the share of questions that any order answers: they have no more to find in than k")
    if metrics.embedder is not None and metrics.embedder.pack is not None:
        lines.append(f"vectors: {pack_sentence(metrics.embedder.pack, 12)}")
    lines += about_corpus(metrics)
    if not any(primary.protocol_name == "MRR" for primary in metrics.headline):
        lines.append(f"no MRR: it needs --depth 50, these rankings are {metrics.retrieval.depth} deep")
    if metrics.retrieval.missing_hits:
        lines.append(
            f"short: {counted(metrics.retrieval.short_questions)} got fewer hits than "
            f"{'its haystack' if metrics.retrieval.short_questions == 1 else 'their haystacks'} could give, "
            f"{metrics.retrieval.missing_hits} in all"
        )
        rankings = Result(folder, metrics).rankings
        lines += returned_sentences(returned_rows(rankings.calls, rankings.kinds))
    if metrics.abstention is not None:
        lines.append(f"{counted(metrics.retrieval.asked)} asked, {in_no_mean(metrics.abstention.questions)}")
    lines += canary_lines(metrics.canary, today)
    lines += answer_lines(metrics)
    if (load := machine_load(folder)) is not None and not load.quiet:
        lines.append(load.sentence)
    lines += [line for line in (times_line(folder), folder_impossible_times(folder)) if line]
    lines += _standing(metrics, labels=labels or of_protocol(metrics.corpus.name, metrics.store.name))
    if metrics.pipeline is not None:
        lines += [f"stage: {sentence}" for sentence in idle_sentences(metrics.pipeline)]
        lines.append(f"stages: {command('stages', folder)}")
    lines.append(f"page: {(folder / PAGE).resolve()}")
    lines.append(f"report: {(folder / 'report.md').resolve()}")
    return lines


def _standing(metrics: Metrics, *, labels: bool) -> list[str]:
    failed = [gate for gate in metrics.gates if gate.status in ("fail", "cannot-tell")]
    if not labels:
        notes = [f"note: {plain_names(detail)}" for detail in mattering(metrics.deviations)]
        return [*notes, *(f"gate of the protocol failed: {gate.name}: {gate_words(gate.observed)}" for gate in failed)]
    return [
        f"verdict: {metrics.verdict.text}, {'' if metrics.verdict.canonical else 'not '}CANONICAL",
        *(plain_names(f"deviation: {deviation.kind}: {deviation.detail}") for deviation in metrics.deviations),
        *(f"gate of the protocol failed: {gate.name}: {gate.observed}" for gate in failed),
    ]


def measured(
    outcome: Outcome, today: date, *, require_quiet: bool = False, stale: str = "", asked: AskedDepth | None = None
) -> Measured:
    """Return a result that was just made, with what its folder says of its run."""
    load, drawn = machine_load(outcome.folder), outcome.metrics.canary
    return Measured(
        outcome.metrics,
        outcome.folder,
        busy=load is not None and not load.quiet,
        busy_counts=require_quiet,
        untimed=len(outcome.retrieval.failures.untimed),
        stale=stale or ("" if drawn is None else canary_doubt(drawn, today)),
        asked=asked,
    )


def machine_load(folder: Path) -> MachineLoad | None:
    """Return what else the machine did while the result in a folder was made; None where it does not say."""
    path = folder / ENVIRONMENT
    return recorded_load(parsed(document(path), path)) if path.is_file() else None


def code_of(outcome: Outcome, *, require_verified: bool, require_quiet: bool) -> int:
    """Return 1 where a question failed, where a gate but the pending one fails, or where the machine was busy."""
    failures, load = outcome.retrieval.failures, machine_load(outcome.folder)
    failed = bool(failures.reasons or failures.untimed)
    verified = outcome.metrics.verdict.text.startswith(("VERIFIED", "UNVERIFIED ("))
    busy = load is not None and not load.quiet
    return 1 if failed or (require_verified and not verified) or (require_quiet and busy) else 0


def print_failures(retrieval: Retrieval) -> None:
    """Name on stderr each question that the store failed on, with the reason.

    The lines of the user's code are shown once for each place that failed.
    """
    failures, labels = retrieval.failures, question_labels(retrieval.questions)
    shown: set[tuple[str, ...]] = {()}
    for problem, errors in (("failed", failures.reasons), ("failed when it was timed", failures.untimed)):
        for question, error in errors.items():
            name = visible(shortened(labels[question]))
            print(f"recallbench: question {name} {problem}: {error.brief}", file=sys.stderr)
            calls = tuple(line for line in error.traceback.splitlines() if line.startswith("  File "))
            if calls not in shown:
                print(error.own_code, file=sys.stderr)
                shown.add(calls)


def reproduction(record: ReproductionRecord, folder: Path) -> list[Part]:
    """Return the label, then the reproduced figures between the published and the canonical ones."""
    rows = [(row.figure, str(row.published), figure(row.reproduced), figure(row.canonical)) for row in record.figures]
    table = Table(("", "published", "reproduced", "canonical"), rows)
    lines: list[Part] = [f"{record.name}: {LABEL}", table]
    lines += [f"not comparable with the published figure: {obstacle}" for obstacle in record.obstacles]
    lines.append(f"reproduction: {(folder / PAGE_NAME).resolve()}")
    return lines
