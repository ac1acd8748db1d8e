"""A class of the user's own by the real command line, from the run to whatever looks at its result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commandline import recallbench

MEMORY = '''
"""A memory as somebody has it, in a file of the working directory."""
__version__ = "0.3"


class Memory:
    def __init__(self, shortest: int = 1, trap="", api_key=None):
        self.shortest, self.trap = shortest, trap
        self.notes = {}

    def add(self, id, text):
        if self.trap and self.trap in text:
            raise RuntimeError(f"can't hold {self.trap}")
        self.notes[id] = self.words(text)

    def search(self, query, k):
        if self.trap:
            self.notes["of nobody"] = self.notes[self.trap]
        scored = [(id, len(self.words(query) & words)) for id, words in self.notes.items()]
        return sorted(scored, key=lambda hit: -hit[1])[:k]

    def words(self, text):
        return {word for word in text.lower().strip("?.").split() if len(word) >= self.shortest}


class Counting(Memory):
    def search(self, query, k):
        return list(range(3))


class Turned(Memory):
    def search(self, query, k):
        return [(0.5, id) for id in self.notes][:k]


class Diary:
    def write(self, text): ...


class Deaf:
    def add(self, text): ...


diary = Memory()
'''
STORE = ("--store", "python:my_memory:Memory")
TEXTS = {
    "kb-1": "The ferry to Oslo leaves at nine.",
    "kb-2": "It rains in Bergen.",
    "kb-35": "The shop opens at eight.",
}
GOLD = {"When does the ferry leave?": "kb-1", "When is the shop open?": "kb-35"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the class, a labelled set, and two results of it."""
    place = tmp_path_factory.mktemp("own")
    (place / "my_memory.py").write_text(MEMORY)
    (place / "team").mkdir()
    (place / "team" / "corpus.jsonl").write_text(
        "".join(json.dumps({"_id": id, "text": text}) + "\n" for id, text in TEXTS.items())
    )
    (place / "team" / "gold.jsonl").write_text(
        "".join(json.dumps({"query": query, "relevant": [id]}) + "\n" for query, id in GOLD.items())
    )
    for folder, words in {"plain": (), "longer": ("--set", "shortest=4", "--set", "api_key=sk-12345678")}.items():
        assert recallbench("evaluate", "team", *STORE, *words, "--folder", folder, cwd=place).returncode == 0
    return place


def test_a_parameter_is_recorded_and_shown_wherever_results_are(workspace: Path) -> None:
    plain, longer = (json.loads((workspace / name / "metrics.json").read_text()) for name in ("plain", "longer"))
    assert plain["store"]["version"] == "my_memory:Memory (0.3)"
    assert plain["store"]["evidence"]["calls"] == "add(id, text), search(query, k), an instance for each scope"
    assert plain["guc_state"] == {
        "callable.function": "my_memory:Memory", "shortest": "1", "trap": "", "api_key": "null",
    }  # fmt: skip
    assert plain["store"]["variant"] == ""
    assert longer["guc_state"]["shortest"] == "4"
    assert longer["store"]["variant"] == "api_key *** and shortest 4"
    options = json.loads((workspace / "longer" / "environment.json").read_text())["options"]
    assert options["store_options"] == {"shortest": "4", "api_key": "***"}
    assert not any("sk-12345678" in path.read_text() for path in (workspace / "longer").iterdir())

    compared = recallbench("compare", "plain", "longer", "--allow", "store", cwd=workspace).stdout
    assert "they differ in setting shortest: 1 against 4" in compared
    table = recallbench("table", "plain", "longer", cwd=workspace).stdout
    assert "shortest" in table.splitlines()[2]
    report = recallbench("report", "longer", cwd=workspace)
    assert report.returncode == 0
    assert "python:my_memory:Memory (api_key *** and shortest 4)" in (workspace / "longer.html").read_text()
    drift = recallbench("drift", "plain", "longer", cwd=workspace)
    assert "shortest 4" in drift.stdout
    audited = recallbench("audit", "plain", "longer", "--failures", "--corpus-file", "team", cwd=workspace).stdout
    assert "  fail" not in audited
    assert audited.count("RB-COMMITTED") == 2


def test_a_dry_run_a_settings_file_and_a_variable_know_the_parameters(workspace: Path) -> None:
    (workspace / "night.toml").write_text('store = "python:my_memory:Memory"\n[set]\nshortest = 4\ntrap = "7"\n')
    dry = recallbench("run", "canary-locomo", "--dry-run", "--config", "night.toml", cwd=workspace)
    assert dry.returncode == 0
    assert "in this process: add(id, text), search(query, k), an instance for each scope" in dry.stdout
    assert "settings: shortest 4 and trap 7 instead of the defaults" in dry.stdout
    wrong = recallbench("doctor", "canary-locomo", *STORE, cwd=workspace, env={"RECALLBENCH_SET": "longest=4"})
    assert wrong.returncode == 2
    assert "has no parameter longest" in wrong.stderr


@pytest.mark.parametrize(
    "words", [("grow", "canary-locomo", "--factors", "1"), ("repeat", "2", "canary-locomo"), ("run", "canary-locomo")]
)
def test_every_command_that_takes_a_store_takes_the_class(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "my_memory.py").write_text(MEMORY)
    done = recallbench(*words, *STORE, "--set", "shortest=4", "--limit", "3", "-q", cwd=tmp_path)
    assert done.returncode == 0
    assert "python:my_memory:Memory (shortest 4)" in done.stdout


def test_a_failure_shows_the_lines_of_the_class_and_none_of_ours(workspace: Path) -> None:
    asked = recallbench("evaluate", "team", *STORE, "--set", "trap=kb-1", "--folder", "no", "-q", cwd=workspace)
    assert asked.returncode == 2
    assert "`my_memory:Memory` failed while searching for `When does the ferry leave?`" in asked.stderr
    lines = asked.stderr.splitlines()
    assert [line for line in lines if line.strip().startswith("File ")] == [
        f'      File "{workspace / "my_memory.py"}", line 18, in search'
    ]
    assert "    KeyError: 'kb-1'" in lines
    assert "expected: " not in asked.stderr
    assert "src/recallbench" not in asked.stderr
    added = recallbench("evaluate", "team", *STORE, "--set", "trap=Bergen", "--folder", "no", "-q", cwd=workspace)
    assert "failed while taking segment 2 of 3 of scope 1, `It rains in Bergen.`" in added.stderr
    assert "    RuntimeError: can't hold Bergen" in added.stderr
    kept = ("--set", "trap=kb-1", "--keep-going", "--limit", "2")
    every = recallbench("evaluate", "team", *STORE, *kept, "--folder", "no", "-q", cwd=workspace)
    assert every.returncode == 2
    assert "not one of 2 questions was answered" in every.stderr
    assert every.stderr.count("line 18, in search") == 1
    assert not (workspace / "no").exists()


def test_a_module_that_fails_shows_its_own_line(workspace: Path) -> None:
    (workspace / "half.py").write_text("import json\n\nNOTES = json.loads('{')\n")
    done = recallbench("run", "canary-locomo", "--store", "python:half:Memory", cwd=workspace)
    assert done.returncode == 2
    assert f'File "{workspace / "half.py"}", line 3, in <module>' in done.stderr
    assert "importlib" not in done.stderr
    (workspace / "torn.py").write_text("class Memory:\n    def add(self, text:\n")
    assert 'torn.py", line 2' in recallbench("run", "canary", "--store", "python:torn:Memory", cwd=workspace).stderr


@pytest.mark.parametrize(
    ("store", "words", "expected"),
    [
        ("Memory", ("--set", "shorts=4"), "expected: its own parameters: shortest=1, trap='', api_key=None"),
        ("Memory", ("--set", "shortest"), "--set shortest can't be read"),
        ("Counting", (), "expected: ids that `add` was given for this haystack, such as '1'\n  found: 0, an int"),
        ("Turned", (), "expected: pairs of (id, score)\n  found: (0.5, '1'), which is (score, id)\n"),
        ("Diary", (), "found: the methods write\n"),
        ("Deaf", (), "found: the methods add; search is missing\n"),
        ("diary", (), "found: a Memory; its class is my_memory:Memory"),
        ("Memoir", (), "which has Memory, Counting, Turned, Diary"),
    ],
)
def test_what_does_not_fit_is_told(workspace: Path, store: str, words: tuple[str, ...], expected: str) -> None:
    name = f"python:my_memory:{store}"
    done = recallbench("evaluate", "team", "--store", name, *words, "--folder", "no", "-q", cwd=workspace)
    assert done.returncode == 2
    assert expected in done.stderr
    assert "what to do: " in done.stderr


def test_a_file_in_place_of_a_module_is_told(workspace: Path) -> None:
    done = recallbench("run", "canary", "--store", "python:my_memory.py:Memory", cwd=workspace)
    assert done.returncode == 2
    assert "expected: the module's name, as my_memory:Memory" in done.stderr


def test_set_is_for_other_stores_too(workspace: Path) -> None:
    done = recallbench("run", "canary-locomo", "--store", "bm25", "--set", "k1=2", cwd=workspace)
    assert done.returncode == 2
    assert "the store `bm25` has no use for --set k1" in done.stderr
    listed = recallbench("stores", cwd=workspace).stdout
    assert "callable  a memory of your own that --call names; --store python:module:Class is the usual way" in listed
    assert "NAME=VALUE is a parameter of its constructor" in listed
