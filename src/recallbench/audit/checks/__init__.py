"""The checks of an audit, in their order. A new check is one function in one file here and one line below."""

from recallbench.audit.checks import (
    answers,
    calls,
    claims,
    dataset,
    embedding,
    exports,
    figures,
    folder,
    frozen,
    options,
    pack,
    pipeline,
    ranges,
    rankings,
    recorded,
    report,
    rows,
    stages,
    static_control,
    timings,
)
from recallbench.audit.examination import Examination

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
    calls.CALLS,
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
    figures.ABILITIES,
    figures.LABELLED,
    report.REPORT,
    claims.DEVIATIONS,
    claims.GATES,
    claims.VERDICT,
    claims.REPRODUCTION,
    recorded.RECORDED,
    options.OPTIONS,
    embedding.EMBEDDING,
    timings.TIMINGS,
    ranges.RANGES,
)
OF_A_PIPELINE: tuple[Examination, ...] = (pipeline.PIPELINE, stages.LISTS, stages.EFFECTS, answers.ANSWERS)
"""Checked where a result has a pipeline, or has to have one (RB-OPTIONS)."""
OF_A_PACK: tuple[Examination, ...] = (pack.PACK,)
"""Checked where a result's vectors are of a pack."""
OF_THE_STATIC_CONTROL: tuple[Examination, ...] = (static_control.STATIC, static_control.FIGURES)
"""Checked where a result has a static control, or has to have one (RB-OPTIONS)."""
ON_DEMAND: tuple[Examination, ...] = (exports.CONTROL_AGAIN,)
"""Checked only on request, since it takes longer than all the others."""
LAST: tuple[Examination, ...] = (folder.UNCHANGED,)
"""Checked after all the others."""
