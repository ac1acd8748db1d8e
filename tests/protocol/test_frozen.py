"""The protocol files are the locked ones, and state the registered facts."""

import hashlib
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from recallbench.errors import ProtocolChanged
from recallbench.protocol import load
from recallbench.protocol.frozen import FOLDER, VERSION, read
from recallbench.protocol.lock import lock_of

FROZEN = "1.0.0.toml"
CLARIFIED = "1.0.0-clarifications.toml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (FROZEN, CLARIFIED, "locks.toml"):
        shutil.copy(FOLDER / name, tmp_path / name)
    return tmp_path


def sha256(path: Path) -> str:
    return subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True).stdout.split()[0]


def test_untouched_copies_are_read(folder: Path) -> None:
    assert read(folder) == load()


@pytest.mark.parametrize("name", [FROZEN, CLARIFIED])
@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace(b"10", b"11", 1),
        lambda content: content + b"\n",
        lambda content: content[:-100],
        lambda content: b"not [toml",
    ],
    ids=["a figure", "a line more", "cut short", "not TOML"],
)
def test_a_changed_file_is_refused_before_it_is_parsed_and_both_hashes_are_named(folder, name, change) -> None:
    path = folder / name
    before = path.read_bytes()
    after = change(before)
    path.write_bytes(after)
    with pytest.raises(ProtocolChanged) as caught:
        read(folder)
    assert str(path) in str(caught.value)
    earlier = [stage.bytes for stage in lock_of(VERSION, folder).stages[:-1]] if name == CLARIFIED else []
    # What was released first is named first, and alone.
    end = next((end for end in earlier if before[:end] != after[:end]), None)
    assert hashlib.sha256(before[:end]).hexdigest() in caught.value.expected
    assert hashlib.sha256(after[:end]).hexdigest() in caught.value.found
    assert caught.value.exit_code == 2


def test_a_missing_file_is_refused_by_name(folder: Path) -> None:
    (folder / CLARIFIED).unlink()
    with pytest.raises(ProtocolChanged, match=CLARIFIED):
        read(folder)


@pytest.mark.parametrize("lock", ["", "[nothing", "['1.0.0'.frozen]\nfile = 'x'\n"])
def test_a_lock_that_cannot_be_read_is_refused(folder: Path, lock: str) -> None:
    (folder / "locks.toml").write_text(lock)
    with pytest.raises(ProtocolChanged, match=r"locks\.toml"):
        read(folder)


def test_the_published_text_in_the_data_is_the_locked_one(folder: Path) -> None:
    path = folder / "locks.toml"
    path.write_text(path.read_text().replace("6670c42b", "00000000"))
    with pytest.raises(ProtocolChanged, match="published_sha256"):
        read(folder)


def relock(folder: Path, through: int) -> None:
    """Release the clarifications as they are now, on top of what was released."""
    content = folder / CLARIFIED
    with (folder / "locks.toml").open("a") as lock:
        lock.write(
            f'\n[["1.0.0".clarifications.stages]]\nthrough = {through}\n'
            f'bytes = {content.stat().st_size}\nsha256 = "{sha256(content)}"\n'
        )


def appended(number: int) -> str:
    return (
        f'\n[[clarifications]]\nnumber = {number}\ndate = 2027-01-01\ntitle = "T"\ncorpora = []\ntext = "t"\n'
        "[clarifications.facts]\n"
    )


def test_a_clarification_can_be_appended(folder: Path) -> None:
    with (folder / CLARIFIED).open("a") as file:
        file.write(appended(19))
    relock(folder, 19)
    assert [entry.number for entry in read(folder).clarifications] == list(range(1, 20))


def test_figures_count_the_same_before_and_after_a_clarification_that_says_so(folder: Path) -> None:
    rules = load()
    before = "70fceaf568359cd6988ba1f473e7f7e5f80a70a0453b2b61f58bffed0ba4be0b"
    assert rules.counted_under(rules.clarifications_sha256) == rules.counted_under(before) == before
    assert rules.counted_under("0" * 64) == "0" * 64
    assert rules.of_figures([1, 17, 18]) == [1, 17]
    for number, facts, stands_for in ((19, 'figures = "as before"\n', before), (20, "", "")):
        with (folder / CLARIFIED).open("a") as file:
            file.write(appended(number) + facts)
        relock(folder, number)
        now = read(folder)
        assert now.counted_under(now.clarifications_sha256) == (stands_for or now.clarifications_sha256)
        assert now.counted_under(rules.clarifications_sha256) == before


def test_an_earlier_clarification_cannot_be_changed_by_locking_the_file_anew(folder: Path) -> None:
    path = folder / CLARIFIED
    path.write_text(path.read_text().replace("haystacks_with_a_repeated_id = 13", "haystacks_with_a_repeated_id = 12"))
    with path.open("a") as file:
        file.write(appended(19))
    relock(folder, 19)
    with pytest.raises(ProtocolChanged, match="up to clarification 17"):
        read(folder)


@pytest.mark.parametrize(("number", "through"), [(20, 20), (18, 19), (19, 18)])
def test_the_numbers_of_clarifications_have_no_gap(folder: Path, number: int, through: int) -> None:
    with (folder / CLARIFIED).open("a") as file:
        file.write(appended(number))
    relock(folder, through)
    with pytest.raises(ProtocolChanged, match="without a hole"):
        read(folder)


def test_every_clarification_is_there_and_dated() -> None:
    entries = load().clarifications
    assert [entry.number for entry in entries] == list(range(1, 19))
    assert {entry.dated for entry in entries[:17]} == {date(2026, 11, 18)}
    assert entries[17].dated == date(2026, 11, 20)
    assert [entry.title for entry in entries] == [
        "The definition and the baselines disagree",
        "Scope",
        "Category names of LoCoMo",
        "Malformed evidence",
        "Denominators",
        "Duplicate segment ids",
        "Leaking ids",
        "k near the haystack size",
        "Truncation",
        "Clustering",
        "Wall clock",
        "The retrieval call",
        "Text of a segment",
        "512 tokens",
        "k",
        "Downloads",
        "Weights",
        "Portable vectors",
    ]
    assert all(len(entry.text) > 80 for entry in entries)


def test_a_corpus_has_the_clarifications_that_concern_it() -> None:
    rules = load()
    only = {entry.number: entry.corpora for entry in rules.clarifications if entry.corpora}
    assert only == {3: ("locomo",), 4: ("locomo",), 6: ("longmemeval",), 10: ("locomo",)}


def test_the_registered_facts_of_longmemeval() -> None:
    corpus = load().corpora["longmemeval"]
    assert corpus.sha256 == "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442"
    assert corpus.revision == "98d7416c24c778c2fee6e6f3006e7a073259d48f"
    assert (corpus.source, corpus.file) == ("xiaowu0162/longmemeval-cleaned", "longmemeval_s_cleaned.json")
    assert (corpus.questions, corpus.with_evidence, corpus.segments, corpus.abstentions) == (500, 500, 23867, 30)
    assert corpus.kinds == {
        "single-session-user": 70,
        "multi-session": 133,
        "single-session-preference": 30,
        "temporal-reasoning": 133,
        "knowledge-update": 78,
        "single-session-assistant": 56,
    }
    assert list(corpus.denominators.items()) == [("all", 500), ("without-abstention", 470), ("official", 419)]
    assert corpus.bands == {"recall@10": 0.005, "MRR": 0.010}
    assert corpus.baselines == {"recall@10": 0.933, "MRR": 0.855}
    assert corpus.baseline_intervals == {"recall@10": (0.914, 0.952), "MRR": (0.829, 0.882)}
    assert (corpus.embedder, corpus.variable) == ("bge-m3", "LONGMEMEVAL_DATA_DIR")


def test_the_registered_facts_of_locomo() -> None:
    corpus = load().corpora["locomo"]
    assert corpus.sha256 == "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
    assert (corpus.questions, corpus.with_evidence, corpus.segments, corpus.scopes) == (1986, 1982, 272, 10)
    assert corpus.segments_per_scope == (19, 19, 32, 29, 29, 28, 31, 30, 25, 30)
    assert sum(corpus.segments_per_scope) == 272
    assert corpus.forbidden_segments == 5882
    assert corpus.kinds == {
        "multi-hop": 282,
        "temporal": 321,
        "open-domain": 96,
        "single-hop": 841,
        "adversarial": 446,
    }
    assert sum(corpus.kinds.values()) == 1986
    assert list(corpus.denominators.items()) == [("with-evidence", 1982), ("all", 1986), ("non-adversarial", 1536)]
    assert corpus.bands == {"recall@10": 0.010, "MRR": 0.015}
    assert corpus.baselines == {"recall@10": 0.795, "MRR": 0.548}
    assert corpus.baseline_intervals == {}
    assert (corpus.embedder, corpus.variable) == ("dragon-plus", "LOCOMO_DATA_DIR")


def test_the_categories_and_evidence_repairs_of_locomo() -> None:
    rules = load()
    assert rules.locomo_kinds == {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
    assert rules.evidence_repairs == {
        "D8:6; D9:17": (8, 9),
        "D": (),
        "D:11:26": (11,),
        "D9:1 D4:4 D4:6": (4, 9),
        "D22:1 D22:2 D9:10 D9:11": (9, 22),
        "D21:18 D21:22 D11:15 D11:19": (11, 21),
    }


def test_the_settings_of_the_protocol() -> None:
    rules = load()
    assert (rules.version, rules.frozen) == ("1.0.0", "2026-05-10")
    assert rules.cited_as == "pgmnemo Recall Benchmark Protocol v1.0.0 (benchmarks/PROTOCOL.md)"
    assert rules.published_sha256 == "6670c42b018e02e6a514ffb5bb0e901120c1e424021bd50996f22265a49db278"
    assert (rules.max_tokens, rules.batch_size, rules.seed) == (512, 8, 42)
    assert (rules.default_k, rules.mrr_depth, rules.canonical_store) == (10, 50, "pgmnemo")
    assert rules.settings["pgmnemo.recency_weight"] == "0.10"
    assert [name for name, _ in rules.gates] == [
        "dataset integrity",
        "version pin",
        "seed recorded",
        "oracle coverage",
        "corpus granularity",
        "artefacts present",
        "BLOCKED absent",
    ]


def test_embedders_are_pinned() -> None:
    bge, dragon = load().embedders["bge-m3"], load().embedders["dragon-plus"]
    assert (bge.query_repo, bge.query_revision) == ("BAAI/bge-m3", "5617a9f61b028005a4858fdac845db406aefb181")
    assert (bge.context_repo, bge.context_revision) == (bge.query_repo, bge.query_revision)
    assert (bge.dims, bge.stored_dims) == (1024, 1024)
    assert dragon.query_repo == "facebook/dragon-plus-query-encoder"
    assert dragon.query_revision == "2d3808c087119b953f8494b7638c216c71712cee"
    assert dragon.context_repo == "facebook/dragon-plus-context-encoder"
    assert dragon.context_revision == "68074e7406bb0061b0d049b58592acafae00e9d4"
    assert (dragon.dims, dragon.stored_dims) == (768, 1024)
    (weights,) = load().weights
    assert (weights.repo, weights.revision, weights.file) == (bge.query_repo, bge.query_revision, "pytorch_model.bin")
    assert weights.sha256 == "b5e0ce3470abf5ef3831aa1bd5553b486803e83251590ab7ff35a117cf6aad38"


def test_loading_the_rules_loads_nothing_heavy() -> None:
    code = (
        "import sys, recallbench.protocol as protocol; protocol.load(); "
        "print(sorted({'numpy', 'pydantic', 'rich', 'scipy', 'torch'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
