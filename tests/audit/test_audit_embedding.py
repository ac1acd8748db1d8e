"""A real encoder's account of kept vectors, libraries and time must agree with the rest of the folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mutations import Change, Mutation, document, environment, thoroughly
from test_audit_mutations import assert_seen, audited

from commandline import recallbench
from recallbench.audit import subject

pytestmark = pytest.mark.marked
RUN = ("run", "canary-locomo", "--limit", "1", "--store", "exact", "--backend", "torch", "-q")
RUN += ("--embedder", "minilm", "--max-tokens", "64")


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a result by name: Ann's run computed 20 vectors, her next one reused them, and so did Bob's."""
    folder = tmp_path_factory.mktemp("encoder")
    for user, name in (("ann", "computed"), ("ann", "own"), ("bob", "foreign")):
        (folder / name).mkdir()
        words = (*RUN, "--folder", f"{name}/result")
        assert recallbench(*words, cwd=folder, env={"XDG_CONFIG_HOME": str(folder / user)}).returncode == 0
    return lambda name: folder / name / "result"


def account(**to: Any) -> Change:
    """Set entries of the embedder's account."""
    return thoroughly(document("environment.json", lambda content: content["embedding"].update(to)))


NONE_AGAIN = account(embedded_again=0, embedded_again_worst_cosine=None)
CASES = (
    ("computed", Mutation("of another processor", "RB-EMBEDDING", environment("machine", "cpu", to="Another"))),
    ("computed", Mutation("of another torch", "RB-EMBEDDING", environment("packages", "torch", to="1.0"))),
    ("computed", Mutation("in no time", "RB-EMBEDDING", account(seconds={}))),
    ("computed", Mutation("on a proof that failed", "RB-EMBEDDING", account(proof="failed"))),
    ("computed", Mutation("on a proof of OpenVINO", "RB-EMBEDDING", account(proof="equal", worst_cosine=1.0))),
    ("computed", Mutation("by torch for no reason", "RB-OPTIONS", environment("options", "backend", to="openvino"))),
    ("own", Mutation("with nothing", "RB-EMBEDDING", account(computed_with=[]))),
    ("own", Mutation("with praise", "RB-EMBEDDING", account(computed_with=["CANONICAL, by the maintainers"]))),
    ("own", Mutation("more foreign than reused", "RB-EMBEDDING", account(foreign=21))),
    ("own", Mutation("fewer than none foreign", "RB-EMBEDDING", account(foreign=-1))),
    ("foreign", Mutation("none embedded again", "RB-EMBEDDING", NONE_AGAIN)),
    ("foreign", Mutation("seven embedded again", "RB-EMBEDDING", account(embedded_again=7))),
    ("foreign", Mutation("more again than reused", "RB-EMBEDDING", account(embedded_again=21))),
    ("foreign", Mutation("again with a low cosine", "RB-EMBEDDING", account(embedded_again_worst_cosine=0.99))),
    ("foreign", Mutation("again with a cosine of 2", "RB-EMBEDDING", account(embedded_again_worst_cosine=2.0))),
    ("foreign", Mutation("again without a cosine", "RB-EMBEDDING", account(embedded_again_worst_cosine=None))),
    ("foreign", Mutation("again in no time", "RB-EMBEDDING", account(seconds={}))),
)  # fmt: skip


@pytest.mark.parametrize("name", ["computed", "own", "foreign"])
def test_the_genuine_results_pass(genuine: Callable[[str], Path], tmp_path: Path, name: str) -> None:
    report = audited(genuine(name), tmp_path, None)
    assert [(check.code, check.observed) for check in report.checks if check.status != "pass"] == []


@pytest.mark.parametrize(("name", "mutation"), CASES, ids=lambda case: case if isinstance(case, str) else case.name)
def test_a_change_is_seen(genuine: Callable[[str], Path], tmp_path: Path, name: str, mutation: Mutation) -> None:
    assert_seen(audited(genuine(name), tmp_path, mutation), mutation)


@pytest.mark.parametrize(("name", "status"), [("computed", "pass"), ("own", "fail"), ("foreign", "pass")])
def test_without_deviations_kept_vectors_must_have_been_embedded_again(
    genuine: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, status: str
) -> None:
    monkeypatch.setattr(subject, "departures", lambda *arguments: ())
    (check,) = (check for check in audited(genuine(name), tmp_path, None).checks if check.code == "RB-EMBEDDING")
    assert check.status == status
    if status == "fail":
        assert check.observed == "0 vectors embedded again, where 0 of 20 are foreign: 8 have to be"


def test_an_earlier_account_without_kept_vectors_passes(genuine: Callable[[str], Path], tmp_path: Path) -> None:
    def earlier(content: dict[str, Any]) -> None:
        for name in ("foreign", "embedded_again", "embedded_again_worst_cosine"):
            del content["embedding"][name]

    change = thoroughly(document("environment.json", earlier))
    report = audited(genuine("own"), tmp_path, Mutation("", "", change))
    # Nothing is committed here, and nothing else is wrong.
    assert [check.code for check in report.checks if check.status != "pass"] == ["RB-COMMITTED"]
