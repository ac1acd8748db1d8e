"""A pack of a corpus: what has no vector yet is embedded, and all of them are written into one file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path

from recallbench import __version__
from recallbench.corpora.labelled_sets.set_name import folder_word
from recallbench.corpora.records import Haystack
from recallbench.embedding.hashing import HashEmbedder
from recallbench.embedding.machine import cpu_model
from recallbench.embedding.packs.manifest import PackManifest, as_words, is_words
from recallbench.embedding.packs.packing import PackedCorpus, write_pack
from recallbench.errors import UsageError
from recallbench.progress import Progress
from recallbench.runs.embedded_texts import embed_texts
from recallbench.runs.options import Options
from recallbench.runs.plan import plan_run
from recallbench.scratch import scratch
from recallbench.stores.exact import ExactStore
from recallbench.whole_file import write_errors


def make_pack(options: Options, path: Path, maker: str, today: date, progress: Progress) -> PackManifest:
    """Write the vectors of every segment and every question that is asked into `path`, which must be free.

    Vectors that are kept are used, after some of them were compared with new ones. Interrupted or killed, it leaves the
    vectors that were computed in the cache, and no file.
    """
    _refuse_taken(path)
    if not is_words(maker):
        raise UsageError(
            f"--maker {maker!r} can't stand in a pack",
            expected="up to 100 letters, digits, blanks and . , ; : @ + ( ) / ' & -",
            found=maker,
            remedy=f"--maker '{as_words(maker) or 'our lab'}'",
        )
    plan = plan_run(replace(options, store=ExactStore.name))
    if plan.embedder == HashEmbedder.name:
        raise UsageError(
            "hash needs no pack: it has no weights",
            expected="an encoder whose vectors take time",
            found="--embedder hash",
            remedy="name another --embedder",
        )
    corpus = plan.open_corpus(progress)

    def haystacks() -> Iterable[Haystack]:
        return plan.select(corpus.haystacks())

    with plan.open_embedder(progress, recheck_own=True, packs=False) as embedder:
        assert embedder is not None
        with progress.stage("reading the corpus", plan.corpus.segments or None, "segments") as advance:
            survey = corpus.survey(lambda haystack: advance(len(haystack.segments)))
        embed_texts(haystacks(), embedder, survey.segments)
        about = PackedCorpus(
            corpus=plan.corpus.name,
            dataset_sha256=survey.sha256,
            max_tokens=options.max_tokens,
            maker=maker,
            machine=as_words(cpu_model()) or "a machine",
            made=today.isoformat(),
            release=__version__,
        )
        with write_errors(f"{path} can't be written", remedy="free some space, or name another file with --save"):
            return write_pack(path, haystacks, embedder, about, progress)


def default_name(options: Options) -> str:
    """Return what the file is called where its user names none."""
    plan = plan_run(replace(options, store=ExactStore.name))
    return f"{folder_word(plan.embedder or '')}-{folder_word(plan.corpus.name.partition('@')[0])}.safetensors"


def _refuse_taken(path: Path) -> None:
    """Raise UsageError before anything is embedded for a file that could not be written."""
    if os.path.lexists(path):
        raise UsageError(
            f"{path} exists already",
            expected="the name of a file that is not there yet",
            found="a file" if path.is_file() else "a folder or link",
            remedy="move it away, or name another one with --save",
        )
    above = next(parent for parent in path.absolute().parents if parent.exists())
    # Only trying is sure: permission bits say nothing of read-only file systems, nor do they bind root.
    with write_errors(f"{path} can't be written", remedy="name another file with --save"), scratch(above):
        pass
