"""A pipeline as its file states it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from recallbench.addresses import recorded_name
from recallbench.confidential import without_secrets
from recallbench.errors import InputError, UsageError
from recallbench.escaping.markdown import unformatted
from recallbench.reading import toml
from recallbench.retrieval.stages.answering import AnswerStage
from recallbench.retrieval.stages.registry import known_kind, nearest, options_of, stage_class
from recallbench.retrieval.stages.search import DEPTH, IN_PROCESS, OF_STORE, SearchStage
from recallbench.retrieval.stages.stage import KINDS, FuseStage, Kind, RewriteStage, Stage, StageOption
from recallbench.stores.registry import check_options

KEYS = ("kind", "method", "name")
"""What the table of a stage may hold beside its options."""
SEARCH_ALONE = "(a search alone)"
"""What stands behind the name of a file in results that were made as if there were none."""
_DEFAULT_METHOD: Mapping[str, str] = {"search": "store"}


@dataclass(frozen=True, slots=True)
class StageSpec:
    """One stage: its kind and method, a name that no other stage of the pipeline has, and the options that were set."""

    kind: Kind
    method: str
    name: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def stage(self) -> type[Stage]:
        """The class that does it."""
        return stage_class(self.kind, self.method)

    @property
    def store_options(self) -> dict[str, str]:
        """What a leg sets of the store that it searches."""
        return {name.removeprefix(OF_STORE): v for name, v in self.options.items() if name.startswith(OF_STORE)}

    def recorded(self) -> dict[str, Any]:
        """Return it as results have it: every option with its value, none with a secret."""
        declared = {option.name: option for option in options_of(self.kind, self.method)}
        values = {name: option.default for name, option in declared.items() if option.default is not None}
        values |= {name: _recorded(declared.get(name), value) for name, value in without_secrets(self.options).items()}
        method = recorded_name(self.method) if self.kind == "search" else self.method
        return {"name": self.name, "kind": self.kind, "method": method, "options": dict(sorted(values.items()))}

    def words(self) -> str:
        """Return it in few words, such as `rrf(k=20)`."""
        shown = _deciding(self.recorded())
        defaults = {option.name: option.default for option in options_of(self.kind, self.method)}
        own = ", ".join(
            f"{name}={shown[name]}"
            for name in sorted(self.options)
            if name in shown and shown[name] != defaults.get(name)
        )
        return self.name + (f"({own})" if own else "")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The stages between a question and its ranking, in their order."""

    stages: tuple[StageSpec, ...]
    source: str = "the pipeline"
    """Where it was read, for messages."""

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a pipeline from a TOML file; raises InputError or UsageError where it is none."""
        path = Path(path)
        try:
            document = toml(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise InputError(
                f"{path} can't be read",
                expected="a TOML file with a pipeline",
                found=error.strerror or str(error),
                remedy="check the path; recallbench stages lists what a pipeline can have",
            ) from None
        except ValueError as error:
            raise InputError(f"{path.name} is no TOML", expected="TOML in UTF-8", found=str(error)) from None
        unknown = sorted(document.keys() - {"stage"})
        if unknown:
            raise UsageError(
                f"{path.name}: a pipeline has no `{unknown[0]}`",
                expected="one table [[stage]] for each stage",
                found=", ".join(unknown),
            )
        stages = document.get("stage")
        if not isinstance(stages, list):
            raise UsageError(f"{path.name} has no stages", expected="one table [[stage]] for each stage")
        return cls.of(stages, path.name)

    @classmethod
    def of(cls, stages: Iterable[Mapping[str, Any]], source: str = "the pipeline") -> Self:
        """Return the pipeline of these stages, each a mapping as in the file; raises UsageError where it can't be."""
        specs: list[StageSpec] = []
        for place, table in enumerate(stages, start=1):
            specs.append(_spec(table, f"{source}, stage {place}", [spec.name for spec in specs]))
        pipeline = cls(tuple(specs), source)
        pipeline._check()
        return pipeline

    def __iter__(self) -> Iterator[StageSpec]:
        return iter(self.stages)

    def of_kind(self, *kinds: Kind) -> tuple[StageSpec, ...]:
        """Return the stages of these kinds."""
        return tuple(spec for spec in self.stages if spec.kind in kinds)

    @property
    def legs(self) -> tuple[StageSpec, ...]:
        """The stages that search."""
        return self.of_kind("search")

    @property
    def main_leg(self) -> StageSpec:
        """The leg whose store the result is named after: that of the store under test, else the first."""
        return next((leg for leg in self.legs if leg.method == "store"), self.legs[0])

    @property
    def searches_store(self) -> bool:
        """Whether any leg searches the store under test."""
        return self.main_leg.method == "store"

    @property
    def most_texts(self) -> int:
        """How many texts are searched for in place of one question at most."""
        rewriters = [(spec.stage, spec.options) for spec in self.of_kind("rewrite")]
        texts = [stage.most_texts(options) for stage, options in rewriters if issubclass(stage, RewriteStage)]
        return sum(texts) or 1

    @property
    def searches_alone(self) -> bool:
        """Whether it does nothing but ask one store to the usual depth: what a run without a pipeline does."""
        return len(self.stages) == 1 and DEPTH.read(self.main_leg.options) == DEPTH.read({})

    @property
    def own_name(self) -> str:
        """The name of its file without the ending; `pipeline` where it was read from none."""
        return Path(self.source).stem if self.source.endswith(".toml") else self.source.removeprefix("the ")

    @property
    def compared(self) -> tuple[StageSpec, ...]:
        """The stages of its ranking that it could do without: all, but a leg that searches alone."""
        ranking = self.of_kind("rewrite", "search", "fuse", "diversify", "rerank")
        return tuple(spec for spec in ranking if spec.kind != "search" or len(self.legs) > 1)

    @property
    def asks_endpoint(self) -> bool:
        """Whether a stage before the ranking asks a server that may fail on a question."""
        return any(spec.stage.asks_endpoint for spec in self.of_kind("rewrite", "fuse", "diversify", "rerank"))

    @property
    def is_slow(self) -> bool:
        """Whether a stage before the ranking takes milliseconds or more for a question."""
        return any(spec.stage.slow for spec in self.of_kind("rewrite", "fuse", "diversify", "rerank"))

    @property
    def contexts(self) -> tuple[int, ...]:
        """How many hits each stage that answers is given at most."""
        answering = [(spec.stage, spec.options) for spec in self.of_kind("generate")]
        return tuple(stage.context_of(options) for stage, options in answering if issubclass(stage, AnswerStage))

    @property
    def sha256(self) -> str:
        """One hash over all that the stages are told and that decides what comes out."""
        recorded = [spec.recorded() for spec in self.stages]
        return stages_sha256(recorded)

    def words(self) -> str:
        """Return it in one line, from the question to what comes out."""
        groups = [[spec.words() for spec in self.of_kind(kind)] for kind in ("rewrite", "search")]
        rest = [spec.words() for spec in self.stages if spec.kind not in ("rewrite", "search")]
        return " > ".join([*groups[0], " + ".join(groups[1]), *rest])

    def _check(self) -> None:
        if not self.legs:
            raise UsageError(
                f"{self.source} searches nothing", expected='a stage with kind = "search"', found=_kinds(self.stages)
            )
        order = {kind: place for place, kind in enumerate(KINDS)} | {"rerank": KINDS.index("diversify")}
        for before, after in pairwise(self.stages):
            if order[before.kind] > order[after.kind]:
                raise UsageError(
                    f"{self.source}: {after.kind} can't come after {before.kind}",
                    expected="rewrite, search, fuse, then diversify and rerank in any order, generate, judge",
                    found=_kinds(self.stages),
                )
        for kind in ("fuse", "generate"):
            if len(self.of_kind(kind)) > 1:
                raise UsageError(
                    f"{self.source} has {len(self.of_kind(kind))} stages of kind {kind}", expected=f"one {kind}"
                )
        if self.of_kind("judge") and not self.of_kind("generate"):
            raise UsageError(
                f"{self.source} judges an answer that it does not make", expected='kind = "generate" before the judge'
            )
        for spec in self.of_kind("fuse"):
            if issubclass(spec.stage, FuseStage):
                with _named(f"{self.source}, stage {self.stages.index(spec) + 1}"):
                    spec.stage.check_legs(spec.options, [leg.name for leg in self.legs])
        lists = len(self.legs) * self.most_texts
        if lists > 1 and not self.of_kind("fuse"):
            raise UsageError(
                f"{self.source} searches {lists} times for a question and makes no single list of it",
                expected='a stage with kind = "fuse" behind the legs, such as method = "rrf"',
                found=_kinds(self.stages),
            )


def declared_pipeline(pipeline: Pipeline | None) -> str:
    """Return the words for a pipeline in a result's deviation; empty for none."""
    return "" if pipeline is None else pipeline_words(pipeline.words(), pipeline.sha256)


def pipeline_words(words: str, digest: str) -> str:
    """Return what a deviation says of a pipeline: its stages, and the beginning of their hash."""
    return f"{words} (sha256 {digest[:12]})"


def _deciding(stage: Mapping[str, Any]) -> dict[str, str]:
    """Return the options of a recorded stage that decide what comes out."""
    idle = {option.name for option in options_of(stage["kind"], stage["method"]) if not option.decides}
    return {name: value for name, value in stage["options"].items() if name not in idle}


def _recorded(option: StageOption | None, value: str) -> str:
    if option is None:
        return value
    return recorded_name(value) if option.secret else option.record(value)


def stages_sha256(stages: Sequence[Mapping[str, Any]]) -> str:
    """Return one hash over the stages as results have them, without what decides nothing."""
    told = [{**{key: stage[key] for key in KEYS}, "options": _deciding(stage)} for stage in stages]
    return sha256(json.dumps(told, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def _kinds(stages: Iterable[StageSpec]) -> str:
    return ", ".join(spec.kind for spec in stages) or "no stage"


def _spec(table: Mapping[str, Any], where: str, taken: Sequence[str]) -> StageSpec:
    if not isinstance(table, Mapping):
        raise UsageError(f"{where} is no table", expected="kind, method and options", found=str(table)[:80])
    with _named(where):
        if "kind" not in table:
            raise UsageError(
                "a stage has a kind", expected=", ".join(KINDS), found=", ".join(table) or "an empty table"
            )
        kind = known_kind(str(table["kind"]))
        method = str(table.get("method", _DEFAULT_METHOD.get(kind, "")))
        stage = stage_class(kind, method)
        given = option_texts({key: value for key, value in table.items() if key not in KEYS})
        name = _name(table.get("name"), method, kind, taken)
        spec = StageSpec(kind, method, name, given)
        _check_options(spec, stage)
    return spec


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Put the place of a stage before what is wrong with it."""
    try:
        yield
    except UsageError as error:
        raise UsageError(
            f"{where}: {error.problem}", expected=error.expected, found=error.found, remedy=error.remedy
        ) from None


def _name(given: Any, method: str, kind: Kind, taken: Sequence[str]) -> str:
    if given is not None:
        name = str(given)
        if not name.strip() or not name.isprintable() or len(name) > 60:
            raise UsageError("the name of a stage is short text", expected='name = "…"', found=name[:80])
        if unformatted(name) != name:
            raise UsageError(
                "the name of a stage holds no tags", expected='plain text, such as name = "dense"', found=name
            )
        if name in taken:
            raise UsageError(f"two stages are called {name}", expected="a name of its own for each")
        return name
    plain = recorded_name(method) if kind == "search" else method
    return next(name for n in range(1, len(taken) + 2) if (name := plain if n == 1 else f"{plain}-{n}") not in taken)


def option_texts(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return options as text, as stores and stages read them; those of a table as `table.name`."""
    texts: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            texts |= option_texts(value, f"{prefix}{name}.")
        elif isinstance(value, bool):
            texts[prefix + name] = str(value).lower()
        elif isinstance(value, list | tuple):
            texts[prefix + name] = ",".join(map(str, value))
        else:
            texts[prefix + name] = str(value)
    return texts


def _check_options(spec: StageSpec, stage: type[Stage]) -> None:
    declared = {option.name: option for option in options_of(spec.kind, spec.method)}
    for name, value in spec.options.items():
        if issubclass(stage, SearchStage) and name.startswith(OF_STORE):
            continue
        if name not in declared:
            raise UsageError(
                f"{spec.kind} {spec.method} has no option `{name}`",
                expected=", ".join(declared) or "no option, it has none",
                remedy=nearest(name, list(declared)),
            )
        declared[name].check(value)
    for option in declared.values():
        if option.required and option.name not in spec.options:
            raise UsageError(f"{spec.kind} {spec.method} needs {option.typed}", expected=option.help)
    if issubclass(stage, SearchStage) and spec.method != "store":
        check_options(IN_PROCESS.get(spec.method, spec.method), spec.store_options)
    stage.check(spec.options)
