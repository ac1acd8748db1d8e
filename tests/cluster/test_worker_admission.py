"""Who may take part, and which engines there are."""

from __future__ import annotations

import pytest

from recallbench.cluster.admission import refusal
from recallbench.cluster.engine import HERE, Engine, choose_engine
from recallbench.cluster.job import WorkerStatement
from recallbench.cluster.joining import _reason
from recallbench.errors import UsageError

HAS = {"Python": "3.11.7", "numpy": "2.4.6"}


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        (WorkerStatement(HAS), ""),
        (WorkerStatement({**HAS, "processor": "another"}), ""),
        (WorkerStatement({**HAS, "numpy": "2.3.0"}), "numpy 2.3.0 instead of 2.4.6"),
        (WorkerStatement({"Python": "3.12.1"}), "Python 3.12.1 instead of 3.11.7; numpy not there instead of 2.4.6"),
        (WorkerStatement({"Python": "3.11.7"}, "the weights are not here"), "the weights are not here"),
        (WorkerStatement({"Python": "3.12.1"}, "no disk"), "Python 3.12.1 instead of 3.11.7; no disk"),
    ],
)
def test_a_worker_is_refused_by_what_differs(stated: WorkerStatement, why: str) -> None:
    assert refusal(HAS, stated) == why


def test_an_engine_is_this_process_or_a_cluster() -> None:
    assert choose_engine("in-process", None) == HERE
    assert not HERE.on_nodes
    assert choose_engine("ray", None) == Engine("ray")
    assert choose_engine("ray", "10.0.0.1:6379").on_nodes
    assert not Engine("ray", at_work=True).on_nodes
    with pytest.raises(UsageError, match="--ray-address is no address of a Ray cluster"):
        choose_engine("ray", "10.0.0.1:70000")


def test_what_ray_says_of_a_failed_connection_becomes_a_line() -> None:
    mismatch = (
        "RuntimeError: Version mismatch: The cluster was started with:\n    Ray: 2.59.0\n    Python: 3.11.7\n"
        "This process on node 10.0.0.2 was started with:\n    Ray: 2.60.0\n    Python: 3.12.1\n"
    )
    expected = "the cluster has Ray 2.59.0 with Python 3.11.7, this program Ray 2.60.0 with Python 3.12.1"
    assert _reason(mismatch) == expected
    assert _reason("rpc error: UNAUTHENTICATED: no token\n") == "it takes another token"
    assert _reason("Traceback\n  line\nConnectionError: no node here\n") == "ConnectionError: no node here"
    assert _reason("INFO: still trying\n") == ""
