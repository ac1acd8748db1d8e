"""The same run over several versions of the extension, each in a database of its own, and neighbours compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from pathlib import Path

from recallbench import __version__
from recallbench.compare.pairs import pair
from recallbench.confidential import concealed
from recallbench.errors import Blocked, UsageError
from recallbench.escaping.paths import last_names
from recallbench.progress import Progress
from recallbench.reports import versions_page
from recallbench.reports.cells import system
from recallbench.reports.comparison import difference_fields
from recallbench.reports.own_encoder import encoder_words
from recallbench.reports.versions import JSON, MARKDOWN, PAGE, PairPart, PrimaryPart, VersionPart, Versions, markdown
from recallbench.results.folder import check_writable, folder_name, free_folder, staged
from recallbench.results.metrics import OVERALL
from recallbench.results.result import open_result
from recallbench.runs.options import Options
from recallbench.runs.placement import results_parent
from recallbench.runs.plan import SYSTEM_UNDER_TEST, plan_run
from recallbench.runs.run import Outcome, run
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import PRIMARY
from recallbench.scoring.paired import Paired, holm
from recallbench.stores.postgres.databases import NotInstalled, database_with


@dataclass(frozen=True, slots=True)
class VersionsOutcome:
    """The results of several versions, and the summary beside them."""

    summary: Versions
    folder: Path
    """The folder of the summary."""
    results: tuple[Path, ...]

    @property
    def complete(self) -> bool:
        """Every version that was asked for was measured."""
        return len(self.results) == len(self.summary.versions)


@dataclass(frozen=True, slots=True)
class _Attempt:
    version: str
    outcome: Outcome | None
    status: str = "measured"
    reason: str = ""


def measure_versions(options: Options, versions: Sequence[str], progress: Progress, today: date) -> VersionsOutcome:
    """Measure each version, and write the summary beside the results; raises Blocked where none could be measured."""
    _refuse_unfit(options, versions)
    plan = plan_run(replace(options, store=SYSTEM_UNDER_TEST))
    if not plan.servers:
        raise Blocked(
            f"no server with versions of {SYSTEM_UNDER_TEST} is named",
            expected="--dsn, or PGMNEMO_DSN",
            remedy="name a server on which the role may create databases: --dsn postgresql://…",
        )
    (dsn,) = plan.servers
    # What every version needs is asked for before any database is made.
    corpus = plan.open_corpus(progress)
    check_writable(_summary_folder(options, today))
    attempts = [_measure(plan.options, dsn, version, progress, today) for version in versions]
    outcomes = [attempt.outcome for attempt in attempts if attempt.outcome]
    if not outcomes:
        raise Blocked(
            "none of the versions could be measured",
            expected="at least one version that the server can install",
            found="; ".join(f"{attempt.version} {attempt.status}: {attempt.reason}" for attempt in attempts),
            remedy="SELECT version FROM pg_available_extension_versions WHERE name = 'pgmnemo'; lists what there is",
        )
    summary = _summary(attempts, outcomes, corpus.clustered)
    folder = _write(summary, attempts, _summary_folder(options, today))
    return VersionsOutcome(summary, folder, tuple(outcome.folder for outcome in outcomes))


def _refuse_unfit(options: Options, versions: Sequence[str]) -> None:
    if options.store not in (None, SYSTEM_UNDER_TEST):
        raise UsageError(
            f"versions of the store {options.store} can't be installed",
            expected=f"--store {SYSTEM_UNDER_TEST}",
            found=f"--store {options.store}",
            remedy="leave out --store",
        )
    twice = sorted({version for version in versions if versions.count(version) > 1})
    if twice:
        raise UsageError(f"{twice[0]} is named twice", expected="each version once", remedy="leave one out")


def _measure(options: Options, dsn: str, version: str, progress: Progress, today: date) -> _Attempt:
    try:
        with database_with(dsn, SYSTEM_UNDER_TEST, version) as own:
            progress.note(f"{SYSTEM_UNDER_TEST} {version}: installed in a database of its own")
            try:
                return _Attempt(version, run(replace(options, version=version, dsn=(own,)), progress, today))
            except Blocked as blocked:
                return _failure(version, "blocked", blocked, progress)
    except NotInstalled as lacking:
        return _failure(version, "not installed", lacking, progress)


def _failure(version: str, status: str, blocked: Blocked, progress: Progress) -> _Attempt:
    # What was expected is left out: it may list every version there is.
    problem = "; ".join(part for part in (blocked.problem, blocked.found) if part).replace("\n", " ")
    reason = last_names(problem)
    progress.note(f"{version} {status}: {reason}")
    return _Attempt(version, None, status, reason)


def _summary(attempts: Sequence[_Attempt], outcomes: Sequence[Outcome], clustered: bool) -> Versions:
    first = outcomes[0].metrics
    measured = [attempt for attempt in attempts if attempt.outcome]
    measures = [measure for measure in PRIMARY if measure.k <= first.retrieval.depth]
    rankings = [open_result(outcome.folder).rankings for outcome in outcomes]
    pairs = [
        (before.version, after.version, measure, paired)
        for (before, first_rankings), (after, second_rankings) in pairwise(zip(measured, rankings, strict=True))
        for measure, paired in zip(measures, pair(first_rankings, second_rankings, measures), strict=True)
    ]
    adjusted = holm([paired.test.p for *_, paired in pairs])
    return Versions(
        schema_version="1",
        recallbench_version=__version__,
        protocol=first.protocol.version,
        corpus=first.corpus.name,
        dataset_sha256=first.dataset_sha256,
        embedder=encoder_words(first),
        vectors_sha256=first.embedder.vectors_sha256 if first.embedder else "",
        store=system(first),
        server=first.store.evidence.get("server", "").split(",")[0],
        pgvector=first.store.evidence.get("pgvector", ""),
        n=int(rankings[0].answerable.sum()),
        clustered=clustered,
        bm25={
            bm25.measure: bm25.value
            for bm25 in first.control_bm25[OVERALL]
            if bm25.measure in {str(measure) for measure in measures}
        },
        deviations=[f"{deviation.kind}: {deviation.detail}" for deviation in first.deviations],
        versions=[_version(attempt) for attempt in attempts],
        pairs=[_pair(*pair, p) for pair, p in zip(pairs, adjusted, strict=True)],
    )


def _version(attempt: _Attempt) -> VersionPart:
    outcome = attempt.outcome
    metrics = outcome.metrics if outcome else None
    return VersionPart.model_validate(
        {
            "version": attempt.version,
            "status": attempt.status,
            "reason": attempt.reason,
            "stated": metrics.store.version if metrics else "",
            "content_sha256": open_result(outcome.folder).content_sha256 if outcome else "",
            "figures": [
                PrimaryPart(estimate=figure.estimate, protocol_name=figure.protocol_name, band=figure.band)
                for figure in (metrics.headline if metrics else ())
            ],
            "short_questions": metrics.retrieval.short_questions if metrics else 0,
            "verdict": metrics.verdict.text if metrics else "BLOCKED",
            "canonical": metrics.verdict.canonical if metrics else False,
        }
    )


def _pair(before: str, after: str, measure: Measure, paired: Paired, adjusted: float) -> PairPart:
    fields = {"before": before, "after": after, **difference_fields(str(measure), paired, adjusted)}
    return PairPart.model_validate(fields)


def _summary_folder(options: Options, today: date) -> Path:
    return free_folder(results_parent(options), folder_name("versions", today, options.label))


def _write(summary: Versions, attempts: Sequence[_Attempt], folder: Path) -> Path:
    folders = {attempt.version: attempt.outcome.folder for attempt in attempts if attempt.outcome}
    reports = {version: f"../{result.name}/report.md" for version, result in folders.items()}
    with staged(folder, explicit=False) as draft:
        for name, text in (
            (JSON, summary.model_dump_json(indent=1) + "\n"),
            (MARKDOWN, markdown(summary, reports)),
            (PAGE, versions_page.render(summary, reports)),
        ):
            (draft.temporary / name).write_text(concealed(text), encoding="utf-8", newline="\n")
    return draft.folder
