"""The options that several commands share, each also a RECALLBENCH_* variable and a key of a TOML file."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from recallbench.embedding import options as encoder_options
from recallbench.errors import InputError
from recallbench.reading import document, toml
from recallbench.scoring.depth import DEEPEST

if TYPE_CHECKING:
    from recallbench.corpora.matching.method import Matching
    from recallbench.stores.options import StoreOption

EPILOG = "Each option is also a variable RECALLBENCH_<NAME> (such as RECALLBENCH_STORE) and a key of the --config file."


def option(name: str, help: str, *flags: str, **more: Any) -> Any:
    """A kebab-case option that also reads RECALLBENCH_<NAME>."""
    variable = "RECALLBENCH_" + name.partition("/")[0].upper().replace("-", "_")
    return typer.Option(f"--{name}", *flags, envvar=variable, show_envvar=False, help=help, **more)


def takes_store_options(*stores: str) -> Callable[[Callable[..., int]], StoreCommand]:
    """Give a command the options of these stores (none: of all), as --store-option and as the flags that some have.

    What was given reaches it as `store_options`, by name.
    """
    return lambda command: StoreCommand(command, stores)


class StoreCommand:
    """A command with the options of stores, which are looked up when somebody calls it or asks for its help."""

    def __init__(self, command: Callable[..., int], stores: Sequence[str]) -> None:
        self.__name__, self.__doc__ = command.__name__, command.__doc__
        self.__annotations__: dict[str, Any] = {}
        self._command, self._stores = command, stores

    def __call__(self, **given: Any) -> int:
        from recallbench.stores.options import read_assignments

        assigned = given.pop("store_option") or ()
        flags = {one.name: given.pop(parameter) for parameter, one in self._flags().items()}
        typed = [f"{name}={value}" for name, value in flags.items() if value is not None]
        return self._command(**given, store_options=read_assignments([*typed, *assigned]))

    @property
    def __signature__(self) -> inspect.Signature:
        own = [_parameter("store_option", Annotated[list[str] | None, STORE_OPTION])]
        for name, one in self._flags().items():
            kind: Any = Literal[one.values] if one.values else str
            own.append(_parameter(name, Annotated[kind | None, option(one.flag, f"{one.description}.")]))
        signature = inspect.signature(self._command, eval_str=True)
        others = signature.parameters.values()
        return signature.replace(parameters=[new for old in others for new in (own if old.name == OWN else [old])])

    def _flags(self) -> dict[str, StoreOption]:
        from recallbench.stores.registry import store_options

        return {one.flag.replace("-", "_"): one for one in store_options(*self._stores) if one.flag}


def _parameter(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=annotation)


def default_cache() -> Path:
    """Where computed vectors are kept."""
    from recallbench.embedding.registry import default_cache_dir

    return default_cache_dir()


def _load(context: typer.Context, path: Path | None) -> Path | None:
    if path is None:
        return None
    try:
        table = toml(document(path).decode("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} can't be read as a settings file",
            expected='TOML with option names as keys, such as store = "exact"',
            found=str(error),
            remedy="mend the file or leave --config out",
        ) from error
    known = _keys(context.command)
    program = context.parent.command if context.parent else context.command
    others = {key for command in getattr(program, "commands", {}).values() for key in _keys(command)}
    unknown = sorted(set(table) - set(known) - others)
    if unknown:
        raise InputError(
            f"{path}: unknown setting {unknown[0]!r}",
            expected=f"one of {', '.join(sorted(known))}",
            found=unknown[0],
            remedy="mend the file; the keys are the long option names",
        )
    # One file may serve several commands: what another one takes is passed over here.
    given = {known[key]: value for key, value in table.items() if key in known}
    several = {parameter.name for parameter in context.command.params if getattr(parameter, "multiple", False)}
    given = {name: [value] if name in several and isinstance(value, str) else value for name, value in given.items()}
    context.default_map = {**(context.default_map or {}), **given}
    return path


def _keys(command: Any) -> dict[str, str]:
    """The long option names of a command, with the parameters they set."""
    return {flag.lstrip("-"): p.name for p in command.params for flag in p.opts if flag.startswith("--")}


Config = Annotated[
    Path | None,
    typer.Option("--config", callback=_load, is_eager=True, help="A TOML file that holds any of these options."),
]
Quiet = Annotated[bool, option("quiet", "No progress bars and no messages, only results.", "-q")]
CacheDir = Annotated[Path | None, option("cache-dir", "Where vectors are kept [default: the user's cache folder].")]
Dsn = Annotated[
    str | None, option("dsn", "The Postgres server to measure [default: $PGMNEMO_DSN, else an embedded one].")
]
STORE_OPTION = option(
    "store-option", "An option of the store, as `recallbench stores` lists them; repeat it.", metavar="NAME=VALUE"
)
OWN = "store_options"
StoreOptions = Mapping[str, str]
"""What `takes_store_options` puts the options of stores in the place of."""
NO_STORE_OPTIONS: StoreOptions = MappingProxyType({})
Store = Annotated[
    str | None,
    option(
        "store",
        "The memory under test, also python:module:factory or http://host:port/ "
        "[default: pgmnemo where the server has it, else pgvector].",
    ),
]
EmbedderName = Annotated[str | None, option("embedder", "The encoder [default: the protocol's for the corpus].")]
Version = Annotated[str | None, option("version", "Tag of the version being measured; names the folder and is gated.")]
CorpusFile = Annotated[
    Path | None, option("corpus-file", "The corpus file [default: found by variable or data folder].")
]
Backend = Annotated[encoder_options.Backend, option("backend", encoder_options.BACKEND_HELP)]
Depth = Annotated[int, option("depth", "Depth of the rankings; other than 50 is labelled.", min=10, max=DEEPEST)]
Download = Annotated[bool, option("download/--no-download", "Fetch a corpus or weights that are missing.")]
AllowDeviation = Annotated[
    list[str] | None, option("allow-deviation", "Run although `dataset` is not the registered one; labelled.")
]
Limit = Annotated[int | None, option("limit", "Ask only the first N questions; labelled.", min=1)]
Scope = Annotated[
    Literal["own", "pooled"], option("scope", "Answer from the question's own haystack, or pooled; labelled.")
]
Out = Annotated[Path | None, option("out", "Parent of result folders [default: benchmarks/<corpus>/results].")]
Folder = Annotated[Path | None, option("folder", "The result folder itself; must not exist.")]
Label = Annotated[str | None, option("label", "A word added to the folder's name.")]
WithText = Annotated[bool, option("with-text", "Put corpus text into raw_retrievals.jsonl.")]
KeepGoing = Annotated[
    bool, option("keep-going", "Count a question that fails as the worst answer, name it, and exit 1; labelled.")
]
RequireVerified = Annotated[bool, option("require-verified", "Exit 1 unless every gate but the pending one holds.")]
Split = Annotated[str | None, option("split", "Of a labelled set: the judgements qrels/<split>.tsv [default: test].")]
QrelsRevision = Annotated[
    str | None, option("qrels-revision", "Of a hub set: judgements are those of OWNER/NAME-qrels at this commit.")
]
Pin = Annotated[
    list[str] | None,
    option("pin", "Of a hub set: NAME=HEX, the sha256 of a file, as published or unpacked; repeat it."),
]
Match = Annotated[
    Literal["id", "exact", "tokens", "hybrid", "bm25"],
    option(
        "match",
        "What makes a hit relevant: its id, or its text beside the expected one; hybrid takes id, exact, tokens and "
        "cosine in this order, bm25 the best passage of a long text.",
    ),
]
MatchOfLog = Annotated[
    Literal["id", "exact", "tokens"],
    option("match", "What makes a hit relevant: its id, or its text beside the expected one."),
]
MatchThreshold = Annotated[
    float | None,
    option(
        "match-threshold",
        "Token F1 that counts as a match: 0.5 is strict, 0.1 exploratory [default: 0.3]. With bm25 the share of the "
        "expected text's own score [default: 0.5].",
    ),
]
MatchThresholdOfLog = Annotated[
    float | None,
    option(
        "match-threshold",
        "Token F1 that counts as a match: 0.5 is strict, 0.1 exploratory [default: 0.3].",
    ),
]
MatchEmbedder = Annotated[
    str | None, option("match-embedder", "With hybrid, whose vectors match where nothing else does; files only.")
]
MatchCosine = Annotated[
    float | None, option("match-cosine", "The cosine that counts as a match; each encoder has a scale of its own.")
]
MatchChunk = Annotated[
    int | None,
    option(
        "match-chunk",
        "Match chunks of so many tokens, the best one counts; fewer for short answers, since n words in c tokens reach "
        "F1 2n/(n+c) at most: 5 in 60 .154, 5 in 25 .333 [default: whole texts; bm25: passages of 60].",
    ),
]
MatchChunkOfLog = Annotated[
    int | None,
    option(
        "match-chunk",
        "Match chunks of so many tokens, the best one counts; fewer for short answers [default: whole texts].",
    ),
]
Ties = Annotated[
    Literal["file", "trec"],
    option(
        "ties",
        "Who decides among equal scores of a run: the file (its ranks, then its order), or trec_eval's rule (scores as "
        "32-bit floats, then the id, the later one first).",
    ),
]
Precision = Annotated[
    Literal["k", "retrieved"],
    option("precision", "What precision divides by, also in F1: k, or what was retrieved; named in every output."),
]
NdcgOver = Annotated[
    Literal["all", "graded"], option("ndcg", "nDCG over all queries with something to find, or over graded ones alone.")
]
RULES = "The p95 is the least that 95% do not exceed (nearest-rank), or sorted[int(.95 n)] (index)."
Strict = Annotated[bool, option("strict", "Exit 3 when anything is not ready.")]


def typed(context: typer.Context, *names: str) -> str | None:
    """The first of these options that stands on the command line, as --name; variables and files may mean others."""
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            return f"--{name.replace('_', '-')}"
    return None


def given(context: typer.Context, *names: str) -> bool:
    """Whether one of these options has a value that a user gave it: typed, as a variable, or in the settings file."""
    sources = (context.get_parameter_source(name) for name in names)
    return any(one is not None and one.name in ("COMMANDLINE", "ENVIRONMENT", "DEFAULT_MAP") for one in sources)


def matching(
    context: typer.Context,
    match: Any,
    threshold: float | None,
    chunk: int | None,
    encoder: str | None = None,
    cosine: float | None = None,
    *,
    of_log: bool = False,
) -> Matching:
    """What --match and its companions ask for; raises UsageError where a companion would do nothing."""
    from recallbench.corpora.matching.method import OWN, Matching
    from recallbench.errors import UsageError

    if match in ("id", "exact") and typed(context, "match_threshold"):
        raise UsageError(
            f"--match-threshold is for token F1{'' if of_log else ' and BM25'}",
            expected="--match tokens" if of_log else "--match tokens, hybrid or bm25",
            found=f"--match {match}",
        )
    return Matching(match, OWN if threshold is None else threshold, chunk, encoder or "", cosine)


def allowed(deviations: list[str] | None) -> frozenset[str]:
    """What --allow-deviation names; raises UsageError for what it can't allow."""
    from recallbench.errors import UsageError
    from recallbench.runs.options import ALLOWABLE

    unknown = sorted(set(deviations or ()) - ALLOWABLE)
    if unknown:
        raise UsageError(
            f"--allow-deviation {unknown[0]} is not needed or not known",
            expected=", ".join(sorted(ALLOWABLE)),
            found=unknown[0],
            remedy="other deviations are options of their own, and are labelled by themselves",
        )
    return frozenset(deviations or ())


def environment() -> dict[str, str]:
    """The environment as commands see it."""
    return dict(os.environ)
