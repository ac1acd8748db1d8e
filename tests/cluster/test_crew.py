"""Items on the nodes of a real cluster: nothing is lost, nothing comes twice, and an end is clear."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import ray_jobs
from ray_jobs import Doubling

from ray_nodes import Nodes, two_nodes
from recallbench.cluster import crew as crews
from recallbench.cluster.connection import RayCluster, open_cluster
from recallbench.cluster.crew import Crew
from recallbench.cluster.engine import Engine
from recallbench.cluster.job import Done, Failed
from recallbench.errors import Blocked, InputError, RecallBenchError
from recallbench.progress import Silent
from recorded_progress import RecordedProgress

pytestmark = pytest.mark.marked


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with two_nodes() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def joined(nodes: Nodes) -> Iterator[RayCluster]:
    with pytest.MonkeyPatch.context() as patched:
        for name, value in nodes.variables.items():
            patched.setenv(name, value)
        with open_cluster(Engine("ray", nodes.address), Silent()) as cluster:
            from ray import cloudpickle

            cloudpickle.register_pickle_by_value(ray_jobs)
            yield cluster


def hired(joined: RayCluster, progress: Any = None, expected: dict[str, str] | None = None, **job: Any) -> Crew:
    return Crew(joined, Doubling(**job), expected or {}, "doubling", progress or Silent())


def test_results_come_in_the_order_of_the_items(joined: RayCluster) -> None:
    progress = RecordedProgress()
    crew = hired(joined, progress)
    assert [value for value, _ in crew.in_order(range(60), str)] == [2 * number for number in range(60)]
    assert sorted(crew.done) == sorted(node.name for node in joined.nodes())
    assert sum(crew.done.values()) == 60
    # The same workers go on with what is asked next.
    assert [value for value, _ in crew.in_order([7], str)] == [14]
    assert len([note for note in progress.notes if "takes part in doubling" in note]) == 2
    crew.close()


def test_a_node_that_is_killed_takes_nothing_along(nodes: Nodes, joined: RayCluster) -> None:
    nodes.add()
    progress = RecordedProgress()
    crew = hired(joined, progress, seconds=0.1)
    came = []
    for number, (value, _) in enumerate(crew.in_order(range(80), str)):
        came.append(value)
        if number == 20:
            nodes.kill()
    assert came == [2 * number for number in range(80)]
    assert any("is gone" in note or "lost a worker" in note for note in progress.notes)
    crew.close()


def test_a_node_that_joins_late_gets_work(nodes: Nodes, joined: RayCluster) -> None:
    crew = hired(joined, seconds=0.1)
    came = []
    for number, (value, _) in enumerate(crew.in_order(range(120), str)):
        came.append(value)
        if number == 5:
            nodes.add()
    assert came == [2 * number for number in range(120)]
    assert len(crew.done) == 3
    crew.close()
    nodes.kill()


def test_an_item_that_ends_its_workers_is_named_and_the_others_are_done(joined: RayCluster) -> None:
    crew = hired(joined)
    items = [1, 2, "ends its worker", 3, 4]
    came = {outcome.place: outcome.came for outcome in crew.work(items, lambda item: f"the item {item!r}")}
    failed = came.pop(2)
    assert {place: done.value for place, done in came.items() if isinstance(done, Done)} == {0: 2, 1: 4, 3: 6, 4: 8}
    assert isinstance(failed, Failed)
    assert failed.error.problem == "the item 'ends its worker' ended 3 workers"
    assert "the same command goes on" in failed.error.remedy
    crew.close()


def test_an_item_that_fails_is_not_tried_again(joined: RayCluster) -> None:
    crew = hired(joined)
    with pytest.raises(InputError, match="a word can't be doubled") as failed:
        list(crew.in_order(["fails"], str))
    assert (failed.value.expected, failed.value.found) == ("a number", "fails")
    with pytest.raises(RecallBenchError, match="doubling failed on a node") as failed_otherwise:
        list(crew.in_order(["has a defect"], str))
    assert failed_otherwise.value.found == "ValueError: this is no number"
    assert [value for value, _ in crew.in_order([1], str)] == [2]
    crew.close()


def test_a_full_store_of_objects_ends_it_in_words_and_it_goes_on(joined: RayCluster) -> None:
    crew = hired(joined)
    with pytest.raises(RecallBenchError, match="the shared memory of the Ray cluster is full during doubling") as full:
        list(crew.in_order(["90 MB"], str))
    assert "the same command goes on" in full.value.remedy
    crew.close()
    again = hired(joined)
    assert [len(value) for value, _ in again.in_order(["1 MB"] * 40, str)] == [1 << 20] * 40
    again.close()


def test_workers_that_have_something_else_are_refused_by_name(joined: RayCluster) -> None:
    progress = RecordedProgress()
    crew = hired(joined, progress, {"numpy": "9.9", "corpus locomo": "sha256 79fa"}, has={"numpy": "2.4"})
    with pytest.raises(Blocked, match="no node of the Ray cluster can take part in doubling") as refused:
        list(crew.in_order([1], str))
    why = "numpy 2.4 instead of 9.9; corpus locomo not there instead of sha256 79fa"
    assert refused.value.exit_code == 3
    for node in joined.nodes():
        assert f"{node.name}: {why}" in refused.value.found
        assert f"Ray: {node.name} takes no part in doubling: {why}" in progress.notes
    crew.close()


def test_a_crew_without_nodes_is_given_up(joined: RayCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews, "ALONE", 0.2)
    monkeypatch.setattr(RayCluster, "nodes", lambda self: [])
    with pytest.raises(Blocked, match="no node of the Ray cluster") as alone:
        list(hired(joined).in_order([1], str))
    assert alone.value.found == "no node with a core"
