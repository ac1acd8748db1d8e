"""`recallbench canary`: a canary of one's own, drawn, checked and drawn anew."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from recallbench.cli import options
from recallbench.cli.command import (
    PATH,
    VARIABLES,
    Finite,
    Whole,
    argument,
    choice,
    command,
    flag,
    former,
    is_given,
    option,
    typed,
)
from recallbench.cli.printing import show
from recallbench.errors import UsageError
from recallbench.reports.printing.printed import Format, Printed

EXAMPLES = (
    "Examples: recallbench canary team --log recalls.jsonl --result base --stale-after 30d --folder team-canary; "
    "recallbench evaluate team-canary; recallbench canary team-canary --check --log recalls.jsonl; recallbench canary "
    "team-canary --refresh --log recalls.jsonl --result base --folder team-canary-2. The bundled corpora canary-locomo "
    "and canary-longmemeval are something else: miniatures to try the program with."
)
OF_ALL = ("log", "result", "skip_bad", "format")
OF_ANY_DRAW = (*OF_ALL, "n", "hard", "hard_rank", "seed", "stale_after", "folder")
OF_DRAW = (*OF_ANY_DRAW, "by", "split")
OF_REFRESH = (*OF_ANY_DRAW, "source", "keep")
OF_CHECK = (*OF_ALL, "source", "drift")


@command(
    argument(
        "place", "The folder of your own set; with --check or --refresh that of a canary.", metavar="DIR", type=PATH
    ),
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
        type=Finite(0, 1),
    ),
    option("hard-rank", "A question is hard where its first find comes after this rank.", type=Whole(1), default=3),
    choice(
        "by",
        "The fields whose values are drawn as often as production asks for them.",
        ["kind,tenant", "kind", "tenant"],
        default="kind,tenant",
    ),
    option("split", "The split of the set, whose judgements are qrels/<split>.tsv [default: test]."),
    option("seed", "The seed by which questions are drawn.", type=int, default=42),
    option("folder", "The folder of the canary; it must not exist yet [default: DIR-canary].", type=PATH),
    former("out", "folder", type=PATH),
    option("stale-after", "When it is to be drawn anew: 30d (d, w, m, y), 2027-01-31, or 5000q for so many recalls."),
    flag("check", "Say whether the canary DIR is fresh, and why; exit 1 when it is stale."),
    option(
        "drift",
        "With --check: the share of the mix that may move.",
        type=Finite(0, 1, min_open=True),
        default=0.1,
    ),
    flag("refresh", "Draw the canary DIR anew, as it was drawn, into --folder."),
    option(
        "keep",
        "With --refresh: the share of each stratum that stays, of questions that are unchanged in the set; more where "
        "it has too few new ones.",
        type=Finite(0, 1),
        default=0.5,
    ),
    option("source", "With --check and --refresh: the set that the canary is from, where it has moved.", type=PATH),
    flag("skip-bad", "Pass over lines of the log that can't be read as a recall."),
    *options.FORMAT,
    epilog=f"{EXAMPLES} {VARIABLES}",
)
def canary(
    place: Path,
    n: int,
    log: tuple[Path, ...],
    result: tuple[Path, ...],
    hard: float | None,
    hard_rank: int,
    by: str,
    split: str | None,
    seed: int,
    folder: Path | None,
    stale_after: str | None,
    check: bool,
    drift: float,
    refresh: bool,
    keep: float,
    source: Path | None,
    skip_bad: bool,
    format: Format,
) -> int:
    """Draw 100 to 300 questions of your own set like production asks: a small set to measure every day.

    Kinds and tenants are drawn in the proportions of the log, and within them hard questions in theirs, so
    that the plain mean is that of production's mix; --hard draws more of them, and says what that does to the mean.
    The folder is a set for `evaluate`, `gate`, `compare`, `latency` and `sweep`, and its canary.json says how
    it was drawn, what it can detect and when it is stale, which is told wherever it is measured.
    """
    from recallbench.reports.canary.drawn import conclusion, drawn_parts
    from recallbench.studies.logs.canary.canary import CanaryRequest, draw_canary, refresh_request
    from recallbench.studies.logs.canary.stale_after import parse_stale_after

    if check and refresh:
        raise UsageError("--check and --refresh at once", expected="one of the two", found="both")
    asked = "--check" if check else "--refresh" if refresh else "a draw"
    fitting = OF_CHECK if check else OF_REFRESH if refresh else OF_DRAW
    if unfitting := typed(*(name for name in (*OF_DRAW, *OF_CHECK, *OF_REFRESH) if name not in fitting)):
        raise UsageError(f"{unfitting} is not for {asked}", expected=f"{asked} without it", found=unfitting)
    if check:
        return _check(place, log, result, drift, source, skip_bad, format)
    if len(result) > 2:
        raise UsageError(
            "two results make the pairs", expected="--result once or twice", found=f"{len(result)} of them"
        )
    if refresh and folder is None:
        raise UsageError(
            "--refresh needs --folder", expected="--folder NEW, the folder of the new canary", found="none"
        )
    today = date.today()
    request = CanaryRequest(
        source if source is not None and refresh else place,
        folder or _beside(place),
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
        request = refresh_request(place, request, given, today)
    record = draw_canary(request, today)
    told = conclusion(record, str(request.folder))
    show(Printed("A canary", drawn_parts(record), record.model_dump(mode="json"), told), format)
    return 0


def _check(
    folder: Path,
    logs: tuple[Path, ...],
    results: tuple[Path, ...],
    drift: float,
    source: Path | None,
    skip_bad: bool,
    format: Format,
) -> int:
    from recallbench.reports.canary.check import check_lines, check_table, conclusion
    from recallbench.studies.logs.canary.freshness import check_canary

    if len(results) > 1:
        raise UsageError("--check weighs one result", expected="--result once", found=f"{len(results)} of them")
    result = results[0] if results else None
    checked = check_canary(folder, date.today(), logs, result, drift, source=source, skip_bad=skip_bad)
    lines, sheet, told = check_lines(checked), check_table(checked), conclusion(checked)
    show(Printed("Whether a canary is fresh", lines, checked.model_dump(mode="json"), told, own_sheet=sheet), format)
    return 1 if checked.stale else 0


def _beside(folder: Path) -> Path:
    """Return the place of a canary that nobody named: beside its set."""
    parent = folder.parent if folder.name not in ("", "..") else folder.resolve().parent
    return parent / f"{folder.resolve().name}-canary"
