"""The texts of a pack against those of a corpus, and some of its vectors against what the weights give now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recallbench.corpora.records import Haystack
from recallbench.embedding.cached_embedder import CachedEmbedder
from recallbench.embedding.encoders import Role
from recallbench.embedding.fingerprint import is_one_sided, text_key
from recallbench.embedding.own_key import Seal
from recallbench.embedding.packs.manifest import PackManifest
from recallbench.embedding.packs.pack_file import PackFile
from recallbench.embedding.packs.packing import texts_by_role
from recallbench.embedding.packs.record import AgreedTexts, PackSignature
from recallbench.embedding.spot_check import CachedText, SpotCheck
from recallbench.errors import InputError

SIDES: tuple[Role, ...] = ("passage", "query")
DIGITS = 10
"""Digits of a cosine: the same on every processor, as all figures of a result."""
Drawn = Mapping[Role, Sequence[CachedText]]


@dataclass(frozen=True, slots=True)
class CheckedPack:
    """A pack whose bytes are as they were made, and what else was found of it."""

    manifest: PackManifest
    sha256: str
    """Of the file."""
    texts_checked: bool = False
    """Whether its texts were found to be those of the corpus."""
    comparison: AgreedTexts | None = None
    signature: PackSignature | None = None
    not_checked: tuple[str, ...] = ()
    """What was not, each with the reason."""


@dataclass(slots=True)
class TextDraw:
    """Texts of both sides of a corpus, drawn by the keyed hash of each: a repeat draws the same, and whoever made the
    pack can't know them."""

    seal: Seal
    most: int
    """How many, of both sides together."""
    _checks: dict[Role, SpotCheck] = field(default_factory=dict)

    def offer(self, key: bytes, row: int, role: Role, text: str) -> None:
        """Let a text take part."""
        check = self._checks.setdefault(role, SpotCheck(self.most))
        check.offer(CachedText(self.seal.of(key, b""), row, 0, text))

    def drawn(self) -> Drawn:
        """Return half of them from each side, and more where the other has too few."""
        found = {role: self._checks[role].drawn for role in SIDES if role in self._checks}
        counts = {role: len(texts) for role, texts in found.items()}
        half = self.most // 2
        room = {role: self.most - min(half, sum(counts.values()) - count) for role, count in counts.items()}
        return {role: texts[: room[role]] for role, texts in found.items()}


def check_texts(pack: PackFile, haystacks: Iterable[Haystack], draw: TextDraw) -> Drawn:
    """Return texts drawn from a corpus; raises InputError where the pack is not of its texts, in their order."""
    one_sided = is_one_sided(pack.manifest.fingerprint)
    keys = [key.tobytes() for key in pack.keys]
    met: set[bytes] = set()
    for haystack in haystacks:
        for role, texts in texts_by_role(haystack):
            for place, text in enumerate(texts):
                key = text_key(text, role, place, one_sided=one_sided)
                if key in met:
                    continue
                if len(met) == len(keys) or keys[len(met)] != key:
                    raise _other_texts(pack, f"text {len(met) + 1} of the corpus, in {haystack.scope}, is not there")
                draw.offer(key, len(met), role, text)
                met.add(key)
    if len(met) < len(keys):
        raise _other_texts(pack, f"{len(keys)} texts, the corpus has {len(met)}")
    return draw.drawn()


def compare_again(pack: PackFile, drawn: Drawn, embedder: CachedEmbedder) -> AgreedTexts:
    """Return how near the vectors of these texts lie to what the encoder gives now.

    Raises InputError where they differ by more than batches and engines explain, or in token count or cut.
    """
    worst, count = 1.0, 0
    for role, texts in drawn.items():
        if not texts:
            continue
        kept = pack.embeddings([text.row for text in texts])
        cosine, fault = embedder.compare(kept, [text.text for text in texts], role)
        if fault:
            raise InputError(
                f"the vectors of {pack.path} are not those of {pack.manifest.encoder}",
                expected=f"what it gives for the same texts now, in each of {len(texts)} drawn from the "
                f"{'segments' if role == 'passage' else 'questions'}",
                found=fault,
                remedy="none of it was used; ask whoever made it, or embed for yourself",
            )
        worst, count = min(worst, cosine), count + len(texts)
    return AgreedTexts(count, round(worst, DIGITS))


def _other_texts(pack: PackFile, found: str) -> InputError:
    told = pack.manifest
    return InputError(
        f"{pack.path} is a pack of other texts",
        expected=f"the texts of {told.corpus}, sha256 {told.dataset_sha256}",
        found=found,
        remedy="get a pack of this corpus, or make one: recallbench vectors pack CORPUS",
    )
