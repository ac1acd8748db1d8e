"""A conversation of three sessions in LoCoMo's form, and the questions of rows about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from recallbench.errors import InputError
from recallbench.foreign.multiverse import survey

QUESTIONS = [
    ("Whose kayak?", ["D2:1"], 4),
    ("Where cedar?", ["D1:1", "D3:1"], 1),
    ("Who sank?", [], 5),
]
"""Text, evidence and category; BM25 finds all gold of the first two among its first two, one of it at once."""


def write_dataset(folder: Path) -> Path:
    """Write the dataset, and return its file."""
    conversation: dict[str, Any] = {"speaker_a": "Ana", "speaker_b": "Ben"}
    for number, text in enumerate(["I planted a cedar.", "My kayak is red.", "The cedar fell."], start=1):
        conversation[f"session_{number}_date_time"] = f"1:00 pm on {number} May, 2023"
        conversation[f"session_{number}"] = [{"speaker": "Ana", "dia_id": f"D{number}:1", "text": text}]
    questions = [
        {"question": text, "answer": "?", "evidence": evidence, "category": category}
        for text, evidence, category in QUESTIONS
    ]
    path = folder / "small_locomo.json"
    path.write_text(json.dumps([{"sample_id": "conv-1", "conversation": conversation, "qa": questions}]))
    return path


def surveyed(folder: Path, *more: str | Path) -> dict[str, Any]:
    """Return what `recallbench multiverse --json` says of a folder."""
    done = recallbench("multiverse", folder, "--json", *more, cwd=folder.parent)
    assert done.returncode == 0
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def figures(document: dict[str, Any], denominator: str, scope: str) -> dict[str, float]:
    """Return the exact figures of a table, rounded to four decimals."""
    return {
        cell["definition"]: round(cell["low"], 4)
        for cell in document["cells"]
        if (cell["denominator"], cell["scope"], cell["low"]) == (denominator, scope, cell["high"])
    }


def refusal(folder: Path) -> str:
    """Return what is said of a folder that is refused."""
    with pytest.raises(InputError) as refused:
        survey(folder, None, {"RECALLBENCH_DATA_DIR": str(folder / "none")})
    return str(refused.value)
