"""What a worker sets before it opens its encoder."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest

from recallbench.embedding.on_nodes import encoding_job
from recallbench.embedding.on_nodes.encoding_job import EncodingJob
from recallbench.embedding.openvino_engine import openvino_core

KEPT = ("INFERENCE_NUM_THREADS", "ENABLE_CPU_PINNING")


@pytest.mark.parametrize(("cores", "set_to"), [(1, [1, False]), (2, [0, True])])
def test_workers_of_one_machine_are_not_all_pinned_to_its_first_cores(
    cores: int, set_to: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding_job, "cores_here", lambda: 2)
    core = openvino_core()
    before = {name: core.get_property("CPU", name) for name in KEPT}
    try:
        EncodingJob(lambda backend, environ: MagicMock(), "openvino/cpu", ()).open(cores, gpu=False)
        assert [core.get_property("CPU", name) for name in KEPT] == set_to
    finally:
        core.set_property("CPU", before)
