"""The same run over several versions of the extension, each in a database of its own, and neighbours compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from pathlib import Path

from recallbench import __version__
from recallbench.compare.pairs import pair
from recallbench.confidential import concealed
from recallbench.errors import Blocked, UsageError
from recallbench.progress import Progress
from recallbench.protocol.frozen import load
from recallbench.reports import versions as told
from recallbench.reports import versions_page
from recallbench.reports.cells import system
from recallbench.reports.comparison import difference_fields
from recallbench.results.folder import check_writable, folder_name, free_folder, staged
from recallbench.results.metrics import OVERALL
from recallbench.results.result import open_result
from recallbench.runs.choices import SYSTEM_UNDER_TEST, dsn_of
from recallbench.runs.opening import corpus_of
from recallbench.runs.options import Options
from recallbench.runs.placement import parent
from recallbench.runs.run import Outcome, run
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import PRIMARY
from recallbench.scoring.paired import Paired, holm
from recallbench.stores.postgres.databases import NotInstalled, database_with

_PATH = re.compile(r"(?<![\w.])/(?:[\w.+-]+/)*([\w.+-]+)")


@dataclass(frozen=True, slots=True)
class VersionsOutcome:
    """What was made."""

    summary: told.Versions
    folder: Path
    """Of the summary."""
    results: tuple[Path, ...]

    @property
    def complete(self) -> bool:
        """Every version that was asked for was measured."""
        return len(self.results) == len(self.summary.versions)


@dataclass(frozen=True, slots=True)
class _Tried:
    version: str
    outcome: Outcome | None
    status: str = "measured"
    reason: str = ""


def measure_versions(options: Options, versions: Sequence[str], progress: Progress, today: date) -> VersionsOutcome:
    """Measure each version, and write the summary beside the results; raises Blocked where none could be measured."""
    dsn = _server(options, versions)
    # What every version needs is asked for before any database is made.
    corpus = corpus_of(options, load(), progress)
    check_writable(_summary_folder(options, today))
    tried = [_try(options, dsn, version, progress, today) for version in versions]
    done = [one.outcome for one in tried if one.outcome]
    if not done:
        raise Blocked(
            "none of the versions could be measured",
            expected="at least one version that the server can install",
            found="; ".join(f"{one.version} {one.status}: {one.reason}" for one in tried),
            remedy="SELECT version FROM pg_available_extension_versions WHERE name = 'pgmnemo'; lists what there is",
        )
    summary = _summary(tried, done, corpus.clustered)
    folder = _write(summary, tried, _summary_folder(options, today))
    return VersionsOutcome(summary, folder, tuple(one.folder for one in done))


def _server(options: Options, versions: Sequence[str]) -> str:
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
    dsn = dsn_of(options)
    if dsn is None:
        raise Blocked(
            f"no server with versions of {SYSTEM_UNDER_TEST} is named",
            expected="--dsn, or PGMNEMO_DSN",
            remedy="name a server on which the role may create databases: --dsn postgresql://…",
        )
    return dsn


def _try(options: Options, dsn: str, version: str, progress: Progress, today: date) -> _Tried:
    try:
        with database_with(dsn, SYSTEM_UNDER_TEST, version) as own:
            progress.note(f"{SYSTEM_UNDER_TEST} {version}: installed in a database of its own")
            asked = replace(options, store=SYSTEM_UNDER_TEST, version=version, dsn=own)
            try:
                return _Tried(version, run(asked, progress, today))
            except Blocked as blocked:
                return _gone(version, "blocked", blocked, progress)
    except NotInstalled as lacking:
        return _gone(version, "not installed", lacking, progress)


def _gone(version: str, status: str, blocked: Blocked, progress: Progress) -> _Tried:
    # What was expected is left out: it may list every version there is. Paths are of one machine and tell nobody.
    told_of = "; ".join(part for part in (blocked.problem, blocked.found) if part).replace("\n", " ")
    reason = _PATH.sub(r"\1", told_of)
    progress.note(f"{version} {status}: {reason}")
    return _Tried(version, None, status, reason)


def _summary(tried: Sequence[_Tried], done: Sequence[Outcome], clustered: bool) -> told.Versions:
    first = done[0].metrics
    measured = [one for one in tried if one.outcome]
    measures = [measure for measure in PRIMARY if measure.k <= first.retrieval.depth]
    rankings = [open_result(outcome.folder).rankings for outcome in done]
    pairs = [
        (before.version, after.version, measure, found)
        for (before, one), (after, other) in pairwise(zip(measured, rankings, strict=True))
        for measure, found in zip(measures, pair(one, other, measures), strict=True)
    ]
    adjusted = holm([found.test.p for *_, found in pairs])
    return told.Versions(
        schema_version="1",
        recallbench_version=__version__,
        protocol=first.protocol.version,
        corpus=first.corpus.name,
        dataset_sha256=first.dataset_sha256,
        embedder=first.embedder_name,
        vectors_sha256=first.embedder.vectors_sha256 if first.embedder else "",
        store=system(first),
        server=first.store.evidence.get("server", "").split(",")[0],
        pgvector=first.store.evidence.get("pgvector", ""),
        n=int(rankings[0].answerable.sum()),
        clustered=clustered,
        bm25={
            one.measure: one.value
            for one in first.control_bm25[OVERALL]
            if one.measure in {str(measure) for measure in measures}
        },
        deviations=[f"{one.kind}: {one.detail}" for one in first.deviations],
        versions=[_version(one) for one in tried],
        pairs=[_pair(*pair, p) for pair, p in zip(pairs, adjusted, strict=True)],
    )


def _version(tried: _Tried) -> told.VersionPart:
    metrics = tried.outcome.metrics if tried.outcome else None
    return told.VersionPart.model_validate(
        {
            "version": tried.version,
            "status": tried.status,
            "reason": tried.reason,
            "stated": metrics.store.version if metrics else "",
            "content_sha256": open_result(tried.outcome.folder).content_sha256 if tried.outcome else "",
            "figures": [
                told.PrimaryPart(estimate=one.estimate, protocol_name=one.protocol_name, band=one.band)
                for one in (metrics.headline if metrics else ())
            ],
            "short_questions": metrics.retrieval.short_questions if metrics else 0,
            "verdict": metrics.verdict.text if metrics else "BLOCKED",
            "canonical": metrics.verdict.canonical if metrics else False,
        }
    )


def _pair(before: str, after: str, measure: Measure, found: Paired, adjusted: float) -> told.PairPart:
    fields = {"before": before, "after": after, **difference_fields(str(measure), found, adjusted)}
    return told.PairPart.model_validate(fields)


def _summary_folder(options: Options, today: date) -> Path:
    return free_folder(parent(options), folder_name("versions", today, options.label))


def _write(summary: told.Versions, tried: Sequence[_Tried], folder: Path) -> Path:
    results = {one.version: f"../{one.outcome.folder.name}" for one in tried if one.outcome}
    with staged(folder, explicit=False) as made:
        for name, text in (
            (told.JSON, summary.model_dump_json(indent=1) + "\n"),
            (told.MARKDOWN, told.markdown(summary, results)),
            (told.PAGE, versions_page.render(summary, results)),
        ):
            (made.place / name).write_text(concealed(text), encoding="utf-8", newline="\n")
    return made.folder
