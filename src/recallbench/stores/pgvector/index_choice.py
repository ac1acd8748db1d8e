"""The index of the reference store: every choice of pgvector as an option, and what can't go together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recallbench.errors import UsageError
from recallbench.stores.options import StoreOption
from recallbench.stores.pgvector.weights import WEIGHTS

EXACT, HNSW, IVFFLAT = "exact", "hnsw", "ivfflat"
FULL = "vector"
OFF, STRICT, RELAXED = "off", "strict_order", "relaxed_order"


def whole(low: int, high: int) -> Callable[[str], int]:
    """Return a reader of whole numbers within these bounds, which raises ValueError for another text."""

    def read(text: str) -> int:
        number = int(text) if text.strip().isdecimal() else None
        if number is None or not low <= number <= high:
            raise ValueError(f"{text}, which is no whole number from {low} to {high}")
        return number

    return read


INDEX = StoreOption(
    "index",
    "How vectors are found: each of the scope compared, or through an index over all scopes",
    default=EXACT,
    values=(EXACT, HNSW, IVFFLAT),
)
VECTOR_TYPE = StoreOption(
    "vector_type",
    "What the index holds of a vector: halfvec and bit are smaller, and what they find is scored again in full",
    default=FULL,
    values=(FULL, "halfvec", "bit"),
)
CANDIDATES = StoreOption(
    "candidates",
    "How many hits of halfvec or bit are scored again, 1 to 100000",
    default="100",
    parse=whole(1, 100_000),
)
M = StoreOption("m", "Links of a node in the graph of hnsw, 2 to 100", default="16", parse=whole(2, 100))
EF_CONSTRUCTION = StoreOption(
    "ef_construction", "Candidates while hnsw is built, 4 to 1000", default="64", parse=whole(4, 1000)
)
EF_SEARCH = StoreOption("ef_search", "Rows that a scan of hnsw finds, 1 to 1000", default="40", parse=whole(1, 1000))
ITERATIVE_SCAN = StoreOption(
    "iterative_scan",
    "Whether the index is scanned on when a filter leaves too few rows; ivfflat has no strict_order",
    default=OFF,
    values=(OFF, STRICT, RELAXED),
)
MAX_SCAN_TUPLES = StoreOption(
    "max_scan_tuples",
    "Rows after which an iterative scan of hnsw gives up, 1 to 2147483647",
    default="20000",
    parse=whole(1, 2**31 - 1),
)
LISTS = StoreOption("lists", "Lists that ivfflat sorts vectors into, 1 to 32768", default="100", parse=whole(1, 32768))
PROBES = StoreOption("probes", "Lists that a scan of ivfflat reads, 1 to 32768", default="1", parse=whole(1, 32768))
MAX_PROBES = StoreOption(
    "max_probes",
    "Lists after which an iterative scan of ivfflat gives up, 1 to 32768",
    default="32768",
    parse=whole(1, 32768),
)
OPTIONS = (
    INDEX, VECTOR_TYPE, CANDIDATES, M, EF_CONSTRUCTION, EF_SEARCH, ITERATIVE_SCAN, MAX_SCAN_TUPLES, LISTS, PROBES,
    MAX_PROBES,
)  # fmt: skip
_OF_INDEX: Mapping[str, tuple[StoreOption, ...]] = {
    EXACT: (),
    HNSW: (VECTOR_TYPE, CANDIDATES, M, EF_CONSTRUCTION, EF_SEARCH, ITERATIVE_SCAN, MAX_SCAN_TUPLES),
    IVFFLAT: (VECTOR_TYPE, CANDIDATES, LISTS, PROBES, ITERATIVE_SCAN, MAX_PROBES),
}
"""The options that each index has a use for."""


@dataclass(frozen=True, slots=True)
class IndexChoice:
    """The index that was asked for, with the settings of its build and of its searches."""

    kind: str = EXACT
    vector_type: str = FULL
    candidates: int = 100
    m: int = 16
    ef_construction: int = 64
    ef_search: int = 40
    iterative_scan: str = OFF
    max_scan_tuples: int = 20_000
    lists: int = 100
    probes: int = 1
    max_probes: int = 32_768

    @classmethod
    def read(cls, options: Mapping[str, Any]) -> IndexChoice:
        """Return the choice that these options make."""
        return cls(*(option.read(options) for option in OPTIONS))

    @property
    def is_exact(self) -> bool:
        """Every segment of the scope is compared."""
        return self.kind == EXACT

    @property
    def rescored(self) -> bool:
        """Whether the index holds less than the whole vectors, so that what it finds is scored again."""
        return self.vector_type != FULL

    @property
    def settings(self) -> dict[str, str]:
        """The settings of a session that searches through it."""
        if self.is_exact:
            return {}
        values: dict[str, object] = {"iterative_scan": self.iterative_scan}
        if self.kind == HNSW:
            values |= {"ef_search": self.ef_search, "max_scan_tuples": self.max_scan_tuples, "scan_mem_multiplier": 1}
        else:
            values |= {"probes": self.probes, "max_probes": self.max_probes}
        return {f"{self.kind}.{name}": str(value) for name, value in values.items()}


EXACT_SEARCH = IndexChoice()


def check_together(options: Mapping[str, Any]) -> None:
    """Raise UsageError where the options of an index can't go together, or can't go with the score."""
    choice, weights = IndexChoice.read(options), WEIGHTS.read(options)
    of_index = {option.name for option in _OF_INDEX[choice.kind]} | {INDEX.name}
    for option in OPTIONS:
        if option.name in options and option.name not in of_index:
            kinds = [kind for kind, own in _OF_INDEX.items() if option in own]
            raise UsageError(
                f"--set index={choice.kind} has no use for --set {option.name}",
                expected=f"--set {option.name} with --set index={' or '.join(kinds)}",
                found=f"--set {option.name}={options[option.name]}",
                remedy=f"leave it out, or add --set index={kinds[0]}",
            )
    if choice.is_exact:
        return
    if not weights.cosine_only:
        raise UsageError(
            "an index of vectors can't rank by words, dates or neighbours",
            expected=f"the score of vectors alone with --set index={choice.kind}",
            found=f"weights {weights}",
            remedy="add --weights cosine, or leave out --set index",
        )
    if CANDIDATES.name in options and not choice.rescored:
        raise UsageError(
            "nothing is scored again where the index holds whole vectors",
            expected="--set candidates with --set vector_type=halfvec or bit",
            found=f"--set candidates={choice.candidates} with vector_type {choice.vector_type}",
            remedy="leave it out, or add --set vector_type=halfvec",
        )
    if choice.kind == HNSW and choice.ef_construction < 2 * choice.m:
        raise UsageError(
            "the graph of hnsw can't be built like this",
            expected=f"--set ef_construction of at least {2 * choice.m}, twice m",
            found=f"ef_construction {choice.ef_construction} with m {choice.m}",
            remedy=f"--set ef_construction={2 * choice.m}",
        )
    if choice.kind == IVFFLAT and choice.iterative_scan == STRICT:
        raise UsageError(
            "ivfflat has no iterative scan in strict order",
            expected=f"{OFF} or {RELAXED}",
            found=f"--set iterative_scan={STRICT}",
            remedy=f"--set iterative_scan={RELAXED}: what it finds is put into order all the same",
        )
    if choice.kind == IVFFLAT and choice.probes > choice.lists:
        raise UsageError(
            "there are not so many lists to read",
            expected=f"--set probes from 1 to {choice.lists}, the lists there are",
            found=f"--set probes={choice.probes}",
            remedy=f"--set probes={choice.lists}, or more --set lists",
        )


def limits(choice: IndexChoice, calls: Sequence[int]) -> Iterator[str]:
    """Yield what makes answers to these calls shorter than asked, and how to have them whole."""
    deepest = max(calls)
    need, asked = (choice.candidates, "candidates") if choice.rescored else (deepest, "hits asked for")
    if choice.rescored and choice.candidates < deepest:
        yield (
            f"candidates {choice.candidates} caps every answer at {choice.candidates} of the {deepest} hits asked for:"
            f" --set candidates={deepest} or more"
        )
    if choice.is_exact or choice.iterative_scan != OFF:
        return
    way_out = f"--set iterative_scan={RELAXED}"
    if choice.kind == HNSW:
        if choice.ef_search < need:
            enough = f"--set ef_search={need}, or {way_out}" if need <= 1000 else way_out
            most = choice.ef_search
            yield f"ef_search {most} caps every answer at {most} of the {need} {asked}: {enough}"
        yield (
            f"hnsw finds {choice.ef_search} rows among all scopes before those of other scopes are taken out, so an"
            f" answer may be short: {way_out}"
        )
    elif choice.probes < choice.lists:
        yield (
            f"probes {choice.probes} of {choice.lists} lists: an answer has no more than what these hold of its scope:"
            f" --set probes={choice.lists}, or {way_out}"
        )
