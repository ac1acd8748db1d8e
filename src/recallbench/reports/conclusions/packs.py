"""What is said of a pack of vectors: what it is, what was checked of it, and what a result over it may be called."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from math import floor
from pathlib import Path
from typing import Any

from recallbench.corpora.labelled_sets.set_name import plain_names
from recallbench.corpora.registry import CORPORA
from recallbench.embedding.packs.manifest import PackManifest
from recallbench.embedding.packs.record import PackRecord
from recallbench.embedding.packs.verification import CheckedPack
from recallbench.protocol.frozen import load
from recallbench.protocol.packed_vectors import PackedVectors
from recallbench.reports.printing.conclusion import Conclusion

KEY = "~/.config/recallbench/release"


def pack_lines(manifest: PackManifest, sha256: str) -> dict[str, str]:
    """Return what a pack says of itself."""
    return {
        "sha256": sha256,
        "corpus": f"{plain_names(manifest.corpus)}, sha256 {manifest.dataset_sha256}",
        "encoder": f"{manifest.encoder}, {manifest.fingerprint['backend']}, fingerprint {manifest.fingerprint_sha256}",
        "holds": f"{manifest.texts:,} vectors of {manifest.dims} numbers",
        "made": f"by {manifest.maker} on {manifest.made}, {manifest.machine}, RecallBench {manifest.release}",
    }


def checked_lines(checked: CheckedPack, left: Sequence[str] | None = None) -> dict[str, str]:
    """Return what was found of a pack, and what was not looked at: `left`, where not all of that matters."""
    left = _left(checked) if left is None else left
    lines = {"bytes": "as they were made"}
    if checked.texts_checked:
        lines["texts"] = "those of the corpus, in its order"
    if (comparison := checked.comparison) is not None:
        least = floor(comparison.cosine * 1e7) / 1e7  # not rounded up to 1
        lines["vectors"] = f"{_texts(comparison.texts)} embedded again, a cosine of {least:.7f} or more"
    if (signature := checked.signature) is not None:
        compared = f"who compared {_texts(signature.compared)}" if signature.compared else "who compared none"
        lines["signature"] = f"by the key {signature.key[:16]}…, {compared}"
    if left:
        lines["not checked"] = "; ".join(left)
    return lines


def checked_document(checked: CheckedPack) -> dict[str, Any]:
    """Return the same for programs."""
    comparison, signature = checked.comparison, checked.signature
    return {
        "sha256": checked.sha256,
        "manifest": checked.manifest.model_dump(),
        "texts_checked": checked.texts_checked,
        "compared": 0 if comparison is None else comparison.texts,
        "cosine": None if comparison is None else comparison.cosine,
        "key": None if signature is None else signature.key,
        "compared_by_signer": 0 if signature is None else signature.compared,
        "not_checked": _left(checked),
    }


def conclude_made(manifest: PackManifest, path: Path) -> Conclusion:
    """Return how packing ends."""
    of = f"{manifest.texts:,} vectors of {manifest.encoder} for {plain_names(manifest.corpus)}"
    return Conclusion(
        f"Packed {of} into {path}",
        "nobody vouches for it yet",
        f"recallbench attest {shlex.quote(str(path))} --key {KEY}",
    )


def conclude_checked(checked: CheckedPack, path: Path) -> Conclusion:
    """Return how the check of a pack that holds ends: what was checked, and what was not."""
    left = _left(checked)
    return Conclusion(
        f"{path} holds: checked {_checked(checked)}",
        f"not checked: {'; '.join(left)}" if left else "",
        f"recallbench vectors use {shlex.quote(str(path))}",
        "open" if left else "good",
    )


def conclude_used(checked: CheckedPack, record: PackRecord, path: Path) -> Conclusion:
    """Return how the use of a pack begins: what runs find now, and what a result over it may be called."""
    manifest = record.manifest
    fault = _fault(record)
    belief = f"checked {_checked(checked)}"
    if fault:
        belief += f"; the protocol calls that a deviation: {fault}"
    corpus = plain_names(manifest.corpus)
    embedder = "" if _is_canonical(manifest) else f" --embedder {shlex.quote(manifest.encoder)}"
    of_run = f"recallbench run {corpus}" if corpus in CORPORA else "recallbench evaluate DIR"
    return Conclusion(
        f"Runs of {manifest.encoder} on {corpus} take their {manifest.texts:,} vectors from {path.name} now",
        belief,
        f"{of_run}{embedder}",
        "open" if fault else "good",
    )


def conclude_signed(checked: CheckedPack, path: Path, key: Path) -> Conclusion:
    """Return how the signing of a pack ends: what the signature says, and how others use it."""
    comparison = checked.comparison
    if comparison is None:
        belief = f"not checked: {'; '.join(checked.not_checked)}"
    else:
        belief = f"it says that {_texts(comparison.texts)} were embedded again and agreed"
    return Conclusion(
        f"Signed {path} with all that it states",
        belief,
        f"recallbench vectors use {shlex.quote(str(path))} --key {shlex.quote(str(key))}.pub",
        "good" if comparison else "open",
    )


def _fault(record: PackRecord) -> str:
    """Return why a result on a corpus of the protocol over this pack departs from it; empty where it does not."""
    if record.manifest.corpus not in load().corpora:
        return ""
    comparison, by = record.comparison
    texts, cosine = comparison or (0, None)
    return PackedVectors(record.manifest.texts, texts, cosine, by, beside=False).fault(load().packs)


def _is_canonical(manifest: PackManifest) -> bool:
    rules = load().corpora.get(manifest.corpus)
    return rules is not None and rules.embedder == manifest.encoder


def _checked(checked: CheckedPack) -> str:
    found = ["its bytes"]
    found += ["its texts"] if checked.texts_checked else []
    if checked.comparison is not None:
        found.append(f"{_texts(checked.comparison.texts)} embedded again")
    found += [f"its signature by {checked.signature.key[:16]}…"] if checked.signature is not None else []
    return ", ".join(found)


def _left(checked: CheckedPack) -> list[str]:
    voucher = [] if checked.signature is not None else ["who vouches for it (--key NAME.pub)"]
    return [*voucher, *checked.not_checked]


def _texts(count: int) -> str:
    return "1 text" if count == 1 else f"{count} texts"
