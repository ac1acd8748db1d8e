"""Which of the packs in the cache a run takes its vectors from, if any."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.corpora.records import Corpus
from recallbench.embedding.fingerprint import PINNED
from recallbench.embedding.forms.form import EncoderRequest
from recallbench.embedding.packs.packed_encoder import refuse_other_encoder
from recallbench.embedding.packs.used_packs import UsedPack, choose_pack, names_of, used_packs
from recallbench.embedding.registry import open_text_encoder, weights_here
from recallbench.errors import Blocked, InputError


def find_pack(encoder: str, request: EncoderRequest, open_corpus: Callable[[], Corpus]) -> UsedPack | None:
    """Return the pack whose vectors a run uses; None where it embeds for itself. `encoder` is the recorded name.

    Raises Blocked where it can do neither, though packs of this encoder are there.
    """
    packs = used_packs(request.cache_dir, encoder, request.max_tokens)
    if not packs:
        return None
    corpus = open_corpus()
    chosen, here = choose_pack(packs, corpus.sha256, request.backend), weights_here(request)
    if chosen is not None and here and _is_of_other_weights(chosen, request):
        request.progress.note(f"{chosen.words}, is of another {encoder} than the one on this machine: it is not used")
        return None
    if chosen is None and not here:
        engine = "" if request.backend == "auto" else f" ({request.backend})"
        raise Blocked(
            f"none of the packs of {encoder} that are used here is of this corpus, and its weights are not here",
            expected=f"{plain_names(corpus.name)}{engine}, sha256 {corpus.sha256}",
            found=names_of(packs),
            remedy=f"recallbench vectors use FILE, or recallbench fetch {encoder} where it can be had",
        )
    return chosen


def _is_of_other_weights(pack: UsedPack, request: EncoderRequest) -> bool:
    """Whether the encoder, where its name does not pin it, changed since the pack was made."""
    stated = pack.manifest.fingerprint
    if not stated.get(PINNED, "").startswith("no"):
        return False
    with closing(open_text_encoder(request.name, request)) as encoder:
        try:
            refuse_other_encoder(encoder.fingerprint, stated, pack.manifest.encoder)
        except InputError:
            return True
    return False
