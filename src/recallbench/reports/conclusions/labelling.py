"""How labelling and importing questions end, in words."""

from __future__ import annotations

from dataclasses import replace

from recallbench.escaping.shell import command
from recallbench.reports.printing.conclusion import Conclusion


def labelled(folder: str, book: str, now: int, every: int, left: int, begun: int, again: str) -> Conclusion:
    """Return how many queries have their label, and what they are good for; the command `again` asks the others.

    Of those that are left some may be begun.
    """
    queries = f"{now} {'query' if now == 1 else 'queries'} labelled in {book}, {every} in all"
    waiting = f"{left} {'waits' if left == 1 else 'wait'}"
    if begun:
        of_them = "begun" if left == 1 else f"{begun} of them begun"
        waiting += f", {of_them}, {'its' if begun == 1 else 'their'} labels saved"
    if not every:
        return Conclusion(queries, waiting if begun else "", f"{again} goes on", tone="open")
    if left:
        return Conclusion(queries, waiting, f"{again} goes on", tone="open")
    return Conclusion(queries, "", command("evaluate", folder))


def interrupted(told: Conclusion, every: int, lost: str) -> Conclusion:
    """Return that conclusion for labelling that a signal ended; `lost` says what is not among the labels."""
    kept = "" if not every else "it is saved" if every == 1 else "all of them are saved"
    return replace(told, belief="; ".join(filter(None, (kept, lost or told.belief))))


def imported(
    folder: str, book: str, file: str, taken: int, replaced: int, skipped: int, judged: int, passed_over: int
) -> Conclusion:
    """Return how many questions were taken, and how a store is measured on them.

    `judged` rows name what is relevant; the others say an answer alone.
    """
    records = taken + replaced + skipped
    happened = f"{taken} {'question' if taken == 1 else 'questions'} of {file} taken into {book}"
    if replaced:
        happened += f", {replaced} replaced"
    if skipped:
        happened += f", {skipped} {'was' if skipped == 1 else 'were'} there already"
    if skipped == records:
        happened = f"Nothing of {file} is new: {book} has each of its {skipped} rows already"
    belief = f"{passed_over} columns were passed over, named above" if passed_over > 1 else ""
    if passed_over == 1:
        belief = "one column was passed over, named above"
    if judged == records:
        return Conclusion(happened, belief, command("evaluate", folder))
    method, unjudged = "hybrid" if judged else "tokens", records - judged
    texts = f"{unjudged} {'has' if unjudged == 1 else 'have'} no ids, so texts decide"
    return Conclusion(happened, texts, command("evaluate", folder, "--match", method))
