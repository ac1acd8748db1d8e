"""Every corpus by name, and the one way to open it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path

from recallbench.corpora.entry import CorpusEntry
from recallbench.corpora.fetch import fetch_file, fetch_release
from recallbench.corpora.labelled_sets.hub_record import fetched_folder
from recallbench.corpora.labelled_sets.hub_set import PREFIX
from recallbench.corpora.labelled_sets.labelled import labelled_entry
from recallbench.corpora.labelled_sets.set_name import is_set_name
from recallbench.corpora.location import data_folder, locate, locate_release
from recallbench.corpora.own import is_own_name, own_entry
from recallbench.corpora.records import Corpus
from recallbench.corpora.release_corpus import ReleaseCorpus
from recallbench.errors import Blocked, InputError, UsageError
from recallbench.escaping.shell import command
from recallbench.nearest_name import you_may_mean
from recallbench.progress import Progress, Silent
from recallbench.protocol.rules import CorpusRules, Rules

MODULES = (
    "longmemeval",
    "locomo",
    "canary",
    "realtalk",
    "beam",
    "realmem",
)
"""The modules of this package that declare corpora, each under the name CORPORA."""
CORPORA: Mapping[str, CorpusEntry] = {
    entry.name: entry for module in MODULES for entry in import_module(f"recallbench.corpora.{module}").CORPORA
}
SHAPES: Mapping[str, CorpusEntry] = {
    name: entry for name, entry in CORPORA.items() if not (entry.bundled or entry.release)
}
"""The corpora whose readers read a user's own file of the same shape."""
ALL = "all"
"""The group of every corpus but the bundled ones, of which those are measured that are at hand."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "canary": ("canary-locomo", "canary-longmemeval"),
    ALL: tuple(name for name, entry in CORPORA.items() if not entry.bundled),
}
"""Names that stand for several corpora, run one after the other."""


def names(name: str) -> tuple[str, ...]:
    """The corpora a name stands for; raises UsageError for a name that nothing has."""
    if name in GROUPS:
        return GROUPS[name]
    find_entry(name)
    return (name,)


def facts(name: str, rules: Rules) -> CorpusRules:
    """Return the registered facts of the corpus."""
    return find_entry(name).facts(rules)


def abilities(name: str, kinds: Sequence[str], abstention: Sequence[bool]) -> tuple[tuple[str, ...], list[str]]:
    """Return the abilities of a corpus in its order, and the one that each question asks for.

    Both are empty where it has no such thing.
    """
    entry = find_entry(name)
    if not entry.abilities:
        return (), []
    each = [entry.ability(kind, abstention=flag) for kind, flag in zip(kinds, abstention, strict=True)]
    return tuple(ability for ability in entry.abilities if ability in each), each


def write_miniature(name: str, path: Path) -> None:
    """Write a corpus of a few lines in the shape of the named one: a file, or the folder of a labelled set."""
    find_entry(name).write_miniature(path)


def open_corpus(
    name: str,
    *,
    rules: Rules,
    environ: Mapping[str, str],
    file: Path | None = None,
    allow_dataset_deviation: bool = False,
    download: bool = False,
    progress: Progress | None = None,
    whole_texts: bool = False,
    allow_random_matches: bool = True,
) -> Corpus:
    """Open a corpus: its file found (or fetched) and hashed, its gold from expected texts where its name says so.

    Another file than the registered one is refused unless `allow_dataset_deviation`. `whole_texts` matches as results
    did before a part of a text was enough to say something: all of it had to. Without `allow_random_matches` a survey
    raises InputError where too many random texts match.
    """
    entry = find_entry(name)
    registered = entry.facts(rules)
    if entry.brought:
        file = file or fetched_folder(registered.file, environ)
        if file is None:
            raise Blocked(
                f"where {name} lies is not known",
                expected="its file or folder",
                remedy="name it with --corpus-file",
            )
        path = file
    elif entry.bundled is not None and file is None:
        path = entry.bundled
    else:
        path = obtain(registered, file, environ, download=download, progress=progress)
    corpus = entry.read(path, registered, rules)
    if corpus.sha256 != registered.sha256 and not allow_dataset_deviation:
        raise InputError(
            f"{path} is not the registered {'file' if entry.release is None else 'release'} of {name}",
            expected=f"sha256 {registered.sha256}",
            found=_found(corpus),
            remedy=f"{_remedy(corpus, entry)}; `--allow-deviation dataset` runs on this one, and the result says so",
        )
    if corpus.matching is None:
        return corpus
    # BM25 over passages takes its time to import, and few sets are matched by text.
    from recallbench.corpora.matching.text_gold import TextMatched

    whole = whole_texts and not corpus.matching.chunk
    return TextMatched(
        corpus, corpus.matching, progress or Silent(), whole=whole, allow_random_matches=allow_random_matches
    )


def why_not_at_hand(name: str, rules: Rules, environ: Mapping[str, str]) -> str:
    """Return why the files of a corpus are not found on this machine; empty where they are."""
    try:
        obtain(facts(name, rules), None, environ, download=False)
    except (Blocked, InputError) as error:
        return f"{error.problem}: {error.remedy}"
    return ""


def fetch(rules: CorpusRules, environ: Mapping[str, str], progress: Progress | None = None) -> Path:
    """Return the registered file in the data folder, downloaded unless it is there; raises Blocked without it."""
    download = find_entry(rules.name).download
    if download is None:
        raise InputError(
            f"{rules.name} is not a corpus that is downloaded",
            expected=f"one of {', '.join(name for name, entry in CORPORA.items() if entry.download)}",
            found=rules.name,
            remedy=f"nothing to fetch: `recallbench run {rules.name}`",
        )
    release = find_entry(rules.name).release
    if release is not None:
        return fetch_release(rules, release, environ, progress)
    return fetch_file(rules, download, environ, progress)


def obtain(
    rules: CorpusRules,
    option: Path | None,
    environ: Mapping[str, str],
    *,
    download: bool,
    progress: Progress | None = None,
) -> Path:
    """Return the corpus file as `locate` finds it; where nothing was named and `download` allows it, fetched first."""
    named = option is not None or bool(rules.variable and environ.get(rules.variable))
    release, folder = find_entry(rules.name).release, data_folder(environ)
    names = [rules.file] if release is None else [f"{release.folder}/{name}" for name in release.files]
    if download and not named and not all((folder / name).is_file() for name in names):
        return fetch(rules, environ, progress)
    return locate(rules, option, environ) if release is None else locate_release(rules, release, option, environ)


def _found(corpus: Corpus) -> str:
    """Return the hash of a corpus that is not as registered, with the files that differ where it has many."""
    differing = f": {corpus.differences}" if isinstance(corpus, ReleaseCorpus) else ""
    return f"sha256 {corpus.sha256}{differing}"


def _remedy(corpus: Corpus, entry: CorpusEntry) -> str:
    if isinstance(corpus, ReleaseCorpus):
        return corpus.remedy
    named = corpus.name
    return f"leave the file out: {named} is bundled" if entry.bundled else f"`recallbench fetch {named}` gets that file"


def find_entry(name: str) -> CorpusEntry:
    """Return the declaration of a corpus; raises UsageError for an unknown name."""
    if is_set_name(name):
        return labelled_entry(name)
    if is_own_name(name):
        return own_entry(name, SHAPES)
    if name not in CORPORA:
        raise UsageError(
            f"no corpus is called {name}",
            expected=f"one of {', '.join([*CORPORA, *GROUPS])}",
            found=name,
            remedy=_meant(name),
        )
    return CORPORA[name]


def _meant(name: str) -> str:
    """Return what to type for the folder, the file or the other spelling that somebody may have meant."""
    if Path(name).is_dir():
        return f"a set of your own: {command('evaluate', name)}"
    if Path(name).is_file():
        return f"a file of your own: {command('run', '--corpus-shape', 'SHAPE', '--corpus-file', name)}"
    if name.startswith(PREFIX):
        return f"a set of the hub: {command('evaluate', name)}"
    return f"recallbench corpora lists them{you_may_mean(name, [*CORPORA, *GROUPS])}"
