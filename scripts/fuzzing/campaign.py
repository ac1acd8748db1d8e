"""Many cases: which one a number is, how it is done, and what is kept of it."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from fuzzing.mutations import mutated
from fuzzing.readers import READERS, Reader
from fuzzing.trial import Outcome, attempt, run_words

CHUNK = 100
"""Cases that are noted as done together."""
INPUT, ABOUT = "input", "case.json"


@dataclass(frozen=True)
class Case:
    """What a number stands for: the same for the same seed and the same valid files."""

    number: int
    reader: Reader
    file: str
    way: int
    content: bytes
    mended: bool


@dataclass
class Tally:
    """What became of the cases so far."""

    kinds: Counter[str] = field(default_factory=Counter)
    by_reader: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)


def case(place: Path, seed: int, number: int, readers: Sequence[Reader] = READERS) -> Case:
    """Return a case by its number."""
    rng = Random(f"{seed}:{number}")
    reader = readers[number % len(readers)]
    files = matching(place, reader)
    file = rng.choice(files)
    content = mutated((place / file).read_bytes(), rng)
    return Case(number, reader, file, rng.randrange(len(reader.ways)), content, rng.random() < 0.5)


def matching(place: Path, reader: Reader) -> list[str]:
    """Return the valid files of a reader, by their names below the place."""
    found = {path for pattern in reader.files for path in place.glob(pattern) if path.is_file()}
    if not found:
        raise SystemExit(f"the reader {reader.name} has no valid file to begin with: {', '.join(reader.files)}")
    return sorted(str(path.relative_to(place)) for path in found)


def perform(place: Path, one: Case) -> Outcome:
    """Put the changed file in its place, let it be read, and put all back."""
    os.chdir(place)
    path = Path(one.file)
    before = path.read_bytes()
    others = {name: name.read_bytes() for name in _touched(path)}
    shutil.rmtree("out", ignore_errors=True)
    Path("out").mkdir()
    try:
        path.write_bytes(one.content)
        if one.mended and one.reader.before:
            one.reader.before(path)
        return attempt(lambda: _read(one, path))
    finally:
        path.write_bytes(before)
        for name, content in others.items():
            name.write_bytes(content)
        for made in ("open/gold.jsonl", f"{_folder(path)}.html"):
            Path(made).unlink(missing_ok=True)


def _touched(path: Path) -> list[Path]:
    """Return the other files that a case may write to."""
    beside = [path.parent / "manifest.json", Path("results/canary_bm25.attestation.json")]
    return [name for name in beside if name.is_file() and name != path]


def _read(one: Case, path: Path) -> int:
    way = one.reader.ways[one.way]
    if callable(way):
        return way(path)
    words = [word.format(file=path, folder=_folder(path)) for word in way]
    return run_words(words)


def _folder(path: Path) -> Path:
    """Return the folder that a file belongs to: that of its result or set, not the one of its splits."""
    return path.parent.parent if path.parent.name in ("qrels", "1_Pooling") else path.parent


def keep(findings: Path, one: Case, outcome: Outcome) -> Path:
    """Keep a case that went wrong: the changed file, what became of it, and the command that does it again."""
    folder = findings / f"{one.reader.name}-{one.number}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / INPUT).write_bytes(one.content)
    about = {"reader": one.reader.name, "file": one.file, "way": one.way, "mended": one.mended, "number": one.number}
    (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n")
    way = one.reader.ways[one.way]
    does = way.__name__ if callable(way) else f"recallbench {' '.join(way)}"
    (folder / "outcome.txt").write_text(
        f"{outcome.kind}: {outcome.signature}\nfile: {one.file}\nread by: {does}\n"
        f"again: scripts/fuzz --replay {folder}\n\n{outcome.text}\n",
        "utf-8",
        "backslashreplace",
    )
    return folder


def kept_case(folder: Path) -> Case:
    """Return a case that was kept. Its own bytes count: keys and times in valid files differ from day to day."""
    about = json.loads((folder / ABOUT).read_text("utf-8"))
    (reader,) = (reader for reader in READERS if reader.name == about["reader"])
    content = (folder / INPUT).read_bytes()
    return Case(about["number"], reader, _there(about["file"], reader), about["way"], content, about["mended"])


def _there(name: str, reader: Reader) -> str:
    """Return the place of a file whose folder is named by a day or a hash, which may be another one now."""
    if Path(name).exists():
        return name
    alike = [file for file in matching(Path(), reader) if Path(file).name == Path(name).name]
    return alike[0] if alike else matching(Path(), reader)[0]


def run(place: Path, findings: Path, seed: int, numbers: Iterable[int], readers: Sequence[Reader] = READERS) -> Tally:
    """Do the cases of these numbers; the first of each kind of failure is kept, the others are counted."""
    tally = Tally()
    for number in numbers:
        one = case(place, seed, number, readers)
        outcome = perform(place, one)
        tally.kinds[outcome.kind] += 1
        tally.by_reader[one.reader.name] += 1
        if not outcome.accepted:
            signature = f"{one.reader.name}: {outcome.kind} {outcome.signature}"
            if not tally.findings[signature]:
                keep(findings, one, outcome)
            tally.findings[signature] += 1
    return tally


def note(log: Path, chunk: int, tally: Tally) -> None:
    """Add a chunk that is done to the log, in one write."""
    line = json.dumps({"chunk": chunk, "kinds": tally.kinds, "by_reader": tally.by_reader, "findings": tally.findings})
    with log.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def noted(log: Path) -> dict[int, Tally]:
    """Return the chunks that are done, by their number."""
    done: dict[int, Tally] = {}
    if log.exists():
        for line in log.read_text("utf-8").splitlines():
            read = json.loads(line)
            counts = (Counter(read[name]) for name in ("kinds", "by_reader", "findings"))
            done[read["chunk"]] = Tally(*counts)
    return done
