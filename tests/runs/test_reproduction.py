"""What is known of published figures, and when a run may be held against them."""

import json
import re
from pathlib import Path

import pytest

from recallbench.audit.reproduced import obstacles
from recallbench.corpora.records import Haystack, Question, Segment
from recallbench.errors import UsageError
from recallbench.protocol.frozen import load
from recallbench.protocol.reproductions import find_reproduction, reproductions
from recallbench.results.metrics import Metrics
from recallbench.runs.reproduction import Rereading

ROOT = Path(__file__).parents[2]
LOCOMO, LONGMEMEVAL = (find_reproduction("baseline-v0.2.1", corpus) for corpus in ("locomo", "longmemeval"))
SHA256 = load().corpora["locomo"].sha256


def test_the_published_figures_are_the_protocols_baselines() -> None:
    for one in reproductions():
        stated = load().corpora[one.corpus].baselines
        assert {figure.figure: figure.frozen for figure in one.published} == stated


def test_an_unknown_name_is_told_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        find_reproduction("baseline-v9", "locomo")
    assert caught.value.expected == "baseline-v0.2.1 on locomo, baseline-v0.2.1 on longmemeval"


class Diary:
    """A corpus of two haystacks, in memory."""

    def haystacks(self):  # type: ignore[no-untyped-def]
        for scope in ("a", "b"):
            segments = tuple(Segment(scope, i, f"[date]\n{scope}{i}" + "x" * 600, None, f"s{i}") for i in range(2))
            yield Haystack(scope, segments, (Question(scope, f"{scope}/q0", "?", frozenset({1}), "kind"),))


def test_locomo_is_pooled_and_loses_its_dates() -> None:
    reading = Rereading(LOCOMO, Diary(), None)  # type: ignore[arg-type]
    (one,) = reading.haystacks()
    assert [segment.text[:2] for segment in one.segments] == ["a0", "a1", "b0", "b1"]
    assert [sorted(question.gold) for question in one.questions] == [[1], [3]]
    assert reading.sessions == {"pooled": ("s0", "s1", "s0", "s1")}


def test_longmemeval_stays_apart_and_is_cut_at_500_characters() -> None:
    reading = Rereading(LONGMEMEVAL, Diary(), None)  # type: ignore[arg-type]
    both = list(reading.haystacks())
    assert [one.scope for one in both] == ["a", "b"]
    assert {len(segment.text) for one in both for segment in one.segments} == {500}
    assert both[1].segments[0].text.startswith("[date]\nb0")


@pytest.fixture
def published() -> Metrics:
    """A result of the published system, but for its figures: the committed one, told to be pgmnemo's."""
    (path,) = (ROOT / "benchmarks" / "locomo" / "results").glob("pgvector_*/metrics.json")
    metrics = Metrics.model_validate_json(path.read_bytes())
    assert metrics.embedder is not None
    return metrics.model_copy(
        update={
            "store": metrics.store.model_copy(update={"name": "pgmnemo", "version": "0.2.1", "variant": ""}),
            "embedder": metrics.embedder.model_copy(update={"name": "dragon-plus"}),
        }
    )


def test_the_published_system_may_be_held_against_its_figure(published: Metrics) -> None:
    assert obstacles(LOCOMO, published, SHA256) == []


def test_another_version_may_not(published: Metrics) -> None:
    other = published.model_copy(update={"store": published.store.model_copy(update={"version": "0.20.0"})})
    assert obstacles(LOCOMO, other, SHA256) == ["the version is 0.20.0, the published figure is that of pgmnemo 0.2.1"]


def test_other_questions_and_data_may_not(published: Metrics) -> None:
    part = published.model_copy(update={"retrieval": published.retrieval.model_copy(update={"limit": 7})})
    assert obstacles(LOCOMO, part, SHA256) == ["only the first 7 questions were asked"]
    data = published.model_copy(update={"dataset_sha256": "0" * 64})
    assert obstacles(LOCOMO, data, SHA256) == [f"the corpus file is {'0' * 64}, the published one was {SHA256}"]


@pytest.mark.marked
@pytest.mark.real_data
def test_the_gold_that_is_listed_is_what_cutting_at_the_first_colon_gives(locomo_file: Path) -> None:
    differing, asked = {}, 0
    for conversation in json.loads(locomo_file.read_bytes()):
        for index, question in enumerate(conversation["qa"]):
            cut = {reference.split(":")[0] for reference in question["evidence"]}
            whole = {f"D{int(n)}" for one in question["evidence"] for n in re.findall(r"D:?(\d+):\d+", one)}
            asked += bool(cut)
            # `D30:05` needs no cure: its session is read the same way.
            if cut != whole:
                differing[f"{conversation['sample_id']}/q{index}"] = {one.replace("D", "session_") for one in cut}
    assert differing == LOCOMO.gold
    assert asked == 1982
