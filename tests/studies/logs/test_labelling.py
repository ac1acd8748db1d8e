"""The labels of one query while they are given."""

from __future__ import annotations

from recallbench.corpora.labelled_sets.label_book import UnlabelledQuery
from recallbench.studies.logs.labelling import Labelling
from recallbench.studies.logs.shelf import Proposal

A, B, C = (Proposal(id, f"text of {id}") for id in "abc")


def labelling() -> Labelling:
    return Labelling(UnlabelledQuery("q", "what?"), [A, B, C])


def test_documents_are_judged_one_after_the_other() -> None:
    judged = labelling()
    assert judged.current == A
    judged.grade(1.0)
    judged.grade(0.0)
    assert (judged.current, judged.place, judged.relevant) == (C, 2, 1)
    judged.grade(2.0)
    assert judged.current is None
    assert judged.grades == {"a": 1.0, "b": 0.0, "c": 2.0}
    judged.grade(3.0)
    assert judged.place == 3


def test_a_step_is_taken_back_whole() -> None:
    judged = labelling()
    assert not judged.undo()
    judged.grade(1.0)
    judged.none_of_the_rest()
    assert judged.grades == {"a": 1.0, "b": 0.0, "c": 0.0}
    assert judged.undo()
    assert (judged.grades, judged.current) == ({"a": 1.0}, B)
    assert judged.undo()
    assert judged.current == A
    assert not judged.undo()


def test_an_added_document_is_judged_next_and_once() -> None:
    judged = labelling()
    judged.grade(0.0)
    assert judged.put_first(Proposal("z", "text of z"))
    assert judged.current == Proposal("z", "text of z")
    judged.grade(1.0)
    assert judged.current == B
    assert judged.put_first(C)
    assert [proposal.id for proposal in judged.proposals] == ["a", "z", "c", "b"]
    assert not judged.put_first(A)
    judged.undo()
    assert judged.current == Proposal("z", "text of z")
