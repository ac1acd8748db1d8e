"""When a canary is to be drawn anew: after some time, on a day, or after so many recalls."""

from __future__ import annotations

from datetime import date, timedelta

from recallbench.corpora.labelled_sets.age import parse_age
from recallbench.corpora.labelled_sets.canary_record import StaleAfter
from recallbench.errors import UsageError

MOST_RECALLS = 10**12


def parse_stale_after(text: str, today: date) -> StaleAfter:
    """Return what a text such as 30d, 2027-01-31 or 5000q states; raises UsageError for any other, or a day gone by."""
    stated = text.strip()
    count = stated.removesuffix("q")
    if count != stated and count.isascii() and count.isdigit() and 0 < int(count[:20]) <= MOST_RECALLS:
        return StaleAfter(stated=f"{int(count)} recalls", on=None, recalls=int(count))
    try:
        day = date.fromisoformat(stated)
    except ValueError:
        return StaleAfter(stated=stated, on=(today + _age(stated)).isoformat(), recalls=None)
    if day <= today:
        raise UsageError(
            f"--stale-after {text} has passed", expected="a day to come, or 30d", found=f"today is {today}"
        )
    return StaleAfter(stated=stated, on=day.isoformat(), recalls=None)


def again(before: StaleAfter, today: date) -> StaleAfter:
    """Return the same from another day on; raises UsageError where it was a day that has passed."""
    if before.recalls is not None:
        return before
    return parse_stale_after(before.stated, today)


def _age(stated: str) -> timedelta:
    try:
        return parse_age(stated)
    except UsageError:
        raise UsageError(
            f"--stale-after {stated} can't be understood",
            expected="an age as 30d, 12w, 6m or 1y, a day as 2027-01-31, or recalls as 5000q",
            found=stated,
            remedy="--stale-after 30d",
        ) from None
