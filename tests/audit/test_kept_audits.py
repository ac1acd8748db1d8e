"""Audits that are kept: found by every byte of their folder, and by nobody else's hand."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from commandline import recallbench
from recallbench.audit import kept_audits
from recallbench.audit.audit import audit
from recallbench.audit.folder_state import folder_state
from recallbench.audit.gate import Check
from recallbench.audit.kept_audits import KeptAudits, at_hand, audit_and_keep
from recallbench.errors import InputError
from recallbench.progress import Silent
from recallbench.results.result import open_result


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a result; no test writes into it."""
    folder = tmp_path_factory.mktemp("measured")
    done = recallbench(
        "run", "canary-locomo", "--store", "bm25", "--limit", "50", "--folder", "bm25", "--quiet", cwd=folder
    )
    assert done.returncode == 0
    return folder / "bm25"


@pytest.fixture
def folder(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    return Path(shutil.copytree(measured, tmp_path / "bm25"))


def keep(folder: Path, cache: Path) -> str:
    kept = KeptAudits(cache)
    address = address_of(folder, kept)
    kept.keep(address, audit(folder, environ={}), folder_state(folder))
    return address


def address_of(folder: Path, kept: KeptAudits) -> str:
    return kept.address(folder, folder_state(folder), "0" * 64)


def test_a_kept_audit_is_found_again_and_says_the_same(folder: Path, tmp_path: Path) -> None:
    address = keep(folder, tmp_path / "cache")
    kept = KeptAudits(tmp_path / "cache")
    found, made = kept.find(address, folder), audit(folder, environ={})
    assert found is not None
    assert (found.checks, found.verdict, found.deviations) == (made.checks, made.verdict, made.deviations)
    assert kept.reused == 1


@pytest.mark.parametrize("change", ["a byte", "a file", "a name"])
def test_any_change_of_a_folder_is_another_address(folder: Path, tmp_path: Path, change: str) -> None:
    address = keep(folder, tmp_path / "cache")
    if change == "a byte":
        (folder / "timings.jsonl").write_bytes((folder / "timings.jsonl").read_bytes() + b"\n")
    elif change == "a file":
        (folder / "more.txt").write_text("")
    else:
        folder = folder.rename(folder.with_name("other"))
    assert address_of(folder, KeptAudits(tmp_path / "cache")) != address


def test_an_audit_that_is_asked_for_is_made_whatever_is_kept_and_kept_then(folder: Path, tmp_path: Path) -> None:
    address = keep(folder, tmp_path / "cache")
    file = next((tmp_path / "cache/audits").rglob("*.json"))
    kept, said = KeptAudits(tmp_path / "cache"), audit(folder, environ={})
    lying = replace(said, checks=tuple(replace(check, observed="as somebody wished") for check in said.checks))
    kept.keep(address, lying, folder_state(folder))
    made = audit_and_keep(folder, kept, corpus_files=(), environ={}, progress=Silent(), cache_dir=None)
    assert made.checks == said.checks
    assert kept.reused == 0
    (another,) = {*(tmp_path / "cache/audits").rglob("*.json")} - {file}
    found = at_hand(open_result(folder).metrics, (), {}, None)
    assert another.stem == kept.address(folder, folder_state(folder), found) != address


def test_the_static_control_s_weights_at_hand_make_another_audit(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = open_result(folder).metrics
    with_control = metrics.model_copy(update={"control_static": metrics.control_bm25})
    dataset = at_hand(metrics, (), {}, tmp_path)
    assert at_hand(with_control, (), {}, tmp_path) == f"{dataset}, without the weights of wordllama"
    monkeypatch.setattr(kept_audits, "encoder_status", lambda *_: (True, "", ""))
    assert at_hand(with_control, (), {}, tmp_path) == f"{dataset}, with the weights of wordllama"
    assert at_hand(metrics, (), {}, tmp_path) == dataset == metrics.dataset_sha256


def test_nothing_is_kept_inside_the_folder_that_is_audited(folder: Path) -> None:
    before = folder_state(folder)
    kept = KeptAudits(folder / "cache")
    audit_and_keep(folder, kept, corpus_files=(), environ={}, progress=Silent(), cache_dir=folder / "cache")
    assert folder_state(folder) == before


def test_an_audit_of_what_came_or_went_meanwhile_is_not_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = iter(["a dataset", ""])
    monkeypatch.setattr(kept_audits, "at_hand", lambda *_: next(found))
    kept = KeptAudits(tmp_path / "cache")
    made = audit_and_keep(folder, kept, corpus_files=(), environ={}, progress=Silent(), cache_dir=None)
    assert made.verdict.text == "UNVERIFIED (pending: committed)"
    assert not list((tmp_path / "cache").rglob("*.json"))


def test_what_is_no_result_is_refused_before_anything_in_it_is_hashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "large").write_bytes(b"x")
    monkeypatch.setattr(kept_audits, "folder_state", lambda _: pytest.fail("it was hashed"))
    with pytest.raises(InputError, match="not a result folder"):
        audit_and_keep(
            tmp_path, KeptAudits(None), corpus_files=(), environ={}, progress=Silent(), cache_dir=tmp_path / "cache"
        )


def test_nobody_else_can_put_an_audit_there(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = keep(folder, tmp_path / "cache")
    (file,) = (tmp_path / "cache/audits").rglob("*.json")
    document = json.loads(file.read_text())
    file.write_text(json.dumps({**document, "audit": document["audit"].replace('"pending"', '"pass"')}))
    assert KeptAudits(tmp_path / "cache").find(address, folder) is None
    file.write_text(json.dumps(document))
    assert KeptAudits(tmp_path / "cache").find(address, folder) is not None
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "somebody"))
    assert KeptAudits(tmp_path / "cache").find(address, folder) is None
    for damage in ("", "[]", "{}", '{"audit": 1, "seal": 2}'):
        file.write_text(damage)
        assert KeptAudits(tmp_path / "cache").find(address, folder) is None


def test_only_an_audit_that_holds_is_kept_and_none_of_a_folder_that_changed(folder: Path, tmp_path: Path) -> None:
    kept = KeptAudits(tmp_path / "cache")
    address, examined = address_of(folder, kept), audit(folder, environ={})
    state = folder_state(folder)
    for status in ("fail", "cannot-tell"):
        lacking = examined.with_check(Check("it", status, "", "", code="RB-IT"))  # type: ignore[arg-type]
        kept.keep(address, lacking, state)
        assert kept.find(address, folder) is None
    (folder / "report.md").write_text("changed meanwhile")
    kept.keep(address, examined, state)
    assert kept.find(address, folder) is None


def test_git_is_asked_each_time(folder: Path, tmp_path: Path) -> None:
    address = keep(folder, tmp_path / "cache")
    kept = KeptAudits(tmp_path / "cache")
    (folder / "report.md").unlink()  # of which the address would tell; git's own gate is looked at here
    found = kept.find(address, folder)
    assert found is not None
    assert [(check.code, check.observed) for check in found.checks if check.status == "fail"] == [
        ("RB-COMMITTED", "missing: report.md")
    ]


def test_without_a_folder_or_with_links_nothing_is_kept(folder: Path, tmp_path: Path) -> None:
    assert address_of(folder, KeptAudits(None)) == ""
    assert KeptAudits(None).find("", folder) is None
    (folder / "link").symlink_to(folder / "report.md")
    assert address_of(folder, KeptAudits(tmp_path / "cache")) == ""


def test_another_program_and_another_dataset_at_hand_are_other_addresses(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, state = KeptAudits(tmp_path / "cache"), folder_state(folder)
    here, absent = kept.address(folder, state, "0" * 64), kept.address(folder, state, "")
    monkeypatch.setattr(kept_audits, "_program", lambda: "an earlier release")
    earlier = kept.address(folder, state, "0" * 64)
    assert len({here, absent, earlier}) == 3
