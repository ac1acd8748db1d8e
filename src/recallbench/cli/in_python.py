"""`recallbench.run`: the command from Python, with its options as keywords."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from typing import Any

import click

from recallbench.addresses import PYTHON
from recallbench.cases.loaded_result import LoadedResult, load
from recallbench.cli.bars import listener
from recallbench.cli.command import ALIAS
from recallbench.cli.main import HASH_SEED
from recallbench.cli.measure.run import run as command
from recallbench.cli.misuse import usage_error
from recallbench.cli.options import run_options, single_corpus, take_corpus
from recallbench.cli.settings_file import option_words
from recallbench.confidential import remember_environment, remember_logins
from recallbench.errors import UsageError
from recallbench.machine_load import MachineLoad, refuse_unquiet
from recallbench.retrieval.pipeline.pipeline import Pipeline
from recallbench.runs.run import run as measure
from recallbench.stores.outside.class_memory import ADDING
from recallbench.stores.outside.instance import class_of, parameters_of
from recallbench.user_function import name_of

OF_COMMANDS = ("config", "dry_run", "format", f"{ALIAS}json", "labels", "require_verified", "strict")
"""Options that decide what a command prints or how it ends."""
EXAMPLE = 'recallbench.run("locomo", store=Memory, set={"alpha": 0.3}, folder="tuned")'


def run(corpus: str | None = None, store: Any = None, **options: Any) -> LoadedResult:
    """Measure a store on a corpus under the protocol, as `recallbench run` does, and return the result it wrote.

    `store` is a store's name or address, as "bm25" or "python:module:Memory"; or a class with add (or ingest) and
    search; or an instance of one, which is copied for each haystack unless its methods take a scope; or a function of
    items and vectors that returns a searcher.

    The keywords are the options of the command, with an underscore for a dash: `limit=20`, `folder="tuned"`,
    `quiet=True`; `set={"alpha": 0.3}` goes to the store or to the constructor of the class, and is recorded.
    `pipeline=` takes a file, a `recallbench.Pipeline`, or a list of stages, each a dict as its table in a file. Options
    that are left out come from variables and defaults, as for the command.

    The protocol's gate on the seed holds only where Python was started with PYTHONHASHSEED=42, which the command does
    for itself; else the result says that it fails. Raises Blocked where something is missing.
    """
    if corpus is not None and not isinstance(corpus, str):
        raise UsageError("corpus is a name", expected="as 'locomo'", found=f"a {type(corpus).__name__}")
    remember_environment(os.environ)
    stages = options.pop("pipeline", None)
    if stages is not None and not isinstance(stages, (Pipeline, str, os.PathLike)):
        stages = Pipeline.of(stages)
    given_stages = stages if isinstance(stages, Pipeline) else None
    if stages is not None and given_stages is None:
        options["pipeline"] = stages
    with _named(store, options) as named:
        arguments = [*([] if corpus is None else [corpus]), *_arguments({**options, **named})]
        remember_logins(arguments)
        try:
            with command.make_context("recallbench run", list(arguments)) as context:
                given = dict(context.params)
        except click.UsageError as error:
            raise usage_error(error) from None
        quiet, require_quiet = given.pop("quiet"), given.pop("require_quiet")
        of_run = {key: value for key, value in given.items() if key not in (*OF_COMMANDS, "corpus")}
        measured = take_corpus(corpus, of_run)
        (of_run["store"],) = of_run["store"] or (None,)
        chosen = replace(run_options(**of_run), corpus=single_corpus(measured), command=("run", *arguments))
        if given_stages is not None:
            chosen = replace(chosen, pipeline=given_stages)
        progress = listener(quiet)
        if "PYTHONHASHSEED" not in os.environ:
            progress.note(f"the gate on the seed fails: start Python with PYTHONHASHSEED={HASH_SEED} to keep it")
        if require_quiet:
            refuse_unquiet(MachineLoad.while_idle())
        outcome = measure(chosen, progress, date.today())
    return load(outcome.folder)


@contextmanager
def _named(store: Any, options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the options that name a store until the block ends; an object of this process has a name for so long."""
    if store is None or isinstance(store, str):
        yield {"store": store}
        return
    memory = callable(getattr(store, "search", None)) and any(hasattr(store, name) for name in ADDING)
    if not memory and not callable(store):
        raise UsageError(
            "store is no memory",
            expected="a name, a class or object with add and search, or a function",
            found=f"a {type(store).__name__}",
            remedy=EXAMPLE,
        )
    given: dict[str, Any] = {}
    if memory and not isinstance(store, type):
        if options.get("set"):
            raise UsageError("an object has its parameters already", expected="the class, or no set", found="both")
        given, store = {"set": parameters_of(store)}, class_of(store)
    with name_of(store) as name:
        yield {"store": f"{PYTHON}:{name}", **given}


def _arguments(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options as they would be typed; raises UsageError for those that the command does not take."""
    known = {str(param.name): param for param in command.params if isinstance(param, click.Option)}
    for name, value in options.items():
        param = known.get(name)
        if param is None or name in OF_COMMANDS:
            raise UsageError(
                f"run takes no {name}",
                expected=", ".join(other for other in known if other not in OF_COMMANDS),
                found=name,
                remedy=EXAMPLE,
            )
        if value is None:
            continue
        if name == "set":
            _refuse_objects(value)
        elif not isinstance(value, (str, int, float, list, tuple, set, frozenset, os.PathLike)):
            raise UsageError(
                f"{name} is a text or a number, as on the command line",
                expected="python:module:function, where it is of your own" if name == "embedder" else "one of these",
                found=f"a {type(value).__name__}",
            )
        if isinstance(param, click.Option) and param.is_flag:
            yield from _flag(param, value)
            continue
        listed = list(value) if isinstance(value, (tuple, set, frozenset)) else value
        words = option_words(param, listed)
        yield from (f"{param.opts[0]}={word}" for word in ([words] if isinstance(words, str) else words))


def _flag(param: click.Option, value: Any) -> Iterator[str]:
    if not isinstance(value, bool):
        raise UsageError(f"{param.name} is on or off", expected="True or False", found=repr(value)[:60])
    names = param.opts if value else param.secondary_opts
    yield from names[:1]


def _refuse_objects(given: Any) -> None:
    """Raise UsageError for parameters that a result can't record."""
    if not isinstance(given, Mapping):
        raise UsageError("set is values by name", expected='set={"alpha": 0.3}', found=repr(given)[:60])
    for name, value in given.items():
        if not isinstance(value, (str, int, float, list, tuple, dict, os.PathLike)):
            raise UsageError(
                f"{name} can't be recorded",
                expected="a text, a number, true or false, or a list of them",
                found=f"a {type(value).__name__}",
                remedy=f"make the object yourself, and give it: store=Memory({name}=…)",
            )


def _signature() -> inspect.Signature:
    """Return the parameters with the options of the command, for `help()`."""
    own = inspect.signature(run)
    kind = inspect.Parameter.KEYWORD_ONLY
    leading = [parameter for name, parameter in own.parameters.items() if name != "options"]
    others = [
        inspect.Parameter(str(param.name), kind, default=None)
        for param in command.params
        if isinstance(param, click.Option) and param.name not in (*OF_COMMANDS, "store")
    ]
    return own.replace(parameters=[*leading, *others])


run.__signature__ = _signature()  # type: ignore[attr-defined]
