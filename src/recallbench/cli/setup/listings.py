"""`recallbench corpora | stores | embedders | measures`: what there is to choose from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from recallbench.cli import options
from recallbench.cli.command import command
from recallbench.reports.table import Table, print_parts


def _print(rows: Sequence[tuple[str, ...]]) -> None:
    print_parts(Table(rows[0], rows[1:]))


@command(epilog="")
def corpora() -> int:
    """List the corpora."""
    from recallbench.corpora.labelled_sets.hub_set import known_sets
    from recallbench.corpora.registry import ALL, CORPORA, GROUPS, facts
    from recallbench.protocol.frozen import load

    rows = [("corpus", "questions", "segments", "embedder", "licence", "sha256")]
    for name, entry in CORPORA.items():
        rules = facts(name, load())
        counts = (str(rules.questions), str(rules.segments))
        rows.append((name, *counts, rules.embedder or "minilm", entry.licence or "not stated", rules.sha256))
    _print(rows)
    for group, names in GROUPS.items():
        print(f"{group} is {', '.join(names)}" + (", as far as they are at hand" if group == ALL else ""))
    print("\nsets of the hub, for `recallbench evaluate`:")
    _print(
        [
            ("set", "repository"),
            *((f"hub:{name}", f"{hub_set.repo}@{hub_set.revision}") for name, hub_set in known_sets().items()),
        ]
    )
    return 0


@command(epilog="")
def stores() -> int:
    """List the stores, and what can be set of each."""
    from recallbench.stores.registry import SCHEMES, STORES, store_class

    known = {name: store_class(name) for name in STORES}
    known |= {f"{scheme}:": store_class(f"{scheme}://") for scheme in SCHEMES}
    _print([("store", "what it is"), *((name, kind.summary) for name, kind in known.items())])
    print("\nwhat --set sets:")
    rows = [("store", "NAME=VALUE", "also", "what it decides")]
    for name, kind in known.items():
        for option in kind.options:
            values = "|".join(option.values) or "…"
            rows.append((name, f"{option.name}={values}", option.flag and f"--{option.flag}", option.description))
    _print(rows)
    print("\nof a class or function of your own, NAME=VALUE is a parameter of its constructor or its own")
    return 0


@command(options.CACHE_DIR, epilog="")
def embedders(cache_dir: Path | None) -> int:
    """List the encoders, and whether each is here."""
    from recallbench.embedding.encoders import ENCODERS
    from recallbench.embedding.registry import FORMS, encoder_status

    place, environ = cache_dir or options.default_cache(), dict(os.environ)
    rows = [("encoder", "passages", "revision", "pooling", "dimensions", "tokens", "here")]
    for name, spec in ENCODERS.items():
        dims = f"{spec.native_dims}" + (
            f" padded to {spec.stored_dims}" if spec.stored_dims != spec.native_dims else ""
        )
        ready, _, remedy = encoder_status(name, environ, place)
        tokens = f"{spec.max_tokens:,}" + (f", at most {spec.most_tokens:,}" * (spec.max_tokens < spec.most_tokens))
        source = (name, spec.passage.repo, spec.passage.revision, spec.pooling)
        rows.append((*source, dims, tokens, "ready" if ready else remedy))
    _print([*rows, ("hash", "built in", "", "hashed words", "256 (for dry runs)", "512", "ready")])
    print("\nan encoder of your own:")
    _print(
        [("--embedder", "what it is"), *{form.typed: (form.typed, form.summary) for form in FORMS.values()}.values()]
    )
    return 0


@command(epilog="")
def measures() -> int:
    """List the measures, each with what it counts."""
    import inspect

    from recallbench.scoring.measures.registry import MEASURES

    for name, kind in MEASURES.items():
        print(f"{name}@k\n    {' '.join((inspect.getdoc(kind) or '').split())}")
        others = [form.format(k="k") + f" ({source})" * bool(source) for form, source in kind.elsewhere]
        print(f"    elsewhere: {', '.join(others)}\n" if others else "")
    return 0
