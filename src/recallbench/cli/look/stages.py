"""`recallbench stages`: the stages there are, and what each one of a result's pipeline is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recallbench.cli.command import command
from recallbench.reports.table import Table, print_parts

if TYPE_CHECKING:
    from recallbench.retrieval.stages.stage import Kind


@command(epilog="")
def stages() -> int:
    """List the stages that a pipeline can have, and what can be set of each."""
    from recallbench.retrieval.stages.registry import METHODS, options_of, stage_class

    by_class: dict[str, tuple[Kind, list[str]]] = {}
    for kind, methods in METHODS.items():
        for method, path in methods.items():
            by_class.setdefault(path, (kind, []))[1].append(method)
    known = [(kind, methods, stage_class(kind, methods[0])) for kind, methods in by_class.values()]
    print_parts(
        Table(("kind", "method", "what it does"), [(kind, ", ".join(m), stage.summary) for kind, m, stage in known])
    )
    print("\nwhat the table of a stage in a pipeline's file may hold beside kind, method and a name of its own:")
    rows = [
        (kind, ", ".join(methods), f"{option.name} = {'|'.join(option.values) or '…'}", option.description)
        for kind, methods, _ in known
        for option in options_of(kind, methods[0])
    ]
    print_parts(Table(("kind", "method", "option", "what it decides"), rows))
    return 0
