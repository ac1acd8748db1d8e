"""Corpora of many files: found, held to their hashes, fetched, and read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loopback_hub import LoopbackHub
from recallbench.corpora.beam import Beam
from recallbench.corpora.beam import write_miniature as write_beam
from recallbench.corpora.entry import unregistered
from recallbench.corpora.fetch import fetch_release
from recallbench.corpora.location import locate_release
from recallbench.corpora.realtalk import RealTalk, RealTalkTurns
from recallbench.corpora.realtalk import write_miniature as write_realtalk
from recallbench.corpora.registry import open_corpus
from recallbench.corpora.release import Release, combined_sha256
from recallbench.errors import Blocked, InputError
from recallbench.protocol import load

RULES = load()
FACTS = replace(
    unregistered("realtalk", "data/Chat_*.json", ""), source="somebody/chats", revision="c" * 40, variable=""
)
CHATS = ("data/Chat_1_Ada_Ben.json", "data/Chat_2_Cleo_Dan.json")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def release_of(root: Path) -> Release:
    return Release("chats", {name: sha256(root / name) for name in CHATS}, ("data/Chat_*.json",))


def turn(id: str, text: str) -> dict[str, str]:
    return {"speaker": "Ada", "dia_id": id, "clean_text": text}


PARTED: dict[str, Any] = {
    "session_1_date_time": "29.12.2023, 22:42:04",
    "session_1": [turn("D1:1", "The boat is sold."), turn("D1:2", "")],
    "session_2_date_time": "30.12.2023, 08:00:00",
    "session_2": [turn("D1:4", "I miss the boat.")],
    "session_3_date_time": "31.12.2023, 08:00:00",
    "session_3": [turn("D2:1", "A new one comes in May.")],
    "qa": [
        {"question": "When was it sold?", "evidence": ["D1:1"], "category": 2, "answer": "in December"},
        {"question": "What is missed?", "evidence": ["D1:3", "D1:4; D2:1"], "category": 1},
        {"question": "What did the picture show?", "evidence": ["D1:3"], "category": 3},
        {"question": "What else?", "evidence": [], "category": 3},
    ],
}
"""One dialog in two sessions, as in half of the real files: `D2` is the third session, and not the second."""


def written(root: Path) -> Path:
    (root / "data").mkdir(parents=True)
    (root / CHATS[0]).write_text(json.dumps(PARTED))
    return root


@pytest.mark.parametrize(
    ("reader", "texts", "gold", "missing"),
    [
        (
            RealTalk,
            [
                "[29.12.2023, 22:42:04]\nAda: The boat is sold.\nAda: ",
                "[30.12.2023, 08:00:00]\nAda: I miss the boat.",
                "[31.12.2023, 08:00:00]\nAda: A new one comes in May.",
            ],
            [{0}, {0, 1, 2}, {0}, set()],
            2,
        ),
        (
            RealTalkTurns,
            ["Ada: The boat is sold.", "Ada: ", "Ada: I miss the boat.", "Ada: A new one comes in May."],
            [{0}, {2, 3}, set(), set()],
            2,
        ),
    ],
)
def test_realtalk_finds_evidence_by_the_ids_of_turns(
    tmp_path: Path, reader: type[RealTalk], texts: list[str], gold: list[set[int]], missing: int
) -> None:
    root = written(tmp_path)
    release = Release("chats", {CHATS[0]: sha256(root / CHATS[0])}, ("data/Chat_*.json",))
    corpus = reader(root, replace(FACTS, sha256=release.sha256), RULES, release)
    survey = corpus.survey()
    (haystack,) = corpus.haystacks()
    assert [segment.text for segment in haystack.segments] == texts
    assert [set(question.gold) for question in haystack.questions] == gold
    assert [question.id for question in haystack.questions] == [f"Chat_1_Ada_Ben#{place}" for place in range(4)]
    assert [question.kind for question in haystack.questions] == ["temporal", "multi-hop", "open-domain", "open-domain"]
    assert haystack.questions[0].answer == "in December"
    assert (survey.missing_turns, survey.empty_turns, survey.turns, survey.registered) == (missing, 1, 4, True)
    starts = [segment.text[start:][:8] for segment in haystack.segments for start in segment.gold_turns]
    assert starts == ["Ada: The", "Ada: I m", "Ada: A n"]


def test_beam_cuts_what_nobody_said_and_takes_ids_from_lists_and_objects(tmp_path: Path) -> None:
    folder = tmp_path / "chats" / "100K" / "7"
    (folder / "probing_questions").mkdir(parents=True)
    turns = [
        [
            {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "I plan a trip. ->-> 1,1"},
            {"role": "assistant", "id": 1, "content": "Where to?"},
            {"role": "user", "id": 2, "content": "To Oslo."},
            {"role": "assistant", "id": 3, "content": "Take a coat."},
        ]
    ]
    (folder / "chat.json").write_text(json.dumps([{"turns": []}]))
    (folder / "chat_trunecated.json").write_text(json.dumps([{"turns": turns}]))
    probes = {
        "temporal_reasoning": [{"question": "When?", "source_chat_ids": {"first": [0], "second": [3]}, "answer": 5}],
        "summarization": [{"question": "What?", "source_chat_ids": [1, 0], "ideal_summary": "A trip."}],
        "abstention": [{"question": "Who?", "ideal_response": "Not said."}],
    }
    (folder / "probing_questions" / "probing_questions.json").write_text(json.dumps(probes))
    release = Release("beam", {}, ("chats/100K/*/*/probing_questions.json", "chats/100K/*/chat*.json"))
    corpus = Beam(tmp_path, unregistered("beam-100k", "chats", ""), RULES, release)
    (haystack,) = corpus.haystacks()
    assert [segment.text for segment in haystack.segments] == [
        "[March-15-2024]\nuser: I plan a trip.\nassistant: Where to?",
        "user: To Oslo.\nassistant: Take a coat.",
    ]
    assert [str(segment.occurred_at)[:10] for segment in haystack.segments] == ["2024-03-15", "None"]
    assert [(question.id, set(question.gold), question.answer) for question in haystack.questions] == [
        ("7/temporal_reasoning#0", {0, 1}, "5"),
        ("7/summarization#0", {0}, "A trip."),
        ("7/abstention#0", set(), "Not said."),
    ]
    assert [question.abstention for question in haystack.questions] == [False, False, True]


@pytest.mark.parametrize("sources", ["x", [["x"]], {"first": "0"}, [1.5]])
def test_beam_refuses_ids_that_are_none_of_its_messages(tmp_path: Path, sources: object) -> None:
    folder = tmp_path / "chats" / "100K" / "7"
    (folder / "probing_questions").mkdir(parents=True)
    turns = [[{"role": "user", "id": 0, "content": "I plan a trip."}, {"role": "assistant", "id": 1, "content": "To?"}]]
    (folder / "chat.json").write_text(json.dumps([{"turns": turns}]))
    probes = {"summarization": [{"question": "What?", "source_chat_ids": sources}]}
    (folder / "probing_questions" / "probing_questions.json").write_text(json.dumps(probes))
    release = Release("beam", {}, ("chats/100K/*/*/probing_questions.json", "chats/100K/*/chat*.json"))
    corpus = Beam(tmp_path, unregistered("beam-100k", "chats", ""), RULES, release)
    with pytest.raises(InputError, match="source_chat_ids"):
        list(corpus.haystacks())


def test_a_folder_that_differs_is_refused_with_both_hashes_and_the_file(tmp_path: Path) -> None:
    write_realtalk(tmp_path)
    release = release_of(tmp_path)
    listed = "".join(f"{hash}  {name}\n" for name, hash in sorted(release.files.items()))
    assert release.sha256 == hashlib.sha256(listed.encode()).hexdigest()
    first, second = (tmp_path / name for name in CHATS)
    before = sha256(second)
    second.write_text(second.read_text() + " ")
    (tmp_path / "data" / "Chat_3_Eve_Fay.json").write_text("{}")
    first.rename(tmp_path / "elsewhere.json")
    corpus = RealTalk(tmp_path, FACTS, RULES, release)
    assert corpus.differences == (
        f"{CHATS[0]} is missing; data/Chat_3_Eve_Fay.json is one too many; "
        f"{CHATS[1]} has sha256 {sha256(second)} instead of {before}"
    )
    fetched = "`recallbench fetch realtalk` gets the files of the release"
    assert corpus.remedy == f"move data/Chat_3_Eve_Fay.json out of the folder; {fetched}"
    with pytest.raises(InputError) as refused:
        open_corpus("realtalk", rules=RULES, environ={}, file=tmp_path)
    assert refused.value.expected.startswith("sha256 d23176e4ce0e53c8")
    found = combined_sha256({CHATS[1]: sha256(second), "data/Chat_3_Eve_Fay.json": hashlib.sha256(b"{}").hexdigest()})
    assert refused.value.found.startswith(f"sha256 {found}: data/Chat_10_Fahim_Muhhamed.json is missing; ")
    assert refused.value.found.endswith(" more")
    # What is one too many is nothing that fetching could mend; what differs is nothing to be moved.
    second.write_text(second.read_text().removesuffix(" "))
    (tmp_path / "elsewhere.json").rename(first)
    assert RealTalk(tmp_path, FACTS, RULES, release).remedy == "move data/Chat_3_Eve_Fay.json out of the folder"
    (tmp_path / "data" / "Chat_3_Eve_Fay.json").unlink()
    first.unlink()
    assert RealTalk(tmp_path, FACTS, RULES, release).remedy == fetched


def test_evidence_that_names_nothing_is_refused_above_the_registered_number(tmp_path: Path) -> None:
    root = written(tmp_path)
    release = Release("chats", {}, ("data/Chat_*.json",))
    with pytest.raises(InputError) as refused:
        RealTalk(root, replace(FACTS, missing_turns=1), RULES, release).survey()
    assert (refused.value.expected, refused.value.found) == (
        "at most 1 references to what is not there, as registered",
        "2, the first D1:3 of question Chat_1_Ada_Ben#1",
    )


def test_a_release_is_found_in_a_clone_below_a_folder_and_by_its_own_topmost_folder(tmp_path: Path) -> None:
    clone = tmp_path / "chats"
    write_realtalk(clone)
    release = release_of(clone)
    for named in (clone, tmp_path, clone / "data"):
        assert locate_release(FACTS, release, named, {}) == clone
    assert locate_release(FACTS, release, None, {"RECALLBENCH_DATA_DIR": str(tmp_path)}) == clone
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no file of realtalk at"):
        locate_release(FACTS, release, tmp_path / "empty", {})
    with pytest.raises(Blocked, match="the realtalk corpus is not on this machine"):
        locate_release(FACTS, release, None, {"RECALLBENCH_DATA_DIR": str(tmp_path / "empty")})


def test_a_release_is_fetched_file_by_file_at_its_commit(tmp_path: Path) -> None:
    source = tmp_path / "source"
    write_realtalk(source)
    release = release_of(source)
    served = {f"/somebody/chats/{'c' * 40}/{name}": (source / name).read_bytes() for name in CHATS}
    data = tmp_path / "data"
    with LoopbackHub(served) as hub:
        environ = {"RECALLBENCH_RAW_FILES_URL": f"{hub.url}/", "RECALLBENCH_DATA_DIR": str(data)}
        hub.plain[f"/somebody/chats/{'c' * 40}/{CHATS[1]}"] = b"another"
        with pytest.raises(InputError, match=f"the downloaded {CHATS[1]} is not the registered file of realtalk"):
            fetch_release(FACTS, release, environ)
        assert sorted(path.name for path in (data / "chats").rglob("*.json")) == [Path(CHATS[0]).name]
        hub.plain[f"/somebody/chats/{'c' * 40}/{CHATS[1]}"] = (source / CHATS[1]).read_bytes()
        assert fetch_release(FACTS, release, environ) == data / "chats"
        # What was there already was not asked for again.
        assert sum(CHATS[0] in request for request in hub.requests) == 1
        asked = len(hub.requests)
        fetch_release(FACTS, release, environ)
        assert len(hub.requests) == asked
    assert RealTalk(data / "chats", FACTS, RULES, release).differences == ""


def test_the_miniature_of_beam_has_the_layout_of_the_real_files(tmp_path: Path) -> None:
    write_beam("500K", tmp_path)
    assert sorted(path.relative_to(tmp_path).as_posix() for path in (tmp_path / "chats").rglob("*.json")) == [
        f"chats/500K/{chat}/{file}"
        for chat in (1, 2)
        for file in ("chat.json", "probing_questions/probing_questions.json")
    ]
