"""What the documents say is so: links resolve, commands parse, figures are those of runs, examples run."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise, permutations
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
import typer

from commandline import environment, recallbench
from recallbench.audit.gate import Evidence
from recallbench.cli.main import app
from recallbench.corpora.registry import CORPORA, GROUPS, facts
from recallbench.embedding.encoders import ENCODERS, read_spec
from recallbench.protocol.deviations import KINDS, Deviation
from recallbench.protocol.frozen import load, read_data
from recallbench.protocol.history import unrecorded
from recallbench.results.metrics import Metrics
from recallbench.scoring.judgement import judge
from recallbench.stores.registry import STORES, find_entry

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "PROTOCOL.md",
    ROOT / "HISTORY.md",
    *sorted((ROOT / "benchmarks").glob("*/README.md")),
    *sorted((ROOT / "benchmarks").glob("*/VERSIONS.md")),
    *sorted((ROOT / "benchmarks").glob("*/STORES.md")),
    ROOT / "benchmarks" / "AUDIT.md",
    ROOT / "benchmarks" / "PUBLISHED.md",
    ROOT / "benchmarks" / "RANKERS.md",
    *sorted((ROOT / "benchmarks").glob("*/ADDENDA/*.md")),
    ROOT / "benchmarks" / "README.md",
]
README = (ROOT / "README.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
HISTORY = (ROOT / "HISTORY.md").read_text("utf-8")
PROCEDURE = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
each_document = pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)


class Block(NamedTuple):
    """A fenced block of a document."""

    language: str
    body: str


def blocks(text: str) -> list[Block]:
    return [Block(*found) for found in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


def prose(text: str) -> str:
    """The text without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def spans(text: str) -> list[str]:
    """What stands in code marks."""
    return re.findall(r"`([^`\n]+)`", prose(text))


def section(text: str, title: str) -> str:
    """From the heading `title` to the next of its level or above."""
    level, fenced, kept = title.index(" "), False, []
    for line in text.split(f"\n{title}\n", 1)[1].splitlines(keepends=True):
        fenced ^= line.startswith("```")
        if not fenced and re.match(rf"#{{1,{level}}} ", line):
            break
        kept.append(line)
    return "".join(kept)


def slugs(text: str) -> set[str]:
    """The anchors that a reader's software makes of headings."""
    headings = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_document
def test_links_resolve(document: Path) -> None:
    text = document.read_text("utf-8")
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        found = document.parent / path if path else document
        if not found.exists() or (anchor and anchor not in slugs(found.read_text("utf-8"))):
            wrong.append(target)
    assert not wrong


@each_document
def test_files_that_are_named_exist(document: Path) -> None:
    named = [
        span for span in spans(document.read_text("utf-8")) if re.match(r"(src|tests|scripts|\.ci)/[\w./-]+$", span)
    ]
    named += [span for span in spans(document.read_text("utf-8")) if re.match(r"benchmarks/[\w./-]+\w$", span)]
    published = {rule for rule in named if rule == "benchmarks/PROTOCOL.md"}  # also the name of a file elsewhere
    assert [name for name in named if name not in published and not (ROOT / name).exists()] == []


@each_document
def test_nothing_of_one_machine_is_told(document: Path) -> None:
    assert re.findall(r"(?<![\w.])/(?:tmp|home|root|work|Users)/\S*", document.read_text("utf-8")) == []


# Commands


@cache
def options_of(command: str) -> frozenset[str]:
    """The options in the real `--help` of a command."""
    told = recallbench(command, "--help", cwd=ROOT)
    assert told.returncode == 0
    return frozenset(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", told.stdout))


COMMANDS = (
    "run",
    "versions",
    "audit",
    "multiverse",
    "evaluate",
    "compare",
    "gate",
    "parity",
    "repeat",
    "cite",
    "attest",
    "keys",
    "history",
    "doctor",
    "fetch",
    "corpora",
    "stores",
    "embedders",
    "measures",
    "drift",
    "sample",
    "label",
    "grow",
)


def command_lines(text: str) -> Iterator[list[str]]:
    """Every command of the documents that is ours, as the words of `recallbench …`."""
    lines = [line for block in blocks(text) if block.language == "sh" for line in block.body.splitlines()]
    for line in [*lines, *spans(text)]:
        plain = re.sub(r"\$\([^)]*\)", "DATE", line).replace("…", "").strip("()")
        for piece in re.split(r"&&|\|", plain):
            try:
                words = shlex.split(piece.strip("() "), comments=True)
            except ValueError:
                continue  # prose in code marks, such as an apostrophe
            if words[:1] and words[0] in ("recallbench", ".venv/bin/recallbench"):
                yield words[1:]
            elif words[:1] == ["scripts/run"] and len(words) > 1:
                yield ["run", *words[1:]]
            elif words[:2] == ["python", "runner.py"]:
                yield ["run", "locomo", *words[2:]]
            elif words[:2] == ["bash", "run_locomo.sh"]:
                assert len(words) >= 4
                yield ["run", "locomo", *words[4:]]


KNOWN: Mapping[str, Any] = {"--store": STORES, "--embedder": {*ENCODERS, "hash"}}


@each_document
def test_commands_parse(document: Path) -> None:
    for words in command_lines(document.read_text("utf-8")):
        if words and words[0].startswith("--"):
            assert words == ["--help"]
            continue
        command = words[0] if words else ""
        if not words or command == "sweep":  # announced, not there yet
            continue
        assert command in COMMANDS, words
        asked = [word for word in words[1:] if word.startswith("-")]
        assert set(asked) <= options_of(command), words
        examples = {"diary", "newest"}  # what CONTRIBUTING adds
        for option, value in pairwise(words):
            if option in KNOWN and not value.startswith("-"):
                assert value in {*KNOWN[option], *examples} or (option == "--store" and find_entry(value)), words
        if command in ("run", "doctor") and len(words) > 1 and re.fullmatch(r"[a-z][a-z-]*", words[1]):
            assert words[1] in {*CORPORA, *GROUPS, *examples}, words
        if command == "fetch" and len(words) > 1 and words[1] != "NAME":
            assert words[1] in {"locomo", "longmemeval", "bge-m3", "dragon-plus"}, words


def test_commands_are_found_at_all() -> None:
    assert len(list(command_lines(README))) > 15
    assert ["run", "canary-locomo", "--store", "newest"] in list(command_lines(CONTRIBUTING))
    assert ["run", "locomo", "--version", "<TAG>", "--dry-run", "--strict"] in list(command_lines(PROCEDURE))


@each_document
def test_options_that_are_named_exist(document: Path) -> None:
    known = frozenset().union(*map(options_of, COMMANDS)) | {"--all", "--version", "--help", "--strict"}
    named = {span.split()[0].split("=")[0] for span in spans(document.read_text("utf-8")) if span.startswith("--")}
    assert named <= known


@each_document
def test_modules_that_are_run_exist(document: Path) -> None:
    for module in re.findall(r"python -m ([\w.]+)", document.read_text("utf-8")):
        assert importlib.util.find_spec(module), module


def test_variables_are_read() -> None:
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    rows = re.findall(r"^\| (`[A-Z_`, ]+) \|", section(README, "## Commands and options"), re.MULTILINE)
    named = re.findall(r"[A-Z][A-Z_]+", " ".join(rows))
    assert len(named) == 10
    corpora = {facts(name, load()).variable for name in CORPORA}
    assert [name for name in named if f'"{name}"' not in source and name not in corpora] == []
    # The rule for options, on the one that is named as an example.
    assert "`RECALLBENCH_STORE=exact`" in README
    place = {"RECALLBENCH_STORE": "none-such"}
    assert "none-such" in recallbench("doctor", "locomo", cwd=ROOT, env=place).stderr


def test_every_option_has_its_variable() -> None:
    for command in typer.main.get_command(app).commands.values():
        options = {max(one.opts, key=len): one.envvar for one in command.params if one.opts[0].startswith("-")}
        options.pop("--config", None)
        assert options == {name: f"RECALLBENCH_{name[2:].upper().replace('-', '_')}" for name in options}


def test_the_settings_file_of_the_readme_works(tmp_path: Path) -> None:
    (block,) = [block for block in blocks(README) if block.body.startswith("# night.toml")]
    (tmp_path / "night.toml").write_text(block.body)
    assert recallbench("run", "canary-locomo", "--config", "night.toml", cwd=tmp_path).returncode == 0
    (folder,) = (tmp_path / "benchmarks/canary-locomo/results").iterdir()
    assert re.fullmatch(r"bm25_\d{8}_nightly", folder.name)


def test_section_5_has_the_commands_of_the_protocol() -> None:
    wanted = read_data().frozen["procedure"]
    commands = [row["detail"] for row in wanted if row.get("detail", "").startswith("cd ")]
    assert len(commands) == 3
    told = section(PROCEDURE, "## 5. The exact commands")
    assert [command for command in commands if command not in told] == []
    assert "export PYTHONHASHSEED=42" in told
    assert "export PGMNEMO_DSN=" in told
    assert told.count("--dry-run --strict") == 2


# Examples of README.md


def test_the_example_in_python_prints_what_is_told(tmp_path: Path) -> None:
    inside = blocks(section(README, "## In Python"))
    (code,) = [block.body for block in inside if block.language == "python"]
    (told,) = [block.body for block in inside if block.language == "text"]
    (tmp_path / "my_queries.py").write_text(code)
    command = [sys.executable, "my_queries.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False)
    printed, error = done.stdout, done.stderr[done.stderr.index("recallbench.cases") :]
    assert (printed + error).startswith(told)


def test_the_examples_with_files_run(tmp_path: Path) -> None:
    inside = blocks(section(README, "## Rankings made elsewhere"))
    (gold,) = [block.body for block in inside if block.language == "json"]
    (tmp_path / "gold.jsonl").write_text(gold)
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(gold)
    (tmp_path / "texts.jsonl").write_text('{"query": "where", "expected": "Portland", "ranked": ["in portland"]}\n')
    (tmp_path / "run.trec").write_text("q Q0 a 1 1 me\n")
    (tmp_path / "qrels.trec").write_text("q 0 a 1\n")
    commands = [
        words for words in command_lines(section(README, "## Rankings made elsewhere")) if words[0] == "evaluate"
    ]
    assert len(commands) == 6
    for words in commands:
        assert recallbench(*words, cwd=tmp_path).returncode == 0


def test_the_examples_with_a_set_run(tmp_path: Path) -> None:
    told = section(README, "## Your own data")
    documents, gold = [block.body for block in blocks(told) if block.language == "json"]
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "corpus.jsonl").write_text(documents)
    (tmp_path / "team" / "gold.jsonl").write_text(gold)
    more = "".join(f'{{"_id": "m{i}", "text": "Nothing of that, {i}."}}\n' for i in range(20))
    (tmp_path / "more.jsonl").write_text(more)
    codes = {}
    for words in command_lines(told):
        named = words[1:2] in (["team"], ["by-id"])
        if named and words[0] in ("evaluate", "audit", "grow"):
            codes[" ".join(words)] = recallbench(*words, cwd=tmp_path).returncode
    # Nothing is committed here, so the audit has one gate left to pass.
    assert list(codes.values()) == [0, 0, 0, 0, 1, 0], codes
    report = (tmp_path / "by-text" / "report.md").read_text()
    assert "by **tokens f1>=0.3, chunk 10**" in report


# What the documents list


def test_deviations_are_listed() -> None:
    listed = section(README, "## How to read a verdict").split("**Deviations**")[1].split(". A result")[0]
    assert re.findall(r"`(\w+)`", listed) == list(KINDS)


def test_layers_are_those_of_the_contract() -> None:
    (contract,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [name.removeprefix("recallbench.") for name in reversed(contract["layers"])]
    (drawn,) = re.findall(r"^    (corpora(?:\s+->\s+\w+)+)$", CONTRIBUTING, re.MULTILINE)
    drawn_layers = re.split(r"\s+->\s+", drawn)
    assert layers[layers.index("corpora") :] == drawn_layers
    table = re.findall(r"^\| `src/recallbench/(\w+)` \|", CONTRIBUTING, re.MULTILINE)
    assert table == ["protocol", *drawn_layers]


def test_files_of_a_result_are_listed(tmp_path: Path) -> None:
    assert recallbench("run", "canary-locomo", "--store", "bm25", "--folder", "r", cwd=tmp_path).returncode == 0
    table = section(README, "## A result folder")
    listed = re.findall(
        r"`([\w.]+\.(?:md|json|jsonl|trec))`", "\n".join(re.findall(r"^\| (`.+?) \|", table, re.MULTILINE))
    )
    assert sorted(listed) == sorted(path.name for path in (tmp_path / "r").iterdir())


# Figures


class Line(NamedTuple):
    """A row of a table of figures."""

    name: str
    link: str
    cells: list[str]


FIGURES = ("LoCoMo", "LongMemEval", "The canary")
COLUMNS = "| system | `recall_any@10` | 95% interval | `recall_frac@10` | `recall_all@10` | `mrr@50` | 95% interval |"


def figures(title: str) -> list[Line]:
    found = []
    table = section(README, f"### {title}").split(COLUMNS)[1].split("\n\n")[0]
    for row in table.splitlines()[2:]:
        first, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        match = re.fullmatch(r"\[(.+)\]\((.+)\)", first)
        found.append(Line(match[1] if match else first, match[2] if match else "", cells))
    return found


def commands_of(title: str) -> dict[str, list[str]]:
    """The command of each row, by the name in its comment."""
    (block,) = [block for block in blocks(section(README, f"### {title}")) if block.language == "sh"]
    split = [line.rsplit("# ", 1) for line in block.body.splitlines()]
    return {name: shlex.split(command)[1:] for command, name in split}


def row_of(estimates: list[dict[str, Any]], what: str = "value") -> list[str]:
    """The cells that these estimates make."""
    by_name = {one["measure"]: one for one in estimates}

    def cell(name: str) -> str:
        return f"{by_name[name][what]:.4f}"

    def interval(name: str) -> str:
        one = by_name[name]
        return f"{one['low']:.4f} to {one['high']:.4f}" if what == "value" else "–"

    first, last = "recall_any@10", "mrr@50"
    return [cell(first), interval(first), cell("recall_frac@10"), cell("recall_all@10"), cell(last), interval(last)]


def expected(name: str, metrics: dict[str, Any]) -> list[str]:
    """The row of that name beside the system whose metrics these are."""
    if name == "*BM25 control*":
        cells = row_of(metrics["control_bm25"]["overall"])
        return [*cells[:1], "–", *cells[2:5], "–"]
    what = {"*chance*": "chance", "*oracle*": "ceiling"}.get(name, "value")
    return row_of(metrics["estimates"]["overall"], what)


def test_every_system_of_a_table_has_its_command() -> None:
    for title in FIGURES:
        systems = [line.name for line in figures(title) if not line.name.startswith("*")]
        assert systems == list(commands_of(title))


def points(cells: Sequence[str]) -> list[str]:
    """Without the intervals: those of a result are of the edition of the statistics that it was made by."""
    return [cell for cell in cells if " to " not in cell]


def test_figures_of_the_committed_result_are_those_of_its_files() -> None:
    linked = [line for title in FIGURES for line in figures(title) if line.link]
    assert linked, "the README links no committed result"
    for line in linked:
        folder = (ROOT / line.link).parent
        metrics = json.loads((folder / "metrics.json").read_text())
        assert line.cells == expected(line.name, metrics)
        assert metrics["corpus"]["name"] == "locomo"
        beside = {one.name: one.cells for one in figures("LoCoMo")}
        for name in ("*chance*", "*oracle*"):
            assert beside[name] == expected(name, metrics)
        assert points(beside["bm25"]) == points(row_of(metrics["control_bm25"]["overall"]))
        seen = metrics["exposure"]
        told = " ".join(section(README, "### LoCoMo").split())
        assert f"{seen['truncated_share']:.0%} of its sessions" in told
        assert f"{seen['gold_turns_cut_share']:.0%} of the labelled evidence" in told


@pytest.mark.marked
@pytest.mark.real_data
@pytest.mark.parametrize("title", FIGURES)
def test_the_commands_beside_the_tables_give_the_tables(
    title: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    env = {"RECALLBENCH_QUIET": "1"}
    if title == "LoCoMo":
        env |= request.getfixturevalue("locomo_vectors")
    if title == "LongMemEval":
        file = request.getfixturevalue("longmemeval_file")
        (tmp_path / "longmemeval_s_cleaned_499of500.json").symlink_to(file)
    made: dict[str, Any] = {}
    metrics: dict[str, Any] = {}
    for i, (name, words) in enumerate(commands_of(title).items()):
        done = recallbench(*words, "--folder", f"r{i}", cwd=tmp_path, env=env)
        assert done.returncode == 0
        made[name] = json.loads((tmp_path / f"r{i}" / "metrics.json").read_text())
    label = section(README, f"### {title}").split("Label: `")[1]
    for line in figures(title):
        metrics = made.get(line.name, metrics)
        told = points if line.link else list
        assert told(line.cells) == told(expected(line.name, metrics)), line.name
        assert metrics["verdict"]["text"] == label.split("`")[0]
        assert not metrics["verdict"]["canonical"]
        found = [Deviation(one["kind"], one["detail"]) for one in metrics["deviations"]]
        assert all(one.kind in label.split("deviations:")[1].split(".")[0] for one in found)
        # What is published departs from nothing that is not on record.
        assert unrecorded(found, HISTORY, metrics["corpus"]["name"]) == ()


# Examples of CONTRIBUTING.md


def placed(language: str) -> list[tuple[str, str]]:
    """The examples that name their file in a first comment: (path, text)."""
    found = []
    for block in blocks(CONTRIBUTING):
        first, _, rest = block.body.partition("\n")
        if block.language == language and first.startswith("# ") and "/" in first:
            found.append((first.removeprefix("# "), rest))
    return found


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with every example put in its place, and nothing else changed."""
    place = tmp_path_factory.mktemp("extended")
    shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for path, text in placed("python"):
        assert not (place / path).exists(), f"{path} is no new file"
        (place / path).write_text(text)
    for path, text in placed("diff"):
        lines = text.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        after = "".join(line[1:] for line in lines if line[0] in " +")
        source = (place / path).read_text()
        assert source.count(before) == 1, f"{path} has no longer: {before}"
        (place / path).write_text(source.replace(before, after))
    for path, text in placed("toml"):
        with (place / path).open("a") as file:
            file.write("\n" + text)
    (diary,) = [block.body for block in blocks(CONTRIBUTING) if block.language == "json"]
    (place / "diary.json").write_text(diary)
    return place


def in_the_copy(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return recallbench(*words, cwd=place, env={"PYTHONPATH": str(place / "src"), "RECALLBENCH_QUIET": "1"})


def imported(place: Path, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem + "_example", place / path)
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
    assert [Path(path).parent.name for path, _ in placed("python")] == ["stores", "corpora", "measures", "gates"]
    assert {path for path, _ in placed("diff")} == {
        "src/recallbench/stores/registry.py",
        "src/recallbench/corpora/registry.py",
        "src/recallbench/scoring/measures/registry.py",
    }
    assert len(placed("toml")) == 1


def test_a_retriever_of_ones_own(tmp_path: Path) -> None:
    (body,) = [block.body for block in blocks(CONTRIBUTING) if block.body.startswith("# my_memory.py\n")]
    (tmp_path / "my_memory.py").write_text(body)
    name = "python:my_memory:open_memory"
    (words,) = [words for words in command_lines(CONTRIBUTING) if name in words]
    metrics = written(recallbench(*words, "--folder", "r", cwd=tmp_path), tmp_path / "r")
    assert metrics.store.name == name
    assert metrics.headline[0].estimate.n == 158
    assert metrics.headline[0].estimate.value > metrics.headline[0].estimate.chance


def test_a_new_store(extended: Path) -> None:
    (words,) = [words for words in command_lines(CONTRIBUTING) if "newest" in words]
    assert "newest" in in_the_copy(extended, "stores").stdout
    metrics = written(in_the_copy(extended, *words, "--folder", "by-age"), extended / "by-age")
    assert metrics.guc_state == {"newest.order": "haystack position, descending"}
    first = json.loads((extended / "by-age" / "raw_retrievals.jsonl").read_text().splitlines()[0])
    newest = first["candidates"] - 1
    assert [hit["id"].rpartition("/")[2] for hit in first["hits"]][:2] == [str(newest), str(newest - 1)]
    assert in_the_copy(extended, "run", "canary-locomo", "--store", "newest", "--dry-run").returncode == 0


def test_a_new_corpus(extended: Path) -> None:
    (words,) = [words for words in command_lines(CONTRIBUTING) if "diary" in words and "--dry-run" not in words]
    metrics = written(in_the_copy(extended, *words, "--folder", "notes"), extended / "notes")
    assert metrics.corpus.segments == 3
    assert metrics.dataset_sha256 == metrics.corpus.registered_sha256
    assert [one.kind for one in metrics.deviations] == ["corpus", "store"]
    assert metrics.headline[0].estimate.saturated == 1.0
    assert in_the_copy(extended, "run", "diary", "--dry-run").returncode == 0
    told = in_the_copy(extended, "audit", "notes", "--failures", "--corpus-file", "diary.json").stdout
    assert re.findall(r"(?:fail|cannot-tell|pending) +(RB-\S+)", told) == ["RB-COMMITTED"]


def test_a_new_encoder(extended: Path) -> None:
    ((_, text),) = placed("toml")
    ((name, table),) = tomllib.loads(text).items()
    spec = read_spec(name, table)
    assert spec.passage == ENCODERS["minilm"].passage
    assert (spec.max_tokens, spec.one_sided()) == (256, True)
    assert name in in_the_copy(extended, "embedders").stdout


@pytest.mark.marked
def test_a_new_encoder_embeds(extended: Path) -> None:
    words = (
        "run",
        "canary-locomo",
        "--store",
        "exact",
        "--embedder",
        "minilm-256",
        "--limit",
        "5",
        "--folder",
        "short",
    )
    metrics = written(in_the_copy(extended, *words), extended / "short")
    assert metrics.exposure
    assert metrics.exposure.max_tokens == 256


def test_a_new_measure(extended: Path) -> None:
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


def test_a_new_gate(extended: Path, tmp_path: Path) -> None:
    done = recallbench("run", "canary-locomo", "--store", "bm25", "--folder", "r", cwd=tmp_path)
    metrics = written(done, tmp_path / "r")
    gate = imported(extended, "src/recallbench/audit/gates/control.py").GATE
    evidence = Evidence(metrics, load(), facts("canary-locomo", load()), tmp_path / "r")
    assert gate.check(evidence).status == "pass"
    fewer = [one.model_copy(update={"n": one.n - 1}) for one in metrics.control_bm25["overall"]]
    changed = metrics.model_copy(update={"control_bm25": {"overall": fewer}})
    assert gate.check(Evidence(changed, evidence.rules, evidence.corpus, None)).status == "fail"


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
    for tool in tools:
        program = Path(sys.executable).parent / tool[0]
        done = subprocess.run(
            [program, *tool[1:]], cwd=extended, env=environment(extended), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_licences_and_papers_of_both_corpora_are_named(tmp_path: Path) -> None:
    listed = recallbench("corpora", cwd=tmp_path).stdout.splitlines()
    protocol = (ROOT / "PROTOCOL.md").read_text("utf-8")
    citations = [(ROOT / f"CITATION.{kind}").read_text("utf-8") for kind in ("bib", "cff")]
    for name, licence, people in (
        ("longmemeval", "MIT", "Wu Wang Yu Zhang Chang Yu"),
        ("locomo", "CC BY-NC 4.0", "Maharana Lee Tulyakov Bansal Barbieri Fang"),
    ):
        assert CORPORA[name].licence == licence
        assert any(line.split()[0] == name and licence in line for line in listed if line)
        source = next(line for line in protocol.splitlines() if f"`{facts(name, load()).source}`" in line)
        assert licence.removesuffix(" 4.0") in source  # remarks of PROTOCOL.md hold no figure
        assert licence in README
        number = facts(name, load()).paper.removeprefix("arXiv:")
        for text in citations:
            assert number in text
            assert re.search("[\\s\\S]*?".join(people.split()), text)
