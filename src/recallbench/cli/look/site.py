"""`recallbench site`: a static site over many folders."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, argument, command, flag, former, option
from recallbench.cli.printing import show
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Part, Table

if TYPE_CHECKING:
    from recallbench.compare.rules import Requirement
    from recallbench.results.trec import Ties
    from recallbench.scoring.costs import Prices
    from recallbench.scoring.measures.measure import Measure
    from recallbench.site.making import Site

EXAMPLES = (
    "Examples: recallbench site benchmarks/locomo/results --folder site; recallbench site results published "
    "theirs.trec --folder public --copy --gate 'p95 < 20ms'."
)


@command(
    argument(
        "places",
        "Folders of results, sweeps and latency studies, or folders that hold some; what others published; TREC runs.",
        nargs=-1,
        required=True,
        metavar="DIR...",
        type=PATH,
    ),
    option("folder", "The folder of the site; an earlier site there is replaced.", type=PATH),
    former("out", "folder", type=PATH),
    option(
        "measures",
        "Measures, separated by commas; the first one decides and is drawn.",
        default="recall_any@10,mrr@50,recall_all@10,ndcg@10",
    ),
    option(
        "gate",
        "What a result should keep, which the board draws and tells of: 'recall_any@10 >= 0.8', 'p95 < 20ms', "
        "'usd_per_1000 < .5'; repeat it for several.",
        multiple=True,
    ),
    options.PRICES,
    flag("verified", "Admit only what the audit calls VERIFIED: git has to hold the files, too."),
    flag("copy", "Write each result's page into the site, so that the site can be moved by itself."),
    option("title", "The heading of the first page.", default="Board of results"),
    option(
        "corpus-file",
        "The dataset; repeat it for several [default: found by variable or data folder].",
        multiple=True,
        type=PATH,
    ),
    options.TIES,
    flag("fresh", "Audit everything again, also what was audited before with the same bytes."),
    options.CACHE_DIR,
    *options.FORMAT,
    options.QUIET,
    options.CONFIG,
    epilog=f"{EXAMPLES} Exit codes: 0 something is on the board, 1 nothing was admitted. {EPILOG}",
)
def site(
    places: tuple[Path, ...],
    folder: Path | None,
    measures: str,
    gate: tuple[str, ...],
    prices: Path | None,
    verified: bool,
    copy: bool,
    title: str,
    corpus_file: tuple[Path, ...],
    ties: Ties,
    fresh: bool,
    cache_dir: Path | None,
    format: Format,
    quiet: bool,
) -> int:
    """Write a static site: a board of audited results, their history, pictures, sweeps, and what is kept out.

    Each result is audited first, and is on the board only where no check fails; what was audited with the same bytes
    before is not audited again. What is comparable shares a group, and
    each group says why it is apart; a cell is a value with its interval, a row has the command that made it and a link
    to its folder. Histories show each measure over versions with the protocol's band. Folders and rankings that others
    published are judged again and marked so. The pages ask for nothing from elsewhere; equal input gives equal bytes.
    """
    from recallbench.cli.bars import listener
    from recallbench.errors import UsageError
    from recallbench.results.costs.prices import read_prices
    from recallbench.site.choices import SiteChoices
    from recallbench.site.making import make_site
    from recallbench.site.places import find_places
    from recallbench.site.writing import refuse_other, write_site

    if folder is None:
        raise UsageError(
            "a site needs a folder",
            expected="--folder DIR",
            found="none",
            remedy="recallbench site DIR... --folder site",
        )
    missing = [file for file in corpus_file if not file.exists()]
    if missing:
        raise UsageError(
            f"there is no {missing[0]}", expected="--corpus-file of a dataset that exists", found="no such file"
        )
    chosen, listed = options.measures_of(measures), read_prices(prices)
    choices = SiteChoices(
        chosen,
        listed,
        dict(os.environ),
        corpus_file,
        _gates(gate, chosen, listed),
        ties,
        verified,
        copy,
        title,
        None if fresh else cache_dir or options.default_cache(),
        cache_dir,
    )
    refuse_other(folder)
    made = make_site(find_places(places), folder, choices, listener(quiet))
    write_site(folder, made.files)
    show(_printed(made, folder), format)
    return 1 if made.is_empty else 0


def _gates(texts: Sequence[str], measures: Sequence[Measure], prices: Prices) -> list[Requirement]:
    """Return the gates; raises UsageError for one that a board can't show."""
    from recallbench.compare.rules import parse_requirement
    from recallbench.errors import UsageError
    from recallbench.site.board_table import refuse_gate

    gates = [parse_requirement(text) for text in texts]
    for gate in gates:
        if why := refuse_gate(gate, measures, prices.currency):
            raise UsageError(
                f"--gate '{gate}' can't be shown",
                expected="a measure of --measures, p95, or usd_per_1000 with prices in USD",
                found=why,
            )
    return gates


def _printed(made: Site, folder: Path) -> Printed:
    from recallbench.site.outcome import conclusion

    board = made.board
    document = {
        "site": str(folder),
        "admitted": board.admitted,
        "rescored": board.rescored,
        "histories": made.histories,
        "studies": len(made.studies),
        "groups": [
            {
                "asked": group.asked,
                "results": [entry.name for entry in group.entries],
                "apart": board.why_apart(group),
            }
            for group in board.groups
        ],
        "kept_out": [{"place": each.place.name, "reason": each.reason} for each in board.apart],
    }
    rows = [
        [str(number), group.asked, str(len(group.entries)), str(len(group.rescored)), board.why_apart(group) or "–"]
        for number, group in enumerate(board.groups, 1)
    ]
    groups = Table(["group", "asked", "audited", "re-scored", "why apart from group 1"], rows, caption="On the board")
    parts: list[Part] = []
    if rows:
        parts += [groups, ""]
    parts += [f"kept out: {each.place.name}: {each.reason}" for each in board.apart]
    if made.unlinked:
        which = "folder is" if made.unlinked == 1 else "folders are"
        parts.append(
            f"{made.unlinked} {which} not linked: the site shares nothing with them but the root. --copy writes the "
            "pages of results into it, or name a --folder near them."
        )
    if parts and parts[-1] == "":
        parts.pop()
    return Printed("A board of results", parts, document, conclusion(made, folder), own_sheet=groups)
