"""The workflow of a release: what it may do, what it runs, and that it attests what it built."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

import recallbench

ROOT = Path(__file__).resolve().parents[1]
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
TAGGED = "The tag is the version, and the list of parts is current"


@pytest.fixture(scope="module")
def workflow() -> Any:
    return yaml.load(WORKFLOW.read_text("utf-8"), Loader=yaml.BaseLoader)


def steps(workflow: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(name, step) for name, job in workflow["jobs"].items() for step in job["steps"]]


def test_it_runs_for_tags_alone(workflow: Any) -> None:
    assert workflow["on"] == {"push": {"tags": ["v[0-9]*"]}}


def test_each_job_has_the_rights_that_it_needs_and_the_workflow_none(workflow: Any) -> None:
    assert workflow["permissions"] == {}
    assert {name: job["permissions"] for name, job in workflow["jobs"].items()} == {
        "build": {"contents": "read"},
        "attest": {"id-token": "write", "attestations": "write"},
        "draft": {"contents": "write"},
    }


def test_every_workflow_pins_its_actions_by_commit() -> None:
    files = sorted(WORKFLOW.parent.glob("*.y*ml"))
    assert WORKFLOW in files
    for file in files:
        used = re.findall(r"^\s*(?:- )?uses:\s*(.*)$", file.read_text("utf-8"), re.MULTILINE)
        assert len(used) >= 3
        assert [one for one in used if not re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", one)] == []


def test_one_action_is_pinned_to_one_commit_everywhere() -> None:
    pinned: dict[str, set[str]] = {}
    for file in (WORKFLOW, *(ROOT / "examples" / "github").glob("*.yml")):
        for name, commit in re.findall(r"uses: (\S+)@([0-9a-f]{40})", file.read_text("utf-8")):
            pinned.setdefault(name, set()).add(commit)
    assert {name: commits for name, commits in pinned.items() if len(commits) > 1} == {}


def test_no_word_of_a_stranger_reaches_a_shell(workflow: Any) -> None:
    scripts = [step["run"] for _, step in steps(workflow) if "run" in step]
    assert len(scripts) == 4
    assert [script for script in scripts if "${{" in script] == []
    assert workflow["defaults"]["run"]["shell"] == "bash"
    (checkout,) = [step for _, step in steps(workflow) if step.get("uses", "").startswith("actions/checkout@")]
    assert checkout["with"] == {"persist-credentials": "false"}


def test_the_job_that_signs_runs_nothing_else(workflow: Any) -> None:
    used = [step["uses"].split("@")[0] for name, step in steps(workflow) if name == "attest"]
    assert used == ["actions/download-artifact", "actions/attest-build-provenance", "actions/attest-sbom"]
    with_ = {step["uses"].split("@")[0]: step["with"] for name, step in steps(workflow) if name == "attest"}
    assert with_["actions/attest-build-provenance"] == {"subject-path": "dist/*"}
    assert with_["actions/attest-sbom"] == {"subject-path": "dist/*.whl", "sbom-path": "dist/sbom.cdx.json"}


def test_what_is_attested_is_what_is_published(workflow: Any) -> None:
    jobs = workflow["jobs"]
    assert (jobs["attest"]["needs"], jobs["draft"]["needs"]) == ("build", "attest")
    moved = [step["with"] for _, step in steps(workflow) if "artifact@" in step.get("uses", "")]
    assert [(one["name"], one["path"]) for one in moved] == [("dist", "dist")] * 3
    (draft,) = [step["run"] for name, step in steps(workflow) if name == "draft" and "run" in step]
    assert "dist/* --draft --verify-tag" in draft


@pytest.mark.marked
@pytest.mark.parametrize(("tag", "code"), [(f"v{recallbench.__version__}", 0), ("v99.0.0", 1)])
def test_a_tag_that_is_not_the_version_ends_it(workflow: Any, tag: str, code: int) -> None:
    (script,) = [step["run"] for _, step in steps(workflow) if step.get("name") == TAGGED]
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, "TAG": tag}, check=False)
    assert done.returncode == code


def test_the_guide_names_this_workflow_and_its_files(workflow: Any) -> None:
    guide = (ROOT / "docs" / "verifying.md").read_text("utf-8")
    assert str(WORKFLOW.relative_to(ROOT)) in guide
    (build,) = [step["run"] for _, step in steps(workflow) if step.get("name") == "Build"]
    for file in ("sbom.cdx.json", "constraints.txt", "SHA256SUMS"):
        assert file in build
        assert f"`{file}`" in guide
