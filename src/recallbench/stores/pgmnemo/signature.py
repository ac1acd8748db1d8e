"""A retrieval function of the extension pgmnemo, as the server's catalogue describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recallbench.errors import Blocked
from recallbench.stores.postgres.postgres import database_errors

if TYPE_CHECKING:
    from psycopg import Connection

SCHEMA = "pgmnemo"
CANONICAL = "recall_lessons"
FUNCTIONS = (CANONICAL, "recall_hybrid", "recall_fast")
ARGUMENT_TYPES = {
    "query_embedding": ("vector",),
    "k": ("integer", "bigint"),
    "role_filter": ("text",),
    "project_id_filter": ("integer", "bigint"),
    "query_text": ("text",),
}
"""The arguments of a call, by parameter name, with the types that each fits."""
NEEDED = ("query_embedding", "k", "project_id_filter")
EACH = {"query_embedding": "asked.vector", "query_text": "asked.words"}
ANSWERS = ("lesson_id", "score")


@dataclass(frozen=True, slots=True)
class Signature:
    """The way in which one function is called on this server."""

    name: str
    stated: str
    """Name and parameters in the server's own words."""
    takes: tuple[str, ...]
    """The parameters of ARGUMENT_TYPES that it has."""
    call: str
    """The statement for one question, with named placeholders for `takes`."""
    calls: str
    """The same call for each of many questions of one project, by arrays `vectors` and `texts`; a row for each, with
    arrays of ids and scores, in order."""
    body_md5: str
    """The hash of its source: releases that bear one version do not always carry one body."""


def read_signature(connection: Connection, name: str) -> Signature:
    """Return the function of that name; raises Blocked where the server has none that can be called."""
    with database_errors("reading the extension's functions"):
        rows = connection.execute(
            """SELECT pg_get_function_arguments(p.oid), p.pronargs, p.pronargdefaults, p.proargnames,
                      ARRAY(SELECT t::regtype::text FROM unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) AS t),
                      md5(p.prosrc)
               FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
               WHERE n.nspname = %s AND p.proname = %s AND p.prokind = 'f' ORDER BY p.pronargs DESC""",
            (SCHEMA, name),
        ).fetchall()
        others = connection.execute(
            """SELECT DISTINCT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
               WHERE n.nspname = %s AND p.proname = ANY(%s) ORDER BY 1""",
            (SCHEMA, list(FUNCTIONS)),
        ).fetchall()
    if not rows:
        there = ", ".join(other for (other,) in others)
        raise Blocked(
            f"this version of pgmnemo has no function {SCHEMA}.{name}",
            expected=f"one of {', '.join(FUNCTIONS)}",
            found=there or "none of them",
            remedy=f"choose --pgmnemo-function {there.split(',')[0]}"
            if there
            else "install a version of pgmnemo with it",
        )
    refusals = []
    for stated, count, defaults, names, types, body in rows:
        names = names or []
        inputs = dict(zip(names[:count], types, strict=False))
        reason = _obstacle(inputs, count - defaults, names)
        if not reason:
            takes = tuple(parameter for parameter in ARGUMENT_TYPES if parameter in inputs)
            arguments = {take: f"%({take})s::{inputs[take]}" for take in takes}
            call = f"SELECT {', '.join(ANSWERS)} FROM {_called(name, arguments)}"
            each = arguments | {parameter: column for parameter, column in EACH.items() if parameter in arguments}
            lists = ", ".join(f"array_agg({answer})" for answer in ANSWERS)
            calls = (
                f"SELECT found.* FROM unnest(%(vectors)b::{inputs['query_embedding']}[], %(texts)s::text[])"
                " WITH ORDINALITY AS asked (vector, words, place)"
                f" CROSS JOIN LATERAL (SELECT {lists} FROM {_called(name, each)}) AS found ORDER BY asked.place"
            )
            return Signature(name, f"{SCHEMA}.{name}({stated})", takes, call, calls, body)
        refusals.append(f"{name}({stated}): {reason}")
    raise Blocked(
        f"{SCHEMA}.{name} can't be called as this version declares it",
        expected="parameters "
        + ", ".join(f"{parameter} ({' or '.join(ARGUMENT_TYPES[parameter])})" for parameter in NEEDED)
        + f", others with defaults, and the columns {' and '.join(ANSWERS)}",
        found="; ".join(refusals),
        remedy="measure a version whose signature fits, or another --pgmnemo-function",
    )


def _called(name: str, arguments: Mapping[str, str]) -> str:
    return f"{SCHEMA}.{name}({', '.join(f'{parameter} => {value}' for parameter, value in arguments.items())})"


def _obstacle(inputs: dict[str, str], without_default: int, names: list[str]) -> str:
    lacking = [name for name in NEEDED if name not in inputs]
    if lacking:
        return f"it has no parameter {', '.join(lacking)}"
    # A type has its schema before it, where that is not on the search path.
    odd = [
        name
        for name, types in ARGUMENT_TYPES.items()
        if name in inputs and inputs[name].rpartition(".")[2] not in types
    ]
    if odd:
        return ", ".join(f"{name} is {inputs[name]}, not {' or '.join(ARGUMENT_TYPES[name])}" for name in odd)
    demanded = [name for name in list(inputs)[:without_default] if name not in ARGUMENT_TYPES]
    if demanded:
        return f"it demands {', '.join(demanded)}, which no run can give"
    missing = [name for name in ANSWERS if name not in names[len(inputs) :]]
    return f"it returns no {', '.join(missing)}" if missing else ""


def settings_of_functions(connection: Connection) -> tuple[str, ...]:
    """Names of the settings `pgmnemo.…` that the extension's functions read, in order."""
    with database_errors("reading the extension's settings"):
        rows = connection.execute(
            r"""SELECT DISTINCT m[1] FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace,
                   regexp_matches(p.prosrc, 'current_setting\(\s*''(pgmnemo\.[a-z_0-9]+)''', 'g') AS m
               WHERE n.nspname = %s ORDER BY 1""",
            (SCHEMA,),
        ).fetchall()
    return tuple(name for (name,) in rows)
