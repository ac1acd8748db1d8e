"""Single changes to a genuine result, each with the code of the check that has to see it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recallbench.audit.case import Case
from recallbench.audit.checks.report import _timings
from recallbench.corpora.registry import facts
from recallbench.protocol.frozen import load
from recallbench.reports.report import ReportedRun, render
from recallbench.results.metrics import Metrics
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
        case = Case(folder, stated, rules, facts(stated.corpus.name, rules), [], {})
        made = case.derived
        answers = case.answers
        lines = trec_run(answers.questions, answers.rankings, answers.depth, run_tag(made.store.name))
        (folder / "metrics.json").write_text(made.model_dump_json(indent=1) + "\n")
        (folder / "run.trec").write_text("".join(lines))
        (folder / "report.md").write_text(render(made, ReportedRun(case.environment, _timings(case))))

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
LOCOMO: tuple[Mutation, ...] = (
    # the folder
    Mutation("a file too many", "RB-FILES", file("notes.txt", b"looks good\n")),
    Mutation("the control's run is gone", "RB-FILES", file("run.bm25.trec", None)),
    Mutation("the timings are gone", "RB-FILES", file("timings.jsonl", None)),
    Mutation("BLOCKED.md", "RB-BLOCKED", file("BLOCKED.md", b"# BLOCKED\n")),
    # the rules
    Mutation("protocol version", "RB-PROTOCOL", metrics("protocol", "version", to="1.0.1")),
    Mutation("protocol name", "RB-PROTOCOL", metrics("protocol", "cited_as", to="Recall Protocol v1")),
    Mutation("protocol hash", "RB-PROTOCOL", metrics("protocol", "sha256", by=lambda s: s[::-1])),
    Mutation("published hash", "RB-PROTOCOL", metrics("protocol", "published_sha256", by=lambda s: s[::-1])),
    Mutation("clarifications hash", "RB-CLARIFICATIONS", metrics("protocol", "clarifications_sha256", to="0" * 64)),
    Mutation("a clarification less", "RB-APPLIED", metrics("protocol", "clarifications", by=lambda n: n[1:])),
    # the dataset
    Mutation("dataset hash", "RB-DATASET", metrics("dataset_sha256", to="0" * 64)),
    Mutation("the corpus' own hash", "RB-CORPUS", metrics("corpus", "sha256", to="0" * 64)),
    Mutation("hash of another dataset", "RB-DATASET-PINNED", metrics("dataset_sha256", to="1" * 64)),
    Mutation("registered hash", "RB-CORPUS", metrics("corpus", "registered_sha256", to="0" * 64)),
    Mutation("count of segments", "RB-CORPUS", metrics("corpus", "segments", by=lambda n: n + 1)),
    Mutation("count of turns", "RB-CORPUS", metrics("corpus", "turns", by=lambda n: n + 1)),
    Mutation("count of questions", "RB-CORPUS", metrics("corpus", "questions", by=lambda n: n + 1)),
    Mutation("evidence that reaches nothing", "RB-CORPUS", metrics("corpus", "unresolved_evidence", to=1)),
    Mutation("a kind's count", "RB-CORPUS", metrics("corpus", "kinds", by=lambda k: {n: c + 1 for n, c in k.items()})),
    # the rows
    Mutation("row dropped", "RB-QUESTIONS", rows(lambda found: found.pop(5))),
    Mutation("last row dropped", "RB-ROWS", rows(lambda found: found.pop())),
    Mutation("row doubled", "RB-QUESTIONS", rows(lambda found: found.append(found[0]))),
    Mutation("row in another's place", "RB-QUESTIONS", rows(lambda found: found.__setitem__(4, found[5]))),
    Mutation("rows swapped", "RB-QUESTIONS", rows(lambda found: swap(found, 2, 3))),
    Mutation("unknown question", "RB-QUESTIONS", row(lambda r: r.update(question_id="nobody/q0"))),
    Mutation("kind changed", "RB-LABELS", row(lambda r: r.update(kind="multi-hop" * (r["kind"] != "multi-hop")))),
    Mutation("cluster changed", "RB-LABELS", row(lambda r: r.update(cluster=""))),
    Mutation("haystack larger", "RB-LABELS", row(lambda r: r.update(candidates=r["candidates"] + 1))),
    Mutation("denominator dropped", "RB-LABELS", row(lambda r: r["denominators"].pop())),
    Mutation("abstention claimed", "RB-LABELS", row(lambda r: r.update(abstention=True))),
    Mutation("gold moved to the first hit", "RB-GOLD", row(lambda r: r.update(gold=[r["hits"][0]["id"]]), 7)),
    Mutation("gold added", "RB-GOLD", row(more_gold)),
    Mutation("gold emptied", "RB-GOLD", row(lambda r: r.update(gold=[]))),
    Mutation("grades invented", "RB-GOLD", row(lambda r: r.update(grades={r["gold"][0]: 2.0}))),
    Mutation("two rows on a line", "RB-ROWS", text("raw_retrievals.jsonl", r"\}\n", "} ")),
    Mutation("row cut off", "RB-ROWS", text("raw_retrievals.jsonl", r"\]\}\n\Z", "")),
    Mutation("blank line", "RB-ROWS", text("raw_retrievals.jsonl", r"\n", "\n\n")),
    Mutation("NaN", "RB-ROWS", text("raw_retrievals.jsonl", r'"score": [0-9.e-]+', '"score": NaN')),
    Mutation("field nobody knows", "RB-ROWS", row(lambda r: r.update(note="x"))),
    Mutation("rank as text", "RB-ROWS", row(lambda r: r["hits"][0].update(rank="1"))),
    Mutation("text invented", "RB-TEXTS", row(lambda r: r.update(question="What else?"))),
    Mutation("text of a hit changed", "RB-TEXTS", row(lambda r: r["hits"][0].update(text="Nothing."))),
    # the rankings
    Mutation("rank doubled", "RB-RANKS", row(lambda r: r["hits"][1].update(rank=1))),
    Mutation("negative rank", "RB-RANKS", row(lambda r: r["hits"][0].update(rank=-1))),
    Mutation("ranks from 0", "RB-RANKS", row(lambda r: [hit.update(rank=hit["rank"] - 1) for hit in r["hits"]])),
    Mutation("score order broken", "RB-SCORES", row(lambda r: r["hits"][-1].update(score=9.0))),
    Mutation("infinite score", "RB-SCORES", row(lambda r: r["hits"][0].update(score=math.inf))),
    Mutation("tie against the haystack's order", "RB-SCORES", row(tie)),
    Mutation("id twice", "RB-TWICE", row(lambda r: r["hits"][-1].update(id=r["hits"][0]["id"]))),
    Mutation("scope leaked", "RB-SCOPE", row(leak)),
    Mutation("position beyond the haystack", "RB-SCOPE", row(lambda r: r["hits"][-1].update(id=f"{r['scope']}/9999"))),
    Mutation("id written otherwise", "RB-SCOPE", row(lambda r: r["hits"][-1].update(id=r["hits"][-1]["id"] + " "))),
    Mutation("hit dropped", "RB-LENGTH", row(lambda r: r["hits"].pop())),
    Mutation("all hits dropped", "RB-LENGTH", row(lambda r: r["hits"].clear())),
    Mutation("a second ranking", "RB-LENGTH", row(lambda r: r.update(hits_of_k_call=r["hits"][:10]))),
    Mutation("gold swapped up", "RB-VALUES", row(swap_ids)),
    Mutation("others swapped, no figure moves", "RB-RUN", row(swap_others)),
    # the exports
    Mutation("run.trec reordered", "RB-RUN", text("run.trec", r"(?s)\A(.*?\n)(.*?\n)", r"\2\1")),
    Mutation("run.trec shortened", "RB-RUN", text("run.trec", r"(?s)\n[^\n]*\n\Z", "\n")),
    Mutation("judgement added", "RB-QRELS", text("qrels.trec", r"\n", "\nnobody 0 elsewhere/0 1\n")),
    Mutation("control run edited", "RB-CONTROL-FIGURES", control(promote)),
    Mutation("control run shortened", "RB-CONTROL", control(lambda lines: lines.pop())),
    Mutation("control run of elsewhere", "RB-CONTROL", text("run.bm25.trec", r"Q0 \S+", "Q0 elsewhere/0")),
    Mutation("control run is none", "RB-CONTROL", file("run.bm25.trec", b"\xff\xfe\n")),
    # the figures
    Mutation("value raised", "RB-VALUES", metrics(*OVERALL, 2, "value", by=up)),
    Mutation("value of a kind raised", "RB-VALUES", metrics("estimates", "temporal", 0, "value", by=up)),
    Mutation("n raised", "RB-VALUES", metrics(*OVERALL, 2, "n", by=lambda n: n + 1)),
    Mutation("measure renamed", "RB-VALUES", metrics(*OVERALL, 2, "measure", to="recall@10")),
    Mutation("measure dropped", "RB-VALUES", metrics("estimates", "overall", by=lambda found: found[:-1])),
    Mutation("kind dropped", "RB-VALUES", metrics("estimates", by=lambda all: {"overall": all["overall"]})),
    Mutation("interval widened", "RB-INTERVALS", metrics(*OVERALL, 2, "low", by=lambda low: low - 0.01)),
    Mutation("interval narrowed", "RB-INTERVALS", metrics(*OVERALL, 2, "high", by=lambda high: high - 0.001)),
    Mutation("interval of another make", "RB-INTERVALS", metrics(*OVERALL, 2, "method", to="Wilson 95%")),
    Mutation("design effect", "RB-INTERVALS", metrics(*OVERALL, 2, "design_effect", to=1.0)),
    Mutation("chance lowered", "RB-CHANCE", metrics(*OVERALL, 2, "chance", by=lambda value: value / 2)),
    Mutation("ceiling lowered", "RB-CHANCE", metrics(*OVERALL, 2, "ceiling", to=0.9)),
    Mutation("saturation hidden", "RB-CHANCE", metrics(*OVERALL, 4, "saturated", to=0.0)),
    Mutation(
        "control lowered", "RB-CONTROL-FIGURES", metrics("control_bm25", "overall", 2, "value", by=lambda v: v / 2)
    ),
    Mutation("abilities invented", "RB-ABILITIES", metrics("abilities", to={})),
    Mutation("headline raised", "RB-HEADLINE", metrics("headline", 0, "estimate", "value", by=up)),
    Mutation("headline of another measure", "RB-HEADLINE", metrics("headline", 0, "protocol_name", to="recall@5")),
    Mutation("a band that applies", "RB-HEADLINE", metrics("headline", 0, "band_status", to="inside")),
    Mutation("denominator's count", "RB-DENOMINATORS", metrics("denominators", 1, "count", by=lambda n: n - 1)),
    Mutation("denominator's figure", "RB-DENOMINATORS", metrics("denominators", 0, "values", "mrr@50", by=up)),
    Mutation("another denominator in front", "RB-DENOMINATORS", metrics("denominators", by=lambda d: d[::-1])),
    Mutation("fewer asked", "RB-RETRIEVAL", metrics("retrieval", "asked", by=lambda n: n - 1)),
    Mutation("shortfall declared", "RB-RETRIEVAL", metrics("retrieval", "missing_hits", to=3)),
    Mutation("segments given", "RB-RETRIEVAL", metrics("retrieval", "segments", by=lambda n: n - 1)),
    Mutation("k changed", "RB-RETRIEVAL", metrics("retrieval", "calls", to=[10, 50])),
    Mutation("depth changed", "RB-OPTIONS", metrics("retrieval", "depth", to=40)),
    Mutation("scope changed", "RB-OPTIONS", metrics("retrieval", "scope", to="pooled")),
    Mutation("limit changed", "RB-OPTIONS", metrics("retrieval", "limit", to=100)),
    # the report
    Mutation("report's headline", "RB-REPORT", text("report.md", r"\*\*0\.[0-9]{4}", digit)),
    Mutation("report's table", "RB-REPORT", text("report.md", r"^\| `mrr@50` \| 0\.[0-9]{4}", digit)),
    Mutation("report's control", "RB-REPORT", text("report.md", r"(?s)## Lexical control.*?0\.[0-9]{4}", digit)),
    Mutation("report's deviations", "RB-REPORT", text("report.md", r"^- \*\*store\*\*.*\n", "")),
    Mutation("report's verdict", "RB-REPORT", text("report.md", "UNVERIFIED", "VERIFIED")),
    Mutation("report with a section more", "RB-REPORT", lambda f: _append(f / "report.md", "\n## Headline\n\n0.999\n")),
    Mutation("report of another encoding", "RB-REPORT", file("report.md", "é".encode("latin-1"))),
    # what it says of itself
    Mutation("deviation removed", "RB-DEVIATIONS", metrics("deviations", by=lambda found: found[1:])),
    Mutation("deviations removed", "RB-DEVIATIONS", metrics("deviations", to=[])),
    Mutation("deviation reworded", "RB-DEVIATIONS", metrics("deviations", 0, "detail", to="a trifle")),
    Mutation("gate's status", "RB-GATES", metrics("gates", 5, "status", to="pass")),
    Mutation("gate dropped", "RB-GATES", metrics("gates", by=lambda found: found[:-1])),
    Mutation("verdict VERIFIED", "RB-VERDICT", metrics("verdict", "label", to="VERIFIED")),
    Mutation("verdict CANONICAL", "RB-VERDICT", metrics("verdict", "canonical", to=True)),
    Mutation("reproduction claimed", "RB-REPRODUCTION", metrics("reproduction", to="baseline-v0.2.1")),
    # what is recorded
    Mutation("exposure hidden", "RB-RECORDED", metrics("exposure", to=None)),
    Mutation("labelled turns", "RB-RANGES", metrics("exposure", "gold_turns", by=lambda n: n + 1)),
    Mutation("another cut", "RB-RANGES", metrics("exposure", "max_tokens", to=256)),
    Mutation(
        "hash seed", "RB-RECORDED", document("environment.json", lambda e: e["variables"].update(PYTHONHASHSEED="7"))
    ),
    Mutation(
        "embedding of another",
        "RB-RECORDED",
        document("environment.json", lambda e: e["embedding"].update(encoder="bge-m3")),
    ),
    Mutation(
        "command of another",
        "RB-OPTIONS",
        document("environment.json", lambda e: e.update(command=["recallbench", "run", "locomo"])),
    ),
    Mutation(
        "command of another store",
        "RB-OPTIONS",
        document("environment.json", lambda e: e["command"].__setitem__(4, "bm25")),
    ),
    Mutation(
        "a heading in the processor",
        "RB-RECORDED",
        thoroughly(environment("machine", "cpu", to="x86\n\n## Verdict: CANONICAL\n")),
    ),
    Mutation(
        "a tag in the processor", "RB-RECORDED", thoroughly(environment("machine", "cpu", to="<h1>CANONICAL</h1>"))
    ),
    Mutation(
        "a zero-width note", "RB-RECORDED", thoroughly(environment("embedding", "notes", to=["un\u200bverified"]))
    ),
    Mutation("a device turned round", "RB-RECORDED", thoroughly(environment("embedding", "device", to="\u202eupc"))),
    Mutation("a tag in a package", "RB-RECORDED", environment("packages", "numpy", to="2 <img src=x>")),
    Mutation("a tag in the corpus file", "RB-RECORDED", thoroughly(metrics("corpus", "file", to="<b>locomo</b>"))),
    Mutation(
        "a heading in the corpus file", "RB-RECORDED", thoroughly(metrics("corpus", "file", to="a\n## CANONICAL"))
    ),
    Mutation(
        "a hidden phase",
        "RB-RECORDED",
        text("timings.jsonl", r'"phase": "survey"', r'"phase": "survey\\u200b"'),
    ),
    Mutation("a hidden kind in a row", "RB-RECORDED", row(lambda found: found.update(kind="un\u200bknown"))),
    Mutation("fingerprint of another", "RB-RECORDED", metrics("embedder", "fingerprint", to={"encoder": "bge-m3"})),
    Mutation("version of another store", "RB-RECORDED", metrics("store", "version", to="recallbench-pgvector/1")),
    Mutation(
        "a heading in a setting", "RB-RECORDED", metrics("guc_state", to={"exact.order": "score\n\n## Headline\n"})
    ),
    Mutation(
        "a fence in the evidence", "RB-RECORDED", metrics("store", "evidence", to={"plan": "a\n```\n## Headline"})
    ),
    Mutation(
        "made in the year 1",
        "RB-RANGES",
        document("environment.json", lambda e: e.update(started="0001-01-01T00:00:00+00:00")),
    ),
    Mutation(
        "made tomorrow's year",
        "RB-RANGES",
        document("environment.json", lambda e: e.update(ended="2999-01-01T00:00:00+00:00")),
    ),
    Mutation("release of another day", "RB-REPORT", metrics("recallbench_version", to="0.0.9")),
    Mutation(
        "report's circumstances", "RB-REPORT", text("report.md", r"^\| machine \| .*", "| machine | a better one |")
    ),
    Mutation("timings emptied", "RB-REPORT", file("timings.jsonl", b"")),
    Mutation(
        "line ends",
        "RB-RUN",
        lambda f: (f / "run.trec").write_bytes((f / "run.trec").read_bytes().replace(b"\n", b"\r\n")),
    ),
    Mutation("a page of its own", "RB-FILES", file("report.html", b"<h1>0.999</h1>")),
    Mutation(
        "UTF-16",
        "RB-RECORDED",
        lambda f: (f / "environment.json").write_text((f / "environment.json").read_text(), "utf-16"),
    ),
    Mutation("control weakened throughout", "RB-CONTROL-AGAIN", control(promote)),
    Mutation("seed changed", "RB-SEED", metrics("seed", to=7)),
    Mutation("no seed", "RB-RECORDED", metrics("seed", to=None)),
    Mutation("no settings", "RB-RECORDED", metrics("guc_state", to={})),
    Mutation("no version", "RB-RECORDED", metrics("store", "version", to="")),
    Mutation("version changed meanwhile", "RB-VERSION", metrics("store", "version_after", to="exact/2")),
    Mutation("pgmnemo's version", "RB-VERSION", metrics("pgmnemo_version", to="0.20.0")),
    Mutation("store renamed", "RB-OPTIONS", metrics("store", "name", to="pgmnemo")),
    Mutation("embedder renamed", "RB-OPTIONS", metrics("embedder", "name", to="dragon-plus")),
    Mutation("fingerprint changed", "RB-RECORDED", metrics("embedder", "fingerprint", "pooling", to="cls")),
    Mutation("vectors' hash", "RB-RECORDED", metrics("embedder", "vectors_sha256", to="none")),
    Mutation("more cut than there are", "RB-RANGES", metrics("exposure", "truncated", to=10**6)),
    Mutation("share of cut segments", "RB-RANGES", metrics("exposure", "truncated_share", to=0.5)),
    Mutation("negative timing", "RB-RANGES", text("timings.jsonl", r'"seconds": ', '"seconds": -')),
    Mutation(
        "ended before it began", "RB-RANGES", document("environment.json", lambda e: e.update(ended="1999-01-01"))
    ),
    Mutation("options rewritten", "RB-OPTIONS", document("environment.json", lambda e: e["options"].update(depth=20))),
    Mutation("an option dropped", "RB-OPTIONS", document("environment.json", lambda e: e["options"].pop("limit"))),
    Mutation("options dropped", "RB-OPTIONS", document("environment.json", lambda e: e.pop("options"))),
    # what two files say of one thing
    Mutation("a second list invented", "RB-CALLS", SECOND_LIST),
    Mutation("a cosine above 1", "RB-SCORES", thoroughly(row(lambda r: r["hits"][0].update(score=1.5)))),
    Mutation("a setting it never states", "RB-RECORDED", setting("exact.warmth", "high")),
    Mutation("evidence it never states", "RB-RECORDED", evidence("audited by", "nobody in particular")),
    Mutation("numpy of another version", "RB-RECORDED", version("recallbench-exact/1 (numpy 9.9.9)")),
    Mutation("another release around", "RB-RECORDED", environment("recallbench_version", to="9.9.9")),
    Mutation(
        "a fingerprint with more to it",
        "RB-RECORDED",
        metrics("embedder", "fingerprint", by=lambda all: {**all, "quantised": "no"}),
    ),
    Mutation("everything cut, and few tokens", "RB-RANGES", thoroughly(exposed(truncated=9, longest=600, tokens=700))),
    Mutation("nothing cut, and many tokens", "RB-RANGES", thoroughly(exposed(longest=512, tokens=10**6))),
    Mutation("long, and few tokens", "RB-RANGES", thoroughly(exposed(longest=512, tokens=513))),
    Mutation(
        "evidence cut where no text is",
        "RB-RANGES",
        thoroughly(exposed(truncated=0, longest=512, tokens=20_000, gold_turns_cut=1)),
    ),
    Mutation("a text less embedded", "RB-EMBEDDING", embedded(distinct=-1, computed=-1)),
    Mutation("computed and reused at once", "RB-EMBEDDING", embedded(reused=5)),
    Mutation("fewer tokens than the segments have", "RB-EMBEDDING", embedded(tokens=-1700)),
    Mutation("more tokens than the questions can have", "RB-EMBEDDING", embedded(tokens=10**6)),
    Mutation("texts cut, and no tokens", "RB-EMBEDDING", embedded(truncated=60)),
    Mutation("counts that are none", "RB-EMBEDDING", environment("embedding", "distinct", to="many")),
    Mutation("a cosine of 2 in the proof", "RB-EMBEDDING", environment("embedding", "worst_cosine", to=2.0)),
    Mutation("a proof without a cosine", "RB-EMBEDDING", environment("embedding", "proof", to="equal")),
    Mutation("another backend around", "RB-EMBEDDING", environment("embedding", "backend", to="torch/cuda")),
    Mutation(
        "a line of its own in the account", "RB-EMBEDDING", thoroughly(environment("embedding", "verdict", to="fine"))
    ),
    Mutation("foreign vectors in a run without reuse", "RB-EMBEDDING", environment("embedding", "foreign", to=5)),
    Mutation("vectors embedded again, none reused", "RB-EMBEDDING", environment("embedding", "embedded_again", to=8)),
    Mutation(
        "a cosine of nothing", "RB-EMBEDDING", environment("embedding", "embedded_again_worst_cosine", to=0.9999999)
    ),
    Mutation(
        "one word less on kept vectors",
        "RB-EMBEDDING",
        document("environment.json", lambda e: e["embedding"].pop("foreign")),
    ),
    Mutation(
        "a proof that was not needed, on 99 texts", "RB-EMBEDDING", environment("embedding", "proof_texts", to=99)
    ),
    Mutation(
        "an embedding longer than the run", "RB-TIMINGS", environment("embedding", "seconds", to={"forward": 1e6})
    ),
    Mutation("a phase of its own", "RB-TIMINGS", timed(lambda lines: lines.insert(6, PRAISE))),
    Mutation(
        "a store in this process asked cold",
        "RB-TIMINGS",
        thoroughly(timed(colder), environment("cold_queries", to="timed")),
    ),
    Mutation("a fast cold query, in words", "RB-TIMINGS", thoroughly(environment("cold_queries", to="p50 0.01 ms"))),
    Mutation("statistics of an earlier release", "RB-RECORDED", thoroughly(metrics("statistics_edition", to=1))),
    Mutation("a store that nobody asked for", "RB-OPTIONS", environment("options", "store", to=None)),
    Mutation("praise around", "RB-RANGES", environment("verdict", to="CANONICAL")),
    Mutation("no core at all", "RB-RANGES", thoroughly(environment("machine", "cores", to=0))),
    Mutation("a commit that is none", "RB-RANGES", environment("git", "recallbench", to={"commit": "z", "clean": 1})),
    Mutation("a phase longer than the run", "RB-TIMINGS", phase("search", 5000.0)),
    Mutation("a phase told twice", "RB-TIMINGS", environment("seconds", "search", to=7.5)),
    Mutation("a slow query left out", "RB-TIMINGS", thoroughly(sample_less)),
    Mutation("a query that failed", "RB-TIMINGS", thoroughly(text("timings.jsonl", '"warm"', '"failed"'))),
    Mutation("text that was not asked for", "RB-TEXTS", environment("options", "with_text", to=False)),
    Mutation("another store in the command", "RB-OPTIONS", commanded("--store=bm25")),
    Mutation("another limit in the command", "RB-OPTIONS", commanded("--limit", "3")),
    Mutation("another scope in the command", "RB-OPTIONS", commanded("--scope", "pooled")),
    Mutation("a ranker in the command", "RB-OPTIONS", commanded("--graph-ranker", "importance")),
    Mutation("a deviation allowed in the command", "RB-OPTIONS", commanded("--allow-deviation", "dataset")),
    Mutation("torch in the command", "RB-OPTIONS", commanded("--backend", "torch")),
    Mutation("failures allowed in the command", "RB-OPTIONS", commanded("--keep-going")),
    Mutation("a variant asked for", "RB-OPTIONS", environment("options", "ranker", to="importance")),
)
LONGMEMEVAL: tuple[Mutation, ...] = (
    Mutation("AUROC raised", "RB-ABSTENTION", metrics("abstention", "auroc", by=lambda value: value / 2)),
    Mutation("threshold moved", "RB-ABSTENTION", metrics("abstention", "threshold", by=up)),
    Mutation("abstention dropped", "RB-ABSTENTION", metrics("abstention", to=None)),
    Mutation("abstention denied", "RB-LABELS", rows(lambda found: [r.update(abstention=False) for r in found])),
    Mutation("an ability's figure", "RB-ABILITIES", metrics("abilities", "temporal reasoning", 0, "low", to=0.99)),
    Mutation("abilities dropped", "RB-ABILITIES", metrics("abilities", to=None)),
)
LABELLED: tuple[Mutation, ...] = (
    Mutation("a tenant's figure", "RB-LABELLED", metrics("tenants", "north", 0, "value", by=lambda value: value / 2)),
    Mutation("a tenant dropped", "RB-LABELLED", metrics("tenants", by=lambda found: {"north": found["north"]})),
    Mutation("the worst question dropped", "RB-LABELLED", metrics("worst", by=lambda found: found[1:])),
    Mutation("younger labels", "RB-LABELLED", metrics("labels", "oldest", to="2026-10-01")),
    Mutation("a row's tenant", "RB-LABELS", row(lambda r: r.update(tenant="south"), 0)),
    Mutation("a grade in the row", "RB-GOLD", row(lambda r: r["grades"].update({"north/0": 1.0}), 0)),
    Mutation("a grade in the judgements", "RB-QRELS", text("qrels.graded.trec", "200$", "100")),
    Mutation("documents renamed", "RB-DOCUMENTS", text("documents.tsv", r"^north/0\toslo", "north/0\tfjord")),
    Mutation("no names of documents", "RB-DOCUMENTS", file("documents.tsv", None)),
    Mutation("no graded judgements", "RB-QRELS", file("qrels.graded.trec", None)),
)

MATCHED: tuple[Mutation, ...] = (
    Mutation("another method in the name", "RB-LABELLED", metrics("corpus", "name", by=lambda s: s + "-60")),
    Mutation("a threshold in the name", "RB-GOLD", metrics("corpus", "name", by=lambda s: s.replace("0.3", "0.7"))),
    Mutation("another method told", "RB-LABELLED", metrics("matching", "method", to="exact")),
    Mutation("a fuzzy match told as exact", "RB-LABELLED", metrics("matching", "exact", by=lambda n: n + 1)),
    Mutation("a question without a match hidden", "RB-LABELLED", metrics("matching", "unmatched", to=[])),
    Mutation("random matches made rare", "RB-LABELLED", metrics("matching", "sensitivity", 1, "random", to=0.0)),
    Mutation(
        "sensitivity smoothed", "RB-LABELLED", metrics("matching", "sensitivity", 0, "recall_frac_10_of_all", to=1)
    ),
    Mutation("matching left out", "RB-LABELLED", metrics("matching", to=None)),
)


CONTROL_PHASE = '{"phase": "control", "seconds": 0.001}\n'
STORES: Mapping[str, tuple[Mutation, ...]] = {
    "pgvector": (
        Mutation("a second list invented", "RB-CALLS", SECOND_LIST),
        Mutation("another k1", "RB-RECORDED", setting("recallbench.bm25_k1", "1.5")),
        Mutation("another half-life", "RB-RECORDED", setting("recallbench.recency_half_life_days", "300")),
        Mutation("another weight than asked for", "RB-RECORDED", setting("recallbench.weight_graph", "0.5")),
        Mutation("another plan cache", "RB-RECORDED", setting("plan_cache_mode", "auto")),
        Mutation("a setting it never states", "RB-RECORDED", setting("hnsw.ef_search", "1000")),
        Mutation("a setting less", "RB-RECORDED", metrics("guc_state", by=lambda all: dict(list(all.items())[1:]))),
        Mutation("pgvector of another version", "RB-RECORDED", evidence("pgvector", "0.9.9")),
        Mutation("a server of another version", "RB-RECORDED", evidence("server", "PostgreSQL 21.1, embedded")),
        Mutation("an embedded server far away", "RB-RECORDED", evidence("connection", "host=far.example")),
        Mutation("a plan by a vector index", "RB-RECORDED", evidence("plan", "Index Scan using hnsw on segments")),
        Mutation("a plan of vectors alone", "RB-RECORDED", evidence("plan", "Index Scan using pkey on segments s")),
        Mutation("a plan of another table", "RB-RECORDED", evidence("plan", "Index Scan on postings p")),
        Mutation(
            "slow cold queries left out",
            "RB-TIMINGS",
            thoroughly(timed(no_colder), environment("cold_queries", to=IN_PROCESS)),
        ),
        Mutation("an index it never makes", "RB-RECORDED", evidence("index", "hnsw on (embedding)")),
        Mutation("evidence it never states", "RB-RECORDED", evidence("audited by", "nobody in particular")),
        Mutation("nothing was searched", "RB-RECORDED", evidence("plan", "nothing was searched")),
        Mutation(
            "a revision to come", "RB-RECORDED", version("recallbench-pgvector/9 (PostgreSQL 18.4, pgvector 0.8.5)")
        ),
        Mutation("a server that was not asked", "RB-RECORDED", environment("options", "dsn", to="host=far.example")),
        Mutation("a score above all weights", "RB-SCORES", thoroughly(row(lambda r: r["hits"][0].update(score=2.5)))),
        Mutation("the phase `ready` left out", "RB-TIMINGS", text("timings.jsonl", '^{"phase": "ready".*\n', "")),
    ),
    "bm25": (
        Mutation("a second list of BM25", "RB-CALLS", SECOND_LIST),
        Mutation("a list announced that is not there", "RB-CALLS", metrics("retrieval", "calls", to=[10, 50])),
        Mutation("scores doubled", "RB-CONTROL-AGAIN", thoroughly(rows(scaled))),
        Mutation("a negative score", "RB-SCORES", thoroughly(row(lambda r: r["hits"][-1].update(score=-1.0)))),
        Mutation("another b", "RB-RECORDED", setting("bm25.b", "0.5")),
        Mutation("bm25s of another version", "RB-RECORDED", version("recallbench-bm25/1 (bm25s 9.9.9)")),
        Mutation("a control beside itself", "RB-TIMINGS", lambda f: _append(f / "timings.jsonl", CONTROL_PHASE)),
    ),
    "python": (
        Mutation("two scores for one segment", "RB-CALLS", thoroughly(row(other_scores))),
        Mutation("a third call", "RB-CALLS", metrics("retrieval", "calls", to=[10, 20, 50])),
        Mutation("one call of a memory that promises nothing", "RB-CALLS", ONE_CALL),
        Mutation("another function's version", "RB-RECORDED", version("my_memory:another (7.2)")),
        Mutation("another function's settings", "RB-RECORDED", setting("callable.function", "my_memory:another")),
        Mutation("a setting of no function", "RB-RECORDED", setting("recallbench.bm25_k1", "1.2")),
    ),
    "http": (
        Mutation("two scores for one item of a server", "RB-CALLS", thoroughly(row(other_scores))),
        Mutation("a third call of a server", "RB-CALLS", metrics("retrieval", "calls", to=[10, 20, 50])),
        Mutation("too few requests for two calls", "RB-CALLS", evidence("requests", "170 sent, 0 of them again")),
        Mutation("requests that were mostly repeats", "RB-CALLS", evidence("requests", "1000 sent, 900 of them again")),
        Mutation("one call of a server that promises nothing", "RB-CALLS", ONE_CALL),
        Mutation("a server elsewhere", "RB-RECORDED", evidence("server", "http://far.example")),
        Mutation("no requests", "RB-RECORDED", evidence("requests", "none")),
    ),
    "pgmnemo": (
        Mutation("one call of the canonical store", "RB-CALLS", ONE_CALL),
        Mutation("two scores for one segment", "RB-CALLS", thoroughly(row(other_scores))),
        Mutation("another function", "RB-RECORDED", evidence("function", "pgmnemo.recall_fast(k integer)")),
        Mutation("dates nobody asked for", "RB-RECORDED", evidence("created_at", "the corpus' dates")),
        Mutation(
            "half the segments",
            "RB-RECORDED",
            evidence("recallable", "1 of 9 segments, each scope asked for all of its own"),
        ),
        Mutation("the gate wide open", "RB-RECORDED", setting("pgmnemo.gate_strict", "off")),
        Mutation("another recency", "RB-RECORDED", setting("pgmnemo.recency_weight", "0.90")),
        Mutation("fewer candidates", "RB-RECORDED", setting("pgmnemo.ef_search", "10")),
        Mutation("a setting of another store", "RB-RECORDED", setting("recallbench.bm25_k1", "1.2")),
        Mutation("a server elsewhere", "RB-RECORDED", evidence("connection", "host=far.example")),
        Mutation(
            "another function in the command",
            "RB-OPTIONS",
            document("environment.json", lambda e: e["command"].extend(["--pgmnemo-function", "recall_fast"])),
        ),
    ),
    "callable": (
        Mutation("one call of a function", "RB-CALLS", ONE_CALL),
        Mutation("two scores for one item of a function", "RB-CALLS", thoroughly(row(other_scores))),
        Mutation("scores as no memory has them", "RB-RECORDED", evidence("scores", "as they should be")),
    ),
    "graph": (
        Mutation("one call of the graph", "RB-CALLS", ONE_CALL),
        Mutation("two scores for one session", "RB-CALLS", thoroughly(row(other_scores))),
        Mutation("another ranker in force", "RB-RECORDED", setting("graph.ranker", "importance")),
        Mutation("another half-life of the graph", "RB-RECORDED", setting("graph.recency_half_life_days", "300")),
        Mutation(
            "sessions of another corpus",
            "RB-RECORDED",
            evidence("index", "none: from the scope along its links (1 sessions, 2 entities, 3 mentions)"),
        ),
        Mutation("another server", "RB-RECORDED", evidence("server", "Neo4j/9.9.9, given by NEO4J_URI")),
        Mutation(
            "another ranker in the command",
            "RB-OPTIONS",
            document("environment.json", lambda e: e["command"].extend(["--graph-ranker", "importance"])),
        ),
        Mutation("a ranker asked for in silence", "RB-OPTIONS", environment("options", "ranker", to="importance")),
    ),
}
"""By store, since each declares what its own results are held to."""


def _append(path: Path, more: str) -> None:
    path.write_text(path.read_text() + more)
