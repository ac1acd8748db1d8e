"""`recallbench parity`: the measures, checked here and now against two others' implementations."""

from __future__ import annotations

from recallbench.cli import options
from recallbench.cli.command import EPILOG, Whole, command, option
from recallbench.cli.printing import show
from recallbench.reports.printing.conclusion import Conclusion
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Table


@command(
    option("runs", "How many random runs, of one to five questions each.", type=Whole(1), default=3000),
    option("seed", "The seed they are drawn by.", type=Whole(0), default=42),
    *options.FORMAT,
    options.CONFIG,
    epilog=f"Example: recallbench parity --runs 300. {EPILOG}",
)
def parity(runs: int, seed: int, format: Format) -> int:
    """Compare the measures with pytrec_eval-terrier and ir_measures on random, tie-heavy, graded and partial runs.

    Exits with 1 when any value differs by more than 1e-9, and with 3 where one of the two is not installed.
    """
    from dataclasses import asdict

    from recallbench.scoring.measures.registry import MEASURES
    from recallbench.scoring.parity import TOLERANCE, unshared
    from recallbench.scoring.parity import parity as compared

    agreements = compared(runs, seed)
    differing = sum(agreement.differing for agreement in agreements)
    header = ("measure", "against", "its name", "compared", "differing", "largest difference")
    rows = [
        (
            agreement.measure,
            agreement.oracle,
            agreement.their_name,
            f"{agreement.compared:,}",
            str(agreement.differing),
            f"{agreement.largest:.1e}",
        )
        for agreement in agreements
    ]
    sentences = (
        "Ties are put into this project's order first, and both get strictly decreasing rank scores. A question that "
        "a run does not answer scores 0 here and with ir_measures; pytrec_eval drops it.",
        f"ir_measures hands most measures on to pytrec_eval; neither has {', '.join(unshared(list(MEASURES)))}.",
    )
    comparisons = sum(agreement.compared for agreement in agreements)
    drawn = f"in {comparisons:,} comparisons over {runs:,} random runs, seed {seed}"
    if differing:
        conclusion = Conclusion(
            f"The measures differ from another implementation's {differing:,} times {drawn}",
            f"by more than {TOLERANCE:g}: the table says which",
            "report it with the seed",
            tone="bad",
        )
    else:
        conclusion = Conclusion(f"The measures agree with both implementations {drawn}", f"to {TOLERANCE:g}")
    document = {
        "runs": runs,
        "seed": seed,
        "tolerance": TOLERANCE,
        "differing": differing,
        "measures": [asdict(agreement) for agreement in agreements],
    }
    show(Printed("The measures beside others'", (Table(header, rows), *sentences), document, conclusion), format)
    return 1 if differing else 0
