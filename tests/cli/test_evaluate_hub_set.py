"""`recallbench evaluate hub:OWNER/NAME@<revision>`: over real HTTP, every file checked by its hash."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow
import pytest
from pyarrow import parquet

from commandline import recallbench
from loopback_hub import LARGE, LoopbackHub
from recallbench.results.metrics import Metrics
from stages import sampled

REVISION, JUDGED = "a" * 40, "b" * 40
NAME = f"hub:team/trips@{REVISION}"
CORPUS = (
    b'{"_id": "oslo", "title": "Oslo", "text": "The ferry to Oslo leaves at nine."}\n'
    b'{"_id": "rain", "title": "", "text": "In Bergen it rains.", "metadata": {}}\n'
)
QUERIES = (
    b'{"_id": "q1", "text": "When does the ferry leave?"}\n'
    b'{"_id": "q2", "text": "Where does it rain?"}\n'
    b'{"_id": "of-train", "text": "Who trained?"}\n'
)
QRELS = b"query-id\tcorpus-id\tscore\nq1\toslo\t1\nq2\train\t1\nq2\toslo\t0\n"
PACKED = gzip.compress(CORPUS, mtime=0)


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def files(**others: bytes) -> dict[str, bytes]:
    contents = {"corpus.jsonl.gz": PACKED, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS, **others}
    return {f"datasets/team/trips/{name}": body for name, body in contents.items() if body}


class WorkingFolder:
    """A working folder with a data folder and a hub cache of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.set = path / "data" / "sets" / f"team--trips@{REVISION}"
        self.hub = ""

    def evaluate(self, *words: str, name: str = NAME, **env: str) -> CompletedProcess[str]:
        own = {"HF_HOME": str(self.path / "hf"), "RECALLBENCH_DATA_DIR": str(self.path / "data")}
        variables = {**own, "HF_HUB_OFFLINE": "0", **env}
        if self.hub:
            variables["HF_ENDPOINT"] = self.hub
        return recallbench("evaluate", name, "--store", "bm25", "-q", *words, cwd=self.path, env=variables)

    def metrics(self, folder: str) -> Metrics:
        return Metrics.model_validate_json((self.path / folder / "metrics.json").read_bytes())


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[WorkingFolder]:
    folder = WorkingFolder(tmp_path)
    with LoopbackHub(files()) as hub:
        folder.hub = hub.url
        yield folder


def test_a_short_name_stands_for_one_commit(workspace: WorkingFolder) -> None:
    revision = "0228b52cf27578f30900b9e5271d331663a030d7"
    contents = {name.replace("team/trips", "mteb/scifact"): body for name, body in files().items()}
    with LoopbackHub(contents) as hub:
        workspace.hub = hub.url
        done = workspace.evaluate("--folder", "r", name="hub:scifact")
    assert done.returncode == 0
    assert f"set: mteb/scifact at {revision}" in done.stdout
    source = workspace.metrics("r").hub
    assert source is not None
    assert (source.repo, source.revision) == ("mteb/scifact", revision)
    listed = recallbench("corpora", cwd=workspace.path).stdout
    assert f"mteb/scifact@{revision}" in listed
    assert "hub:lmeb#TASK, one of EPBench, KnowMeBench, LoCoMo" in listed
    unknown = workspace.evaluate(name="hub:scifacts")
    assert unknown.returncode == 2
    assert "expected: hub:OWNER/NAME@<revision>, or one of scifact, nfcorpus" in unknown.stderr
    apart = workspace.evaluate("--qrels-revision", JUDGED, name="hub:scifact")
    assert apart.returncode == 2
    assert "hub:scifact has its judgements in itself" in apart.stderr


def test_a_set_of_the_hub_gets_a_result_and_is_used_offline_from_then_on(workspace: WorkingFolder) -> None:
    done = workspace.evaluate("--folder", "first")
    assert done.returncode == 0, done.stderr
    record = "corpus.jsonl, queries.jsonl, qrels/test.tsv: sha256 recorded at first use, not pinned"
    assert f"set: team/trips at {REVISION}, in {workspace.set}; {record}" in done.stdout
    metrics = workspace.metrics("first")
    assert metrics.corpus.name == f"labelled/team--trips-{REVISION}@{metrics.dataset_sha256}"
    # The query that the split does not judge is passed over.
    assert (metrics.retrieval.asked, metrics.headline[0].estimate.n) == (2, 2)
    assert metrics.hub is not None
    assert [(file.name, file.sha256, file.pinned) for file in metrics.hub.files] == [
        ("corpus.jsonl", sha256(CORPUS), False),
        ("queries.jsonl", sha256(QUERIES), False),
        ("qrels/test.tsv", sha256(QRELS), False),
    ]
    assert json.loads((workspace.set / "hub.json").read_text())["files"]["corpus.jsonl.gz"] == sha256(PACKED)
    assert "recorded at first use, not pinned" in (workspace.path / "first" / "report.md").read_text()
    again = workspace.evaluate("--folder", "again", HF_HUB_OFFLINE="1")
    assert again.returncode == 0, again.stderr
    same = [(workspace.path / name / "raw_retrievals.jsonl").read_bytes() for name in ("first", "again")]
    assert same[0] == same[1]
    # The audit finds the set by its name.
    env = {"RECALLBENCH_DATA_DIR": str(workspace.path / "data")}
    audited = recallbench("audit", "first", "--failures", cwd=workspace.path, env=env)
    assert ": holds, not committed\n" in audited.stdout


def test_hashes_may_be_known_beforehand(workspace: WorkingFolder) -> None:
    pinned = [
        f"corpus.jsonl.gz={sha256(PACKED)}",
        f"queries.jsonl={sha256(QUERIES)}",
        f"qrels/test.tsv={sha256(QRELS)}",
    ]
    words = [word for pin in pinned for word in ("--pin", pin)]
    wrong = workspace.evaluate("--pin", f"corpus.jsonl.gz={'0' * 64}")
    assert wrong.returncode == 2
    assert f"expected: sha256 {'0' * 64}" in wrong.stderr
    assert not workspace.set.exists()
    assert workspace.evaluate("--folder", "loose").returncode == 0
    done = workspace.evaluate("--folder", "pinned", *words)
    assert "every file pinned by sha256" in done.stdout
    later = workspace.evaluate("--pin", f"queries.jsonl={'0' * 64}")
    assert later.returncode == 2
    assert f"found: sha256 {sha256(QUERIES)}" in later.stderr
    assert (
        "pins notes.txt, which is none of the set's files"
        in workspace.evaluate("--pin", f"notes.txt={'0' * 64}").stderr
    )
    # A result from before the hashes were pinned passes; one that only claims the pins does not.
    env = {"RECALLBENCH_DATA_DIR": str(workspace.path / "data")}
    assert ": holds, not committed\n" in recallbench("audit", "loose", cwd=workspace.path, env=env).stdout
    record = json.loads((workspace.set / "hub.json").read_text())
    (workspace.set / "hub.json").write_text(json.dumps({**record, "pinned": []}))
    printed = recallbench("audit", "pinned", "--failures", cwd=workspace.path, env=env).stdout
    assert "RB-LABELLED" in printed


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_body_of_the_same_size_is_caught_on_every_load(workspace: WorkingFolder, name: str) -> None:
    assert workspace.evaluate("--folder", "first").returncode == 0
    path = workspace.set / name
    body = path.read_bytes()
    path.write_bytes(body.replace(b"o", b"0", 1))
    assert path.stat().st_size == len(body)
    for target in (NAME, str(workspace.set)):
        done = workspace.evaluate("--folder", "second", name=target, HF_HUB_OFFLINE="1")
        assert done.returncode == 2
        assert f"{name} is not the file of team/trips that was recorded" in done.stderr
        assert f"expected: sha256 {sha256(body)}" in done.stderr
    path.unlink()
    assert workspace.evaluate("--folder", "third").returncode == 0


def test_another_body_in_the_hubs_cache_is_refused_and_removed(workspace: WorkingFolder) -> None:
    assert workspace.evaluate("--folder", "first").returncode == 0
    (workspace.set / "queries.jsonl").unlink()
    (cached,) = (workspace.path / "hf").rglob("queries.jsonl")
    blob = cached.resolve()
    blob.write_bytes(QUERIES.replace(b"ferry", b"f3rry"))
    done = workspace.evaluate("--folder", "second")
    assert done.returncode == 2
    assert "queries.jsonl of team/trips is not the file that is expected" in done.stderr
    assert not os.path.lexists(cached)
    assert workspace.evaluate("--folder", "third").returncode == 0


def test_a_large_file_must_have_the_hash_that_the_hub_names(tmp_path: Path) -> None:
    workspace = WorkingFolder(tmp_path)
    large = CORPUS + b"".join(b'{"_id": "d%d", "text": "Word %d."}\n' % (i, i) for i in range(4000))
    assert len(large) >= LARGE
    with LoopbackHub(files(**{"corpus.jsonl.gz": b"", "corpus.jsonl": large})) as hub:
        workspace.hub = hub.url
        assert workspace.evaluate("--folder", "first").returncode == 0
        for path in (workspace.set / "corpus.jsonl", workspace.set / "hub.json"):
            path.unlink()
        (cached,) = (tmp_path / "hf").rglob("corpus.jsonl")
        cached.resolve().write_bytes(large.replace(b"ferry", b"f3rry"))
        done = workspace.evaluate("--folder", "second")
        assert done.returncode == 2
        assert f"expected: sha256 {sha256(large)}" in done.stderr


def test_judgements_of_a_dataset_of_their_own(tmp_path: Path) -> None:
    workspace = WorkingFolder(tmp_path)
    contents = {**files(**{"qrels/test.tsv": b""}), "datasets/team/trips-qrels/dev.tsv": QRELS}
    with LoopbackHub(contents) as hub:
        workspace.hub = hub.url
        lacking = workspace.evaluate()
        assert lacking.returncode == 3
        assert "qrels/test.tsv of team/trips can't be fetched" in lacking.stderr
        assert "--qrels-revision" in lacking.stderr
        done = workspace.evaluate("--split", "dev", "--qrels-revision", JUDGED, "--folder", "result")
        assert done.returncode == 0, done.stderr
    metrics = workspace.metrics("result")
    assert metrics.corpus.name.startswith(f"labelled/team--trips-{REVISION}+{JUDGED}@")
    assert metrics.hub is not None
    assert (metrics.hub.qrels_repo, metrics.hub.qrels_revision) == ("team/trips-qrels", JUDGED)
    env = {"RECALLBENCH_DATA_DIR": str(tmp_path / "data")}
    assert ": holds, not committed\n" in recallbench("audit", "result", cwd=tmp_path, env=env).stdout


def test_without_the_network_it_says_what_to_do(tmp_path: Path) -> None:
    done = WorkingFolder(tmp_path).evaluate(HF_HUB_OFFLINE="1")
    assert done.returncode == 3
    assert "corpus.jsonl.gz or corpus.jsonl of team/trips can't be fetched" in done.stderr
    assert "what to do: unset HF_HUB_OFFLINE; once fetched, the set is used without the network" in done.stderr
    assert not WorkingFolder(tmp_path).set.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    sampled(
        [
            (("hub:team/trips@main",), "the revision pins nothing"),
            (("hub:team/trips@abc1234",), "the revision pins nothing"),
            (("hub:team/trips",), "names no set of the hub"),
            (("hub:trips@" + REVISION,), "names no set of the hub"),
            ((NAME, "--qrels-revision", "main"), "--qrels-revision pins nothing"),
            ((NAME, "--pin", "corpus.jsonl=abc"), "pins no file"),
            ((NAME, "--split", "../test"), "--split ../test is no name"),
            ((".", "--pin", f"corpus.jsonl={'0' * 64}"), "--pin is for a set of the hub"),
            (("--gold", "g.jsonl", "--qrels-revision", REVISION), "--qrels-revision is for a set of your own"),
        ]
    ),
)
def test_unpinned_and_misplaced_options_are_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = recallbench(
        "evaluate", *words, cwd=tmp_path, env={"RECALLBENCH_DATA_DIR": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    )
    assert done.returncode == 2
    assert message in done.stderr


def test_a_result_stands_after_another_split_was_fetched(tmp_path: Path) -> None:
    workspace = WorkingFolder(tmp_path)
    train = b"query-id\tcorpus-id\tscore\nof-train\toslo\t1\n"
    with LoopbackHub(files(**{"qrels/train.tsv": train})) as hub:
        workspace.hub = hub.url
        for folder, split in (("first", "test"), ("other", "train"), ("again", "test")):
            done = workspace.evaluate("--split", split, "--folder", folder)
            assert done.returncode == 0, done.stderr
    metrics = {folder: workspace.metrics(folder) for folder in ("first", "other", "again")}
    assert metrics["first"].corpus.name == metrics["again"].corpus.name
    # Queries that the split does not judge are passed over.
    unjudged = [stated.labels.unjudged for stated in metrics.values() if stated.labels is not None]
    assert unjudged == [1, 2, 1]
    env = {"RECALLBENCH_DATA_DIR": str(tmp_path / "data")}
    for folder in metrics:
        assert ": holds, not committed\n" in recallbench("audit", folder, cwd=tmp_path, env=env).stdout


def test_a_set_in_parquet_by_configurations(tmp_path: Path) -> None:
    """As MTEB publishes LMEB's tasks: `<subset>-corpus`, `-queries`, `-qrels` and `-top_ranked`."""
    tables = {
        "easy-corpus": {"_id": ["oslo", "rain"], "title": ["Oslo", ""], "text": ["The ferry leaves.", "It rains."]},
        "easy-queries": {"id": ["q1", "q2"], "text": ["When does the ferry leave?", "Where does it rain?"]},
        "easy-qrels": {"query-id": ["q1", "q2"], "corpus-id": ["oslo", "rain"], "score": [2, 1]},
        "easy-top_ranked": {"query-id": ["q1", "q2"], "corpus-ids": [["rain", "oslo"], ["rain"]]},
    }
    contents = {}
    for name, columns in tables.items():
        body = io.BytesIO()
        parquet.write_table(pyarrow.table(columns), body)
        contents[f"datasets/team/trips/{name}/test-00000-of-00001.parquet"] = body.getvalue()
    workspace = WorkingFolder(tmp_path)
    with LoopbackHub(contents) as hub:
        workspace.hub = hub.url
        done = workspace.evaluate("--folder", "r")
        assert done.returncode == 0, done.stderr
    metrics = workspace.metrics("r")
    assert (metrics.corpus.segments_per_scope, metrics.corpus.kinds) == ([2, 1], {"easy": 2})
    assert metrics.corpus.name.startswith(f"labelled/team--trips-{REVISION}-test@")
    record = json.loads((tmp_path / "data" / "sets" / f"team--trips@{REVISION}#test" / "hub.json").read_text())
    published = contents["datasets/team/trips/easy-corpus/test-00000-of-00001.parquet"]
    assert record["files"]["easy-corpus/test-00000-of-00001.parquet"] == sha256(published)
    again = workspace.evaluate("--folder", "again", HF_HUB_OFFLINE="1")
    assert again.returncode == 0, again.stderr
    env = {"RECALLBENCH_DATA_DIR": str(tmp_path / "data")}
    assert ": holds, not committed\n" in recallbench("audit", "r", cwd=tmp_path, env=env).stdout
    broken = dict.fromkeys(contents, b"PAR1")
    with LoopbackHub(broken) as hub:
        other = WorkingFolder(tmp_path / "other")
        other.path.mkdir()
        other.hub = hub.url
        refused = other.evaluate()
    assert refused.returncode == 2
    assert "easy-corpus/test-00000-of-00001.parquet can't be read" in refused.stderr
