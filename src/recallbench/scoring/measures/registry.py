"""Every measure by name, and those that results state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from recallbench.errors import UsageError
from recallbench.nearest_name import nearest_name
from recallbench.scoring.depth import depth_in
from recallbench.scoring.measures.f1 import F1
from recallbench.scoring.measures.f1_of_means import F1OfMeans
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.mrr import Mrr
from recallbench.scoring.measures.ndcg import Ndcg
from recallbench.scoring.measures.precision import Precision
from recallbench.scoring.measures.recall_all import RecallAll
from recallbench.scoring.measures.recall_any import RecallAny
from recallbench.scoring.measures.recall_frac import RecallFrac
from recallbench.scoring.measures.returned_share import ReturnedShare

_KINDS = (RecallAny, RecallFrac, RecallAll, Precision, F1, F1OfMeans, Mrr, Ndcg, ReturnedShare)
MEASURES: Mapping[str, type[Measure]] = {kind.name: kind for kind in _KINDS}

PRIMARY: tuple[Measure, ...] = (RecallAny(10), Mrr(50))
"""The protocol's two measures; all others are secondary."""

ALL: tuple[Measure, ...] = (
    *(kind(k) for kind in (RecallAny, RecallFrac, RecallAll) for k in (1, 5, 10, 25, 50)),
    Precision(10),
    F1(10),
    Ndcg(10),
    Mrr(50),
)
"""The measures in every result."""

OTHERS = ("map",)
"""Published measures of rankings that are not measured here."""

_TEXT = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_]*)@(?P<k>[1-9][0-9]*)(?:\((?P<option>[a-z_]+)\))?")


def parse(text: str) -> Measure:
    """Return the measure with this text; raises UsageError, with the known measures, for anything else."""
    match = _TEXT.fullmatch(text.strip())
    if match is None or match["name"] not in MEASURES:
        raise UsageError(
            f"unknown measure {text!r}",
            expected=", ".join(known()),
            found=text,
            remedy=_suggestion(match) or "name a measure and its depth, as in recall_any@10",
        )
    k = depth_in(match["k"], f"{match['name']} needs a depth")
    return MEASURES[match["name"]](k, match["option"] or "")


def known() -> list[str]:
    """Return the form of every measure, as recall_any@k."""
    return [
        form for name, kind in MEASURES.items() for form in (f"{name}@k", *(f"{name}@k({o})" for o in kind.options))
    ]


def measures_called(word: str) -> tuple[type[Measure], ...]:
    """Return the measures with a name, here or elsewhere, first the one that the protocol means."""
    plain = _without_marks(word)
    return tuple(kind for kind in MEASURES.values() if plain in map(_without_marks, _words(kind)))


def family(kind: type[Measure]) -> str:
    """Return the name that a measure shares with others, as recall, or its own where it shares none."""
    return next((word for word in _words(kind) if len(measures_called(word)) > 1), kind.name)


def measure_names() -> tuple[str, ...]:
    """Return every name of a measure, without its depth and in lower case."""
    return tuple(dict.fromkeys(word for kind in MEASURES.values() for word in _words(kind)))


def name_pattern(names: Iterable[str]) -> str:
    """Return a regular expression for these names as people write them: hit_rate may be hit rate, too."""
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return "|".join(name if name in MEASURES else name.replace("_", "[ _-]?") for name in ordered)


def _without_marks(name: str) -> str:
    return re.sub(r"[ _-]", "", name.lower())


def _words(kind: type[Measure]) -> tuple[str, ...]:
    forms = (kind.name, *(alias.form for alias in kind.elsewhere))
    return tuple(form.partition("{k}")[0].rstrip("@_").lower() for form in forms)


def _suggestion(match: re.Match[str] | None) -> str:
    """Return a hint on what a name from elsewhere may mean here."""
    if match is None:
        return ""
    kinds = measures_called(match["name"])
    meant = [f"{kind.name}@{match['k']}" for kind in kinds]
    if len(meant) > 1 and match["name"] == family(kinds[0]):
        return (
            f"say {meant[0]}, which the protocol calls {match['name']}@{match['k']}; elsewhere that name may also mean "
            f"{' or '.join(meant[1:])}"
        )
    near = nearest_name(match["name"], MEASURES)
    return f"say {' or '.join(meant)}" if meant else f"did you mean {near}@{match['k']}?" if near else ""
