"""`recallbench latency`: a store under load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recallbench.cli import options
from recallbench.cli.command import EPILOG, PATH, Finite, argument, choice, command, flag, is_given, option
from recallbench.cli.printing import show
from recallbench.cli.typed_command import typed_command
from recallbench.reports.printing.printed import Format

if TYPE_CHECKING:
    from recallbench.runs.options import Options

EXAMPLES = (
    "Examples: recallbench latency locomo --store pgvector; recallbench latency locomo --store pgvector --against "
    "exact; recallbench latency DIR --store http://127.0.0.1:8000/ --rates 20,50 --seconds 30 --require-quiet."
)
SIZES, CLIENTS, RATES, SHARES = "1,2,5", "1,2,4,8", "20,50", ".5,.7,.9"


@command(
    argument(
        "corpus",
        "locomo, longmemeval, canary-locomo, …; your own data: DIR, or hub:OWNER/NAME@<40 hex digits>; or a result "
        "folder, for its corpus, store and options; none with --corpus-shape.",
        required=False,
        metavar="[CORPUS|DIR]",
    ),
    option("clients", "Clients of each closed loop, as 1,2,4,8 [default: doubled until more add less than 10%]."),
    choice("arrivals", "How questions come in an open loop.", ["poisson", "constant"], default="poisson"),
    option("at", "Rates of the open loops, as shares of the saturation [default: .5,.7,.9; none with --rates]."),
    option("rates", "Rates of the open loops in questions a second, as 20,50."),
    option(
        "seconds",
        "How long each level takes; left out, it also ends after 10,000 calls.",
        type=Finite(0, 3600, min_open=True),
        default=5.0,
    ),
    option("seed", "The seed of arrivals, questions and turns.", type=int, default=42),
    option("against", "A second store, asked in turns with the first: blocks of A and B one after the other."),
    option("against-pipeline", "The second system's pipeline, a TOML file.", type=PATH),
    option("against-set", "An option of the second store; repeat it for several.", metavar="NAME=VALUE", multiple=True),
    option("sizes", "How many times their own size the haystacks have, as 1,2,5 (as in grow).", default="1"),
    options.DISTRACTORS,
    flag("require-quiet", "Exit 3 where the machine is not quiet; the levels so far are kept."),
    *options.OWN_DATA,
    *options.of_system(),
    *options.CORPUS,
    *options.SEEN,
    *options.STUDY,
    *options.GENERAL,
    epilog=f"{EXAMPLES} {EPILOG}",
)
def latency(
    corpus: str | None,
    clients: str | None,
    arrivals: str,
    at: str | None,
    rates: str | None,
    seconds: float,
    seed: int,
    against: str | None,
    against_pipeline: Path | None,
    against_set: tuple[str, ...],
    sizes: str,
    distractors: Path | None,
    require_quiet: bool,
    format: Format,
    quiet: bool,
    **others: Any,
) -> int:
    """Ask a store under load, closed loop and open loop: p50, p95, p99 and throughput, with the recall of the answers.

    First a closed loop with 1, 2, 4 … clients finds the saturation. Then questions come at shares of it whether or not
    the store keeps up, and each time counts from the moment a question was to start: a stall is seen by all who wait
    behind it. A level is void where the generator itself was late. Leaves a folder with report.md, latency.json and
    calls.jsonl. After Ctrl-C it has the levels that were done.
    """
    from recallbench.cli.bars import listener
    from recallbench.cli.measure.corpus_or_set import obtain_corpus
    from recallbench.cli.measure.result_target import take_result
    from recallbench.reports.load.page import printed
    from recallbench.retrieval.load.arrivals import ARRIVALS
    from recallbench.studies.latency.choices import MOST_CALLS, MOST_CALLS_IN_ANY_CASE, LatencyChoices
    from recallbench.studies.latency.latency import measure_latency

    progress = listener(quiet)
    if corpus is not None:
        corpus = take_result(corpus, others)
    run_options = obtain_corpus(corpus, others, progress)
    shares = options.positive_numbers(at, "at", SHARES) if at else [] if rates else [0.5, 0.7, 0.9]
    choices = LatencyChoices(
        clients=tuple(options.whole_numbers(clients, "clients", CLIENTS)) if clients else (),
        arrivals=next(kind for kind in ARRIVALS if kind == arrivals),
        shares=tuple(shares),
        rates=tuple(options.positive_numbers(rates, "rates", RATES)) if rates else (),
        seconds=seconds,
        most_calls=MOST_CALLS_IN_ANY_CASE if is_given("seconds") else MOST_CALLS,
        seed=seed,
        sizes=tuple(options.whole_numbers(sizes, "sizes", SIZES)),
        distractors=distractors,
        require_quiet=require_quiet,
    )
    systems = [run_options]
    if against is not None or against_pipeline is not None or against_set:
        systems = [
            _with_encoder_if_used(each)
            for each in (run_options, _second(run_options, against, against_pipeline, against_set))
        ]
    study = measure_latency(systems, choices, progress, date.today())
    show(printed(study.document, study.folder, typed_command()), format)
    return 0


def _second(first: Options, store: str | None, pipeline: Path | None, assignments: Sequence[str]) -> Options:
    """Return the options of the second system: another store has none of the first one's options."""
    from recallbench.retrieval.pipeline.pipeline import Pipeline
    from recallbench.stores.options import read_assignments

    set_options = read_assignments(list(assignments))
    stages = Pipeline.read(pipeline) if pipeline is not None else first.pipeline if store is None else None
    # A pipeline of legs of its own has no use for the first one's store.
    inherited = first.store if stages is None or stages.searches_store else None
    alike: Mapping[str, str] = first.store_options if inherited is not None and store in (None, first.store) else {}
    return replace(first, store=store or inherited, store_options={**alike, **set_options}, pipeline=stages)


def _with_encoder_if_used(system: Options) -> Options:
    """Return the options of one of two systems, without an encoder where its store needs no vectors."""
    from recallbench.stores.registry import asks_vectors

    if system.pipeline is not None or system.store is None:
        return system
    if asks_vectors(system.store, environ=system.environ, options=system.store_options):
        return system
    return system.without_encoder()
