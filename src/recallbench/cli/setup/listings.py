"""`recallbench corpora | stores | embedders | measures`: what there is to choose from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from recallbench.cli import options
from recallbench.cli.command import argument, command
from recallbench.cli.printing import show
from recallbench.reports.page import Page
from recallbench.reports.printing.printed import Format, Printed
from recallbench.reports.table import Part, Table

_OF_ONE = "What can be set of one with --set, such as pgvector: recallbench stores pgvector"
_OF_YOUR_OWN = "Of a class or function of your own, NAME=VALUE is a parameter of its constructor or its own."
_DEVIATES = "; others are deviations"
"""Stands in the help of each option by itself; of a list it is said once."""


@command(*options.FORMAT, epilog="Examples: recallbench corpora; recallbench run canary-locomo --store bm25.")
def corpora(format: Format) -> int:
    """List the corpora, with their size and licence."""
    from recallbench.corpora.labelled_sets.hub_set import known_sets
    from recallbench.corpora.labelled_sets.hub_tasks import tasks_of
    from recallbench.corpora.registry import ALL, CORPORA, GROUPS, facts
    from recallbench.protocol.frozen import load

    rows = []
    for name, entry in CORPORA.items():
        rules = facts(name, load())
        counts = (str(rules.questions), str(rules.segments))
        rows.append((name, *counts, rules.embedder or "minilm", entry.licence or "not stated", rules.sha256))
    head = ("corpus", "questions", "segments", "embedder", "licence", "sha256")
    every = Table(head, rows, caption="The corpora")
    sets = {name: f"{hub_set.repo}@{hub_set.revision}" for name, hub_set in known_sets().items()}
    hub = Table(("set", "repository"), [(f"hub:{name}", place) for name, place in sets.items()])
    tasks = {name: list(known) for name, each in known_sets().items() if (known := tasks_of(each.repo))}
    parts: list[Part] = [
        every,
        *(
            f"{group} is {', '.join(names)}" + (", as far as they are at hand" if group == ALL else "")
            for group, names in GROUPS.items()
        ),
        "",
        "sets of the hub, for `recallbench evaluate`:",
        hub,
        *(
            f"hub:{name}#TASK, one of {', '.join(known)}; hub:{name}#TASK/SUBSET for a part of it"
            for name, known in tasks.items()
        ),
    ]
    groups = {group: list(names) for group, names in GROUPS.items()}
    document = {"corpora": every.records(), "groups": groups, "hub_sets": hub.records(), "tasks": tasks}
    show(Printed("The corpora", parts, document, own_sheet=every), format)
    return 0


@command(
    argument("store", "One of them, with what can be set of it [default: the list of all].", required=False),
    *options.FORMAT,
    epilog="Examples: recallbench stores; recallbench stores pgvector.",
)
def stores(store: str | None, format: Format) -> int:
    """List the stores; of one, what can be set of it with --set NAME=VALUE.

    The other forms have both of every store that is listed.
    """
    from recallbench.addresses import scheme_of
    from recallbench.stores.registry import SCHEMES, STORES, store_class

    known = {name: (store_class(name), store_class(name).summary) for name in STORES}
    for scheme in SCHEMES:
        kind = store_class(f"{scheme}://")
        known[f"{scheme}:"] = kind, kind.summary.replace("http:", f"{scheme}:")
    if store is not None:
        name = store if store in STORES else f"{scheme_of(store) or store.rstrip(':')}:"
        if name not in known:
            store_class(store)  # says what there is
        known = {name: known[name]}
    every = Table(("store", "what it is"), [(name, summary) for name, (_, summary) in known.items()])
    rows = []
    for name, (kind, _) in known.items():
        for option in kind.options:
            values = "|".join(option.values) or "…"
            also = f"--{option.flag}" if option.flag else ""
            rows.append((name, f"{option.name}={values}", also, option.description))
    settable = Table(("store", "NAME=VALUE", "also", "what it decides"), rows)
    told = [_OF_ONE, _OF_YOUR_OWN] if store is None else _about(next(iter(known)), rows)
    parts: list[Part] = [every, "", *told]
    # One table for a spreadsheet: a filter of its first column leaves the stores alone, or what can be set.
    sheet = Table(
        ("table", "store", "NAME=VALUE", "also", "what it is or decides"),
        [("store", name, "", "", what) for name, what in every.rows] + [("option", *row) for row in rows],
    )
    document = {"stores": every.records(), "options": settable.records()}
    show(Printed("The stores", parts, document, own_sheet=sheet), format)
    return 0


def _about(name: str, rows: Sequence[tuple[str, str, str, str]]) -> list[str]:
    """Return the settings of one store, each with what it decides below it; of a server its contract."""
    from recallbench.stores.outside import http

    if name == "python:":
        return [_OF_YOUR_OWN]
    if name.endswith(":"):
        return (http.__doc__ or "").splitlines()
    if not rows:
        return ["Nothing can be set of it with --set."]
    lines = ["What --set sets; the result says so where a value departs from the default:"]
    for _, setting, also, decides in rows:
        lines += [f"  {setting}{f', or {also}' if also else ''}", f"      {decides.replace(_DEVIATES, '')}"]
    return lines


@command(options.CACHE_DIR, *options.FORMAT, epilog="Examples: recallbench embedders; recallbench fetch minilm.")
def embedders(cache_dir: Path | None, format: Format) -> int:
    """List the encoders, and whether each is here."""
    from recallbench.embedding.encoders import ENCODERS
    from recallbench.embedding.registry import FORMS, encoder_status

    place, environ = cache_dir or options.default_cache(), dict(os.environ)
    rows: list[tuple[str, ...]] = []
    for name, spec in ENCODERS.items():
        dims = f"{spec.native_dims}" + (
            f" padded to {spec.stored_dims}" if spec.stored_dims != spec.native_dims else ""
        )
        ready, _, remedy = encoder_status(name, environ, place)
        tokens = f"{spec.max_tokens:,}" + (f", at most {spec.most_tokens:,}" * (spec.max_tokens < spec.most_tokens))
        source = (name, spec.passage.repo, spec.passage.revision, spec.pooling)
        rows.append((*source, dims, tokens, "ready" if ready else remedy))
    rows.append(("hash", "built in", "", "hashed words", "256 (for dry runs)", "512", "ready"))
    every = Table(("encoder", "passages", "revision", "pooling", "dimensions", "tokens", "here"), rows)
    forms = {form.typed: form.summary for form in FORMS.values()}
    own = Table(("--embedder", "what it is"), list(forms.items()))
    parts: list[Part] = [every, "", "an encoder of your own:", own]
    show(Printed("The encoders", parts, {"encoders": every.records(), "own": own.records()}, own_sheet=every), format)
    return 0


@command(
    *options.FORMAT, epilog="Examples: recallbench measures; recallbench table results/* --measures mrr@50,ndcg@10."
)
def measures(format: Format) -> int:
    """List the measures, each with what it counts."""
    import inspect

    from recallbench.scoring.measures.registry import MEASURES

    rows, lines = [], []
    for name, kind in MEASURES.items():
        counts = " ".join((inspect.getdoc(kind) or "").split())
        others = [form.format(k="k") + f" ({source})" * bool(source) for form, source in kind.elsewhere]
        rows.append((f"{name}@k", counts, ", ".join(others)))
        lines += [f"{name}@k", f"    {counts}", *([f"    elsewhere: {', '.join(others)}"] if others else []), ""]
    every = Table(("measure", "what it counts", "elsewhere"), rows, caption="The measures")
    title = "The measures"
    printed = Printed(
        title,
        lines,
        {"measures": every.records()},
        own_markdown="\n".join(every.markdown()),
        own_page=Page(title, every.html()).html(),
        own_sheet=every,
    )
    show(printed, format)
    return 0
