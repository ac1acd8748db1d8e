"""The release note's text for a result: the protocol's words for a CANONICAL one, the reasons against any other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.audit.audit import Audit
from recallbench.citing.headline import headline_figures
from recallbench.citing.publication import published
from recallbench.citing.steps import numbered, steps
from recallbench.compare.movement import Movement, movements
from recallbench.errors import RecallBenchError
from recallbench.escaping.markdown import code, inline
from recallbench.escaping.terminal import visible
from recallbench.protocol.frozen import load, read_data
from recallbench.reports.cells import interval
from recallbench.reports.own_encoder import encoder_words
from recallbench.reports.table import Table
from recallbench.results.metrics import EstimatePart, HeadlinePart
from recallbench.results.result import Result, repository_path

DEVIATION = "deviation "
"""The beginning of a reason that is one."""


class NotCitable(RecallBenchError):
    """A result that must not be cited as was asked."""

    exit_code = 1

    def __init__(self, folder: Path, reasons: Sequence[str], remedy: str, *, verdict: str = "") -> None:
        super().__init__(
            f"{folder} can't be cited{f': it is {verdict}' if verdict else ''}",
            expected="a result whose audit holds, and that deviates in nothing or has its deviations on record",
            found="\n".join(reasons),
            remedy=remedy,
        )
        self.reasons = tuple(reasons)

    @property
    def count(self) -> str:
        """How many deviations there are, and how many other reasons."""
        deviations = sum(reason.startswith(DEVIATION) for reason in self.reasons)
        others = len(self.reasons) - deviations
        counts = ((others, "reason"), (deviations, "deviation"))
        return " and ".join(f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in counts if number)


@dataclass(frozen=True, slots=True)
class AuditedResult:
    """A result and its audit."""

    result: Result
    audit: Audit

    @property
    def path(self) -> str:
        """Return the path of its folder, as a text names it."""
        return repository_path(self.result.folder)


@dataclass(frozen=True, slots=True)
class Citation:
    """Everything a release note says of a result."""

    cited: AuditedResult
    previous: AuditedResult | None
    moved: tuple[Movement, ...]
    deviations: tuple[str, ...]
    """Empty for a CANONICAL result."""


def cite(
    cited: AuditedResult,
    previous: AuditedResult | None = None,
    *,
    as_deviation: bool = False,
    history: Path | None = None,
) -> Citation:
    """Return the citation; raises NotCitable, with every reason, where a result must not be cited."""
    reasons = _hindrances(cited, as_deviation, history)
    if previous is not None:
        reasons += [f"previous result: {reason}" for reason in _hindrances(previous, as_deviation, history)]
        reasons += [f"previous result: {reason}" for reason in _differing_definitions(previous.result, cited.result)]
    if reasons:
        verdict = cited.audit.verdict
        stated = "" if verdict.canonical or (as_deviation and verdict.label == "VERIFIED") else verdict.text
        stated += ", not CANONICAL" if stated and not as_deviation else ""
        then = numbered(steps(cited, as_deviation, history))
        raise NotCitable(cited.result.folder, reasons, then, verdict=stated)
    moved = () if previous is None else movements(previous.result, cited.result)
    unpaired = sorted({movement.reason for movement in moved if movement.reason})
    if unpaired:
        raise NotCitable(
            cited.result.folder, [f"previous result: {reason}" for reason in unpaired], "leave out --previous"
        )
    return Citation(cited, previous, moved, cited.audit.deviations if as_deviation else ())


def _hindrances(side: AuditedResult, as_deviation: bool, history: Path | None) -> list[str]:
    """Return every reason against citing a result."""
    reasons = [
        f"{check.name}{f' ({check.code})' if check.code else ''}: {check.observed}"
        for check in side.audit.checks
        if check.status in ("fail", "pending") or (check.status == "cannot-tell" and check.needed)
    ]
    verdict = side.audit.verdict
    if as_deviation:
        if verdict.label != "VERIFIED" and not reasons:
            reasons.append(f"it is {verdict.text}, and a deviation that is cited has to be VERIFIED")
        if not side.audit.deviations:
            reasons.append("it deviates from the protocol in nothing")
        record = published(side.audit.deviations, side.result.metrics.corpus.name, side.result.folder, history)
        if record.status != "pass":
            reasons.append(f"{record.name} ({record.code}): {record.observed}")
        return reasons
    reasons += [f"{DEVIATION}{deviation}" for deviation in side.audit.deviations]
    if not verdict.canonical and not reasons:
        reasons.append(f"it is {verdict.text}, not CANONICAL")
    if not side.result.headline or side.result.headline[0].protocol_name != "recall@10":
        reasons.append("it states no recall@10")
    return reasons


def _differing_definitions(previous: Result, now: Result) -> list[str]:
    """Return the differences in definition that keep two results from being versions of the same system."""

    rules = load()

    def definition(result: Result) -> dict[str, object]:
        metrics = result.metrics
        return {
            "protocol": metrics.protocol.sha256,
            "clarifications": rules.counted_under(metrics.protocol.clarifications_sha256),
            "clarifications that were applied": rules.of_figures(metrics.protocol.clarifications),
            "corpus": metrics.corpus.name,
            "dataset": metrics.dataset_sha256,
            "store": metrics.store.name,
            "embedder": metrics.embedder.fingerprint_sha256 if metrics.embedder else None,
            "scope": metrics.retrieval.scope,
            "depth": metrics.retrieval.depth,
            "questions asked": metrics.retrieval.asked,
            "measures": [headline.estimate.measure for headline in result.headline],
            "deviations": sorted(f"{part.kind}: {part.detail}" for part in metrics.deviations),
        }

    old, new = definition(previous), definition(now)
    reasons = [f"another {name}: {old[name]} before, {new[name]} now" for name in old if old[name] != new[name]]
    if previous.manifest_sha256 == now.manifest_sha256:
        reasons.append("it is this very result")
    return reasons


def text(citation: Citation, markdown: bool = False) -> str:
    """Return the citation as a release note has it; each line names what it takes to check its figures."""
    result, metrics = citation.cited.result, citation.cited.result.metrics
    what = f"corpus {metrics.corpus.name}, embedder {encoder_words(metrics)}, store {metrics.store.name}"
    if citation.deviations:
        lines = [
            f"Deviations from the frozen rules ({metrics.protocol.version}): {'; '.join(citation.deviations)}.",
            f"So this is no result under them, but a measurement of something else: {what} ({result.version}).",
        ]
    else:
        lines = [f"{metrics.protocol.cited_as}: {what} ({result.version})."]
    lines = [_escaped(line, markdown) for line in (*lines, *substitution_lines(metrics.corpus.name))]
    lines.append("")
    for headline in result.headline:
        lines.append(_line(citation, citation.cited, headline.estimate, headline, markdown))
        before = citation.previous
        estimate = before.result.estimate(headline.estimate.measure) if before else None
        if before and estimate:
            lines.append(_line(citation, before, estimate, headline, markdown))
    lines += [_difference(citation, movement, markdown) for movement in citation.moved]
    return "\n".join(lines)


def substitution_lines(corpus: str) -> list[str]:
    """Return what is told of every result whose embedder stands in for the paper's, by the protocol itself."""
    known = read_data().frozen["substitution"]
    if corpus != known["corpus"]:
        return []
    return [
        f"On {corpus}, {known['stands_in']} stands in for the paper's embedder, {known['paper_embedder']}: "
        "a substitution of the protocol itself, for good."
    ]


def _line(
    citation: Citation, side: AuditedResult, estimate: EstimatePart, headline: HeadlinePart, markdown: bool
) -> str:
    name = _name(citation, headline.protocol_name, estimate.measure, markdown)
    bounds = "" if estimate.low is None else f", 95% interval {interval(estimate)}"
    system = f"{side.result.metrics.store.name} {side.result.version}"
    return (
        f"- {name} {estimate.value:.4f}{bounds}, n = {estimate.n}; {_escaped(system, markdown)}; "
        f"{_code(side.path, markdown)}, manifest sha256 {_code(side.result.manifest_sha256, markdown)}"
    )


def _difference(citation: Citation, movement: Movement, markdown: bool) -> str:
    paired, before, now = movement.paired, citation.previous, citation.cited
    assert paired is not None
    assert before is not None
    name = _name(citation, movement.protocol_name, movement.measure, markdown)
    interval = "no interval" if paired.low is None else f"95% interval {paired.low:+.4f} to {paired.high:+.4f}"
    return (
        f"- {name} {movement.before:.4f} -> {movement.after:.4f} "
        f"({_escaped(f'{before.result.version} -> {now.result.version}', markdown)}): "
        f"difference {paired.difference:+.4f}, {interval}, paired over n = {paired.n}: {movement.word}; "
        f"{_code(before.path, markdown)} -> {_code(now.path, markdown)}"
    )


def _name(citation: Citation, protocol_name: str, measure: str, markdown: bool) -> str:
    """Return the name of a metric: the protocol's own is for results under the protocol."""
    name = _code(measure, markdown)
    return name if citation.deviations else f"{_escaped(protocol_name, markdown)} ({name})"


def _code(text: str, markdown: bool) -> str:
    return code(text) if markdown else visible(text)


def _escaped(text: str, markdown: bool) -> str:
    return inline(text) if markdown else visible(text)


def document(citation: Citation) -> dict[str, object]:
    """Return the citation as a JSON document."""

    def described(side: AuditedResult) -> dict[str, object]:
        return {
            "folder": side.path,
            "manifest_sha256": side.result.manifest_sha256,
            "version": side.result.version,
            "figures": [
                {**figure, "interval_method": headline.estimate.method}
                for figure, headline in zip(headline_figures(side.result.metrics), side.result.headline, strict=True)
            ],
        }

    metrics = citation.cited.result.metrics
    return {
        "citable": True,
        "canonical": not citation.deviations,
        "deviations": list(citation.deviations),
        "protocol": metrics.protocol.cited_as if not citation.deviations else None,
        "protocol_version": metrics.protocol.version,
        "clarifications_sha256": metrics.protocol.clarifications_sha256,
        "corpus": metrics.corpus.name,
        "embedder": encoder_words(metrics),
        "result": described(citation.cited),
        "previous": None if citation.previous is None else described(citation.previous),
        "differences": [
            {
                "measure": movement.measure,
                "before": movement.before,
                "after": movement.after,
                "difference": movement.paired.difference if movement.paired else None,
                "low": movement.paired.low if movement.paired else None,
                "high": movement.paired.high if movement.paired else None,
                "called": movement.word,
            }
            for movement in citation.moved
        ],
        "text": text(citation),
    }


def sheet(citation: Citation) -> Table:
    """Return the figures of the citation as rows."""
    rows = [
        (
            side.path,
            headline.estimate.measure,
            f"{headline.estimate.value:.10g}",
            *("" if end is None else f"{end:.10g}" for end in (headline.estimate.low, headline.estimate.high)),
            str(headline.estimate.n),
            side.result.version,
            side.result.manifest_sha256,
        )
        for side in (citation.cited, citation.previous)
        if side is not None
        for headline in side.result.headline
    ]
    return Table(("folder", "measure", "value", "low", "high", "n", "version", "manifest sha256"), rows)
