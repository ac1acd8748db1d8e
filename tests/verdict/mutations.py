"""Single changes to a genuine result, each with the code of the check that has to see it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
)
LONGMEMEVAL: tuple[Mutation, ...] = (
    Mutation("AUROC raised", "RB-ABSTENTION", metrics("abstention", "auroc", by=lambda value: value / 2)),
    Mutation("threshold moved", "RB-ABSTENTION", metrics("abstention", "threshold", by=up)),
    Mutation("abstention dropped", "RB-ABSTENTION", metrics("abstention", to=None)),
    Mutation("abstention denied", "RB-LABELS", rows(lambda found: [r.update(abstention=False) for r in found])),
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


def _append(path: Path, more: str) -> None:
    path.write_text(path.read_text() + more)
