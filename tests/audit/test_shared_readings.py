"""What audits of several folders read once, and that none is given what another folder's bytes are not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.audit import subject as subjects
from recallbench.audit.shared_readings import SharedReadings
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.registry import facts
from recallbench.errors import InputError
from recallbench.protocol.frozen import load
from recallbench.results.result import open_result
from recallbench.results.retrievals import CONTROL_RUN


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a result; no test writes into it."""
    folder = tmp_path_factory.mktemp("measured")
    words = ("canary-locomo", "--store", "bm25", "--limit", "9", "--folder", "result", "--quiet")
    assert recallbench("run", *words, cwd=folder).returncode == 0
    return folder / "result"


def subject(folder: Path, shared: SharedReadings) -> AuditSubject:
    result, rules = open_result(folder), load()
    return AuditSubject(result, rules, facts(result.metrics.corpus.name, rules), (), {}, shared=shared)


def test_a_control_run_of_the_same_bytes_is_read_once(
    measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Path(shutil.copytree(measured, tmp_path / "other"))
    shared = SharedReadings()
    first = subject(measured, shared).control
    monkeypatch.setattr(subjects, "read_kept_run", lambda *_, **__: pytest.fail("it was read again"))
    assert subject(other, shared).control is first


def test_a_control_run_that_changes_while_it_is_read_is_refused_and_given_to_nobody(
    measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swapped = Path(shutil.copytree(measured, tmp_path / "swapped"))
    run = (measured / CONTROL_RUN).read_text()
    (swapped / CONTROL_RUN).write_text(run.replace(" 1 ", " 0 "))
    shared = SharedReadings()
    with monkeypatch.context() as meanwhile:
        genuine = subjects.sha256_of(measured / CONTROL_RUN)
        meanwhile.setattr(subjects, "sha256_of", lambda _: genuine)  # the bytes before they were swapped
        with pytest.raises(InputError, match="changed while it was read"):
            _ = subject(swapped, shared).control
    assert subject(measured, shared).control == subjects.read_kept_run(measured / CONTROL_RUN)
