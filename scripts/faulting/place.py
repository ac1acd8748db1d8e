"""The folder of one case: what its command reads, where it writes, and what is left of it there."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commandline import ended
from faulting.hook import VARIABLE
from recallbench.cluster.starting import PREFIX
from recallbench.corpora.registry import write_miniature
from recallbench.results import manifest
from recallbench.scratch import OWNER, scratch
from recallbench.stores.postgres.folders import DATA
from recallbench.stores.postgres.shared_memory import shared_memory

HOOK = (
    "-c",
    f"import sys\nsys.path.insert(0, {str(Path(__file__).parents[1])!r})\nfrom faulting.hook import run\nrun()",
)
RESULTS = "results"
GONE_WITHIN = 2.0
"""Seconds that a process which ends with its command may still be seen."""
SECRET_NAME = re.compile(r"(?<=seals-)[0-9a-f]+|(?<=words/)[0-9a-f]+")
"""Names that follow from a key of the user's own, which every place has anew."""
ENCODER = """
import zlib
import numpy as np
def embed(texts):
    return [np.bincount([zlib.crc32(word.encode()) % 64 for word in text.split()], minlength=64) for text in texts]
"""
HYBRID = "".join(f'[[stage]]\nkind = "search"\nmethod = "{method}"\n' for method in ("dense", "lexical"))
HYBRID += '[[stage]]\nkind = "fuse"\nmethod = "rrf"\n'
TUNE = '[run]\npipeline = "hybrid.toml"\n[parameters]\n"rrf.k" = [1, 60]\nk = [5, 10]\n[baseline]\n'
DOCUMENTS, QUERIES = 400, 20
"""Of the labelled set: enough for several batches of texts."""


@dataclass(frozen=True)
class Done:
    """A command that ended."""

    code: int
    out: str
    err: str
    batches: tuple[int, ...]
    """The sizes of the batches that it embedded, or began to."""


class Place:
    """A folder of a case's own, where a command runs, is struck, and runs again."""

    def __init__(self, room: Path) -> None:
        self.work, self.tmp, self.notes = room / "work", room / "tmp", room / "notes"
        for folder in (self.work, self.tmp, self.notes):
            folder.mkdir()
        for name, text in (("encoder.py", ENCODER), ("hybrid.toml", HYBRID), ("tune.toml", TUNE)):
            (self.work / name).write_text(text)
        write_miniature("longmemeval", self.work / "long.json")
        _labelled(self.work / "team")
        self.env: dict[str, str] = {}
        """What its commands find in their environment beside what all do."""
        self.server_memory: set[int] = set()
        self._before = set(_elsewhere())

    def run(self, words: Sequence[str], notes: Path | None = None, **order: Any) -> Done:
        """Run a command to its end, with what is to happen to it; two at once have a folder of notes each."""
        notes = notes or self.notes
        for note in notes.iterdir():
            note.unlink()
        variables = {"TMPDIR": str(self.tmp), "XDG_CONFIG_HOME": str(self.work / "settings"), **self.env}
        variables[VARIABLE] = json.dumps({"notes": str(notes), **order})
        done = ended(list(words), cwd=self.work, env=variables, program=HOOK)
        batches = notes / "batches"
        sizes = tuple(map(int, batches.read_text().split())) if batches.exists() else ()
        return Done(done.returncode, done.stdout, done.stderr, sizes)

    def run_halted(self, words: Sequence[str], meanwhile: Callable[[], object], **order: Any) -> Done:
        """Run a command that waits at a line while something happens, and then goes on."""
        with ThreadPoolExecutor(1) as runner:
            running = runner.submit(self.run, words, **order)
            while not self.was_reached() and not running.done():
                time.sleep(0.01)
            if not running.done():
                try:
                    meanwhile()
                finally:
                    (self.notes / "go").touch()
            return running.result()

    def was_reached(self) -> bool:
        """Whether the last command came to the line that was drawn."""
        return (self.notes / "reached").exists()

    def interrupt(self) -> None:
        """Send the command that was halted a signal to end."""
        os.kill(int((self.notes / "reached").read_text()), signal.SIGTERM)

    def counts(self) -> dict[str, int]:
        """The lines of each phase that the last command ran, where it was told to count them."""
        return dict(json.loads((self.notes / "counts").read_text()))

    def results(self) -> list[Path]:
        """The finished folders."""
        folder = self.work / RESULTS
        return sorted(path for path in folder.iterdir() if path.name[0] != ".") if folder.is_dir() else []

    def left_over(self) -> list[str]:
        """Names of what is unfinished or still there in a moment: files, folders, processes, memory."""
        end = time.monotonic() + GONE_WITHIN
        while (found := self._found()) and time.monotonic() < end:
            time.sleep(0.02)
        return found

    def _found(self) -> list[str]:
        found = [f"tmp/{path.name}" for path in sorted(self.tmp.iterdir())]
        found += [str(path.relative_to(self.work)) for path in self.work.rglob(".recallbench-*")]
        found += [str(path) for path in _elsewhere() if path not in self._before and _is_abandoned(path)]
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command, folder = (process / "cmdline").read_bytes(), os.readlink(process / "cwd")
            except OSError:
                continue
            if str(self.tmp).encode() in command or folder.startswith((str(self.tmp), str(self.work))):
                found.append(f"process {command.decode(errors='replace')[:100]}")
        kept = {segment.id for segment in shared_memory()}
        return found + [f"shared memory {id}" for id in sorted(self.server_memory & kept)]

    def note_servers(self) -> None:
        """Remember the shared memory of the servers that a killed command left: it must be gone later."""
        for file in self.tmp.glob(f"*/{DATA}/postmaster.pid"):
            lines = file.read_text(errors="replace").splitlines()
            if len(lines) > 6:
                self.server_memory.add(int(lines[6].split()[1]))

    def names(self) -> set[str]:
        """The names of all files but those of results."""
        files = (path.relative_to(self.work) for path in self.work.rglob("*") if path.is_file())
        return {SECRET_NAME.sub("own", str(path)) for path in files if path.parts[0] != RESULTS}


def _elsewhere() -> list[Path]:
    """The folders of clusters, which are in no case's own: they need a short path."""
    return list(Path("/tmp").glob(f"{PREFIX}*"))


def _is_abandoned(folder: Path) -> bool:
    """Whether the owner of a temporary folder is dead."""
    try:
        with (folder / OWNER).open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return folder.exists()


@contextmanager
def a_place() -> Iterator[Place]:
    """A place that is gone with the block, or swept by a later campaign. The user that servers run as can reach it."""
    with scratch(Path(tempfile.gettempdir())) as room:
        room.chmod(0o755)
        yield Place(room)


def content_of(folder: Path) -> str:
    """What must be the same whatever happened: the bytes of a result, or the findings of a study without its times."""
    if differences := manifest.differences(folder):
        return f"not whole: {'; '.join(differences)}"
    if (folder / "metrics.json").exists():
        return manifest.read(folder / manifest.NAME)[1]
    if (folder / "sweep.json").exists():
        # Which point is chosen depends on how quick each was.
        points = json.loads((folder / "sweep.json").read_text())["points"]
        return json.dumps([[point[name] for name in OF_POINTS] for point in points])
    study = json.loads((folder / "latency.json").read_text())
    # An interruption leaves the levels that were whole, and the study says so.
    return json.dumps([study["questions"], study["dataset_sha256"], len(study["rows"])]) if study["finished"] else PART


PART = "a study that was interrupted"
OF_POINTS = (
    "name",
    "parameters",
    "version",
    "estimate",
    "tuning",
    "slices",
    "failed_questions",
    "failure",
    "answers_sha256",
)
"""What of a point of a sweep does not depend on time."""


def _labelled(folder: Path) -> None:
    folder.mkdir()
    words = [f"w{number}" for number in range(97)]
    rows = [
        {
            "_id": f"d{number}",
            "text": " ".join(words[(number * step) % 97] for step in (1, 3, 7, 11, 29)) + f" n{number}",
        }
        for number in range(DOCUMENTS)
    ]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = range(0, DOCUMENTS, DOCUMENTS // QUERIES)
    gold = [{"query_id": f"q{n}", "query": f"{rows[n]['text'][:12]} n{n}", "relevant": [f"d{n}"]} for n in asked]
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
