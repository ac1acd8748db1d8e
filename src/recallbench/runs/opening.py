"""What a run opens, as its options ask for it: the corpus, the encoder, the store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from recallbench.corpora.records import Corpus, Haystack
from recallbench.corpora.registry import open_corpus
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.registry import open_embedder
from recallbench.progress import Progress, Silent
from recallbench.protocol.rules import Rules
from recallbench.runs.choices import Choice, dsn_of
from recallbench.runs.options import Options
from recallbench.stores.registry import open_store
from recallbench.stores.store import Store


def corpus_of(options: Options, rules: Rules, progress: Progress) -> Corpus:
    """The corpus, fetched where that is allowed."""
    return open_corpus(
        options.corpus,
        rules=rules,
        file=options.corpus_file,
        environ=options.environ,
        allow_dataset_deviation="dataset" in options.allow_deviations,
        download=options.download,
        progress=progress,
    )


def embedder_of(options: Options, choice: Choice, progress: Progress, *, recheck_own: bool = False) -> Embedder | None:
    """The encoder; None where the store needs no vectors. With `recheck_own` the user's own kept vectors are held
    against new ones too."""
    if choice.embedder is None:
        return None
    return open_embedder(
        choice.embedder,
        backend=options.backend,
        cache_dir=options.cache_dir,
        environ=options.environ,
        progress=progress,
        recheck_own=recheck_own,
    )


def store_of(options: Options, choice: Choice, progress: Progress | None = None) -> Store:
    """The store, not yet filled."""
    return open_store(
        choice.address,
        dsn=dsn_of(options),
        options=options.store_options,
        environ=options.environ,
        progress=progress or Silent(),
    )


def embed(haystacks: Callable[[], Iterable[Haystack]], embedder: Embedder, segments: int) -> None:
    """See to it that every text of the haystacks and their questions has its vector."""
    questions: list[str] = []

    def passages() -> Iterator[str]:
        for haystack in haystacks():
            questions.extend(question.text for question in haystack.questions)
            for segment in haystack.segments:
                yield segment.text

    embedder.ensure(passages(), "passage", total=segments)
    embedder.ensure(questions, "query", total=len(questions))
