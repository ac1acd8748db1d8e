"""A team's own set is read, or refused with file, line and reason."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from labelled_sets import DOCUMENTS, JUDGED, QUERIES, beir, short
from recallbench.corpora.labelled_sets.labelled import Labelled, identify, labelled_entry
from recallbench.corpora.labelled_sets.set_name import parse_set_name, plain_names, short_names
from recallbench.errors import InputError, UsageError
from recallbench.protocol import load


def identity(folder: Path, split: str | None = None) -> str:
    return str(identify(folder, split))


def labelled_set(folder: Path, name: str) -> Labelled:
    facts = labelled_entry(name).facts(load())
    return Labelled(folder, facts)


def opened(folder: Path, split: str | None = None) -> Labelled:
    return labelled_set(folder, identity(folder, split))


def refusal(folder: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        opened(folder).survey()
    return caught.value


def test_beir_layout_is_read_by_tenant(tmp_path: Path) -> None:
    corpus = opened(beir(tmp_path / "team"))
    north, south = corpus.haystacks()
    assert (north.scope, south.scope) == ("north", "south")
    assert [s.session for s in north.segments] == ["oslo", "bergen", "fjord"]
    assert north.segments[0].text == "Oslo\nThe ferry to Oslo leaves at nine."
    assert (north.segments[0].importance, north.segments[1].importance) == (0.9, 0.5)
    assert north.segments[1].occurred_at == datetime(2026, 3, 1, tzinfo=UTC)
    first, second = north.questions
    assert (first.id, first.kind, first.tenant, first.gold) == ("q1", "travel", "north", {0, 2})
    assert first.grades == {0: 2.0, 2: 1.0}
    assert second.grades == {}
    assert first.labelled_at == datetime(2026, 5, 1, tzinfo=UTC)
    third, fourth = south.questions
    assert third.gold == {0}
    assert (fourth.abstention, fourth.gold, fourth.is_asked) == (True, frozenset(), True)
    assert not corpus.clustered  # two tenants are too few to estimate how they differ
    assert [q.cluster for h in corpus.haystacks() for q in h.questions] == ["", "", "", ""]


def test_the_survey_counts_questions_segments_and_kinds(tmp_path: Path) -> None:
    survey = opened(beir(tmp_path / "team")).survey()
    assert (survey.questions, survey.with_evidence, survey.asked, survey.segments, survey.scopes) == (4, 3, 4, 5, 2)
    assert survey.kinds == {"abstention": 1, "travel": 2, "weather": 1}
    assert survey.denominators == {"all": 3}
    assert survey.registered
    assert survey.checks == ()


def test_many_tenants_are_clusters(tmp_path: Path) -> None:
    documents = [{"_id": "d", "scope": f"s{i}", "text": "word"} for i in range(5)]
    queries = [{"_id": f"q{i}", "scope": f"s{i}", "text": "word?"} for i in range(5)]
    judged = "".join(f"q{i}\td\t1\n" for i in range(5))
    corpus = opened(beir(tmp_path / "team", documents, queries, test=judged))
    assert corpus.clustered
    assert [q.cluster for h in corpus.haystacks() for q in h.questions] == ["s0", "s1", "s2", "s3", "s4"]


def test_the_short_form_is_read(tmp_path: Path) -> None:
    folder = short(
        tmp_path / "team",
        [
            {"query": "When?", "relevant": ["oslo"], "tenant": "north", "answer": 9},
            {"query_id": "rain", "query": "Where?", "relevant": {"bergen": 3, "fjord": 0}, "tenant": "north"},
            {"query": "Who?", "relevant": [], "kind": "abstention", "tenant": "south"},
        ],
    )
    questions = [question for haystack in opened(folder).haystacks() for question in haystack.questions]
    assert [(q.id, q.gold, dict(q.grades), q.abstention) for q in questions] == [
        ("q1", {0}, {}, False),
        ("rain", {1}, {1: 3.0}, False),
        ("q3", frozenset(), {}, True),
    ]
    assert [(q.answer, q.declined) for q in questions] == [("9", False), ("", False), ("", True)]


def test_the_name_holds_the_hash_of_what_decides(tmp_path: Path) -> None:
    folder = beir(tmp_path / "my team")
    name = identity(folder)
    assert name.startswith("labelled/my-team@")
    assert len(name) == len("labelled/my-team@") + 64
    (folder / "notes.txt").write_text("no part of it")
    assert identity(folder) == name
    (folder / "qrels" / "test.tsv").write_text(JUDGED.replace("q3\trome\t1", "q3\trome\t2"))
    assert identity(folder) != name
    assert parse_set_name(name).sha256 == name[-64:]
    with pytest.raises(UsageError, match="names no set of questions and answers"):
        parse_set_name("labelled/team")


def test_splits_are_chosen_by_name_and_found_again_by_hash(tmp_path: Path) -> None:
    folder = beir(tmp_path / "team", test="q1\toslo\t1\nq2\tbergen\t1\n", dev="q3\trome\t1\n")
    test, dev = opened(folder), opened(folder, "dev")
    assert [q.id for h in test.haystacks() for q in h.questions] == ["q1", "q2", "q4"]
    assert [q.id for h in dev.haystacks() for q in h.questions] == ["q3", "q4"]
    assert test.sha256 != dev.sha256
    with pytest.raises(UsageError, match="has no split train"):
        identity(folder, "train")


def test_a_split_must_be_named_where_none_is_test(tmp_path: Path) -> None:
    folder = beir(tmp_path / "team", dev=JUDGED, train=JUDGED)
    with pytest.raises(UsageError, match="has judgements for several splits"):
        identity(folder)


def changed(rows: tuple[dict[str, Any], ...], index: int, **fields: object) -> list[dict[str, Any]]:
    return [{**row, **fields} if i == index else row for i, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("documents", "problem", "expected", "actual"),
    [
        (
            changed(DOCUMENTS, 1, _id="oslo"),
            "corpus.jsonl: line 2: field _id",
            "each id once in scope north",
            "oslo, as",
        ),
        (changed(DOCUMENTS, 1, text=7), "corpus.jsonl: line 2: field text", "text", "a whole number, 7"),
        (changed(DOCUMENTS, 1, importance=2), "corpus.jsonl: line 2: field importance", "a number from 0 to 1", "2"),
        (
            changed(DOCUMENTS, 1, occurred_at="soon"),
            "corpus.jsonl: line 2: field occurred_at",
            "a date or time",
            "'soon'",
        ),
        (changed(DOCUMENTS, 1, tenant="n s"), "corpus.jsonl: line 2: field tenant", "an id without blanks", "'n s'"),
        (changed(DOCUMENTS, 1, text="a\0b"), "corpus.jsonl: line 2: field text", "text without NUL", "character 1"),
    ],
)
def test_a_bad_document_is_named_with_its_line(
    tmp_path: Path, documents: list[Any], problem: str, expected: str, actual: str
) -> None:
    error = refusal(beir(tmp_path / "team", documents))
    assert error.problem == problem
    assert error.expected.startswith(expected)
    assert actual in error.found


@pytest.mark.parametrize(
    ("queries", "judged", "problem", "actual"),
    [
        (
            QUERIES,
            JUDGED + "q2\tnowhere\t1\n",
            "query q2 (line 2): field relevant",
            "nowhere, which no scope has (qrels/test.tsv, line 7)",
        ),
        (QUERIES, JUDGED + "q2\trome\t1\n", "query q2 (line 2): field relevant", "rome, which is in scope south"),
        (QUERIES, JUDGED + "q9\toslo\t1\n", "qrels/test.tsv: line 7: judges q9", "no query of that id"),
        (QUERIES, JUDGED + "q1\toslo\t1\n", "qrels/test.tsv: line 7: field corpus-id", "oslo again"),
        (QUERIES, JUDGED + "q1\tbergen\thigh\n", "qrels/test.tsv: line 7: field score", "'high'"),
        (QUERIES, JUDGED + "q1\tbergen\n", "qrels/test.tsv: line 7: field columns", "2"),
        (QUERIES, JUDGED + "q4\trome\t1\n", "query q4 (line 4): field relevant", "1 with kind abstention"),
        (changed(QUERIES, 1, _id="q1"), JUDGED, "queries.jsonl: line 2: field _id", "q1 again"),
        (changed(QUERIES, 1, text=" "), JUDGED, "query q2 (line 2): field text", "only blanks"),
        (changed(QUERIES, 1, tenant="west"), JUDGED, "query q2 (line 2): field scope", "west"),
        (changed(QUERIES, 1, answer=["nine"]), JUDGED, "query q2 (line 2): field answer", "a list"),
        (changed(QUERIES, 1, labelled_at=5), JUDGED, "query q2 (line 2): field labelled_at", "5"),
    ],
)
def test_a_bad_label_is_named(tmp_path: Path, queries: list[Any], judged: str, problem: str, actual: str) -> None:
    error = refusal(beir(tmp_path / "team", queries=queries, test=judged))
    assert error.problem.endswith(problem)
    assert actual in error.found


@pytest.mark.parametrize("relevant", ["oslo", ["oslo", "oslo"], {"oslo": -1}, {"oslo": "2"}, [["oslo"]], None])
def test_bad_relevant_ids_of_the_short_form_are_named(tmp_path: Path, relevant: object) -> None:
    error = refusal(short(tmp_path / "team", [{"query": "When?", "relevant": relevant, "tenant": "north"}]))
    assert error.problem == "gold.jsonl: line 1: field relevant"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "team"
    folder.mkdir()
    for name, missing in (("corpus.jsonl", "corpus.jsonl"), ("queries.jsonl", "queries.jsonl"), ("x", "qrels/")):
        with pytest.raises(InputError, match=missing):
            identity(folder)
        (folder / name).write_text("{}\n")


def test_unjudged_queries_are_passed_over_and_counted(tmp_path: Path) -> None:
    corpus = opened(beir(tmp_path / "team", test=JUDGED.replace("q2\tbergen\t1\n", "")))
    survey = corpus.survey()
    assert (survey.questions, survey.unjudged) == (3, 1)
    assert [q.id for h in corpus.haystacks() for q in h.questions] == ["q1", "q3", "q4"]


def test_a_set_of_ones_own_has_no_registered_file_to_fetch(tmp_path: Path) -> None:
    assert refusal(beir(tmp_path / "team", changed(DOCUMENTS, 1, text=7))).remedy == "mend the file"


def test_labels_in_both_forms_are_refused(tmp_path: Path) -> None:
    folder = beir(tmp_path / "team")
    (folder / "gold.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match="holds labels twice"):
        identity(folder)


def question_kinds(folder: Path, name: str) -> list[tuple[str, str]]:
    return [(q.id, q.kind) for h in labelled_set(folder, name).haystacks() for q in h.questions]


ZZ = "query-id\tcorpus-id\tscore\n"


@pytest.mark.parametrize(
    ("more", "same"),
    [
        ("q1\tbergen\t1\n", True),  # judged here too
        ("q4\trome\t1\n", True),  # should find nothing, whatever another split says
        ("nobody\trome\t1\n", True),  # no query at all
        ("q5\trome\t1\n", False),  # unjudged before, of another split now
    ],
)
def test_another_split_is_another_name_only_where_it_decides_something(tmp_path: Path, more: str, same: bool) -> None:
    folder = beir(tmp_path / "team", queries=(*QUERIES, {"_id": "q5", "tenant": "south", "text": "Who left?"}))
    before = identity(folder, "test")
    kinds, unjudged = question_kinds(folder, before), opened(folder).survey().unjudged
    (folder / "qrels" / "zz.tsv").write_text(ZZ + more)
    assert (identity(folder, "test") == before) == same
    assert opened(folder, "test").survey().unjudged == (unjudged if same else 0)
    # A name finds the same questions as long as the files it hashes are there.
    assert question_kinds(folder, before) == kinds
    assert labelled_set(folder, before).sha256 == before.rpartition("@")[2]
    assert labelled_set(folder, before).survey().unjudged == unjudged == 1


def test_a_name_opens_the_same_questions_after_a_split_is_added(tmp_path: Path) -> None:
    left = ({"_id": id, "tenant": "south", "text": "Who left?"} for id in ("q5", "q6", "q7"))
    folder = beir(tmp_path / "team", queries=(*QUERIES, *left), test=JUDGED, dev=f"{ZZ}q5\trome\t1\n")
    before = identity(folder)
    (folder / "qrels" / "train.tsv").write_text(f"{ZZ}q6\trome\t1\n")
    assert identity(folder) != before
    survey = labelled_set(folder, before).survey()
    assert (survey.sha256, survey.unjudged) == (before.rpartition("@")[2], 2)
    assert opened(folder).survey().unjudged == 1


def test_the_hash_of_a_set_of_one_split_is_over_its_files_alone(tmp_path: Path) -> None:
    folder = beir(tmp_path / "team")
    names = ("corpus.jsonl", "qrels/test.tsv", "queries.jsonl")
    lines = "".join(f"{name} {hashlib.sha256((folder / name).read_bytes()).hexdigest()}\n" for name in names)
    assert identity(folder) == f"labelled/team@{hashlib.sha256(lines.encode()).hexdigest()}"


def test_queries_judged_with_grade_0_alone_are_passed_over_and_counted(tmp_path: Path) -> None:
    judged = "query-id\tcorpus-id\tscore\nq1\toslo\t2\nq2\tbergen\t0\nq2\toslo\t-1\nq3\trome\t1\n"
    survey = opened(beir(tmp_path / "team", test=judged)).survey()
    assert (survey.questions, survey.asked, survey.irrelevant, survey.unjudged) == (3, 3, 1, 0)


def test_a_query_without_an_id_of_its_own_is_counted_and_goes_by_its_text(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d", "text": "It rains."}\n')
    names = ('"query_id": "a"', '"_id": "b"', '"id": "c"', '"qid": 4', '"id": "c"', '"id": "two words"', '"id": null')
    (tmp_path / "gold.jsonl").write_text(
        "".join(f'{{"query": "Rain {n}?", "relevant": ["d"], {name}}}\n' for n, name in enumerate(names))
    )
    (haystack,) = opened(tmp_path).haystacks()
    assert [question.id for question in haystack.questions] == ["a", "b", "c", "4", "q5", "q6", "q7"]
    labels = ["a", "b", "c", "4", "Rain 4?", "Rain 5?", "Rain 6?"]
    assert [question.label for question in haystack.questions] == labels
    assert [question.line for question in haystack.questions] == ["", "", "q3", "q4", "q5", "q6", "q7"]


def test_a_screen_names_a_set_by_its_folder() -> None:
    own, hashed = "0" * 64, "f" * 64
    text = f"labelled/team@{own}+tokens-0.3 beside labelled/kb@{hashed}, own/chats@{own}+locomo; my/labelled/x@{own}"
    assert short_names(text) == ("labelled/team+tokens-0.3 beside labelled/kb, own/chats+locomo; my/labelled/x")
    assert plain_names(text) == "team+tokens-0.3 beside kb, own/chats+locomo; my/labelled/x"
    assert plain_names("labelled/notes.txt of locomo") == "labelled/notes.txt of locomo"
