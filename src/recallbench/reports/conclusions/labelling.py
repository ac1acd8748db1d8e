"""How labelling and importing questions end, in words."""

from __future__ import annotations

import shlex

from recallbench.reports.printing.conclusion import Conclusion


def labelled(folder: str, book: str, now: int, every: int, left: int, again: str) -> Conclusion:
    """Return how many queries have their label, and what they are good for; the command `again` asks the others."""
    queries = f"{now} {'query' if now == 1 else 'queries'} labelled in {book}, {every} in all"
    if not every:
        return Conclusion(queries, "", f"{again} goes on", tone="open")
    measure = f"recallbench evaluate {shlex.quote(folder)}"
    if left:
        waiting = f"{left} {'waits' if left == 1 else 'wait'}"
        return Conclusion(queries, waiting, f"{again} goes on, {measure} measures", tone="open")
    return Conclusion(queries, "", measure)


def imported(folder: str, book: str, file: str, records: int, judged: int, passed_over: int) -> Conclusion:
    """Return how many questions were taken, and how a store is measured on them.

    `judged` of them name what is relevant; the others say an answer alone.
    """
    happened = f"{records} {'question' if records == 1 else 'questions'} of {file} taken into {book}"
    place = shlex.quote(folder)
    belief = f"{passed_over} columns were passed over, named above" if passed_over > 1 else ""
    if passed_over == 1:
        belief = "one column was passed over, named above"
    if judged == records:
        return Conclusion(happened, belief, f"recallbench evaluate {place}")
    method = "hybrid" if judged else "tokens"
    return Conclusion(
        happened,
        "; ".join(filter(None, (f"{records - judged} have an answer and no ids, so texts decide", belief))),
        f"recallbench evaluate {place} --match {method}",
    )
