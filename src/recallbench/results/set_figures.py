"""The figures that only a team's own labelled set has: its worst questions, the age of its labels, its files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recallbench.corpora.records import Question, Survey
from recallbench.results import metrics as parts
from recallbench.results.sets.labels_part import LabelsPart
from recallbench.scoring.editions import FIRST, Edition
from recallbench.scoring.judgement import Judged

WORST = 20
"""How many of the worst questions are named."""


def worst_questions(questions: Sequence[Question], judged: Judged, k: int) -> list[parts.WorstPart]:
    """Return the questions whose first gold segment comes latest, then those with the least gold in the first k."""
    first = np.where(judged.first > 0, judged.first, judged.depth + 1)
    gold_hits = judged.gold_within(min(k, judged.depth))
    imperfect = np.flatnonzero((judged.gold > 0) & ((first > 1) | (gold_hits < np.minimum(judged.gold, k))))
    order = sorted(imperfect.tolist(), key=lambda i: (-first[i], gold_hits[i] / judged.answering[i], i))
    return [
        parts.WorstPart(
            question_id=questions[i].id,
            kind=questions[i].kind,
            tenant=questions[i].tenant,
            first_rank=int(first[i]) if first[i] <= judged.depth else None,
            gold=int(judged.answering[i]),
            found=int(gold_hits[i]),
        )
        for i in order[:WORST]
    ]


def label_ages(questions: Sequence[Question], survey: Survey, edition: Edition) -> LabelsPart:
    """Return the days of the labels, and how many queries were left out for want of one."""
    days = sorted(question.labelled_at.date().isoformat() for question in questions if question.labelled_at is not None)
    return LabelsPart(
        dated=len(days),
        undated=len(questions) - len(days),
        oldest=days[0] if days else None,
        newest=days[-1] if days else None,
        unjudged=survey.unjudged,
        # The first edition did not record them.
        irrelevant=survey.irrelevant if edition.number > FIRST.number else 0,
        unanswerable=survey.unanswerable,
        unknown_gold=survey.unknown_gold,
        unknown_candidates=survey.unknown_candidates,
        unlisted=survey.unlisted,
    )


def hub_files(survey: Survey) -> parts.HubPart | None:
    """Return the files of a set that was fetched from the hub; None for any other set."""
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
        task=published.task,
        published=[
            parts.CheckPart(name=count.name, expected=count.expected, found=count.found, holds=count.holds)
            for count in survey.published_counts
        ],
    )
