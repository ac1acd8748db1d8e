"""How questions were held to what was said before them, from the rankings of a result."""

from __future__ import annotations

from typing import get_args

from recallbench.corpora.records import Survey
from recallbench.results.time.visible_part import VisiblePart, Way
from recallbench.retrieval.record import Retrieval


def time_part(retrieval: Retrieval, survey: Survey, way: str) -> VisiblePart | None:
    """Return how time was kept; None where the corpus does not ask for it."""
    held = any(question.visible is not None for question in retrieval.questions)
    if not (held or way) or not retrieval.questions:
        return None
    # Where a result names no way though its questions are held to one, its own is not this.
    named: Way = next((known for known in get_args(Way) if known == way), "filtered")
    visible = sum(retrieval.candidates) / len(retrieval.candidates)
    planted = 0 if named == "ignored" else len(retrieval.questions)
    return VisiblePart(way=named, visible=visible, haystack=survey.segments / survey.scopes, planted=planted)
