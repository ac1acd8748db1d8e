"""The pack that a result's vectors are of: what the result says of it, and who vouches for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from recallbench.audit.examination import CannotTell, Examination, pass_unless
from recallbench.audit.gate import Finding
from recallbench.audit.subject import AuditSubject
from recallbench.embedding.packs.manifest import PackManifest
from recallbench.embedding.packs.record import PackSignature
from recallbench.embedding.packs.signature import signature_of
from recallbench.errors import InputError
from recallbench.extras import install_command, missing_modules
from recallbench.protocol.packed_vectors import NOBODY, SIGNER
from recallbench.reports.own_encoder import pack_sentence
from recallbench.results.environment import PACK as FIELD
from recallbench.results.metrics import EmbedderPart, PackPart
from recallbench.signed_statement import key_of


def pack(subject: AuditSubject) -> Finding:
    embedder, origin = subject.metrics.embedder, subject.environment.get(FIELD)
    if embedder is None or embedder.pack is None:
        raise CannotTell("no pack is stated")
    if not isinstance(origin, Mapping) or not {"manifest"} <= origin.keys() <= {"manifest", "signature"}:
        return Finding("fail", "environment.json does not hold the manifest of the pack")
    try:
        manifest = PackManifest.model_validate_json(json.dumps(origin["manifest"]))
        signature = _signature(origin)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return Finding("fail", f"environment.json: {FIELD}.{'.'.join(map(str, first['loc']))}: {first['msg']}")
    problems = [
        *manifest.faults(),
        *_stated(subject, embedder, embedder.pack, manifest),
        *_vectors(subject, embedder, embedder.pack),
        *_vouched(subject, embedder.pack, manifest, signature),
    ]
    return pass_unless(problems, pack_sentence(embedder.pack))


def _signature(origin: Mapping[str, Any]) -> PackSignature | None:
    stated = origin.get("signature")
    return None if stated is None else PackSignature.model_validate_json(json.dumps(stated))


def _stated(subject: AuditSubject, embedder: EmbedderPart, part: PackPart, manifest: PackManifest) -> Iterator[str]:
    """Yield what the pack's manifest says otherwise than the result."""
    corpus = subject.metrics.corpus
    pairs = {
        "encoder": (embedder.name, manifest.encoder),
        "fingerprint": (embedder.fingerprint_sha256, manifest.fingerprint_sha256),
        "corpus": (corpus.name, manifest.corpus),
        "dataset": (subject.metrics.dataset_sha256, manifest.dataset_sha256),
    }
    for name in ("maker", "machine", "made", "release", "texts", "vectors_sha256"):
        pairs[name] = (getattr(part, name), getattr(manifest, name))
    yield from (f"{name} {told}, the pack has {had}" for name, (told, had) in pairs.items() if told != had)


def _vectors(subject: AuditSubject, embedder: EmbedderPart, part: PackPart) -> Iterator[str]:
    """Yield where the vectors of the result can't be those that it says."""
    account = subject.environment.get("embedding")
    counts = account if isinstance(account, Mapping) else {}
    packed, distinct = counts.get("packed", 0), counts.get("distinct")
    if not isinstance(packed, int) or not 0 <= packed <= part.texts:
        yield f"{packed} vectors of a pack of {part.texts}"
    elif not isinstance(reused := counts.get("reused"), int) or packed > reused:
        yield f"{packed} vectors of the pack, of {counts.get('reused')} that were not computed"
    retrieval = subject.metrics.retrieval
    same = embedder.vectors_sha256 == part.vectors_sha256
    whole = retrieval.scope == "own" and retrieval.limit is None
    alone = subject.metrics.pipeline is None and subject.metrics.reproduction is None
    if whole and alone and same != (packed == distinct):
        yield f"{packed} of {distinct} vectors of the pack, which hash to {'' if same else 'other than '}what it states"


def _vouched(
    subject: AuditSubject, part: PackPart, manifest: PackManifest, signature: PackSignature | None
) -> Iterator[str]:
    """Yield what the stated comparison and key lack."""
    if (signature.key if signature else "") != part.key:
        yield f"the key {part.key or 'of nobody'}, environment.json has {signature.key if signature else 'none'}"
        return
    if part.compared_by == NOBODY and (part.compared or part.cosine is not None):
        yield f"{part.compared} texts compared, by nobody"
    if (part.cosine is None) != (part.compared == 0) or part.compared < 0:
        yield f"{part.compared} texts compared, with a cosine of {part.cosine}"
    if part.compared > part.texts or not -1 <= (part.cosine or 0.0) <= 1:
        yield f"{part.compared} of {part.texts} texts compared, with a cosine of {part.cosine}"
    if signature is None:
        if part.compared_by == SIGNER:
            yield "a comparison by whoever signed it, and no signature"
        return
    if part.compared_by == SIGNER and (part.compared, part.cosine) != (signature.compared, signature.cosine):
        yield f"{part.compared} texts compared, whoever signed it compared {signature.compared}"
    yield from _unsigned(subject, part, manifest, signature)


def _unsigned(subject: AuditSubject, part: PackPart, manifest: PackManifest, signature: PackSignature) -> Iterator[str]:
    if missing := missing_modules("attest"):
        command = install_command("attest")
        raise CannotTell(f"a signature can't be checked without {', '.join(missing)}: {command}", command)
    try:
        key = key_of(signature.public_key)
        found = signature_of(signature.envelope, key, part.sha256, manifest, subject.folder / "environment.json")
    except InputError as error:
        yield f"{error.problem}: {error.found}"
        return
    except ValueError:
        yield "a public key that is none"
        return
    if found != signature:
        yield "a signature that says something else"


PACK = Examination(
    "RB-PACK",
    "pack",
    "the pack is of this encoder and corpus, its signature holds, and the vectors are its own",
    pack,
)
