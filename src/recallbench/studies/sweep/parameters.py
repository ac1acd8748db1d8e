"""What the parameters of a point change: the options of its run, and the k that it is judged at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recallbench.confidential import without_secrets
from recallbench.errors import UsageError
from recallbench.nearest_name import nearest_name
from recallbench.retrieval.pipeline.opening import pipeline_needs_vectors
from recallbench.retrieval.pipeline.pipeline import SEARCH_ALONE, Pipeline
from recallbench.retrieval.stages.registry import options_of
from recallbench.retrieval.stages.stage import positive
from recallbench.runs.options import Options
from recallbench.runs.plan import Plan
from recallbench.stores.registry import REFERENCE_STORE, asks_vectors, find_store

K = "k"
OF_STORE = "set."
"""What a parameter of the store under test begins with."""
OF_RUN = ("store", "pipeline", "embedder", "max_tokens")
"""Parameters that are options of a run."""


@dataclass(frozen=True, slots=True)
class Configured:
    """A point as it is measured."""

    options: Options
    k: int | None
    """The depth that it is judged at; None for the measure's own."""


def configure(base: Options, values: Mapping[str, str], folder: Path) -> Configured:
    """Return what a point measures; raises UsageError, with the nearest name, for a parameter that nothing has.

    Its store and pipeline are settled first, since they decide which parameters there are. `folder` is where the
    files of pipelines lie.
    """
    options, k = base, None
    for name in OF_RUN:
        if name in values:
            options = replace(options, **{name: _of_run(name, values[name], folder)})
    if "pipeline" in values and "store" not in values and options.pipeline and not options.pipeline.searches_store:
        # The store under test is for the points that search it.
        options = replace(options, store=None, store_options={})
    tables = _tables(options.pipeline)
    store_options = dict(options.store_options)
    for name, value in values.items():
        stage = _stage_of(name, tables)
        if name in OF_RUN:
            continue
        if name == K:
            k = _k(value, options.depth)
        elif stage is not None:
            tables[stage][name.removeprefix(f"{stage}.")] = value
        elif name.startswith(OF_STORE):
            store_options[name.removeprefix(OF_STORE)] = value
            _refuse_unknown_option(name, options, tables)
        else:
            raise unknown_parameter(name, options, tables)
    pipeline = options.pipeline
    if pipeline is not None:
        changed = Pipeline.of(tables.values(), pipeline.source)
        pipeline = pipeline if changed == pipeline else changed
    options = replace(options, pipeline=pipeline, store_options=store_options)
    if {"store", "pipeline"} & values.keys() and "embedder" not in values and _is_without_vectors(options):
        options = options.without_encoder()
    return Configured(options, k)


def value_in_force(name: str, plan: Plan, k: int) -> str:
    """Return the value that a parameter has in a plan, set or not; empty where the plan has no such thing."""
    if name == K:
        return str(k)
    pipeline = plan.pipeline
    stage = _stage_of(name, {spec.name: spec for spec in pipeline or ()})
    if stage is not None:
        spec = next(spec for spec in pipeline or () if spec.name == stage)
        return str(spec.recorded()["options"].get(name.removeprefix(f"{stage}."), ""))
    if name.startswith(OF_STORE):
        option = name.removeprefix(OF_STORE)
        kind = find_store(plan.address)
        declared = None if kind is None or kind.outside else kind.find_option(option)
        default = "" if declared is None or declared.default is None else declared.default
        return without_secrets(plan.options.store_options).get(option, default)
    of_run = {"store": plan.store, "embedder": plan.embedder, "max_tokens": plan.options.max_tokens}
    # A pipeline that is a search alone is settled to none, but has its name.
    stated = pipeline or plan.options.pipeline
    named = stated.source.removesuffix(SEARCH_ALONE).strip() if stated is not None else None
    value = named if name == "pipeline" else of_run.get(name)
    return "" if value is None else str(value)


def unknown_parameter(name: str, options: Options, tables: Mapping[str, Mapping[str, Any]]) -> UsageError:
    """Return the error for a parameter that neither stage, store nor encoder has."""
    known = _known(options, tables)
    # `k` stands in `rff.k`, and is another parameter: only names of as many parts are alike.
    alike = [one for one in known if one.count(".") == name.count(".")]
    near = nearest_name(name, alike) or next((one for one in known if one.endswith(f".{name}")), "")
    return UsageError(
        f"nothing has the parameter `{name}`",
        expected=", ".join(known),
        found=name,
        remedy=f"you may mean {near}"
        if near
        else "name a stage and its option as `rrf.k`, or an option of the store as `set.ef_search`",
    )


def _tables(pipeline: Pipeline | None) -> dict[str, dict[str, Any]]:
    """Return the table of each stage, by its name."""
    return {
        spec.name: {"kind": spec.kind, "method": spec.method, "name": spec.name, **spec.options}
        for spec in pipeline or ()
    }


def _stage_of(name: str, tables: Mapping[str, Any]) -> str | None:
    """Return the stage whose option it is; names of stages may hold dots, and the longest one counts."""
    fitting = [stage for stage in tables if name.startswith(f"{stage}.")]
    return max(fitting, key=len) if fitting else None


def _of_run(name: str, value: str, folder: Path) -> Any:
    if name == "pipeline":
        return Pipeline.read(folder / value)
    return _number(name, value) if name == "max_tokens" else value


def _is_without_vectors(options: Options) -> bool:
    """Return whether a point has no use for an encoder that other points have."""
    about = {"environ": options.environ, "options": options.store_options}
    if options.pipeline is not None:
        return not pipeline_needs_vectors(options.pipeline, options.store or REFERENCE_STORE, **about)
    return options.store is not None and not asks_vectors(options.store, **about)


def _k(value: str, depth: int) -> int:
    k = _number(K, value)
    if k > depth:
        raise UsageError(
            f"k = {k} is deeper than the rankings",
            expected=f"1 to {depth}",
            found=value,
            remedy=f"ask for deeper rankings: --depth {k}",
        )
    return k


def _number(name: str, value: str) -> int:
    try:
        return positive(value)
    except ValueError as error:
        raise UsageError(f"{name} = {value} can't be read", expected="a whole number", found=str(error)) from None


def _refuse_unknown_option(name: str, options: Options, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise UsageError where the store declares its options, and not this one."""
    kind = find_store(options.store or REFERENCE_STORE)
    if kind is not None and not kind.outside and kind.find_option(name.removeprefix(OF_STORE)) is None:
        raise unknown_parameter(name, options, tables)


def _known(options: Options, tables: Mapping[str, Mapping[str, Any]]) -> list[str]:
    searched = options.pipeline is None or options.pipeline.searches_store
    kind = find_store(options.store or REFERENCE_STORE) if searched else None
    of_store = [f"{OF_STORE}{option.name}" for option in (kind.options if kind is not None else ())]
    of_stages = [
        f"{stage}.{option.name}"
        for stage, table in tables.items()
        for option in options_of(table["kind"], table["method"])
    ]
    return [K, *of_stages, *of_store, *OF_RUN]
