"""Ids of questions that name a group, as `conv-26/q8` does: whether they were meant to be dependent is their owner's to
say, and overlooking it makes intervals far too short."""

from __future__ import annotations

from collections.abc import Sequence

DEPENDENT = "the questions were taken as independent"
"""How the note on such ids begins."""
MARKS = ("/", ":", "#")
"""What stands between a group and its question; not `_` or `-`, which many ids have that name no group."""
FEWEST = 2
"""Questions of a group, on average, below which ids only look like groups."""


def dependence_note(questions: Sequence[str]) -> str:
    """Return what to say of questions that no cluster was named for; empty where their ids name no groups."""
    for mark in MARKS:
        groups = {question.rpartition(mark)[0] for question in questions}
        if "" not in groups and 1 < len(groups) <= len(questions) / FEWEST:
            example = f"ids such as {questions[0]} name {len(groups)} groups"
            return f"{DEPENDENT}, though {example}: --cluster-prefix {mark} takes those of one group as dependent"
    return ""
