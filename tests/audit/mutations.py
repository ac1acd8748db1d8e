"""Single changes to a genuine result, each with the code of the check that has to see it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallbench.audit.subject import AuditSubject
from recallbench.corpora.registry import facts
from recallbench.protocol.frozen import load
from recallbench.reports.report import ReportedRun, render
from recallbench.reports.result_page import PAGE, page_of
from recallbench.results.known_texts import row_texts
from recallbench.results.latency import read_timings
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
        content = json.loads(path.read_text())
        target = content
        for step in steps[:-1]:
            target = target[step]
        target[steps[-1]] = to if by is None else by(target[steps[-1]])
        path.write_text(json.dumps(content, indent=1) + "\n")

    return change


def rows(edit: Callable[[list[dict[str, Any]]], object]) -> Change:
    """Edit the rows of raw_retrievals.jsonl."""

    def change(folder: Path) -> None:
        path = folder / "raw_retrievals.jsonl"
        edited = [json.loads(line) for line in path.read_text().splitlines()]
        edit(edited)
        path.write_text("".join(json.dumps(row) + "\n" for row in edited))

    return change


def row(edit: Callable[[dict[str, Any]], object], number: int = 3) -> Change:
    """Edit one row."""
    return rows(lambda all_rows: edit(all_rows[number]))


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
        content = json.loads(path.read_text())
        edit(content)
        path.write_text(json.dumps(content, indent=1) + "\n")

    return change


def file(name: str, content: bytes | None) -> Change:
    """Write a file, or take it away."""

    def change(folder: Path) -> None:
        (folder / name).unlink() if content is None else (folder / name).write_bytes(content)

    return change


def environment(*steps: str | int, to: object) -> Change:
    """Set one value of environment.json."""

    def edit(content: dict[str, Any]) -> None:
        target: Any = content
        for step in steps[:-1]:
            target = target[step]
        target[steps[-1]] = to

    return document("environment.json", edit)


def thoroughly(*changes: Change) -> Change:
    """Change, then derive figures, run and report again, so that they agree with the change."""

    def forge(folder: Path) -> None:
        for change in changes:
            change(folder)
        rules, stated = load(), Metrics.model_validate_json((folder / "metrics.json").read_bytes())
        subject = AuditSubject(Result(folder, stated), rules, facts(stated.corpus.name, rules), [], {})
        derived = subject.derived
        ranked = subject.retrieval
        lines = trec_run(ranked.questions, ranked.rankings, ranked.calls.depth, run_tag(derived.store.name))
        (folder / "metrics.json").write_text(derived.model_dump_json(indent=1) + "\n")
        (folder / "run.trec").write_text("".join(lines))
        write_reports(subject)

    return forge


def write_reports(subject: AuditSubject) -> None:
    """Write report and page again, as they follow from the folder's other files."""
    report = render(
        subject.derived, ReportedRun(subject.environment, read_timings(subject.folder, subject.environment))
    )
    (subject.folder / "report.md").write_text(report)
    (subject.folder / PAGE).write_text(page_of(subject.result, subject.derived, row_texts(subject.folder)))


def up(value: float) -> float:
    return value + 0.001


def digit(match: re.Match[str]) -> str:
    """Return the match with another last digit."""
    return match[0][:-1] + str((int(match[0][-1]) + 1) % 10)


def swap(rows: list[Any], first: int, second: int) -> None:
    rows[first], rows[second] = rows[second], rows[first]


def swap_ids(row: dict[str, Any]) -> None:
    """Swap the ids of a gold segment and its neighbour; ranks and scores stay."""
    hits = row["hits"]
    position = next(i for i, hit in enumerate(hits) if hit["id"] in row["gold"])
    other = position + 1 if position + 1 < len(hits) else position - 1
    hits[position]["id"], hits[other]["id"] = hits[other]["id"], hits[position]["id"]


def swap_others(row: dict[str, Any]) -> None:
    """Swap two segments that are not gold: no figure moves."""
    first, second = [hit for hit in row["hits"] if hit["id"] not in row["gold"]][:2]
    first["id"], second["id"] = second["id"], first["id"]


def tie(row: dict[str, Any]) -> None:
    """Give a segment the score of an earlier one behind it."""
    hits = row["hits"]
    position = next(i for i in range(len(hits) - 1) if _position(hits[i]) > _position(hits[i + 1]))
    hits[position]["score"] = hits[position + 1]["score"]


def _position(hit: dict[str, Any]) -> int:
    return int(hit["id"].rpartition("/")[2])


def leak(row: dict[str, Any]) -> None:
    """Replace the last hit by one of another haystack."""
    row["hits"][-1]["id"] = "elsewhere/0"


def more_gold(row: dict[str, Any]) -> None:
    """Make the first hit that is not gold into gold."""
    first = next(hit["id"] for hit in row["hits"] if hit["id"] not in row["gold"])
    row["gold"] = sorted([*row["gold"], first], key=lambda id: int(id.rpartition("/")[2]))


def control(edit: Callable[[list[str]], object]) -> Change:
    """Edit the lines of the lexical control's run."""

    def change(folder: Path) -> None:
        path = folder / "run.bm25.trec"
        lines = path.read_text().splitlines(keepends=True)
        edit(lines)
        path.write_text("".join(lines))

    return change


def promote(lines: list[str]) -> None:
    """Swap BM25's first two hits of every question."""
    for i in range(len(lines) - 1):
        words, next_words = lines[i].split(), lines[i + 1].split()
        if words[3] == "1" and next_words[0] == words[0]:
            words[2], next_words[2] = next_words[2], words[2]
            lines[i], lines[i + 1] = " ".join(words) + "\n", " ".join(next_words) + "\n"


def one_call(rows: list[dict[str, Any]]) -> None:
    """Take the second call away, as if a single call served both depths."""
    for row in rows:
        del row["hits_of_k_call"]


def second_list(rows: list[dict[str, Any]]) -> None:
    """Add a second call for 10 hits, with the same answer."""
    for row in rows:
        row["hits_of_k_call"] = row["hits"][:10]


def other_scores(row: dict[str, Any]) -> None:
    """Change the scores of the call for 10 hits; its order stays."""
    for hit in row["hits_of_k_call"]:
        hit["score"] += 0.25


def scaled(rows: list[dict[str, Any]]) -> None:
    """Double every score: no rank moves, and no figure but abstention's."""
    for row in rows:
        for hit in row["hits"]:
            hit["score"] *= 2


def setting(name: str, to: str) -> Change:
    """Set a setting that was read back from the store."""
    return thoroughly(metrics("guc_state", name, to=to))


def evidence(name: str, to: str) -> Change:
    """Set a line of the evidence."""
    return thoroughly(metrics("store", "evidence", name, to=to))


def version(to: str) -> Change:
    """Set the store's version, before and after."""
    return thoroughly(metrics("store", "version", to=to), metrics("store", "version_after", to=to))


def sample_less(folder: Path) -> None:
    """Drop the timing of the slowest query."""
    path = folder / "timings.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    slowest = max(lines, key=lambda line: json.loads(line).get("ms", 0))
    path.write_text("".join(line for line in lines if line != slowest))


def phase(name: str, seconds: float) -> Change:
    """Set the seconds of a phase, in both files that record it."""

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
        phases = [entry for entry in map(json.loads, lines) if "phase" in entry]
        environment("seconds", to={phase["phase"]: round(phase["seconds"], 4) for phase in phases})(folder)

    return thoroughly(change)


def colder(lines: list[str]) -> None:
    """Add a fast cold query for each of the first three."""
    position = next(i for i, line in enumerate(lines) if "question_id" in line)
    lines[position:position] = [line.replace('"warm"', '"cold"') for line in lines[position : position + 3]]


def no_colder(lines: list[str]) -> None:
    """Drop the cold queries."""
    lines[:] = [line for line in lines if '"cold"' not in line]


IN_PROCESS = "not possible: the store runs inside this process"


def exposed(**to: int) -> Change:
    """Set counts of the exposure; its shares follow."""

    def change(folder: Path) -> None:
        for name, value in to.items():
            metrics("exposure", name, to=value)(folder)
        seen = json.loads((folder / "metrics.json").read_text())["exposure"]
        metrics("exposure", "truncated_share", to=seen["truncated"] / seen["segments"])(folder)
        metrics("exposure", "gold_turns_cut_share", to=seen["gold_turns_cut"] / seen["gold_turns"])(folder)

    return change


def embedded(**more: int) -> Change:
    """Add to counts of the embedder's account."""

    def edit(content: dict[str, Any]) -> None:
        for name, by in more.items():
            content["embedding"][name] += by

    return thoroughly(document("environment.json", edit))


def commanded(*words: str) -> Change:
    """Append words to the command."""
    return document("environment.json", lambda content: content["command"].extend(words))


PRAISE = '{"phase": "verdict CANONICAL, embedding", "seconds": 0.5}\n'
ONE_CALL = thoroughly(rows(one_call), metrics("retrieval", "calls", to=[50]))
SECOND_LIST = thoroughly(rows(second_list), metrics("retrieval", "calls", to=[10, 50]))
OVERALL = ("estimates", "overall")


def append(name: str, more: str) -> Change:
    """Append to a file."""

    def change(folder: Path) -> None:
        path = folder / name
        path.write_text(path.read_text() + more)

    return change
