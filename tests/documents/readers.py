"""What the reader of a document has at hand before its first command: files, a checkout, a set."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from canary_sets import canary_set, production_log
from cli.published_rankings import publish
from commandline import recallbench
from documents.markdown import GUIDES, ROOT, blocks
from documents.shell_blocks import write_files
from labelled_sets import jsonl
from minilm_folder import save_model
from recallbench.corpora.canary import FOLDER

TEAM = ("team/corpus.jsonl", "team/gold.jsonl")
GIT = ("git", "-c", "user.name=Reader", "-c", "user.email=reader@example.org", "-c", "commit.gpgsign=false")


class Reader(NamedTuple):
    """The files of a document's JSON blocks by their names, what is made beside them, and whether a home is, too."""

    json_names: tuple[str, ...] = ()
    prepare: Callable[[Path], object] = lambda folder: None
    settings: Mapping[str, str] = {}
    marked: bool = False
    home: bool = False

    def sit_down(self, text: str, folder: Path) -> None:
        """Make the folder that the commands are run in."""
        (folder / "examples").symlink_to(ROOT / "examples")
        write_files(text, folder, self.json_names)
        self.prepare(folder)


def checkout(folder: Path) -> None:
    """What is committed of results and documents, committed again."""
    for name in ("README.md", "HISTORY.md", "PROTOCOL.md", "docs"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)
    for path in (ROOT / "benchmarks").glob("*/results/*"):
        shutil.copytree(path, folder / path.relative_to(ROOT))
    for name in ("runner.py", "run_locomo.sh"):
        shutil.copy(ROOT / "benchmarks/locomo" / name, folder / "benchmarks/locomo")
    for words in (["init", "-q"], ["add", "*.md", "docs", "benchmarks"], ["commit", "-qm", "results"]):
        subprocess.run([*GIT, *words], cwd=folder, check=True)


def team(folder: Path) -> None:
    """The set of the guide on data of one's own."""
    shown = [block.body for block in blocks(GUIDES["own-data"]) if block.language == "json"]
    write_files("".join(f"```json\n{body}```\n" for body in shown), folder, TEAM)


def my_set(folder: Path) -> None:
    """The same set under another name."""
    team(folder)
    (folder / "team").rename(folder / "my-set")


def more_of_the_team(folder: Path) -> None:
    """Enough documents and questions that chance is far from all, in the scope of those that are there."""
    corpus, gold = (folder / name for name in TEAM)
    scope = {"scope": "trips"} if "scope" in corpus.read_text() else {}
    documents = [{"_id": f"n{i}", "text": f"Note {i} tells of topic{i}.", **scope} for i in range(60)]
    questions = [{"query": f"Who tells of topic{i}?", "relevant": [f"n{i}"], **scope} for i in range(40)]
    for path, rows in ((corpus, documents), (gold, questions)):
        with path.open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)


def own_data(folder: Path) -> None:
    """A log, its labels, documents that answer nothing, questions in a file, answers in a sheet, and chats."""
    jsonl(folder / "more.jsonl", [{"_id": f"m{i}", "text": f"Nothing of that, {i}."} for i in range(30)])
    recalls = [{"query": f"question {i % 7}", "ids": [f"d{i % 3}", "d9"], "kind": "fact"} for i in range(20)]
    jsonl(folder / "recalls.jsonl", recalls)
    jsonl(folder / "labels.jsonl", [{"query": f"question {i}", "relevant": ["d9"], "kind": "fact"} for i in range(7)])
    (folder / "questions.txt").write_text("When does the ferry leave?\n")
    (folder / "answers.csv").write_text("query,relevant,scope\nWhere does it rain?,d2,trips\n")
    shutil.copy(FOLDER / "locomo.json", folder / "chats.json")


def ranked(folder: Path) -> None:
    """Rankings of one's own in each form."""
    shutil.copy(folder / "gold.jsonl", folder / "a.jsonl")
    shutil.copy(folder / "gold.jsonl", folder / "b.jsonl")
    (folder / "run.trec").write_text("q Q0 a 1 1 me\n")
    (folder / "qrels.trec").write_text("q 0 a 1\n")


def expected_texts(folder: Path) -> None:
    """Rankings with texts, judged by texts."""
    row = {"query": "where", "expected": "Portland", "ranked": [["d1", 1.0, "in portland"]]}
    jsonl(folder / "texts.jsonl", [{**row, "ranked": ["in portland"]}])


def canary(folder: Path) -> None:
    """A set of two tenants, and a log of what production asks."""
    canary_set(folder / "team")
    production_log(folder / "recalls.jsonl")


def board(folder: Path) -> None:
    """Results, a folder that another tool published, and a run."""
    checkout(folder)
    for store in (("bm25",), ("exact", "--embedder", "hash")):
        words = ("run", "canary-locomo", "--store", *store, "--folder", f"results/{store[0]}")
        assert recallbench(*words, cwd=folder).returncode == 0
    publish(folder / "results/bm25", folder / "published")
    shutil.copy(folder / "results/exact/run.trec", folder / "theirs.trec")


def nights(folder: Path) -> None:
    """A team's set, and a checkout."""
    team(folder)
    more_of_the_team(folder)
    checkout(folder)


def benchmark(folder: Path) -> None:
    """LMEB's files of one task, as its download lays them out."""
    task = folder / "eval_data/Dialogue/LoCoMo"
    (task / "single_hop").mkdir(parents=True)
    jsonl(task / "corpus.jsonl", [{"id": "a", "text": "The ferry leaves at nine."}, {"id": "b", "text": "It rains."}])
    jsonl(task / "candidates.jsonl", [{"scene_id": "s_0", "candidate_doc_ids": ["a", "b"]}])
    jsonl(task / "single_hop/queries.jsonl", [{"id": "s_0_q", "text": "When does the ferry leave?"}])
    (task / "single_hop/qrels.tsv").write_text("s_0_q\ta\t1\n")


def scripts(folder: Path) -> None:
    """The checkout's scripts and makers of sets."""
    (folder / "scripts").symlink_to(ROOT / "scripts")
    (folder / "benchmarks").mkdir()
    for name in ("locomo", "longmemeval"):
        (folder / "benchmarks" / name).mkdir()
        for path in (ROOT / "benchmarks" / name).glob("*.py"):
            (folder / "benchmarks" / name / path.name).symlink_to(path)


def indexed(folder: Path) -> None:
    """The scripts, and a file in LongMemEval's shape: three turns in each of twelve items, one of them evidence."""
    scripts(folder)
    items = [
        {
            "question_id": f"q{i}",
            "question": f"Who was told of topic {i}?",
            "haystack_sessions": [
                [{"role": "user", "content": f"Note {n} tells of topic {i}.", "has_answer": not n} for n in range(3)]
            ],
        }
        for i in range(12)
    ]
    (folder / "few-items.json").write_text(json.dumps(items))


def with_its_tests(folder: Path) -> None:
    """The checkout's scripts and tests, and its Python."""
    for name in ("scripts", "tests"):
        (folder / name).symlink_to(ROOT / name)
    # Not a link: those of whom a server is another user can't pass this folder.
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)


def release(folder: Path) -> None:
    """Files of a release, and the list of their hashes that the workflow makes."""
    (folder / "release").mkdir()
    for name in ("constraints.txt", "sbom.cdx.json"):
        shutil.copy(ROOT / name, folder / "release")
    workflow = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    (listing,) = re.findall(r"\(cd dist && (sha256sum .* > SHA256SUMS)\)", workflow)
    subprocess.run(["sh", "-c", listing], cwd=folder / "release", check=True)


def own_encoder(folder: Path) -> None:
    """A folder of sentence-transformers under the guide's name, with MiniLM's weights in it."""
    save_model(folder / "all-mpnet-base-v2", length=64)


def audited(folder: Path) -> None:
    """A checkout with a result that is on record and signed."""
    checkout(folder)
    golden = ROOT / "tests" / "golden"
    shutil.copytree(golden / "results/canary_bm25", folder / "DIR")
    shutil.copy(golden / "results/canary_bm25.attestation.json", folder / "DIR.attestation.json")
    shutil.copy(golden / "inputs/golden.pub", folder / "KEY")
    shutil.copy(golden / "inputs/HISTORY.md", folder / "HISTORY.md")
    for words in (["add", "DIR", "HISTORY.md"], ["commit", "-qm", "another result"]):
        subprocess.run([*GIT, *words], cwd=folder, check=True)


def procedure(folder: Path) -> None:
    """A checkout whose owner git knows."""
    checkout(folder)
    for setting in ("user.name Reader", "user.email reader@example.org", "commit.gpgsign false"):
        subprocess.run(["git", "config", *setting.split()], cwd=folder, check=True)


FEW = {"RECALLBENCH_LIMIT": "20"}
"""Real corpora, and twenty questions of each."""

READERS: dict[str, Reader] = {
    "README.md": Reader(TEAM, checkout, marked=True),
    "benchmarks/AUDIT.md": Reader(prepare=audited, marked=True),
    "benchmarks/PUBLISHED.md": Reader(settings=FEW, marked=True),
    "benchmarks/README.md": Reader(prepare=procedure, settings=FEW, marked=True),
    "benchmarks/locomo/README.md": Reader(settings=FEW, marked=True),
    "benchmarks/locomo/STORES.md": Reader(settings=FEW, marked=True),
    "benchmarks/locomo/VERSIONS.md": Reader(settings=FEW, marked=True),
    "benchmarks/longmemeval/README.md": Reader(settings=FEW, marked=True),
    "benchmarks/realmem/README.md": Reader(settings=FEW, marked=True),
    "benchmarks/realtalk/README.md": Reader(settings=FEW, marked=True),
    "docs/audit.md": Reader(prepare=checkout, marked=True),
    "docs/canary.md": Reader(prepare=canary),
    "docs/choosing-k.md": Reader(prepare=team),
    "docs/compare.md": Reader(marked=True),
    "docs/ci-gate.md": Reader(prepare=nights),
    "docs/faults.md": Reader(prepare=with_its_tests, marked=True),
    "docs/hub-sets.md": Reader(prepare=benchmark),
    "docs/matching.md": Reader(prepare=expected_texts),
    "docs/own-data.md": Reader(TEAM, own_data),
    "docs/rankings.md": Reader(("gold.jsonl",), ranked),
    "docs/own-memory.md": Reader(settings=FEW),
    "docs/portable-vectors.md": Reader(settings={"RECALLBENCH_MAX_TOKENS": "16"}, marked=True, home=True),
    "docs/release-citation.md": Reader(prepare=checkout, marked=True, home=True),
    "docs/site.md": Reader(prepare=board, marked=True),
    "docs/pipelines.md": Reader(prepare=scripts, settings={"RECALLBENCH_LIMIT": "1"}, marked=True),
    "docs/sweeps.md": Reader(prepare=scripts, marked=True),
    "docs/units.md": Reader(prepare=scripts, settings=FEW, marked=True),
    "docs/vector-indexes.md": Reader(prepare=indexed, settings=FEW, marked=True),
    "docs/verifying.md": Reader(prepare=release),
    "docs/corpora.md": Reader(prepare=scripts, settings=FEW),
    "docs/encoders.md": Reader(settings=FEW),
    "docs/own-encoder.md": Reader(prepare=own_encoder),
    "docs/figures.md": Reader(settings=FEW, marked=True),
    "docs/latency.md": Reader(settings={"RECALLBENCH_SECONDS": ".1"}, marked=True),
    "docs/matrix.md": Reader(prepare=my_set, settings=FEW, marked=True),
}
"""Those who need more than an empty folder."""
