"""The figures that only a team's own labelled set has: its worst questions, the age of its labels, its files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recallbench.corpora.records import Question, Survey
from recallbench.results import metrics as parts
from recallbench.scoring.editions import FIRST, Edition
from recallbench.scoring.judgement import Judged

WORST = 20
"""How many of the questions that drag the mean down are named."""


def worst_questions(questions: Sequence[Question], judged: Judged, k: int) -> list[parts.WorstPart]:
    """Those whose first gold segment comes latest, then those with the least of it among the first k."""
    first = np.where(judged.first > 0, judged.first, judged.depth + 1)
    gold_found = judged.gold_within(min(k, judged.depth))
    wanting = np.flatnonzero((judged.gold > 0) & ((first > 1) | (gold_found < np.minimum(judged.gold, k))))
    order = sorted(wanting.tolist(), key=lambda i: (-first[i], gold_found[i] / judged.answering[i], i))
    return [
        parts.WorstPart(
            question_id=questions[i].id,
            kind=questions[i].kind,
            tenant=questions[i].tenant,
            first_rank=int(first[i]) if first[i] <= judged.depth else None,
            gold=int(judged.answering[i]),
            found=int(gold_found[i]),
        )
        for i in order[:WORST]
    ]


def label_ages(questions: Sequence[Question], survey: Survey, edition: Edition) -> parts.LabelsPart:
    """When the labels were made, and how many queries were passed over for want of one."""
    days = sorted(question.labelled_at.date().isoformat() for question in questions if question.labelled_at is not None)
    return parts.LabelsPart(
        dated=len(days),
        undated=len(questions) - len(days),
        oldest=days[0] if days else None,
        newest=days[-1] if days else None,
        unjudged=survey.unjudged,
        # Sets of the hub passed them over without a word before.
        irrelevant=survey.irrelevant if edition.number > FIRST.number else 0,
    )


def hub_files(survey: Survey) -> parts.HubPart | None:
    """The files of a set that was fetched from the hub; None for any other."""
    published = survey.published
    if published is None:
        return None
    return parts.HubPart(
        repo=published.repo,
        revision=published.revision,
        qrels_repo=published.qrels_repo,
        qrels_revision=published.qrels_revision,
        files=[
            parts.HubFilePart(name=name, sha256=sha256, pinned=published.is_pinned(name))
            for name, sha256 in published.files.items()
        ],
    )
