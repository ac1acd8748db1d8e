"""A corpus in the shape that it had for a published figure."""

from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.protocol.reproductions import find_reproduction
from recallbench.runs.reproduction import ReshapedCorpus

LOCOMO, LONGMEMEVAL = (find_reproduction("baseline-v0.2.1", corpus) for corpus in ("locomo", "longmemeval"))


class Diary:
    """A corpus of two haystacks, in memory."""

    def haystacks(self):  # type: ignore[no-untyped-def]
        for scope in ("a", "b"):
            segments = tuple(Segment(scope, i, f"[date]\n{scope}{i}" + "x" * 600, None, f"s{i}") for i in range(2))
            yield Haystack(scope, segments, (Question(scope, f"{scope}/q0", "?", frozenset({1}), "kind"),))


def test_locomo_is_pooled_and_loses_its_dates() -> None:
    reading = ReshapedCorpus(LOCOMO, Diary(), None)  # type: ignore[arg-type]
    (pool,) = reading.haystacks()
    assert [segment.text[:2] for segment in pool.segments] == ["a0", "a1", "b0", "b1"]
    assert [sorted(question.gold) for question in pool.questions] == [[1], [3]]
    assert reading.sessions == {"pooled": ("s0", "s1", "s0", "s1")}


def test_longmemeval_stays_apart_and_is_cut_at_500_characters() -> None:
    reading = ReshapedCorpus(LONGMEMEVAL, Diary(), None)  # type: ignore[arg-type]
    both = list(reading.haystacks())
    assert [haystack.scope for haystack in both] == ["a", "b"]
    assert {len(segment.text) for haystack in both for segment in haystack.segments} == {500}
    assert both[1].segments[0].text.startswith("[date]\nb0")
