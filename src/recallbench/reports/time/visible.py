"""What a question could see of its haystack, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recallbench.results.time.visible_part import VisiblePart

HELD = {
    "filtered": "the store filters by it",
    "replayed": "sessions went in one by one, and each question was asked when its moment had come",
}


def time_sentences(time: VisiblePart | None) -> list[str]:
    """Return what a question could see of its haystack, where that is a part of it; else nothing."""
    if time is None:
        return []
    if time.way == "ignored":
        return [
            f"Here time was ignored: a question also saw what was said after it, {time.haystack:.1f} segments in all."
        ]
    return [
        f"A question sees what was said before it, {time.visible:.1f} of {time.haystack:.1f} segments on average: "
        f"{HELD[time.way]}. In a pass before, a session that repeats each of {time.planted:,} questions word by word "
        "was planted right after it: none came back."
    ]


def ignored_sentence(environment: Mapping[str, Any]) -> list[str]:
    """Return that the questions of a study saw the future too, where its options say so; else nothing."""
    ignored = environment.get("options", {}).get("time") == "ignored"
    return ["Time was ignored: a question also saw what was said after it."] if ignored else []
