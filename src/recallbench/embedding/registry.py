"""Opens encoders by name: a registered one, or one's own by a form of name. A new form is a module and a line here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from recallbench.cluster.engine import HERE, Engine
from recallbench.embedding.cached_embedder import CachedEmbedder
from recallbench.embedding.embedder import Embedder
from recallbench.embedding.encoders import ENCODERS, EncoderSpec, Kind
from recallbench.embedding.forms.endpoint import ENDPOINT
from recallbench.embedding.forms.form import EncoderForm, EncoderRequest
from recallbench.embedding.forms.function import FUNCTION
from recallbench.embedding.forms.hub_revision import HUB
from recallbench.embedding.forms.path import PATH
from recallbench.embedding.hashing import HashEmbedder
from recallbench.embedding.kinds.gguf_encoder import GgufEncoder
from recallbench.embedding.kinds.static_encoder import StaticEncoder
from recallbench.embedding.model_encoder import ModelEncoder
from recallbench.embedding.on_nodes.nodes_encoder import NodesEncoder
from recallbench.embedding.options import Backend, Dtype
from recallbench.embedding.packs.packed_encoder import PackedEncoder
from recallbench.embedding.packs.used_packs import UsedPack
from recallbench.embedding.spec_encoder import SpecEncoder
from recallbench.embedding.text_encoder import TextEncoder
from recallbench.embedding.weights import weights_status
from recallbench.errors import UsageError
from recallbench.hub import offline
from recallbench.nearest_name import you_may_mean
from recallbench.progress import Progress, Silent

FORMS: Mapping[str, EncoderForm] = {
    "path": PATH,
    "hub": HUB,
    "python": FUNCTION,
    "http": ENDPOINT,
    "https": ENDPOINT,
}
"""How one's own encoder is named, by what its name begins with."""


KINDS: Mapping[Kind, type[SpecEncoder]] = {"gguf": GgufEncoder, "static": StaticEncoder}
"""What runs a registered encoder of a kind that the engines of `ModelEncoder` don't run."""


def form_of(name: str) -> EncoderForm | None:
    """Return the form of a name; None for the name of a registered encoder."""
    return FORMS.get(name.partition(":")[0].lower()) if ":" in name else None


def recorded_encoder(name: str) -> str:
    """Return the name as results may hold it: without what is of one machine, or secret.

    Raises UsageError for a name that nothing can be opened by.
    """
    form = form_of(name)
    if form is not None:
        return form.recorded(name)
    if name != HashEmbedder.name and name not in ENCODERS:
        raise UsageError(
            f"there is no encoder called {name!r}",
            expected=", ".join([*ENCODERS, HashEmbedder.name, *dict.fromkeys(form.typed for form in FORMS.values())]),
            found=name,
            remedy=_meant(name),
        )
    return name


def check_length(name: str, max_tokens: int | None) -> None:
    """Raise UsageError where a length was asked for that this encoder can't be given."""
    if max_tokens is None:
        return
    form, spec = form_of(name), ENCODERS.get(name)
    if spec is not None and max_tokens > spec.most_tokens > 0:
        raise UsageError(
            f"{name} has no positions for {max_tokens} tokens",
            expected=f"--max-tokens of at most {spec.most_tokens}",
            found=f"--max-tokens {max_tokens}",
            remedy=f"--max-tokens {spec.most_tokens}, or leave it out: then it reads {spec.max_tokens}",
        )
    if (spec is not None and spec.most_tokens) or (form is not None and form.takes_length):
        return
    fixed = f"{name} reads {spec.max_tokens} tokens under the protocol" if spec else f"{name} has a length of its own"
    reason = f"{form.typed} decides itself how much it reads" if form else fixed
    takers = "another registered encoder" if spec else "a registered encoder"
    raise UsageError(
        f"--max-tokens can't be kept: {reason}",
        expected=f"--max-tokens with --embedder {takers}, path:DIR or hub:OWNER/NAME@REVISION",
        found=f"--max-tokens {max_tokens}",
        remedy="leave out --max-tokens",
    )


def check_dtype(name: str, dtype: Dtype) -> None:
    """Raise UsageError where an encoder can't compute in these numbers."""
    form, spec = form_of(name), ENCODERS.get(name)
    if dtype == "fp32" or (spec is not None and spec.kind == "transformer") or (form is not None and form.takes_dtype):
        return
    raise UsageError(
        f"--dtype can't be kept: {name if form is None else form.typed} decides itself what it computes in",
        expected="--dtype with bge-m3, dragon-plus, minilm, minilm-sre, mpnet, path:DIR or hub:OWNER/NAME@REVISION",
        found=f"--dtype {dtype}",
        remedy="leave out --dtype",
    )


def _meant(name: str) -> str:
    """Return what to type for a name that lacks its form."""
    if Path(name).is_dir():
        return f"--embedder path:{name}"
    if re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        return f"--embedder hub:{name}@ and the 40 digits of a commit, or path: and its folder"
    if re.fullmatch(r"[\w.]+:\w+", name):
        return f"--embedder python:{name}"
    encoder, at, tokens = name.partition("@")
    if at and encoder in ENCODERS and tokens.isdecimal():
        return f"--embedder {encoder} --max-tokens {tokens}"
    return f"recallbench embedders lists them{you_may_mean(name, [*ENCODERS, HashEmbedder.name])}"


def open_embedder(
    encoder: str | EncoderSpec,
    *,
    cache_dir: Path,
    backend: Backend = "auto",
    environ: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    recheck_own: bool = False,
    max_tokens: int | None = None,
    pack: UsedPack | None = None,
    dtype: Dtype = "fp32",
    engine: Engine = HERE,
) -> Embedder:
    """Open an embedder by name (or by a spec of one's own). Loads nothing heavy: that waits until it is needed.

    Kept vectors that are not the user's own are used only after some of them were embedded again and agreed; with
    `recheck_own`, and where an encoder may change under its name, that goes for the user's own too. Those of a `pack`
    were compared when it was used: they are compared again with `recheck_own`, where the weights are here.
    `engine` says where an encoder of known weights computes; what it computes is the same.
    """
    progress, environ = progress or Silent(), os.environ if environ is None else environ
    name = encoder if isinstance(encoder, str) else encoder.name
    request = EncoderRequest(name, cache_dir, environ, progress, backend, max_tokens, dtype)
    if isinstance(encoder, str):
        recorded_encoder(encoder)
        check_length(encoder, max_tokens)
        check_dtype(encoder, dtype)
        if encoder == HashEmbedder.name:
            return HashEmbedder()
    if pack is not None:
        here = weights_here(request)
        weights = partial(open_text_encoder, encoder, request)
        packed = PackedEncoder(pack, weights if here or _is_remote(request) else None, progress)
        return CachedEmbedder(
            packed, cache_dir=cache_dir, progress=progress, recheck_own=recheck_own and here, pack=pack
        )
    opened = open_text_encoder(encoder, request)
    if engine.on_nodes and isinstance(opened, SpecEncoder):
        elsewhere = None if cache_dir == default_cache_dir(environ) else cache_dir.resolve()
        sent = f"path:{Path(request.place).resolve()}" if form_of(name) is PATH else encoder
        opened = NodesEncoder(opened, partial(open_on_node, sent, max_tokens, dtype, elsewhere), engine, backend)
    elif engine.on_nodes:
        progress.note(f"--engine ray changes nothing for {opened.name}: it is no model that is run from its weights")
    if backend not in ("auto", *opened.backends):
        runs = " or ".join(opened.backends) or "neither OpenVINO nor torch alone"
        progress.note(f"--backend {backend} changes nothing: {opened.name} is run by {runs}")
    return CachedEmbedder(opened, cache_dir=cache_dir, progress=progress, recheck_own=recheck_own or opened.may_change)


def open_on_node(
    encoder: str | EncoderSpec,
    max_tokens: int | None,
    dtype: Dtype,
    cache_dir: Path | None,
    backend: Backend,
    environ: Mapping[str, str],
) -> TextEncoder[Any]:
    """Open an encoder on a node of a cluster: in the folder that was named, else in that node's own."""
    name = encoder if isinstance(encoder, str) else encoder.name
    place = cache_dir or default_cache_dir(environ)
    request = EncoderRequest(name, place, environ, Silent(), backend, max_tokens, dtype)
    return open_text_encoder(encoder, request)


def weights_here(request: EncoderRequest) -> bool:
    """Return whether an encoder could embed now without asking anybody over a network; embeds nothing."""
    if _is_remote(request):
        return False
    return encoder_status(request.name, offline(request.environ), request.cache_dir, request.max_tokens)[0]


def _is_remote(request: EncoderRequest) -> bool:
    return form_of(request.name) is ENDPOINT


def open_text_encoder(encoder: str | EncoderSpec, request: EncoderRequest) -> TextEncoder[Any]:
    """Open an encoder without any cache."""
    form = form_of(encoder) if isinstance(encoder, str) else None
    if form is not None:
        return form.open(request)
    spec = (ENCODERS[encoder] if isinstance(encoder, str) else encoder).with_length(request.max_tokens)
    spec = spec.with_dtype(request.dtype)
    own = KINDS.get(spec.kind)
    surroundings: dict[str, Any] = {
        "cache_dir": request.cache_dir,
        "environ": request.environ,
        "progress": request.progress,
    }
    return own(spec, **surroundings) if own else ModelEncoder(spec, backend=request.backend, **surroundings)


def encoder_status(
    name: str, environ: Mapping[str, str], cache_dir: Path, max_tokens: int | None = None
) -> tuple[bool, str, str]:
    """Return whether an encoder could be used now, in words, and what to do; embeds nothing."""
    form = form_of(name)
    if form is not None:
        return form.status(EncoderRequest(name, cache_dir, environ, Silent(), max_tokens=max_tokens))
    return weights_status(name, environ, cache_dir)


def default_cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of computed vectors and fetched weights, where no option names one."""
    if named := environ.get("RECALLBENCH_CACHE_DIR"):
        return Path(named)
    import platformdirs

    return Path(platformdirs.user_cache_dir("recallbench", appauthor=False))
