"""The declaration of a corpus; the registry lists the modules that declare one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recallbench.corpora.records import Corpus
from recallbench.corpora.release import Release
from recallbench.corpora.sources import Download
from recallbench.protocol.rules import CorpusRules, Rules


def unregistered(name: str, file: str, sha256: str) -> CorpusRules:
    """Return the facts of a corpus that its user brings along: its hash is all that is registered of it."""
    return CorpusRules(
        name=name,
        paper="",
        source="",
        file=file,
        sha256=sha256,
        revision="",
        variable="",
        embedder="minilm",
        questions=0,
        with_evidence=0,
        segments=0,
        kinds={},
        segments_per_scope=(),
        forbidden_segments=0,
        bands={},
        baselines={},
    )


def _no_ability(kind: str, *, abstention: bool) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class CorpusEntry:
    """One corpus: the place of its registered facts, its reader, and all that is known of it without its file."""

    name: str
    facts: Callable[[Rules], CorpusRules]
    read: Callable[[Path, CorpusRules, Rules], Corpus]
    write_miniature: Callable[[Path], None]
    """Writes a corpus of a few lines in this one's shape, for a dry run."""
    clustered: bool = False
    """Whether questions of one scope depend on each other, as far as can be said without the file."""
    abilities: tuple[str, ...] = ()
    """The groups that its questions are rolled up into beside their kinds, in this order; empty where it has none."""
    ability: Callable[..., str] = _no_ability
    """Returns the ability of a question from its kind, and whether it should find nothing (`abstention`)."""
    licence: str = ""
    """The licence of the corpus' texts, as their publisher states it."""
    timed: bool = False
    """Whether a question may see only what was said before it."""
    unit: str = ""
    """What a segment of it is (session, turn), where the same questions may be asked over other units."""
    questions_of: str = ""
    """The corpus that asks the same questions, by id, over another unit; empty for the first of them."""
    worth: str = ""
    """What figures on it can be relied on for, in sentences; empty where there is nothing to warn of."""
    release: Release | None = None
    """Its files, where it has many."""
    bundled: Path | None = None
    """The file that comes with the package."""
    download: Download | None = None
    """Downloads its registered file; None where it is not downloaded."""
    brought: bool = False
    """Whether its user brings the file along: no place of it is known."""
