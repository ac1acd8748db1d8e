"""How `cite` ends for a result: whether it can be cited, why, and what to do next."""

from __future__ import annotations

import shlex
from pathlib import Path

from recallbench.citing.citation import AuditedResult, Citation, NotCitable
from recallbench.citing.publication import lacking
from recallbench.errors import InputError
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.results.result import repository_path

CHECK = "paste the text, then recallbench cite --check FILE"


def conclusion_of(citation: Citation) -> Conclusion:
    """Return the last line for a result that can be cited."""
    side = citation.cited
    if citation.deviations:
        number = len(citation.deviations)
        record = "its deviation" if number == 1 else f"its {number} deviations"
        return Conclusion(
            f"{side.path} can be cited, but not under the protocol's name",
            f"its audit holds, and HISTORY.md has {record} on record",
            CHECK,
        )
    protocol = side.result.metrics.protocol.cited_as.partition(" (")[0]
    return Conclusion(
        f"{side.path} can be cited under the {protocol}", "its audit holds, and it deviates in nothing", CHECK
    )


def conclusion_against(
    refused: NotCitable, cited: AuditedResult, as_deviation: bool, history: Path | None = None
) -> Conclusion:
    """Return the last line for a result that can't be cited as was asked."""
    happened = f"{cited.path} can't be cited{' as a deviation' if as_deviation else ''}"
    number = len(refused.reasons)
    belief = refused.reasons[0] if number == 1 else f"for {number} reasons, above"
    return Conclusion(happened, belief, _next(cited, as_deviation, history), tone="bad")


def record_command(cited: AuditedResult, history: Path | None = None) -> str:
    """Return the command that puts on record what HISTORY.md lacks of a result's deviations; empty where it has all."""
    corpus = cited.result.metrics.corpus.name
    try:
        missing = lacking(cited.audit.deviations, corpus, cited.result.folder, history)
    except (InputError, ValueError):
        return ""  # HISTORY.md can't be read, which is a reason of its own
    if not missing:
        return ""
    words = ["recallbench", "history", "add", "--kind", "deviation", "--title", f"What {cited.path} departs in"]
    for name in missing:
        words += ["--deviation", f"{name} on {corpus}"]
    return shlex.join([*words, *(["--file", str(history)] if history else [])])


def _next(cited: AuditedResult, as_deviation: bool, history: Path | None) -> str:
    folder = shlex.quote(repository_path(cited.result.folder))
    if cited.audit.verdict.label != "VERIFIED" or not cited.audit.deviations:
        return f"recallbench audit {folder}"
    if record := record_command(cited, history):
        return record
    return f"recallbench audit {folder}" if as_deviation else f"recallbench cite {folder} --as-deviation"
