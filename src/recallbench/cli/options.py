"""The options that several commands share, each declared once."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recallbench.cli.command import ALIAS, PATH, Declaration, Whole, argument, choice, flag, of_store, option
from recallbench.cli.encoder_options import BACKEND, DTYPE, EMBEDDER, MAX_TOKENS
from recallbench.cli.engine_options import take_engine
from recallbench.cli.server_option import DSN
from recallbench.cli.settings_file import read_settings
from recallbench.corpora.labelled_sets import options as labelled_options
from recallbench.corpora.matching import options as matching_options
from recallbench.errors import UsageError
from recallbench.reports.printing.printed import FORMATS
from recallbench.scoring.depth import DEEPEST

if TYPE_CHECKING:
    from recallbench.corpora.matching.method import Matching
    from recallbench.corpora.options import CorpusOption
    from recallbench.runs.options import Options
    from recallbench.scoring.measures.measure import Measure

CONFIG = click.option(
    "--config",
    type=PATH,
    callback=read_settings,
    is_eager=True,
    expose_value=False,
    help="A TOML file that holds any of these options.",
)
QUIET = flag("quiet", "Show results only: no progress bars, no messages.", "-q")
CACHE_DIR = option("cache-dir", "Where vectors are kept [default: the user's cache folder].", type=PATH)
FORMAT = (
    choice("format", "How the output is printed.", FORMATS, default="text"),
    flag("json", "The same as --format json.", ALIAS + "json"),
)
"""The form of what is printed; a command takes it as `format`."""
GENERAL = (*FORMAT, CACHE_DIR, QUIET, CONFIG)
"""How a command that measures prints, and where it finds what was computed and set before."""
PRICES = option("prices", "A TOML file with your own prices [default: dated estimates that come along].", type=PATH)
DISTRACTORS = option("distractors", "JSON lines with _id and text to add [default: the other haystacks'].", type=PATH)
FAILURES = (
    option(
        "fail-if",
        "When to exit 1: 'recall_any@10 drops 0.005' or 'recall_any@10 below 0.9'; repeat it for several.",
        multiple=True,
    ),
    flag("strict", "Exit 1 also when a --fail-if is inconclusive."),
)
"""Rules that the second of two results is held to."""


def _single_store(_context: click.Context, _option: click.Parameter, stores: tuple[str, ...]) -> str | None:
    if len(stores) > 1:
        raise UsageError(
            "this command measures one store",
            expected="--store once",
            found=", ".join(stores),
            remedy="one command for each; `recallbench run` takes several",
        )
    return stores[0] if stores else None


STORE = option(
    "store",
    "The memory under test: a store's name, python:module:Class (with add and search), or http://host:port/ "
    "[default: pgmnemo where the server has it, else pgvector].",
    multiple=True,
    callback=_single_store,
)
STORES = option(
    "store",
    "The memory under test: a store's name, python:module:Class (with add and search), or http://host:port/; repeat it "
    "for several, a result each [default: pgmnemo where the server has it, else pgvector].",
    multiple=True,
)
PIPELINE = option(
    "pipeline",
    "A TOML file with the stages between a question and its ranking (`recallbench stages` lists them); this "
    "departs from the protocol [default: search alone].",
    type=PATH,
)
VERSION = option("version", "The version that the store has to state; it names the result folder, too.")
CORPUS_FILE = option("corpus-file", "The file of the corpus [default: found by variable or data folder].", type=PATH)
OWN_CORPUS = (
    CORPUS_FILE,
    option("corpus-shape", "Read --corpus-file as your own corpus in the shape of this one: longmemeval or locomo."),
    option("name", "What your own corpus is called [default: like its file]."),
    flag("download/--no-download", "Fetch a corpus or weights that are missing.", default=True),
    option(
        "allow-deviation",
        "With the word `dataset`: measure a file that is not the registered one, which departs from the protocol.",
        multiple=True,
    ),
)
CORPUS_OR_SET = argument(
    "corpus",
    "locomo, longmemeval, canary-locomo, …, or your own data: DIR, or hub:OWNER/NAME@<40 hex digits>; none with "
    "--corpus-shape.",
    required=False,
    metavar="[CORPUS|DIR]",
)
LIMIT = option("limit", "Ask only the first N questions; this departs from the protocol.", type=Whole(1))
DEPTH = option(
    "depth",
    "How many hits each ranking keeps; any number but 50 departs from the protocol.",
    type=Whole(10, DEEPEST),
    default=50,
)
CORPUS = (*OWN_CORPUS, LIMIT, DEPTH)
"""The corpus, how many of its questions are asked, and how deep."""
SCOPE = choice(
    "scope",
    "What a question is answered from: its own haystack, which are the sessions or documents that belong to it, or all "
    "of them pooled, which departs from the protocol.",
    ["own", "pooled"],
    default="own",
)
TIME = choice(
    "time",
    "Whether a question of a corpus with time (realmem) sees only what was said before it (kept), or the future too "
    "(ignored), which departs from the protocol.",
    ["kept", "ignored"],
    default="kept",
)
SEEN = (SCOPE, TIME)
"""What of the corpus a question may be answered from."""
CONTROLS = choice(
    "controls",
    "What is measured beside the store: BM25, or a static encoder (wordllama) as well.",
    ["bm25", "bm25,static"],
    default="bm25",
)
OUT = option("out", "The folder that result folders go into [default: benchmarks/<corpus>/results].", type=PATH)
K_HELP = "How many of the first hits count."
LABEL = option("label", "A word added to the folder's name.")
STUDY = (OUT, LABEL)
"""The place of a study's folder."""
KEEP_GOING = flag(
    "keep-going", "Count a failed question as the worst answer and go on: it is named, the exit code is 1."
)
REQUIRE_QUIET = flag("require-quiet", "Exit 3 where the machine is busy with something else, and 1 where it became so.")
RESULT = (
    *STUDY,
    option("folder", "The result folder itself; it must not exist yet.", type=PATH),
    flag("with-text", "Put the texts of the corpus into the result, in raw_retrievals.jsonl."),
    KEEP_GOING,
    flag("require-verified", "Exit 1 unless the result holds what the protocol requires, but for being committed."),
)
"""The place of the result, and when it fails the command."""

LABELS = flag("verdict", "Say what the protocol calls the result, and name every deviation from it.", "labels")
"""The protocol's labels on the console, where it is silent about them."""

STRICT = flag("strict", "Exit 3 when anything is not ready (of `run`: with --dry-run).")

RANDOM_MATCHES = flag("allow-random-matches", "Go on where --match takes more than 20% of random texts for relevant.")
TIES_HELP = (
    "How a run's equal scores are ordered: as in the file (its ranks, then its lines), or as trec_eval does (scores as "
    "32-bit floats, then the id, the later one first)."
)
TIES = choice("ties", TIES_HELP, ["file", "trec"], default="file")
PRECISION = choice(
    "precision",
    "What precision is divided by, in F1 too: k, or how many hits came back. Every output says which.",
    ["k", "retrieved"],
    default="k",
)
PERCENTILE_RULES = ["nearest-rank", "index", "linear"]
RULES = (
    "The p95 is the least value that 95% do not exceed (nearest-rank), sorted[int(.95 n)] (index), or interpolated as "
    "numpy and Excel do (linear)."
)


def of_corpus(*corpus_options: CorpusOption) -> list[Declaration]:
    """Return these options of a corpus as the command line has them."""
    declared = []
    for corpus_option in corpus_options:
        kind = click.Choice(corpus_option.values) if corpus_option.values else corpus_option.type
        more = {"multiple": True} if corpus_option.repeated else {"default": corpus_option.default}
        declared.append(option(corpus_option.name, corpus_option.help, type=kind, **more))
    return declared


OWN_DATA = (*of_corpus(*matching_options.OPTIONS, *labelled_options.OPTIONS), RANDOM_MATCHES)
"""The options of a set of one's own, beside those of a corpus."""


def of_system(store: Declaration = STORE) -> list[Declaration]:
    """Return the options of the system under test, those that stores declare included."""
    return [store, PIPELINE, DSN, EMBEDDER, MAX_TOKENS, DTYPE, BACKEND, *of_stores()]


def of_stores(*stores: str) -> list[Declaration]:
    """Return the options of these stores (none: of all), as --set and as the flags that some have."""
    from recallbench.stores.registry import STORES as KNOWN
    from recallbench.stores.registry import store_class

    of_these = [(store, each) for store in stores or KNOWN for each in store_class(store).options]
    assignments = [f"{each.name}={value}" for _, each in of_these for value in each.values or [""]]
    declared: list[Declaration] = [
        option(
            "set",
            "An option of the store, as `recallbench stores NAME` lists them, or a parameter of your own class; repeat "
            "it for several.",
            "--store-option",
            metavar="NAME=VALUE",
            multiple=True,
            shell_complete=lambda context, parameter, typed: [text for text in assignments if text.startswith(typed)],
        )
    ]
    for store, store_option in of_these:
        help = f"Of {store}: {store_option.description[0].lower()}{store_option.description[1:]}."
        if store_option.flag and store_option.values:
            declared.append(of_store(choice(store_option.flag, help, store_option.values)))
        elif store_option.flag:
            declared.append(of_store(option(store_option.flag, help)))
    return declared


def _store_options(others: dict[str, Any]) -> dict[str, str]:
    """Take the options of stores out of the others, and return them by the names that stores know."""
    from recallbench.stores.options import read_assignments
    from recallbench.stores.registry import store_options

    assigned = list(others.pop("set", ()))
    flags = {
        store_option.flag.replace("-", "_"): store_option.name for store_option in store_options() if store_option.flag
    }
    values = {name: others.pop(flag, None) for flag, name in flags.items()}
    return read_assignments([*(f"{name}={value}" for name, value in values.items() if value is not None), *assigned])


def run_options(
    *,
    scope: str = "own",
    allow_deviation: Sequence[str] = (),
    cache_dir: Path | None = None,
    pipeline: Path | None = None,
    **others: Any,
) -> Options:
    """Return the options of a run as the command line gave them; `corpus` may follow later."""
    from recallbench.retrieval.pipeline.pipeline import Pipeline
    from recallbench.runs.options import Options

    store_options = _store_options(others)
    return Options(
        **{"corpus": "", "engine": take_engine(others), **others},
        pooled=scope == "pooled",
        allow_deviations=_allowed(allow_deviation),
        store_options=store_options,
        pipeline=None if pipeline is None else Pipeline.read(pipeline),
        cache_dir=cache_dir or default_cache(),
        environ=dict(os.environ),
    )


def default_cache() -> Path:
    """Return the folder where computed vectors are kept."""
    from recallbench.embedding.registry import default_cache_dir

    return default_cache_dir()


def take_corpus(named: str | None, others: dict[str, Any]) -> str:
    """Take a user's own corpus out of the others, and return its name in results; else the one that was named."""
    from recallbench.corpora.own import identify
    from recallbench.corpora.registry import SHAPES

    shape, name, file = others.pop("corpus_shape", None), others.pop("name", None), others.get("corpus_file")
    if shape is None and name is None:
        if named is None:
            context = click.get_current_context(silent=True)  # none is active in Python
            as_option = context is not None and any(param.opts == ["--corpus"] for param in context.command.params)
            typed_as = "--corpus NAME" if as_option else "CORPUS"
            raise UsageError(
                "no corpus is named",
                expected=f"{typed_as}, or --corpus-shape SHAPE --corpus-file FILE",
                remedy="recallbench corpora lists them",
            )
        return named
    if named is not None:
        raise UsageError(
            "a corpus of your own has the name that --name gives it",
            expected="--corpus-shape SHAPE --corpus-file FILE --name NAME alone",
            found=f"{named} beside it",
            remedy=f"leave {named} out",
        )
    if shape not in SHAPES or file is None:
        raise UsageError(
            "a corpus of your own has a shape and a file",
            expected=f"--corpus-shape {'|'.join(SHAPES)} --corpus-file FILE",
            found=", ".join([f"--corpus-shape {shape}" if shape else "no shape", *([] if file else ["no file"])]),
        )
    return str(identify(file, shape, name))


def single_corpus(name: str) -> str:
    """Return the name of a corpus; raises UsageError for one that stands for several."""
    from recallbench.corpora.registry import names

    if len(several := names(name)) > 1:
        raise UsageError(f"{name} is several corpora", expected=f"one of {', '.join(several)}", found=name)
    return name


def words_of(*texts: str) -> list[str]:
    """Return the words of options that are separated by commas, each once."""
    return list(dict.fromkeys(word.strip() for text in texts for word in text.split(",") if word.strip()))


def measures_of(text: str) -> list[Measure]:
    """Return the measures that --measures names; raises UsageError where it names none."""
    from recallbench.scoring.measures.registry import parse

    if not (words := words_of(text)):
        raise UsageError("--measures names none", expected="--measures recall_any@10", found=repr(text))
    return [parse(word) for word in words]


def whole_numbers(text: str, option: str, example: str) -> list[int]:
    """Return the whole numbers above 0 of an option, ascending; raises UsageError for anything else."""
    words = text.split(",")
    if not all(word.strip().isdigit() and int(word) > 0 for word in words):
        raise UsageError(
            f"--{option} {text} can't be used",
            expected=f"whole numbers from 1 on, with commas: --{option} {example}",
            found=text,
        )
    return sorted({int(word) for word in words})


def positive_numbers(text: str, option: str, example: str) -> list[float]:
    """Return the numbers above 0 of an option, ascending; raises UsageError for anything else."""
    try:
        numbers = sorted({float(word) for word in text.split(",")})
    except ValueError:
        numbers = [0.0]
    if not all(0 < number < math.inf for number in numbers):
        raise UsageError(
            f"--{option} {text} can't be used",
            expected=f"numbers above 0, with commas: --{option} {example}",
            found=text,
        )
    return numbers


def take_matching(others: dict[str, Any], *, of_log: bool = False) -> Matching:
    """Take --match and its companions out of the others; raises UsageError where a companion would do nothing."""
    from recallbench.cli.command import typed
    from recallbench.corpora.matching.method import OWN, Matching

    method, threshold = others.pop("match"), others.pop("match_threshold")
    if method in ("id", "exact") and typed("match_threshold"):
        raise UsageError(
            f"--match-threshold is for token F1{'' if of_log else ' and BM25'}",
            expected="--match tokens" if of_log else "--match tokens, hybrid or bm25",
            found=f"--match {method}",
        )
    return Matching(
        method,
        OWN if threshold is None else threshold,
        others.pop("match_chunk"),
        others.pop("match_embedder", None) or "",
        others.pop("match_cosine", None),
    )


def _allowed(deviations: Sequence[str]) -> frozenset[str]:
    """Return the deviations that --allow-deviation names; raises UsageError for one that it can't allow."""
    from recallbench.runs.options import ALLOWABLE

    if unknown := sorted(set(deviations) - ALLOWABLE):
        raise UsageError(
            f"--allow-deviation {unknown[0]} is not needed or not known",
            expected=", ".join(sorted(ALLOWABLE)),
            found=unknown[0],
            remedy="other deviations are options of their own, and results name them by themselves",
        )
    return frozenset(deviations)
