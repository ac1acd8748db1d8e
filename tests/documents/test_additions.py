"""CONTRIBUTING's examples: each addition is one file and one line, and works everywhere."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import permutations
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from commandline import environment, recallbench
from documents.markdown import CONTRIBUTING, ROOT, blocks, command_lines
from recallbench.audit.gate import GateEvidence
from recallbench.corpora.registry import facts
from recallbench.embedding.encoders import ENCODERS, read_spec
from recallbench.protocol.frozen import load
from recallbench.results.metrics import Metrics
from recallbench.scoring.judgement import judge


def encoders() -> list[tuple[str, str]]:
    """The examples that are added to the file of encoders."""
    return [(path, text) for path, text in placed("toml") if (ROOT / path).exists()]


def placed(language: str) -> list[tuple[str, str]]:
    """The examples that name their file in a first comment: (path, text)."""
    examples = []
    for block in blocks(CONTRIBUTING):
        first, _, rest = block.body.partition("\n")
        if block.language == language and first.startswith("# ") and "/" in first:
            examples.append((first.removeprefix("# "), rest))
    return examples


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with every example put in its place, and nothing else changed."""
    copy = tmp_path_factory.mktemp("extended")
    # What is compiled comes along, its times too: what an example changes is compiled again.
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("*.egg-info", "*.pyc.*"))
    for path, text in placed("python"):
        assert not (copy / path).exists(), f"{path} is no new file"
        (copy / path).write_text(text)
    for path, text in placed("diff"):
        lines = text.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        after = "".join(line[1:] for line in lines if line[0] in " +")
        source = (copy / path).read_text()
        assert source.count(before) == 1, f"{path} has no longer: {before}"
        (copy / path).write_text(source.replace(before, after))
    for path, text in encoders():
        with (copy / path).open("a") as file:
            file.write("\n" + text)
    (diary,) = [block.body for block in blocks(CONTRIBUTING) if block.language == "json"]
    (copy / "diary.json").write_text(diary)
    return copy


def in_the_copy(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return recallbench(*words, cwd=copy, env={"RECALLBENCH_QUIET": "1"}, package=copy / "src")


def imported(copy: Path, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem + "_example", copy / path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def written(done: subprocess.CompletedProcess[str], folder: Path) -> Metrics:
    assert done.returncode == 0
    return Metrics.model_validate_json((folder / "metrics.json").read_bytes())


def test_each_kind_of_addition_has_its_example() -> None:
    assert [Path(path).parent.name for path, _ in placed("python")] == [
        "stores",
        "stages",
        "corpora",
        "measures",
        "gates",
    ]
    assert {path for path, _ in placed("diff")} == {
        "src/recallbench/stores/registry.py",
        "src/recallbench/retrieval/stages/registry.py",
        "src/recallbench/corpora/registry.py",
        "src/recallbench/scoring/measures/registry.py",
    }
    assert len(encoders()) == 1


def test_the_example_of_a_retriever_runs(tmp_path: Path) -> None:
    (body,) = [block.body for block in blocks(CONTRIBUTING) if block.body.startswith("# my_memory.py\n")]
    (tmp_path / "my_memory.py").write_text(body)
    name = "python:my_memory:open_memory"
    (words,) = [words for words in command_lines(CONTRIBUTING) if name in words]
    metrics = written(recallbench(*words, "--folder", "r", cwd=tmp_path), tmp_path / "r")
    assert metrics.store.name == name
    assert metrics.headline[0].estimate.n == 158
    assert metrics.headline[0].estimate.value > metrics.headline[0].estimate.chance


def test_the_example_of_a_store_works_in_every_command(extended: Path) -> None:
    plain, with_option = [words for words in command_lines(CONTRIBUTING) if "newest" in words]
    listed = in_the_copy(extended, "stores").stdout
    assert re.search(r"^newest +the newest sessions first$", listed, re.MULTILINE)
    about = in_the_copy(extended, "stores", "newest").stdout
    assert "How many of the newest sessions are passed over [default: 0]" in about
    for number, words in enumerate((plain, with_option)):
        folder = extended / f"by-age-{number}"
        metrics = written(in_the_copy(extended, *words, "--folder", folder.name), folder)
        assert metrics.guc_state == {"newest.order": "haystack position, descending", "newest.skip": str(number)}
        assert metrics.store.variant == ("skip 1" if number else "")
        first = json.loads((folder / "raw_retrievals.jsonl").read_text().splitlines()[0])
        newest = first["candidates"] - 1 - number
        assert [hit["id"].rpartition("/")[2] for hit in first["hits"]][:2] == [str(newest), str(newest - 1)]
    printed = in_the_copy(extended, "audit", "by-age-1", "--failures").stdout
    assert re.findall(r"(?:fail|cannot-tell|pending) +(RB-\S+)", printed) == ["RB-COMMITTED"]
    (extended / "options.toml").write_text('store = "newest"\nstore-option = "skip=one"\n')
    refused = in_the_copy(extended, "run", "canary-locomo", "--config", "options.toml")
    assert refused.returncode == 2
    assert "--set skip one can't be read" in refused.stderr
    assert in_the_copy(extended, *with_option, "--dry-run").returncode == 0


def test_the_example_of_a_stage_works_in_every_command(extended: Path) -> None:
    ((file, _, body),) = [
        block.body.removeprefix("# ").partition("\n")
        for block in blocks(CONTRIBUTING)
        if 'method = "longest"' in block.body
    ]
    (extended / file).write_text(body)
    assert "How many characters count as one" in in_the_copy(extended, "stages").stdout
    (words,) = [words for words in command_lines(CONTRIBUTING) if file in words]
    metrics = written(in_the_copy(extended, *words, "--folder", "longest"), extended / "longest")
    assert metrics.pipeline is not None
    assert metrics.pipeline.words == "lexical > longest(unit=100)"
    assert metrics.pipeline.stages[1].settings == {"longest.counts": "characters"}
    printed = in_the_copy(extended, "audit", "longest", "--failures").stdout
    assert re.findall(r"(?:fail|cannot-tell|pending) +(RB-\S+)", printed) == ["RB-COMMITTED"]


def test_the_example_of_a_corpus_works_in_every_command(extended: Path) -> None:
    (words,) = [words for words in command_lines(CONTRIBUTING) if "diary" in words and "--dry-run" not in words]
    metrics = written(in_the_copy(extended, *words, "--folder", "notes"), extended / "notes")
    assert metrics.corpus.segments == 3
    assert metrics.dataset_sha256 == metrics.corpus.registered_sha256
    assert [deviation.kind for deviation in metrics.deviations] == ["corpus", "store"]
    assert metrics.headline[0].estimate.saturated == 1.0
    assert in_the_copy(extended, "run", "diary", "--dry-run").returncode == 0
    printed = in_the_copy(extended, "audit", "notes", "--failures", "--corpus-file", "diary.json").stdout
    assert re.findall(r"(?:fail|cannot-tell|pending) +(RB-\S+)", printed) == ["RB-COMMITTED"]


def test_the_example_of_an_encoder_is_listed(extended: Path) -> None:
    ((_, text),) = encoders()
    ((name, table),) = tomllib.loads(text).items()
    spec = read_spec(name, table)
    assert spec.passage == ENCODERS["minilm"].passage
    assert (spec.max_tokens, spec.one_sided()) == (256, True)
    assert name in in_the_copy(extended, "embedders").stdout


@pytest.mark.marked
def test_the_example_of_an_encoder_embeds(extended: Path) -> None:
    words = ("run", "canary-locomo", "--store", "exact", "--embedder", "minilm-256", "--limit", "5")
    quickly = ("--backend", "torch", "--folder", "short")  # neither compiled nor proven: the engines have tests
    metrics = written(in_the_copy(extended, *words, *quickly), extended / "short")
    assert metrics.exposure
    assert metrics.exposure.max_tokens == 256


def test_the_example_of_a_measure_is_computed(extended: Path) -> None:
    assert "last_rr@k\n    1 / rank of the last gold segment" in in_the_copy(extended, "measures").stdout
    measure = imported(extended, "src/recallbench/scoring/measures/last_rr.py").LastRr
    judged = judge([[4, 0, 1], [2, 3], [0]], [{0, 1}, {0}, set()], [5, 5, 5], 3)
    assert measure(3).values(judged).tolist() == [1 / 3, 0.0, 0.0]
    assert measure(2).values(judged).tolist() == [0.0, 0.0, 0.0]
    assert measure(3).ceiling(judged).tolist() == [0.5, 1.0, 0.0]
    for gold in ({2}, {0, 3}, {0, 1, 4}):
        orders = list(permutations(range(5)))
        every = judge(orders, [gold] * len(orders), [5] * len(orders), 5)
        for k in (1, 2, 3, 5):
            chance = measure(k).chance(every)[0]
            assert chance == pytest.approx(float(np.mean(measure(k).values(every))), abs=1e-12)


def test_the_example_of_a_gate_decides(extended: Path, tmp_path: Path) -> None:
    done = recallbench("run", "canary-locomo", "--store", "bm25", "--folder", "r", cwd=tmp_path)
    metrics = written(done, tmp_path / "r")
    gate = imported(extended, "src/recallbench/audit/gates/control.py").GATE
    evidence = GateEvidence(metrics, load(), facts("canary-locomo", load()), tmp_path / "r")
    assert gate.check(evidence).status == "pass"
    fewer = [estimate.model_copy(update={"n": estimate.n - 1}) for estimate in metrics.control_bm25["overall"]]
    changed = metrics.model_copy(update={"control_bm25": {"overall": fewer}})
    assert gate.check(GateEvidence(changed, evidence.rules, evidence.corpus, None)).status == "fail"


@pytest.mark.marked
def test_examples_keep_the_manners_of_the_house(extended: Path) -> None:
    files = [path for path, _ in placed("python")]
    registries = sorted({path for path, _ in placed("diff")})
    config = ["--config", str(ROOT / "pyproject.toml")]
    tools: list[list[str]] = [
        ["ruff", "check", *config, *files, *registries],
        ["ruff", "format", "--check", *config, *files, *registries],
        ["mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"), *files],
    ]
    known = ROOT / ".mypy_cache"
    if known.is_dir():
        # What mypy knows of the package holds for its copy: it goes by the hash of each file.
        shutil.copytree(known, extended / ".mypy_cache")
    for tool in tools:
        program = Path(sys.executable).parent / tool[0]
        done = subprocess.run(
            [program, *tool[1:]], cwd=extended, env=environment(extended), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
