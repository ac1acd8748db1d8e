"""Single changes to a genuine result, each with the code of the check that has to see it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallbench.audit.checks.report import _timings
from recallbench.audit.subject import AuditSubject
from recallbench.corpora.registry import facts
from recallbench.protocol.frozen import load
from recallbench.reports.report import ReportedRun, render
from recallbench.results.metrics import Metrics
from recallbench.results.result import Result
from recallbench.results.retrievals import run_tag, trec_run

Change = Callable[[Path], None]


@dataclass(frozen=True)
class Mutation:
    name: str
    code: str
    change: Change


def metrics(*steps: str | int, to: object = None, by: Callable[[Any], object] | None = None) -> Change:
    """Set, or map, one value of metrics.json."""

    def change(folder: Path) -> None:
        path = folder / "metrics.json"
        whole = json.loads(path.read_text())
        place = whole
        for step in steps[:-1]:
            place = place[step]
        place[steps[-1]] = to if by is None else by(place[steps[-1]])
        path.write_text(json.dumps(whole, indent=1) + "\n")

    return change


def rows(edit: Callable[[list[dict[str, Any]]], object]) -> Change:
    """Edit the rows of raw_retrievals.jsonl."""

    def change(folder: Path) -> None:
        path = folder / "raw_retrievals.jsonl"
        found = [json.loads(line) for line in path.read_text().splitlines()]
        edit(found)
        path.write_text("".join(json.dumps(row) + "\n" for row in found))

    return change


def row(edit: Callable[[dict[str, Any]], object], number: int = 3) -> Change:
    """Edit one row."""
    return rows(lambda found: edit(found[number]))


def text(name: str, pattern: str, to: str | Callable[[re.Match[str]], str]) -> Change:
    """Replace the first match in a file; the file must have one."""

    def change(folder: Path) -> None:
        path = folder / name
        changed, count = re.subn(pattern, to, path.read_text(), count=1, flags=re.MULTILINE)
        assert count == 1, f"{pattern} is not in {name}"
        path.write_text(changed)

    return change


def document(name: str, edit: Callable[[dict[str, Any]], object]) -> Change:
    """Edit a JSON file."""

    def change(folder: Path) -> None:
        path = folder / name
        whole = json.loads(path.read_text())
        edit(whole)
        path.write_text(json.dumps(whole, indent=1) + "\n")

    return change


def file(name: str, content: bytes | None) -> Change:
    """Write a file, or take it away."""

    def change(folder: Path) -> None:
        (folder / name).unlink() if content is None else (folder / name).write_bytes(content)

    return change


def environment(*steps: str | int, to: object) -> Change:
    """Set one value of environment.json."""

    def edit(whole: dict[str, Any]) -> None:
        place: Any = whole
        for step in steps[:-1]:
            place = place[step]
        place[steps[-1]] = to

    return document("environment.json", edit)


def thoroughly(*changes: Change) -> Change:
    """Change, then make everything follow that follows from rankings and what is recorded: figures, run and report."""

    def forge(folder: Path) -> None:
        for change in changes:
            change(folder)
        rules, stated = load(), Metrics.model_validate_json((folder / "metrics.json").read_bytes())
        subject = AuditSubject(Result(folder, stated), rules, facts(stated.corpus.name, rules), [], {})
        made = subject.derived
        ranked = subject.retrieval
        lines = trec_run(ranked.questions, ranked.rankings, ranked.calls.depth, run_tag(made.store.name))
        (folder / "metrics.json").write_text(made.model_dump_json(indent=1) + "\n")
        (folder / "run.trec").write_text("".join(lines))
        (folder / "report.md").write_text(render(made, ReportedRun(subject.environment, _timings(subject))))

    return forge


def up(value: float) -> float:
    return value + 0.001


def digit(found: re.Match[str]) -> str:
    """The last digit of the match, another one."""
    return found[0][:-1] + str((int(found[0][-1]) + 1) % 10)


def swap(found: list[Any], one: int, other: int) -> None:
    found[one], found[other] = found[other], found[one]


def swap_ids(found: dict[str, Any]) -> None:
    """A gold segment and its neighbour change places, ranks and scores stay."""
    hits = found["hits"]
    place = next(i for i, hit in enumerate(hits) if hit["id"] in found["gold"])
    other = place + 1 if place + 1 < len(hits) else place - 1
    hits[place]["id"], hits[other]["id"] = hits[other]["id"], hits[place]["id"]


def swap_others(found: dict[str, Any]) -> None:
    """Two segments that are no gold change places: no figure moves."""
    one, other = [hit for hit in found["hits"] if hit["id"] not in found["gold"]][:2]
    one["id"], other["id"] = other["id"], one["id"]


def tie(found: dict[str, Any]) -> None:
    """Equal scores, the later segment first."""
    hits = found["hits"]
    place = next(i for i in range(len(hits) - 1) if _position(hits[i]) > _position(hits[i + 1]))
    hits[place]["score"] = hits[place + 1]["score"]


def _position(hit: dict[str, Any]) -> int:
    return int(hit["id"].rpartition("/")[2])


def leak(found: dict[str, Any]) -> None:
    """The last hit comes from another haystack."""
    found["hits"][-1]["id"] = "elsewhere/0"


def more_gold(found: dict[str, Any]) -> None:
    """What stood first becomes gold."""
    first = next(hit["id"] for hit in found["hits"] if hit["id"] not in found["gold"])
    found["gold"] = sorted([*found["gold"], first], key=lambda id: int(id.rpartition("/")[2]))


def control(edit: Callable[[list[str]], object]) -> Change:
    """Edit the lines of the lexical control's run."""

    def change(folder: Path) -> None:
        path = folder / "run.bm25.trec"
        lines = path.read_text().splitlines(keepends=True)
        edit(lines)
        path.write_text("".join(lines))

    return change


def promote(lines: list[str]) -> None:
    """BM25's first two of every question change places."""
    for i in range(len(lines) - 1):
        one, other = lines[i].split(), lines[i + 1].split()
        if one[3] == "1" and other[0] == one[0]:
            one[2], other[2] = other[2], one[2]
            lines[i], lines[i + 1] = " ".join(one) + "\n", " ".join(other) + "\n"


def one_call(found: list[dict[str, Any]]) -> None:
    """As if one call served both depths."""
    for one in found:
        del one["hits_of_k_call"]


def second_list(found: list[dict[str, Any]]) -> None:
    """As if there had been a call for 10 hits of its own, with the same answer."""
    for one in found:
        one["hits_of_k_call"] = one["hits"][:10]


def other_scores(found: dict[str, Any]) -> None:
    """The call for 10 hits scores otherwise, in the same order."""
    for hit in found["hits_of_k_call"]:
        hit["score"] += 0.25


def scaled(found: list[dict[str, Any]]) -> None:
    """Every score twice as high: no rank moves, and no figure but of abstention."""
    for one in found:
        for hit in one["hits"]:
            hit["score"] *= 2


def setting(name: str, to: str) -> Change:
    """One setting that was read back from the store."""
    return thoroughly(metrics("guc_state", name, to=to))


def evidence(name: str, to: str) -> Change:
    """One line of how the store worked."""
    return thoroughly(metrics("store", "evidence", name, to=to))


def version(to: str) -> Change:
    """The store's version, before and after."""
    return thoroughly(metrics("store", "version", to=to), metrics("store", "version_after", to=to))


def sample_less(folder: Path) -> None:
    """The slowest query that was timed on its own was never timed."""
    path = folder / "timings.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    slowest = max(lines, key=lambda line: json.loads(line).get("ms", 0))
    path.write_text("".join(line for line in lines if line != slowest))


def phase(name: str, seconds: float) -> Change:
    """One phase took so long, in both files that tell of it."""

    def change(folder: Path) -> None:
        environment("seconds", name, to=seconds)(folder)
        text("timings.jsonl", rf'("phase": "{name}", "seconds": )[0-9.e-]+', rf"\g<1>{seconds}")(folder)

    return thoroughly(change)


def timed(edit: Callable[[list[str]], object]) -> Change:
    """Edit the lines of timings.jsonl; environment.json has the phases that follow."""

    def change(folder: Path) -> None:
        path = folder / "timings.jsonl"
        lines = path.read_text().splitlines(keepends=True)
        edit(lines)
        path.write_text("".join(lines))
        phases = [one for one in map(json.loads, lines) if "phase" in one]
        environment("seconds", to={one["phase"]: round(one["seconds"], 4) for one in phases})(folder)

    return thoroughly(change)


def colder(lines: list[str]) -> None:
    """The first three queries were asked cold as well, and fast."""
    place = next(i for i, line in enumerate(lines) if "question_id" in line)
    lines[place:place] = [line.replace('"warm"', '"cold"') for line in lines[place : place + 3]]


def no_colder(lines: list[str]) -> None:
    """No query was asked cold."""
    lines[:] = [line for line in lines if '"cold"' not in line]


IN_PROCESS = "not possible: the store runs inside this process"


def exposed(**to: int) -> Change:
    """Counts of what the encoder saw; shares follow."""

    def change(folder: Path) -> None:
        for name, value in to.items():
            metrics("exposure", name, to=value)(folder)
        seen = json.loads((folder / "metrics.json").read_text())["exposure"]
        metrics("exposure", "truncated_share", to=seen["truncated"] / seen["segments"])(folder)
        metrics("exposure", "gold_turns_cut_share", to=seen["gold_turns_cut"] / seen["gold_turns"])(folder)

    return change


def embedded(**more: int) -> Change:
    """Counts of the embedder's account, so much larger."""

    def edit(whole: dict[str, Any]) -> None:
        for name, by in more.items():
            whole["embedding"][name] += by

    return thoroughly(document("environment.json", edit))


def commanded(*words: str) -> Change:
    """More words at the end of the command."""
    return document("environment.json", lambda whole: whole["command"].extend(words))


PRAISE = '{"phase": "verdict CANONICAL, embedding", "seconds": 0.5}\n'
ONE_CALL = thoroughly(rows(one_call), metrics("retrieval", "calls", to=[50]))
SECOND_LIST = thoroughly(rows(second_list), metrics("retrieval", "calls", to=[10, 50]))
OVERALL = ("estimates", "overall")


def append(name: str, more: str) -> Change:
    """More at the end of a file."""

    def change(folder: Path) -> None:
        path = folder / name
        path.write_text(path.read_text() + more)

    return change
