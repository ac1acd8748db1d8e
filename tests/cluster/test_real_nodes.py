"""Items on the nodes of a real cluster: nothing is lost, nothing comes twice, and an end is clear."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import ray_jobs
from followed_commands import running, said
from ray_jobs import Doubling

from commandline import recallbench
from labelled_sets import beir
from ray_nodes import Nodes, two_nodes
from recallbench.cluster import crew as crews
from recallbench.cluster.connection import ClusterNode, RayCluster, open_cluster
from recallbench.cluster.crew import Crew
from recallbench.cluster.engine import Engine
from recallbench.cluster.job import Done, Failed
from recallbench.corpora.canary import FOLDER
from recallbench.embedding.engines.setting import WHOLE_BATCHES
from recallbench.embedding.forms.form import EncoderRequest
from recallbench.embedding.on_nodes.encoding_job import PROOF, EncodingItem, EncodingJob, EngineProof, deciding_facts
from recallbench.embedding.options import Backend
from recallbench.embedding.registry import open_on_node, open_text_encoder
from recallbench.errors import Blocked, InputError, RecallBenchError
from recallbench.progress import Silent
from recorded_progress import RecordedProgress
from sweeps import written as swept

pytestmark = pytest.mark.marked


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with two_nodes() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def joined(nodes: Nodes) -> Iterator[RayCluster]:
    with pytest.MonkeyPatch.context() as patched:
        for name, value in nodes.variables.items():
            patched.setenv(name, value)
        with open_cluster(Engine("ray", nodes.address), Silent()) as cluster:
            from ray import cloudpickle

            cloudpickle.register_pickle_by_value(ray_jobs)
            yield cluster


def hired(joined: RayCluster, progress: Any = None, expected: dict[str, str] | None = None, **job: Any) -> Crew:
    return Crew(joined, Doubling(**job), expected or {}, "doubling", progress or Silent())


def test_results_come_in_the_order_of_the_items(joined: RayCluster) -> None:
    progress = RecordedProgress()
    crew = hired(joined, progress)
    assert [value for value, _ in crew.in_order(range(60), str)] == [2 * number for number in range(60)]
    assert sorted(crew.done) == sorted(node.name for node in joined.nodes())
    assert sum(crew.done.values()) == 60
    # The same workers go on with what is asked next.
    assert [value for value, _ in crew.in_order([7], str)] == [14]
    assert len([note for note in progress.notes if "takes part in doubling" in note]) == 2
    crew.close()


def test_a_node_that_joins_late_gets_work_and_takes_none_along_when_it_is_killed(
    nodes: Nodes, joined: RayCluster
) -> None:
    progress = RecordedProgress()
    crew = hired(joined, progress, seconds=0.1)

    def lost() -> bool:
        return any("what it had is done again" in note for note in progress.notes)

    came, killed = [], False
    for number, (value, _) in enumerate(crew.in_order(takewhile(lambda _: not lost(), range(2000)), str)):
        came.append(value)
        if number == 5:
            nodes.add()
        if len(crew.done) == 3 and not killed:
            nodes.kill()
            killed = True
    assert came == [2 * number for number in range(len(came))]
    assert lost()
    crew.close()


def test_an_item_that_ends_its_workers_is_named_and_the_others_are_done(joined: RayCluster) -> None:
    crew = hired(joined)
    items = [1, 2, "ends its worker", 3, 4]
    came = {outcome.place: outcome.came for outcome in crew.work(items, lambda item: f"the item {item!r}")}
    failed = came.pop(2)
    assert {place: done.value for place, done in came.items() if isinstance(done, Done)} == {0: 2, 1: 4, 3: 6, 4: 8}
    assert isinstance(failed, Failed)
    assert failed.error.problem == "the item 'ends its worker' ended 3 workers"
    assert "the same command goes on" in failed.error.remedy
    crew.close()


def test_an_item_that_fails_is_not_tried_again(joined: RayCluster) -> None:
    crew = hired(joined)
    with pytest.raises(InputError, match="a word can't be doubled") as failed:
        list(crew.in_order(["fails"], str))
    assert (failed.value.expected, failed.value.found) == ("a number", "fails")
    with pytest.raises(RecallBenchError, match="doubling failed on a node") as failed_otherwise:
        list(crew.in_order(["has a defect"], str))
    assert failed_otherwise.value.found == "ValueError: this is no number"
    assert [value for value, _ in crew.in_order([1], str)] == [2]
    crew.close()


def test_a_full_store_of_objects_ends_it_in_words_and_it_goes_on(joined: RayCluster) -> None:
    crew = hired(joined)
    with pytest.raises(RecallBenchError, match="the shared memory of the Ray cluster is full during doubling") as full:
        list(crew.in_order(["90 MB"], str))
    assert "the same command goes on" in full.value.remedy
    crew.close()
    again = hired(joined)
    assert [len(value) for value, _ in again.in_order(["1 MB"] * 40, str)] == [1 << 20] * 40
    again.close()


def test_workers_that_have_something_else_are_refused_by_name(joined: RayCluster) -> None:
    progress = RecordedProgress()
    crew = hired(joined, progress, {"numpy": "9.9", "corpus locomo": "sha256 79fa"}, has={"numpy": "2.4"})
    with pytest.raises(Blocked, match="no node of the Ray cluster can take part in doubling") as refused:
        list(crew.in_order([1], str))
    why = "numpy 2.4 instead of 9.9; corpus locomo not there instead of sha256 79fa"
    assert refused.value.exit_code == 3
    for node in joined.nodes():
        assert f"{node.name}: {why}" in refused.value.found
        assert f"Ray: {node.name} takes no part in doubling: {why}" in progress.notes
    crew.close()


def test_a_crew_without_nodes_is_given_up(joined: RayCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crews, "ALONE", 0.2)
    monkeypatch.setattr(RayCluster, "nodes", lambda self: [])
    with pytest.raises(Blocked, match="no node of the Ray cluster") as alone:
        list(hired(joined).in_order([1], str))
    assert alone.value.found == "no node with a core"


MINILM = ("--store", "exact", "--embedder", "minilm", "--max-tokens", "128", "--backend", "torch")
BATCHES = 8


def content(folder: Path) -> str:
    return str(json.loads((folder / "manifest.json").read_text())["content_sha256"])


def environment_of(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "environment.json").read_text())
    return document


def kept_bytes(cache: Path) -> list[bytes]:
    """The vectors of a cache with their index, in the order in which they were appended."""
    (folder,) = (cache / "vectors").iterdir()
    return [(folder / name).read_bytes() for name in ("vectors.f32", "index")]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of a user's own: long texts in so many batches, but for one of the queries."""
    texts = [f"{number} " + "it rains in the north " * 30 for number in range(8 * (BATCHES - 1))]
    documents = [{"_id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    queries = [{"_id": f"q{number}", "text": f"where does it rain {number}?"} for number in range(8)]
    judged = "".join(f"q{number}\td{number}\t1\n" for number in range(8))
    folder = tmp_path_factory.mktemp("own") / "team"
    return beir(folder, documents, queries, test=f"query-id\tcorpus-id\tscore\n{judged}")


@pytest.fixture(scope="module")
def in_process(team: Path) -> Path:
    """A result that was made in one process, with its cache beside it."""
    folder = team.parent
    assert recallbench(*evaluating(team), cwd=folder).returncode == 0
    return folder


def evaluating(team: Path) -> tuple[str | Path, ...]:
    return ("evaluate", team, *MINILM, "--cache-dir", "cache", "--folder", "result")


def of_nodes(nodes: Nodes) -> tuple[str, ...]:
    return ("--engine", "ray", "--ray-address", nodes.address)


def test_an_evaluation_of_which_a_node_is_killed_leaves_the_same_bytes(
    nodes: Nodes, team: Path, in_process: Path, tmp_path: Path
) -> None:
    with running([*evaluating(team), *of_nodes(nodes)], tmp_path, **nodes.variables) as evaluation:
        first = said(evaluation, "takes part in embedding").splitlines()[-1]
        nodes.kill(first.partition("(")[2].partition(")")[0])
        said(evaluation, "what it had is done again")
        assert evaluation.communicate()
    nodes.add()
    assert evaluation.returncode == 0
    assert (tmp_path / "result" / "run.trec").read_bytes() == (in_process / "result" / "run.trec").read_bytes()
    assert content(tmp_path / "result") == content(in_process / "result")
    assert kept_bytes(tmp_path / "cache") == kept_bytes(in_process / "cache")
    told = environment_of(tmp_path / "result")
    assert told["options"]["engine"] == "ray"
    assert "ray_address" not in told["options"]
    assert sum(told["embedding"]["nodes"].values()) == BATCHES
    audit = recallbench("audit", "result", cwd=tmp_path)
    assert "  fail " not in audit.stdout


def test_a_run_on_nodes_leaves_the_same_bytes(nodes: Nodes, tmp_path: Path) -> None:
    run = ("run", "canary-locomo", "--limit", "2", "--store", "exact", "--embedder", "minilm", "--max-tokens", "16")
    here = ("--cache-dir", "cache-here", "--folder", "here", "--backend", "torch")
    there = ("--cache-dir", "cache-there", "--folder", "there", "--backend", "torch", *of_nodes(nodes))
    assert recallbench(*run, *here, cwd=tmp_path).returncode == 0
    assert recallbench(*run, *there, cwd=tmp_path, env=nodes.variables).returncode == 0
    assert content(tmp_path / "here") == content(tmp_path / "there")
    assert kept_bytes(tmp_path / "cache-here") == kept_bytes(tmp_path / "cache-there")
    assert sum(environment_of(tmp_path / "there")["embedding"]["nodes"].values()) > 0


def test_repeats_come_back_from_the_nodes_whole(nodes: Nodes, tmp_path: Path) -> None:
    system = ("canary-longmemeval", "--store", "exact", "--embedder", "hash")
    assert recallbench("run", *system, "--folder", "result", cwd=tmp_path).returncode == 0
    repeat = ("repeat", "2", *system, "--out", "repeats", *of_nodes(nodes))
    assert recallbench(*repeat, cwd=tmp_path, env=nodes.variables).returncode == 0
    (folder,) = (tmp_path / "repeats").iterdir()
    assert [content(folder / f"run_{number}") for number in (1, 2)] == [content(tmp_path / "result")] * 2
    assert environment_of(folder / "run_1")["options"]["engine"] == "ray"
    assert environment_of(folder / "run_1")["command"][:3] == ["recallbench", "repeat", "2"]


def test_audits_on_nodes_say_what_they_say_here(nodes: Nodes, in_process: Path) -> None:
    shutil.copytree(in_process / "result", in_process / "changed")
    (in_process / "changed" / "run.trec").write_text("")
    folders = ("result", "changed", "nowhere")
    here = recallbench("audit", *folders, "--cache-dir", "other", cwd=in_process)
    there = recallbench("audit", *folders, *of_nodes(nodes), cwd=in_process, env=nodes.variables)
    assert here.returncode == there.returncode == 2
    assert there.stdout == here.stdout
    # The second of them may come when all is done.
    assert "takes part in the audits: 1 node, 1 worker" in there.stderr


def test_the_cells_of_a_matrix_and_the_points_of_a_sweep_are_those_of_one_process(nodes: Nodes, tmp_path: Path) -> None:
    swept(tmp_path)
    matrix = ("matrix", "--encoders", "hash", "--corpora", "canary-locomo,canary-longmemeval")
    sweep = ("sweep", "tune.toml", "--no-race")
    for words, name in (((), "here"), (of_nodes(nodes), "there")):
        kept = ("--cache-dir", f"cache-{name}", "--out", name)
        assert recallbench(*matrix, *kept, *words, cwd=tmp_path, env=nodes.variables).returncode == 0
        # Kept by what answers them, since the sweep of known stores itself forgets them at its end.
        assert recallbench(*sweep, *kept, *words, cwd=tmp_path, env=nodes.variables).returncode == 0
    here, there = (
        {cell.name: content(cell) for cell in (tmp_path / name / "cells").iterdir()} for name in ("here", "there")
    )
    assert here == there
    assert len(here) == 2
    answers = [
        {
            path.name: {**json.loads(gzip.decompress(path.read_bytes())), "milliseconds": 0, "seconds": 0}
            for path in found
        }
        for found in (sorted((tmp_path / cache).glob("sweeps/*/*.gz")) for cache in ("cache-here", "cache-there"))
    ]
    assert answers[0] == answers[1]
    assert len(answers[0]) == 2


def test_nodes_without_the_corpus_are_refused_by_name(nodes: Nodes, tmp_path: Path) -> None:
    shutil.copy(FOLDER / "locomo.json", tmp_path / "locomo10.json")
    words = ("repeat", "2", "locomo", "--store", "bm25", "--allow-deviation", "dataset", "--no-download")
    env = {**nodes.variables, "LOCOMO_DATA_DIR": str(tmp_path)}
    refused = recallbench(*words, "--out", "out", *of_nodes(nodes), cwd=tmp_path, env=env)
    assert refused.returncode == 3
    assert "no node of the Ray cluster can take part in the runs" in refused.stderr
    assert "corpus locomo not here" in refused.stderr
    assert "without --engine ray the same command does all in this process" in refused.stderr
    assert not any(tmp_path.glob("out/*/*"))


class FirstNode(RayCluster):
    """A cluster of which one node is used."""

    def nodes(self) -> list[ClusterNode]:
        return super().nodes()[:1]


def test_an_encoder_proves_its_engine_where_it_works_and_one_of_another_hash_is_refused(
    joined: RayCluster, tmp_path: Path
) -> None:
    def crew(backend: Backend, texts: tuple[str, ...], **other: str) -> Crew:
        here = open_text_encoder("minilm", EncoderRequest("minilm", tmp_path, os.environ, Silent(), backend, 64))
        open_there = partial(open_on_node, "minilm", 64, "fp32", tmp_path)
        job = EncodingJob(open_there, f"{backend}/cpu", texts, WHOLE_BATCHES)
        expected = {**deciding_facts(here), **other}
        return Crew(FirstNode(joined.ray), job, expected, "embedding", Silent())

    proving = crew("openvino", tuple(f"{'a word ' * number}and an end" for number in range(9)))
    ((vectors, facts),) = proving.in_order([EncodingItem("query", [np.array([101, 2000, 102], np.int32)])], str)
    assert vectors.shape == (1, 384)
    proof = EngineProof(*json.loads(facts[PROOF]))
    assert (proof.status, proof.texts) == ("equal", 9)
    assert (proof.worst_cosine or 0.0) > 0.9999
    proving.close()
    weights = "sha256 passage/model.safetensors"
    with pytest.raises(Blocked) as refused:
        list(crew("torch", (), **{weights: "0" * 64}).in_order([1], str))
    assert f"{weights} {facts[weights]} instead of 000" in refused.value.found


def test_another_token_is_refused_in_time(nodes: Nodes, team: Path, tmp_path: Path) -> None:
    env = {**nodes.variables, "RAY_AUTH_TOKEN": "f" * 64}
    refused = recallbench(*evaluating(team), *of_nodes(nodes), cwd=tmp_path, env=env)
    assert refused.returncode == 3
    assert f"the Ray cluster at {nodes.address} can't be used" in refused.stderr
    assert "found: it takes another token" in refused.stderr


def test_another_ray_is_refused(nodes: Nodes, team: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import ray\nray.__version__ = '2.59.0'\n")
    env = {**nodes.variables, "PYTHONPATH": str(tmp_path)}
    refused = recallbench(*evaluating(team), *of_nodes(nodes), cwd=tmp_path, env=env)
    assert refused.returncode == 3
    assert f"found: the cluster has Ray {version('ray')} with Python" in refused.stderr
    assert "this program Ray 2.59.0" in refused.stderr


def test_a_stopped_evaluation_leaves_no_process_and_goes_on_without_ray(
    team: Path, in_process: Path, tmp_path: Path
) -> None:
    with running([*evaluating(team), "--engine", "ray"], tmp_path) as evaluation:
        assert "1 node, 1 worker" in said(evaluation, "takes part in embedding")
        evaluation.send_signal(signal.SIGSTOP)
        started = psutil.Process(evaluation.pid).children(recursive=True)
        listening = {
            connection.laddr.ip
            for process in started
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        }
        assert listening <= {"127.0.0.1", "::ffff:127.0.0.1"}
        commands = [word for process in started for word in process.cmdline()]
        (room,) = {Path(word.partition("=")[2]) for word in commands if word.startswith("--temp_dir=")}
        assert room.is_dir()
        # What waits for nothing that is asked of it is not started.
        assert not [word for word in commands if word.endswith(("dashboard.py", "monitor.py")) or word == "ray::IDLE"]
        evaluation.send_signal(signal.SIGINT)
        evaluation.send_signal(signal.SIGCONT)
        evaluation.communicate()
    assert evaluation.returncode == 130
    _, alive = psutil.wait_procs(started, 5)
    assert alive == []
    assert not any(name.startswith("plasma") for name in os.listdir("/dev/shm"))
    assert not room.exists()
    assert recallbench(*evaluating(team), cwd=tmp_path).returncode == 0
    assert content(tmp_path / "result") == content(in_process / "result")
    assert kept_bytes(tmp_path / "cache") == kept_bytes(in_process / "cache")


def test_a_cluster_without_its_head_is_given_up_at_once(nodes: Nodes, joined: RayCluster) -> None:
    """The last one: nothing can be asked of these nodes behind it."""
    crew = hired(joined, seconds=0.1)
    came = crew.in_order(range(500), str)
    assert next(came)[0] == 0
    nodes.kill_head()
    with pytest.raises(Blocked, match="the head of the Ray cluster is gone during doubling") as gone:
        list(came)
    assert "what was done is kept: the same command goes on" in gone.value.remedy
    crew.close()
