"""The protocol's own form of a citation, with what a result says of itself in its places."""

from __future__ import annotations

from recallbench.citing.citation import AuditedResult, substitution_lines
from recallbench.escaping.markdown import code, inline
from recallbench.escaping.terminal import visible
from recallbench.protocol.frozen import load, read_data
from recallbench.reports.cells import interval
from recallbench.reports.own_encoder import encoder_words
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.table import Table
from recallbench.results.metrics import HeadlinePart
from recallbench.results.result import Result

METRICS = (("recall@10", "recall_any@10"), ("MRR", "mrr@50"))
PROTOCOL_SECTION = "PROTOCOL.md, section 8"


def names() -> list[str]:
    """Return what the protocol wants in every citation, in its words."""
    return list(read_data().frozen["citation"]["names"])


def never() -> list[str]:
    """Return what the protocol wants in none."""
    return list(read_data().frozen["citation"]["never"])


def template(side: AuditedResult | None = None, markdown: bool = False) -> str:
    """Return the lines of a citation, with [places] for what no folder is named for, or what it does not support.

    A result that is not VERIFIED lends no figure, and one that is not CANONICAL is not put under the protocol's name.
    """
    lines = [*_opening(side, markdown), "", *_figures(side, markdown), "", _rule(markdown)]
    return "\n".join(lines)


def _opening(side: AuditedResult | None, markdown: bool) -> list[str]:
    if side is None:
        return [_text(f"{load().cited_as}: corpus [corpus], embedder [embedder], store [store] ([version]).", markdown)]
    metrics, version = side.result.metrics, side.result.version
    what = f"corpus {metrics.corpus.name}, embedder {encoder_words(metrics)}, store {metrics.store.name}"
    deviations = side.audit.deviations
    if deviations:
        lines = [
            f"Deviations from the frozen rules ({metrics.protocol.version}): {'; '.join(deviations)}.",
            f"So this is no result under them, but a measurement of something else: {what} ({version}).",
        ]
    else:
        lines = [f"{metrics.protocol.cited_as}: {what} ({version})."]
    return [_text(line, markdown) for line in (*lines, *substitution_lines(metrics.corpus.name))]


def _figures(side: AuditedResult | None, markdown: bool) -> list[str]:
    if side is None:
        return [
            _text(
                f"- {name} ({measure}) [previous value] -> [value] ([previous version] -> [version]), 95% interval "
                "[low] to [high], n = [n]; [path of the run's artefacts], manifest sha256 [sha256]",
                markdown,
            )
            for name, measure in METRICS
        ]
    result = side.result
    where = f"{_code(side.path, markdown)}, manifest sha256 {_code(result.manifest_sha256, markdown)}"
    return [f"- {_figure(side, result, headline, markdown)}; {where}" for headline in result.headline]


def _figure(side: AuditedResult, result: Result, headline: HeadlinePart, markdown: bool) -> str:
    estimate = headline.estimate
    measure = _code(estimate.measure, markdown)
    name = measure if side.audit.deviations else f"{_text(headline.protocol_name, markdown)} ({measure})"
    version = _text(result.version, markdown)
    versions = f"({_text('[previous version]', markdown)} -> {version})"
    previous = _text("[previous value]", markdown)
    if side.audit.verdict.label != "VERIFIED":
        left = _text("[value, once the folder is VERIFIED]", markdown)
        return f"{name} {previous} -> {left} {versions}"
    bounds = "" if estimate.low is None else f", 95% interval {interval(estimate)}"
    return f"{name} {previous} -> {estimate.value:.4f} {versions}{bounds}, n = {estimate.n}"


def _rule(markdown: bool) -> str:
    return _text(
        f"Every citation names {'; '.join(names())}. None has {'; '.join(never())} ({PROTOCOL_SECTION}).", markdown
    )


def document(side: AuditedResult | None) -> dict[str, object]:
    """Return the form for a program."""
    return {
        "protocol": load().cited_as,
        "folder": None if side is None else side.path,
        "names": names(),
        "never": never(),
        "text": template(side),
    }


def sheet() -> Table:
    """Return the protocol's own list as rows."""
    rows = [("names", name) for name in names()] + [("never", name) for name in never()]
    return Table(("citation", PROTOCOL_SECTION), rows)


def conclusion(side: AuditedResult | None) -> Conclusion:
    """Return the last line: which places are left to fill, and with what."""
    if side is None:
        return Conclusion("The form of a citation, with a [place] for each thing it needs", "", "recallbench cite DIR")
    path, verdict = side.path, side.audit.verdict
    if verdict.label != "VERIFIED":
        return Conclusion(
            f"The form is filled as far as {path} supports it: no figure",
            f"it is {verdict.text}, and only what is VERIFIED is cited",
            f"recallbench audit {path}",
            tone="open",
        )
    name = "" if verdict.canonical else ", not under the protocol's name, since it deviates"
    return Conclusion(
        f"The form is filled from {path}{name}",
        "its audit holds; what was measured before is yours to fill in",
        f"recallbench cite {path}{'' if verdict.canonical else ' --as-deviation'} --previous DIR",
        tone="good" if verdict.canonical else "open",
    )


def _text(text: str, markdown: bool) -> str:
    return inline(text) if markdown else visible(text)


def _code(text: str, markdown: bool) -> str:
    return code(text) if markdown else visible(text)
