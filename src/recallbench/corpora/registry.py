"""Every corpus by name, and the one way to open it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recallbench.corpora import canary
from recallbench.corpora.fetch import obtain
from recallbench.corpora.labelled_sets import labelled
from recallbench.corpora.labelled_sets.hub_record import kept_folder
from recallbench.corpora.locomo import Locomo
from recallbench.corpora.longmemeval import ABILITIES, LongMemEval, ability
from recallbench.corpora.miniature import write_labelled, write_locomo, write_longmemeval
from recallbench.corpora.records import Corpus
from recallbench.errors import Blocked, InputError, UsageError
from recallbench.progress import Progress
from recallbench.protocol.rules import CorpusRules, Rules


def _no_ability(kind: str, *, abstention: bool) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One corpus: where its registered facts stand, its reader, and what is known of it without its file."""

    facts: Callable[[Rules], CorpusRules]
    read: Callable[[Path, CorpusRules, Rules], Corpus]
    miniature: Callable[[Path], None]
    """Writes a corpus of a few lines in this one's shape, for a dry run."""
    clustered: bool = False
    """Whether questions of one scope depend on each other, as far as can be said without the file."""
    abilities: tuple[str, ...] = ()
    """What its questions are rolled up into beside their kinds, in this order; empty where there is nothing of it."""
    ability: Callable[..., str] = _no_ability
    """Of a question's kind, and whether it should find nothing (`abstention`)."""
    licence: str = ""
    """Of the corpus' texts, as their publisher states it."""
    bundled: bool = False
    brought: bool = False
    """Its user brings it along: nothing says where it lies."""


def _locomo(path: Path, facts: CorpusRules, rules: Rules) -> Locomo:
    return Locomo(path, facts, kinds=rules.locomo_kinds, repairs=rules.evidence_repairs)


def _longmemeval(path: Path, facts: CorpusRules, rules: Rules) -> LongMemEval:
    return LongMemEval(path, facts)


CORPORA: Mapping[str, Entry] = {
    "longmemeval": Entry(
        lambda rules: rules.corpora["longmemeval"],
        _longmemeval,
        write_longmemeval,
        LongMemEval.clustered,
        abilities=ABILITIES,
        ability=ability,
        licence="MIT",
    ),
    "locomo": Entry(
        lambda rules: rules.corpora["locomo"], _locomo, write_locomo, Locomo.clustered, licence="CC BY-NC 4.0"
    ),
    "canary-locomo": Entry(
        lambda rules: canary.facts()["canary-locomo"],
        _locomo,
        write_locomo,
        Locomo.clustered,
        licence=canary.LICENCE,
        bundled=True,
    ),
    "canary-longmemeval": Entry(
        lambda rules: canary.facts()["canary-longmemeval"],
        _longmemeval,
        write_longmemeval,
        LongMemEval.clustered,
        abilities=ABILITIES,
        ability=ability,
        licence=canary.LICENCE,
        bundled=True,
    ),
}

GROUPS: Mapping[str, tuple[str, ...]] = {"canary": ("canary-locomo", "canary-longmemeval")}
"""Names that stand for several corpora, run one after the other."""


def names(name: str) -> tuple[str, ...]:
    """The corpora a name stands for; raises UsageError for a name that nothing has."""
    if name in GROUPS:
        return GROUPS[name]
    _entry(name)
    return (name,)


def facts(name: str, rules: Rules) -> CorpusRules:
    """What is registered of the corpus."""
    return _entry(name).facts(rules)


def abilities(name: str, kinds: Sequence[str], abstention: Sequence[bool]) -> tuple[tuple[str, ...], list[str]]:
    """What a corpus rolls its questions up into, in its order, and which of them each question asks for.

    Both are empty where it has no such thing.
    """
    entry = CORPORA.get(name)
    if entry is None or not entry.abilities:
        return (), []
    each = [entry.ability(kind, abstention=flag) for kind, flag in zip(kinds, abstention, strict=True)]
    return tuple(one for one in entry.abilities if one in each), each


def write_miniature(name: str, path: Path) -> None:
    """Write a corpus of a few lines in the shape of the named one: a file, or the folder of a labelled set."""
    _entry(name).miniature(path)


def open_corpus(
    name: str,
    *,
    rules: Rules,
    environ: Mapping[str, str],
    file: Path | None = None,
    allow_dataset_deviation: bool = False,
    download: bool = False,
    progress: Progress | None = None,
) -> Corpus:
    """The corpus, its file found (or fetched) and hashed; another file than the registered one only if allowed."""
    entry = _entry(name)
    registered = entry.facts(rules)
    if entry.brought:
        file = file or kept_folder(registered.file, environ)
        if file is None:
            raise Blocked(
                f"where {name} lies is not known", expected="its folder", remedy="name it with --corpus-file DIR"
            )
        path = file
    elif entry.bundled and file is None:
        path = canary.FOLDER / registered.file
    else:
        path = obtain(registered, file, environ, download=download, progress=progress)
    corpus = entry.read(path, registered, rules)
    if corpus.sha256 != registered.sha256 and not allow_dataset_deviation:
        raise InputError(
            f"{path} is not the registered file of {name}",
            expected=f"sha256 {registered.sha256}",
            found=f"sha256 {corpus.sha256}",
            remedy=f"{_right_file(name, entry)}; `--allow-deviation dataset` runs on this one, labelled and UNVERIFIED",
        )
    return corpus


def _right_file(name: str, entry: Entry) -> str:
    return f"leave the file out: {name} is bundled" if entry.bundled else f"`recallbench fetch {name}` gets that file"


def _entry(name: str) -> Entry:
    if name.startswith(labelled.PREFIX):
        return Entry(
            lambda rules: labelled.facts(name),
            lambda path, facts, rules: labelled.Labelled(path, facts),
            write_labelled,
            brought=True,
        )
    if name not in CORPORA:
        raise UsageError(
            f"no corpus is called {name}",
            expected=f"one of {', '.join([*CORPORA, *GROUPS])}",
            found=name,
            remedy="recallbench corpora",
        )
    return CORPORA[name]
