"""What a fingerprint has to state of the encoder that it names: a registered one, or one's own by its form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from recallbench.embedding.encoders import ENCODERS
from recallbench.embedding.fingerprint import FIRST_USE, pinned_hashes, source_facts, treatment_facts
from recallbench.embedding.forms.form import EncoderForm
from recallbench.embedding.hashing import HashEmbedder
from recallbench.errors import UsageError
from recallbench.escaping.terminal import shortened

_ABSENT = "\0"
"""Takes the place of a fact that is not stated: no pattern has it."""


def contradictions(
    name: str, fingerprint: Mapping[str, str], form: EncoderForm | None, max_tokens: object = None, dtype: object = None
) -> Iterator[str]:
    """Yield what a fingerprint states otherwise than the encoder of this name, whose form that is, ever does.

    `max_tokens` is the length that was asked for, `dtype` the numbers.
    """
    if name == HashEmbedder.name:
        expected: Mapping[str, str] = HashEmbedder().fingerprint
        optional: set[str] = set()
    elif name in ENCODERS:
        spec = ENCODERS[name]
        if isinstance(max_tokens, int) and 0 < max_tokens <= spec.most_tokens:
            spec = spec.with_length(max_tokens)
        if dtype in ("bf16", "int8") and spec.kind == "transformer":
            spec = spec.with_dtype("bf16" if dtype == "bf16" else "int8")
        pinned = {file: pin for file, pin in pinned_hashes(spec).items() if pin and file in fingerprint}
        expected = {**source_facts(spec), **treatment_facts(spec), **pinned}
        optional = {"backend", FIRST_USE, *pinned_hashes(spec)}
    elif form is not None:
        yield from _contradicted_form(name, fingerprint, form)
        return
    else:
        yield f"an embedder called {name}, which this release does not know"
        return
    yield from (
        f"fingerprint {fact} {fingerprint.get(fact)}, {name} has {value}"
        for fact, value in expected.items()
        if fingerprint.get(fact) != value
    )
    unknown = sorted(fingerprint.keys() - expected.keys() - optional)
    yield from (f"fingerprint {fact}, which {name} never has" for fact in unknown)


def _contradicted_form(name: str, fingerprint: Mapping[str, str], form: EncoderForm) -> Iterator[str]:
    """Yield what the fingerprint of one's own encoder states otherwise than any of its form does."""
    if _recorded_otherwise(name, form):
        yield f"an embedder called {name}, which is not typed {form.typed}"
    for fact, pattern in form.facts.items():
        if not re.fullmatch(pattern, fingerprint.get(fact, _ABSENT)):
            yield f"fingerprint {fact} {fingerprint.get(fact)}, {form.typed} has {pattern}"
    for fact, value in fingerprint.items():
        known = [pattern for facts, pattern in form.further.items() if re.fullmatch(facts, fact)]
        if fact not in form.facts and not any(re.fullmatch(pattern, value) for pattern in known):
            yield f"fingerprint {fact} {shortened(value)}, which {form.typed} never has"


def _recorded_otherwise(name: str, form: EncoderForm) -> bool:
    try:
        return form.recorded(name) != name
    except UsageError:
        return True
