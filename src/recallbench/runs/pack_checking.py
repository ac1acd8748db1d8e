"""A pack that is checked, and put into the cache: its bytes always, and what else this machine can tell of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from recallbench.corpora.records import Corpus
from recallbench.corpora.registry import open_corpus
from recallbench.embedding.cached_embedder import CachedEmbedder
from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.forms.form import EncoderRequest
from recallbench.embedding.forms.known_facts import contradictions
from recallbench.embedding.options import Backend
from recallbench.embedding.own_key import Seal, own_key
from recallbench.embedding.packs.manifest import PackManifest
from recallbench.embedding.packs.pack_file import PackFile
from recallbench.embedding.packs.packed_encoder import refuse_other_encoder
from recallbench.embedding.packs.record import AgreedTexts, PackSignature
from recallbench.embedding.packs.used_packs import UsedPack, use_pack
from recallbench.embedding.packs.verification import CheckedPack, Drawn, TextDraw, check_texts, compare_again
from recallbench.embedding.registry import encoder_status, form_of, open_text_encoder, recorded_encoder
from recallbench.errors import Blocked, InputError, UsageError
from recallbench.hub import offline
from recallbench.progress import Progress
from recallbench.protocol.frozen import load
from recallbench.retrieval.selection import select_haystacks

ReadSignature = Callable[[PackManifest, str], PackSignature]
"""Returns the signature of the pack with this manifest and sha256, by the key that was named; raises InputError."""


@dataclass(frozen=True, slots=True)
class PackRequest:
    """A pack, and where on this machine lies what it can be held to."""

    path: Path
    cache_dir: Path
    environ: Mapping[str, str] = field(repr=False)
    corpus_file: Path | None = None
    embedder: str | None = None
    """The encoder as it is opened here, where its name in the pack does not say where it is."""
    backend: Backend = "auto"
    signature: ReadSignature | None = None
    """None where no key was named."""


def check_pack(request: PackRequest, progress: Progress) -> CheckedPack:
    """Return what was found of a pack; raises InputError for one that is not what it says."""
    with _opened(request) as pack:
        with progress.stage("reading the pack", pack.manifest.texts, "texts") as advance:
            for block in pack.blocks():
                advance(len(block.keys))
        return _examined(pack, request, progress)


def take_pack(request: PackRequest, progress: Progress) -> tuple[UsedPack, CheckedPack]:
    """Put a pack into the cache, after the same checks; nothing of it where one fails."""
    found: list[CheckedPack] = []

    def examine() -> tuple[AgreedTexts | None, PackSignature | None]:
        found.append(_examined(pack, request, progress))
        return found[0].comparison, found[0].signature

    with _opened(request) as pack:
        return use_pack(pack, request.cache_dir, progress, examine), found[0]


def _opened(request: PackRequest) -> PackFile:
    """Open the pack; raises InputError for one of an encoder that this release knows otherwise, or not at all."""
    pack = PackFile(request.path)
    try:
        told = pack.manifest
        problems = [*contradictions(told.encoder, told.fingerprint, form_of(told.encoder), told.max_tokens)]
        if faults := [*problems, *_missing_hashes(told)]:
            raise InputError(
                f"{request.path} is a pack of another encoder than the {told.encoder} that this release knows",
                expected=f"the fingerprint of {told.encoder}",
                found="; ".join(faults[:3]),
                remedy="get a pack that was made with this release's encoder",
            )
        if request.embedder is not None and recorded_encoder(request.embedder) != told.encoder:
            raise InputError(
                f"{request.path} is a pack of another encoder",
                expected=f"one of {recorded_encoder(request.embedder)}, which --embedder names",
                found=told.encoder,
                remedy="name the encoder that the pack is of, or get another pack",
            )
    except BaseException:
        pack.close()
        raise
    return pack


def _missing_hashes(told: PackManifest) -> Iterator[str]:
    spec = ENCODERS.get(told.encoder)
    for part, files in {} if spec is None else spec.parts().items():
        for file in files.files:
            if f"sha256 {part}/{file}" not in told.fingerprint:
                yield f"no sha256 of {part}/{file}"


def _examined(pack: PackFile, request: PackRequest, progress: Progress) -> CheckedPack:
    """Return what else can be told of a pack that was read to its end."""
    told = pack.manifest
    signature = None if request.signature is None else request.signature(told, pack.sha256)
    corpus, why = _corpus(told, request, progress)
    if corpus is None:
        unknown = (f"its texts ({why})", "its vectors (they need the texts)")
        return CheckedPack(told, pack.sha256, signature=signature, not_checked=unknown)
    draw = TextDraw(Seal(own_key(request.cache_dir)[0], told.sha256), load().packs.texts_embedded_again)
    drawn = check_texts(pack, select_haystacks(corpus.haystacks(), pool=False, limit=None), draw)
    comparison, why = _compared(pack, drawn, request, progress)
    left = (f"its vectors ({why})",) if comparison is None else ()
    pack.refuse_change()
    return CheckedPack(told, pack.sha256, True, comparison, signature, left)


def _corpus(told: PackManifest, request: PackRequest, progress: Progress) -> tuple[Corpus | None, str]:
    """Return the corpus of a pack, surveyed; else None, and why it is not at hand."""
    try:
        corpus = open_corpus(
            told.corpus,
            rules=load(),
            environ=request.environ,
            file=request.corpus_file,
            allow_dataset_deviation=True,
            progress=progress,
        )
    except (Blocked, UsageError) as error:
        return None, error.problem
    if corpus.sha256 != told.dataset_sha256:
        if request.corpus_file is not None:
            raise InputError(
                f"{request.path} is a pack of other texts",
                expected=f"those of {request.corpus_file}, sha256 {corpus.sha256}",
                found=f"{told.corpus}, sha256 {told.dataset_sha256}",
                remedy="name the file that it was made of, or get a pack of this one",
            )
        return None, f"{corpus.path} is another file than it was made of"
    corpus.survey()
    return corpus, ""


def _compared(pack: PackFile, drawn: Drawn, request: PackRequest, progress: Progress) -> tuple[AgreedTexts | None, str]:
    """Return how near the vectors lie to what the weights give; else None, and why that can't be told here."""
    told = pack.manifest
    name = request.embedder or told.encoder
    if request.embedder is None and name not in ENCODERS:
        # Whoever made a pack must not choose what is run here, or asked over the network.
        return None, f"{name} is opened where --embedder names it"
    environ = offline(request.environ)
    ready, detail, _ = encoder_status(name, environ, request.cache_dir, told.max_tokens)
    if not ready:
        return None, f"the weights are not here: {detail}"
    asked = EncoderRequest(name, request.cache_dir, environ, progress, request.backend, told.max_tokens)
    encoder = open_text_encoder(name, asked)
    embedder = CachedEmbedder(encoder, cache_dir=request.cache_dir, progress=progress, recheck_own=False)
    with closing(embedder):
        refuse_other_encoder(encoder.fingerprint, told.fingerprint, told.encoder)
        count = sum(map(len, drawn.values()))
        progress.note(f"{count} texts of the pack are embedded again")
        return compare_again(pack, drawn, embedder), ""
