"""Makes the canary: two small synthetic corpora in the shape of LoCoMo's and LongMemEval's files.

usage: make_canary.py [FOLDER]     writes canary/locomo.json, canary/longmemeval.json and canary.toml into FOLDER
                                   (src/recallbench/corpora); the same bytes each time, on any machine
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from canary import dialogs, haystacks

TARGET = Path(__file__).resolve().parent.parent / "src" / "recallbench" / "corpora"
KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


def facts_of_locomo(data: list[dict[str, Any]]) -> dict[str, Any]:
    talks = [entry["conversation"] for entry in data]
    sessions = [[turns for turns in talk.values() if isinstance(turns, list)] for talk in talks]
    questions = [question for entry in data for question in entry["qa"]]
    scored = [question for question in questions if question["evidence"]]
    kinds = Counter(KINDS[question["category"]] for question in questions)
    return {
        "questions": len(questions),
        "with_evidence": len(scored),
        "abstentions": 0,
        "segments": sum(len(group) for group in sessions),
        "turns": sum(len(turns) for group in sessions for turns in group),
        "segments_per_scope": [len(group) for group in sessions],
        "denominators": {
            "with-evidence": len(scored),
            "all": len(questions),
            "non-adversarial": sum(question["category"] != 5 for question in scored),
        },
        "kinds": {kind: kinds[kind] for kind in KINDS.values()},
    }


def facts_of_longmemeval(data: list[dict[str, Any]]) -> dict[str, Any]:
    answerable = [item for item in data if not item["question_id"].endswith("_abs")]
    by_user = [
        item
        for item in answerable
        if any(t["role"] == "user" and t.get("has_answer") for turns in item["haystack_sessions"] for t in turns)
    ]
    return {
        "questions": len(data),
        "with_evidence": len(data),
        "abstentions": len(data) - len(answerable),
        "segments": sum(len(item["haystack_sessions"]) for item in data),
        "turns": sum(len(turns) for item in data for turns in item["haystack_sessions"]),
        "segments_per_scope": [len(item["haystack_sessions"]) for item in data],
        "denominators": {
            "all": len(data),
            "without-abstention": len(answerable),
            "official": len(by_user),
        },
        "kinds": dict(Counter(item["question_type"] for item in data)),
    }


def as_json(data: list[dict[str, Any]]) -> bytes:
    """One item per line, so that a change shows where it is."""
    lines = ",\n".join(json.dumps(item, ensure_ascii=False, separators=(",", ":")) for item in data)
    return f"[\n{lines}\n]\n".encode()


def as_toml(name: str, file: str, body: bytes, facts: dict[str, Any]) -> str:
    lines = [f"[{name}]", f'file = "{file}"', f'sha256 = "{hashlib.sha256(body).hexdigest()}"']
    lines += [f"{key} = {value}" for key, value in facts.items() if not isinstance(value, dict)]
    for key, table in facts.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}.{key}]", *(f"{inner} = {value}" for inner, value in table.items())]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    target = Path(arguments[0]) if arguments else TARGET
    (target / "canary").mkdir(parents=True, exist_ok=True)
    parts = ["# What is registered of the bundled corpora; written by scripts/make_canary.py.\n"]
    talks, questions = [dialogs.conversation(number) for number in range(len(dialogs.PAIRS))], haystacks.items()
    for name, data, facts in (
        ("locomo", talks, facts_of_locomo(talks)),
        ("longmemeval", questions, facts_of_longmemeval(questions)),
    ):
        body = as_json(data)
        (target / "canary" / f"{name}.json").write_bytes(body)
        parts.append(as_toml(f"canary-{name}", f"{name}.json", body, facts))
    (target / "canary.toml").write_bytes("\n".join(parts).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
