"""What an audit looks at, in its order. A new check is one function in one file here and one line below."""

from recallbench.verdict.checks import (
    claims,
    dataset,
    exports,
    figures,
    folder,
    frozen,
    options,
    ranges,
    rankings,
    recorded,
    report,
    rows,
)
from recallbench.verdict.examination import Examination

CHECKS: tuple[Examination, ...] = (
    folder.FILES,
    folder.SEALED,
    frozen.PROTOCOL,
    frozen.CLARIFICATIONS,
    frozen.APPLIED,
    dataset.DATASET,
    dataset.CORPUS,
    rows.READABLE,
    rows.QUESTIONS,
    rows.LABELS,
    rows.GOLD,
    rows.TEXTS,
    rankings.RANKS,
    rankings.SCORES,
    rankings.ONCE,
    rankings.SCOPE,
    rankings.LENGTH,
    exports.RUN,
    exports.QRELS,
    exports.NAMED,
    exports.CONTROL,
    figures.VALUES,
    figures.INTERVALS,
    figures.CHANCE,
    figures.CONTROL,
    figures.HEADLINE,
    figures.DENOMINATORS,
    figures.ABSTENTION,
    figures.RETRIEVAL,
    figures.LABELLED,
    report.REPORT,
    claims.DEVIATIONS,
    claims.GATES,
    claims.VERDICT,
    claims.REPRODUCTION,
    recorded.RECORDED,
    options.OPTIONS,
    ranges.RANGES,
)
ON_DEMAND: tuple[Examination, ...] = (exports.CONTROL_AGAIN,)
"""Looked at where it is asked for: it takes longer than all the others."""
LAST: tuple[Examination, ...] = (folder.UNCHANGED,)
"""Looked at when everything else was."""
