"""`recallbench canary`: a canary of one's own, drawn, checked and drawn anew."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import Any

import click

from recallbench.cli.command import PATH, VARIABLES, Whole, argument, choice, command, flag, is_given, option, typed
from recallbench.errors import UsageError
from recallbench.escaping.document import plain
from recallbench.reports.table import print_parts

EXAMPLES = (
    "Examples: recallbench canary team --log recalls.jsonl --result base --stale-after 30d --out team-canary; "
    "recallbench evaluate team-canary; recallbench canary team-canary --check --log recalls.jsonl; recallbench canary "
    "team-canary --refresh --log recalls.jsonl --result base --out team-canary-2. The bundled corpora canary-locomo "
    "and canary-longmemeval are something else: miniatures to try the program with."
)
OF_CHECK = ("source", "log", "result", "skip_bad", "drift", "format")
OF_DRAW = ("n", "log", "result", "hard", "hard_rank", "by", "split", "seed", "stale_after", "skip_bad", "out", "format")
OF_REFRESH = (
    "source",
    "n",
    "log",
    "result",
    "hard",
    "hard_rank",
    "seed",
    "stale_after",
    "skip_bad",
    "out",
    "keep",
    "format",
)


@command(
    argument("folder", "A labelled set; with --check or --refresh a canary.", metavar="DIR", type=PATH),
    option("n", "How many questions to draw, 100 to 300.", type=int, default=200),
    option(
        "log",
        "Recalls of production, JSON lines as `sample` reads them: they give the mix of kinds and tenants; "
        "repeat it for several [default: the set's own mix].",
        multiple=True,
        type=PATH,
    ),
    option(
        "result",
        "A result over the set: what it missed or ranked low is hard, and its pairs with a second one tell what can be "
        "detected. With --check: a result over the canary, whose figures are weighed back to production's mix.",
        multiple=True,
        type=PATH,
    ),
    option(
        "hard",
        "The least share of hard questions, as 0.3 [default: in proportion, and at least one].",
        type=click.FloatRange(0, 1),
    ),
    option("hard-rank", "A question is hard where its first find comes after this rank.", type=Whole(1), default=3),
    choice("by", "What is drawn in proportion.", ["kind,tenant", "kind", "tenant"], default="kind,tenant"),
    option("split", "The split of the set, whose judgements are qrels/<split>.tsv [default: test]."),
    option("seed", "The seed by which questions are drawn.", type=int, default=42),
    option("out", "The folder of the canary; it must not exist yet [default: DIR-canary].", type=PATH),
    option("stale-after", "When it is to be drawn anew: 30d (d, w, m, y), 2027-01-31, or 5000q for so many recalls."),
    flag("check", "Say whether the canary DIR is fresh, and why; exit 1 when it is stale."),
    option(
        "drift",
        "With --check: the share of the mix that may move.",
        type=click.FloatRange(0, 1, min_open=True),
        default=0.1,
    ),
    flag("refresh", "Draw the canary DIR anew, as it was drawn, into --out."),
    option(
        "keep",
        "With --refresh: the share of each stratum that stays, of questions that are unchanged in the set; more where "
        "it has too few new ones.",
        type=click.FloatRange(0, 1),
        default=0.5,
    ),
    option("source", "With --check and --refresh: the set that the canary is from, where it has moved.", type=PATH),
    flag("skip-bad", "Pass over lines of the log that can't be read as a recall."),
    choice("format", "How it is printed.", ["text", "json"], default="text"),
    epilog=f"{EXAMPLES} {VARIABLES}",
)
def canary(
    folder: Path,
    log: tuple[Path, ...],
    result: tuple[Path, ...],
    check: bool,
    refresh: bool,
    drift: float,
    source: Path | None,
    skip_bad: bool,
    format: str,
    **of_draw: Any,
) -> int:
    """Draw 100 to 300 questions of a labelled set like production asks: a set of its own, to measure every day.

    Kinds and tenants are drawn in the proportions of the log, and within them hard questions in theirs, so
    that the plain mean is that of production's mix; --hard draws more of them, and says what that does to the mean.
    The folder is a labelled set for `evaluate`, `gate`, `compare`, `latency` and `sweep`, and its canary.json says how
    it was drawn, what it can detect and when it is stale, which is told wherever it is measured.
    """
    if check and refresh:
        raise UsageError("--check and --refresh at once", expected="one of the two", found="both")
    asked = "--check" if check else "--refresh" if refresh else "a draw"
    fitting = OF_CHECK if check else OF_REFRESH if refresh else OF_DRAW
    others = [name for name in (*OF_DRAW, *OF_CHECK, *OF_REFRESH) if name not in fitting]
    if unfitting := typed(*others):
        raise UsageError(f"{unfitting} is not for {asked}", expected=f"{asked} without it", found=unfitting)
    if check:
        return _check(folder, log, result, drift, source, skip_bad, format)
    return _draw(folder, log, result, refresh, source, skip_bad, format, **of_draw)


def _check(
    folder: Path,
    logs: tuple[Path, ...],
    results: tuple[Path, ...],
    drift: float,
    source: Path | None,
    skip_bad: bool,
    format: str,
) -> int:
    from recallbench.reports.canary.check import check_lines
    from recallbench.studies.logs.canary.freshness import check_canary

    if len(results) > 1:
        raise UsageError("--check weighs one result", expected="--result once", found=f"{len(results)} of them")
    checked = check_canary(
        folder, date.today(), logs, results[0] if results else None, drift, source=source, skip_bad=skip_bad
    )
    if format == "json":
        print(plain(checked.model_dump_json(indent=1)))
    else:
        print_parts(*check_lines(checked))
    return 1 if checked.stale else 0


def _draw(
    folder: Path,
    log: tuple[Path, ...],
    result: tuple[Path, ...],
    refresh: bool,
    source: Path | None,
    skip_bad: bool,
    format: str,
    *,
    n: int,
    hard: float | None,
    hard_rank: int,
    by: str,
    split: str | None,
    seed: int,
    out: Path | None,
    stale_after: str | None,
    keep: float,
) -> int:
    from recallbench.reports.canary.drawn import drawn_parts
    from recallbench.studies.logs.canary.canary import CanaryRequest, draw_canary, refresh_request
    from recallbench.studies.logs.canary.stale_after import parse_stale_after

    if len(result) > 2:
        raise UsageError(
            "two results make the pairs", expected="--result once or twice", found=f"{len(result)} of them"
        )
    if refresh and out is None:
        raise UsageError("--refresh needs --out", expected="--out NEW, the folder of the new canary", found="none")
    today = date.today()
    request = CanaryRequest(
        source if source is not None and refresh else folder,
        out or _beside(folder),
        split,
        n,
        seed,
        tuple(by.split(",")),
        logs=log,
        skip_bad=skip_bad,
        results=result,
        hard=hard,
        rank=hard_rank,
        stale_after=None if stale_after is None else parse_stale_after(stale_after, today),
        keep=keep,
    )
    if refresh:
        fields = {"n": "n", "seed": "seed", "hard": "hard", "hard_rank": "rank"}
        given = [field for name, field in fields.items() if is_given(name)]
        request = refresh_request(folder, request, given, today)
    record = draw_canary(request, today)
    if format == "json":
        print(plain(record.model_dump_json(indent=1)))
    else:
        print_parts(*drawn_parts(record, str(request.folder)))
    if record.stale_after is None:
        print("recallbench: with --stale-after 30d the canary says itself when it is stale", file=sys.stderr)
    return 0


def _beside(folder: Path) -> Path:
    """Return the place of a canary that nobody named: beside its set."""
    parent = folder.parent if folder.name not in ("", "..") else folder.resolve().parent
    return parent / f"{folder.resolve().name}-canary"
