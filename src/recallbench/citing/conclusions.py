"""How `cite` ends for a result: whether it can be cited, why, and what to do next."""

from __future__ import annotations

from pathlib import Path

from recallbench.citing.citation import AuditedResult, Citation, NotCitable
from recallbench.citing.steps import steps
from recallbench.reports.printing.conclusion import Conclusion

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
    belief = refused.reasons[0] if number == 1 else f"for {refused.count}, above"
    first, *more = steps(cited, as_deviation, history)
    return Conclusion(happened, belief, f"{first}{', and so on as above' if more else ''}", tone="bad")
