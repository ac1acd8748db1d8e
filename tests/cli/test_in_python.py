"""`recallbench.run`: a run under the protocol from Python."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import click
import pytest

import recallbench
from commandline import recallbench as command
from recallbench.cli.in_python import OF_COMMANDS
from recallbench.cli.measure.run import run as run_command
from recallbench.errors import InputError, RecallBenchError, UsageError

FEW = {"limit": 4, "quiet": True}


class Notes:
    """A plain memory: shared words."""

    def __init__(self, shortest: int = 1) -> None:
        self._shortest = shortest
        self.notes: dict[str, set[str]] = {}

    def add(self, id: str, text: str) -> None:
        self.notes[id] = self.words(text)

    def search(self, query: str, k: int) -> list[tuple[str, int]]:
        scored = [(id, len(self.words(query) & words)) for id, words in self.notes.items()]
        return sorted(scored, key=lambda hit: -hit[1])[:k]

    def words(self, text: str) -> set[str]:
        return {word for word in text.lower().split() if len(word) >= self._shortest}


class Waiting(Notes):
    """The same, awaited."""

    async def search(self, query: str, k: int) -> list[tuple[str, int]]:  # type: ignore[override]
        await asyncio.sleep(0)
        return Notes.search(self, query, k)


class Server:
    """One memory for all haystacks, which can't be copied."""

    def __init__(self, top: int = 3) -> None:
        self.top = top
        self.lock = threading.Lock()
        self.scopes: dict[str, Notes] = {}
        self.closed = False

    def add(self, id: str, text: str, scope: str) -> None:
        self.scopes.setdefault(scope, Notes()).add(id, text)

    def search(self, query: str, k: int, scope: str) -> list[tuple[str, int]]:
        return self.scopes[scope].search(query, k)

    def close(self) -> None:
        self.closed = True


def open_notes(items: Any, vectors: Any) -> Any:
    notes = Notes()
    for item in items:
        notes.add(item.id, item.text)
    return lambda query, k: notes.search(query.text, k)


open_notes.needs_vectors = False  # type: ignore[attr-defined]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_writes_what_the_command_writes(place: Path) -> None:
    result = recallbench.run("canary-locomo", "bm25", folder="here", **FEW)
    assert isinstance(result, recallbench.LoadedResult)
    assert result.folder == Path("here")
    done = command("run", "canary-locomo", "--store", "bm25", "--limit", "4", "--folder", "there", cwd=place)
    assert done.returncode == 0
    for name in ("raw_retrievals.jsonl", "run.trec", "qrels.trec"):
        assert (place / "here" / name).read_bytes() == (place / "there" / name).read_bytes()
    assert result.value("mrr@50") == recallbench.load("there").value("mrr@50")


@pytest.mark.parametrize("store", [Notes, Notes(), open_notes, Waiting], ids=["class", "object", "function", "async"])
def test_a_store_may_be_an_object_of_this_process(place: Path, store: Any) -> None:
    result = recallbench.run("canary-locomo", store, out="out", **FEW)
    named = store if hasattr(store, "__qualname__") else type(store)
    assert result.metrics.store.name == f"python:{__name__}:{named.__qualname__}"
    assert result.value("mrr@50") == recallbench.run("canary-locomo", Notes, out="out", **FEW).value("mrr@50")
    if isinstance(store, Notes):
        assert store.notes == {}  # each haystack had a copy


def test_parameters_are_recorded_however_they_are_given(place: Path) -> None:
    by_set = recallbench.run("canary-locomo", Notes, set={"shortest": 5}, out="out", **FEW)
    by_object = recallbench.run("canary-locomo", Notes(shortest=5), out="out", **FEW)
    for result in (by_set, by_object):
        assert result.metrics.guc_state["shortest"] == "5"
        assert result.metrics.store.variant == "shortest 5"
    plain = recallbench.run("canary-locomo", Notes(), out="out", **FEW)
    assert (plain.metrics.guc_state["shortest"], plain.metrics.store.variant) == ("1", "")
    assert by_set.compare(by_object).document.identical


def test_an_object_that_knows_scopes_is_used_as_it_is_and_stays_open(place: Path) -> None:
    server = Server(top=7)
    result = recallbench.run("canary-locomo", server, out="out", **FEW)
    assert (len(server.scopes), server.closed) == (1, False)
    assert result.metrics.guc_state["top"] == "7"


def test_objects_without_a_name_that_can_be_imported(place: Path) -> None:
    class Inner(Notes):
        pass

    name = recallbench.run("canary-locomo", Inner, out="out", **FEW).metrics.store.name
    assert name.endswith(":test_objects_without_a_name_that_can_be_imported.<locals>.Inner")
    found = recallbench.run("canary-locomo", lambda items, vectors: lambda query, k: [], embedder="hash", **FEW)
    assert found.value("recall_any@10") == 0.0
    with pytest.raises(UsageError):  # its name is gone with the run
        recallbench.run("canary-locomo", name, **FEW)


def test_in_a_running_loop_as_that_of_a_notebook(place: Path) -> None:
    async def cell() -> recallbench.LoadedResult:
        return recallbench.run("canary-locomo", Waiting, out="out", **FEW)

    assert asyncio.run(cell()).metrics.retrieval.asked == 4


def test_an_object_that_cannot_be_copied_says_what_to_do(place: Path) -> None:
    class Locked(Notes):
        def __init__(self) -> None:
            super().__init__()
            self.lock = threading.Lock()

    with pytest.raises(UsageError, match="a Locked can't be copied") as caught:
        recallbench.run("canary-locomo", Locked(), **FEW)
    assert caught.value.remedy == "give the class, with its parameters: store=Locked, set={…}"


def test_an_exception_in_the_users_code_shows_its_line(place: Path) -> None:
    class Broken(Notes):
        def search(self, query: str, k: int) -> list[tuple[str, int]]:
            raise KeyError("no such index")

    with pytest.raises(InputError, match="no such index") as caught:
        recallbench.run("canary-locomo", Broken, **FEW)
    assert f'File "{__file__}"' in str(caught.value)
    assert not (place / "benchmarks").exists()


@pytest.mark.parametrize(
    ("store", "more", "message"),
    [
        (3, {}, "store is no memory"),
        (object(), {}, "store is no memory"),
        (dict, {}, "can't be used as a memory"),
        ("bm52", {}, "there is no store `bm52`"),
        ("bm25", {"nonsense": 3}, "run takes no nonsense"),
        ("bm25", {"dry_run": True}, "run takes no dry_run"),
        ("bm25", {"limit": 0}, "0 is not in the range"),
        ("bm25", {"limit": "few"}, "'few' is not a valid whole number"),
        ("bm25", {"scope": "all"}, "'all' is not one of 'own', 'pooled'"),
        ("bm25", {"download": "no"}, "download is on or off"),
        ("exact", {"embedder": open_notes}, "embedder is a text or a number"),
        ("bm25", {"allow_deviation": ["depth"]}, "--allow-deviation depth is not needed"),
        (Notes, {"set": {"longest": 1}}, "has no parameter longest"),
        (Notes, {"set": {"shortest": object()}}, "shortest can't be recorded"),
        (Notes, {"set": ["shortest=1"]}, "set is values by name"),
        (Notes(), {"set": {"shortest": 1}}, "an object has its parameters already"),
    ],
)
def test_what_makes_no_sense_is_refused(place: Path, store: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(RecallBenchError, match=message):
        recallbench.run("canary-locomo", store, **{**FEW, **more})
    assert list(place.iterdir()) == []


def test_the_recorded_command_is_the_run_s_own_and_not_that_of_the_script(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["tune.py", "--limit", "99", "--key", "not-to-be-seen"])
    result = recallbench.run("canary-locomo", store=Notes, set={"shortest": 2}, folder="of_script", **FEW)
    environment = json.loads((place / "of_script/environment.json").read_text())
    words = ["--set=shortest=2", "--folder=of_script", "--limit=4", "--quiet", f"--store={result.metrics.store.name}"]
    assert environment["command"] == ["recallbench", "run", "canary-locomo", *words]


def test_a_corpus_is_named(place: Path) -> None:
    for corpus, message in (
        ("lokomo", "no corpus is called lokomo"),
        ("canary", "several"),
        (None, "no corpus is named"),
        (1, "is a name"),
    ):
        with pytest.raises(UsageError, match=message):
            recallbench.run(corpus, "bm25")  # type: ignore[arg-type]


def test_its_keywords_are_the_options_of_the_command() -> None:
    options = {param.name for param in run_command.params if isinstance(param, click.Option)}
    assert set(inspect.signature(recallbench.run).parameters) == {"corpus", *options} - set(OF_COMMANDS)


def test_the_gate_on_the_seed_holds_where_python_was_started_with_it(place: Path) -> None:
    code = (
        "import recallbench\n"
        "result = recallbench.run('canary-locomo', 'bm25', limit=4, folder='made')\n"
        "print(result.verdict, result.metrics.seed)\n"
    )
    for seed, printed in (("42", "UNVERIFIED (pending: committed) 42\n"), (None, "UNVERIFIED None\n")):
        environ = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
        environ |= {"PYTHONHASHSEED": seed} if seed else {}
        folder = place / str(seed)
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=folder, env=environ, capture_output=True, text=True, check=True
        )
        assert done.stdout == printed
        assert ("gate on the seed fails" in done.stderr) == (seed is None)
