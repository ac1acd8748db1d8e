"""A foreign folder under audit, and the codes of its checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.audit.gate import Check, Status
from recallbench.corpora.records import Corpus
from recallbench.corpora.registry import CORPORA, open_corpus
from recallbench.corpora.stream import sha256_of
from recallbench.errors import Blocked
from recallbench.foreign.corpus_index import CorpusIndex, index_corpus
from recallbench.foreign.layouts.layout import Imported
from recallbench.foreign.rescoring import RescoredRankings
from recallbench.foreign.table_comparison import TableComparison
from recallbench.foreign.tables import TableNumbers
from recallbench.protocol.rules import CorpusRules, Rules

CODES: Mapping[str, str] = {
    "RB-F-BLOCKED": "no BLOCKED.md and no DEPRECATED.md lies in the folder",
    "RB-F-COMMITTED": "git holds every file of the folder as it is",
    "RB-F-FACTS": "the folder states dataset hash, version, seed and settings",
    "RB-F-VERSION": "the version that folder and claims name is the one that was measured",
    "RB-F-DATASET": "the stated dataset hash is the registered one",
    "RB-F-CORPUS": "the corpus file that gold is derived from has the registered hash",
    "RB-F-ROWS": "rankings are kept, and every row can be read",
    "RB-F-QUESTIONS": "each question of the protocol's count is there once, and no other",
    "RB-F-COUNTS": "stated counts are those of the rows",
    "RB-F-GOLD": "stated gold is what the dataset gives",
    "RB-F-UNIT": "ids are those of sessions, not of turns",
    "RB-F-SCOPE": "every retrieved id can belong to its question's own scope",
    "RB-F-TWICE": "no ranking lists an id twice",
    "RB-F-DEPTH": "rankings are kept to min(50, haystack)",
    "RB-F-ORDER": "scores, where kept, fall from place to place",
    "RB-F-FIRST": "the stated rank of each first hit is that of the kept list",
    "RB-F-STATED": "figures that rows state of themselves are re-derived, and under which definition",
    "RB-F-CLAIM": "a published number is reproduced, and means what the protocol means by its name",
    "RB-F-REPORT": "figures in tables are the published ones, at the precision they are printed with",
    "RB-F-UNREAD": "every number of files and tables that may be a claim could be read",
    "RB-F-BROKEN": "every check could be made: one that broke down is a failed one",
    "RB-F-INTERVAL": "published intervals are re-derived, and count questions as dependent where they are",
}
"""The requirement of each check on a foreign folder, by code."""

NAMED = 5
"""How many findings a check names; the rest is counted."""


@dataclass(frozen=True, slots=True)
class ForeignCase:
    """A folder, its rows rescored, and its dataset where that is at hand."""

    imported: Imported
    rescored: RescoredRankings
    dataset: CorpusIndex | None
    corpus: CorpusRules | None
    rules: Rules
    why_no_dataset: str
    tables: TableNumbers
    comparison: TableComparison
    """The figures of its tables, compared with its other claims."""
    unreadable: str = ""
    """Why its reports can't be read; empty where they can."""


def check(code: str, name: str, status: Status, observed: str, required: str = "", needed: bool = True) -> Check:
    """Return a check with the requirement of its code, unless another is given."""
    return Check(name, status, required or CODES[code], observed, code=code, needed=needed)


def passed_unless(code: str, name: str, wrong: Sequence[str], right: str, needed: bool = True) -> Check:
    """Return a check that failed with the wrong findings or, without any, passed with the right one."""
    return check(code, name, "fail" if wrong else "pass", abridge(wrong) if wrong else right, needed=needed)


def abridge(sentences: Sequence[str], what: str = "") -> str:
    """Return the first findings and the number of further ones; `what` is their noun."""
    rest = len(sentences) - NAMED
    return "; ".join(sentences[:NAMED]) + (f"; and {rest} more{' ' + what if what else ''}" if rest > 0 else "")


def corpus_rules(imported: Imported, corpus_file: Path | None, rules: Rules) -> CorpusRules | None:
    """Return the registered facts of a folder's corpus, by the stated hash, its name, or the given file."""
    registered = {name: entry.facts(rules) for name, entry in CORPORA.items()}
    stated = imported.facts.get("dataset_sha256", "")
    by_hash = next((facts for facts in registered.values() if facts.sha256 == stated), None)
    if by_hash is not None:
        return by_hash
    if imported.corpus in registered:
        return registered[imported.corpus]
    if corpus_file is None or not corpus_file.is_file():
        return None
    sha256 = sha256_of(corpus_file)
    by_file = [facts for facts in registered.values() if facts.sha256 == sha256 or facts.file == corpus_file.name]
    return next(iter(by_file), None)


def index_of(
    imported: Imported, file: Path | None, rules: Rules, environ: Mapping[str, str]
) -> tuple[CorpusIndex | None, str]:
    """Return the dataset of a folder, indexed, or why it is not at hand; raises InputError for an unreadable file."""
    corpus = corpus_rules(imported, file, rules)
    opened, why = dataset_of(imported, file, rules, environ)
    return (index_corpus(opened, corpus.sha256) if opened is not None and corpus is not None else None), why


def dataset_of(
    imported: Imported, file: Path | None, rules: Rules, environ: Mapping[str, str]
) -> tuple[Corpus | None, str]:
    """Return the dataset of a folder, opened, or why it is not at hand."""
    corpus = corpus_rules(imported, file, rules)
    if corpus is None and imported.corpus:
        return None, f"it is over {imported.corpus}, which is no corpus here"
    if corpus is None:
        return None, "the folder does not say which dataset it is over"
    try:
        return open_corpus(corpus.name, rules=rules, environ=environ, file=file, allow_dataset_deviation=True), ""
    except Blocked as error:
        return None, f"{error.problem}: --corpus-file names the file"
