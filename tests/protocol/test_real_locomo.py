"""The protocol data's facts of LoCoMo agree with its file, read here without the program's code."""

import hashlib
import json
import re
from collections import Counter
from math import comb
from pathlib import Path
from statistics import mean

import pytest

from recallbench.protocol.frozen import load, read_data

pytestmark = [pytest.mark.marked, pytest.mark.real_data]
RULES = load().corpora["locomo"]
FACTS = {entry["number"]: entry["facts"] for entry in read_data().clarifications}


@pytest.fixture(scope="module")
def content(locomo_file: Path) -> bytes:
    return locomo_file.read_bytes()


@pytest.fixture(scope="module")
def conversations(content: bytes) -> list[dict]:
    return json.loads(content)


def sessions(conversation: dict) -> dict[int, list[dict]]:
    return {
        int(key.removeprefix("session_")): turns
        for key, turns in conversation["conversation"].items()
        if re.fullmatch(r"session_\d+", key)
    }


def gold(question: dict) -> set[int]:
    return {int(session) for reference in question["evidence"] for session in re.findall(r"D:?(\d+):\d+", reference)}


def test_the_file_is_the_registered_one(content: bytes) -> None:
    assert hashlib.sha256(content).hexdigest() == RULES.sha256
    assert len(content) == read_data().frozen["corpora"]["locomo"]["bytes"]


def test_the_file_has_the_stated_counts(conversations: list[dict]) -> None:
    assert tuple(len(sessions(conversation)) for conversation in conversations) == RULES.segments_per_scope
    assert (
        sum(len(turns) for conversation in conversations for turns in sessions(conversation).values())
        == RULES.forbidden_segments
    )
    questions = [question for conversation in conversations for question in conversation["qa"]]
    scored = [question for question in questions if question["evidence"]]
    assert len(questions) == RULES.questions == RULES.denominators["all"]
    assert len(scored) == RULES.with_evidence == RULES.denominators["with-evidence"]
    assert sum(question["category"] != 5 for question in scored) == RULES.denominators["non-adversarial"]
    assert len(questions) - len(scored) == FACTS[4]["questions_without_evidence"]
    kinds = Counter(load().locomo_kinds[question["category"]] for question in questions)
    assert kinds == Counter(RULES.kinds)


def test_malformed_evidence_is_as_listed(conversations: list[dict]) -> None:
    malformed, missing, loses, unreachable = [], [], 0, 0
    for conversation in conversations:
        turns = {turn["dia_id"] for session in sessions(conversation).values() for turn in session}
        for index, question in enumerate(conversation["qa"]):
            name = f"{conversation['sample_id']} {index}"
            for evidence in question["evidence"]:
                if not re.fullmatch(r"D\d+:\d+", evidence):
                    malformed.append((name, evidence, sorted({int(n) for n in re.findall(r"D:?(\d+):", evidence)})))
                elif evidence not in turns:
                    missing.append((name, evidence))
            cut = {evidence.split(":")[0] for evidence in question["evidence"]}
            unreachable += "D" in cut
            loses += "D" not in cut and len(cut) < len(gold(question))
            assert gold(question) <= sessions(conversation).keys()
            assert gold(question) or not question["evidence"]
    assert malformed == [tuple(row.values()) for row in FACTS[4]["repairs"]]
    assert missing == [tuple(row.values()) for row in FACTS[4]["missing_turns"]]
    assert loses == FACTS[4]["cut_at_colon_loses_gold_in"]
    assert unreachable == FACTS[4]["cut_at_colon_unreachable_in"]


@pytest.mark.parametrize(("k", "measure"), [(10, "recall_any@10"), (25, "recall_any@25")])
def test_the_stated_chance_follows_from_the_file(conversations: list[dict], k: int, measure: str) -> None:
    expected = []
    for conversation in conversations:
        candidates = len(sessions(conversation))
        drawn = min(k, candidates)
        for question in conversation["qa"]:
            if sessions_of_gold := len(gold(question)):
                expected.append(1 - comb(candidates - sessions_of_gold, drawn) / comb(candidates, drawn))
    assert round(mean(expected), 3) == FACTS[8]["locomo"]["chance"][measure]
