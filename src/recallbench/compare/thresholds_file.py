"""`recallbench.toml`: results and their thresholds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from recallbench.compare.gate_command import gate_command
from recallbench.compare.rules import parse_rule
from recallbench.errors import InputError, UsageError
from recallbench.nearest_name import nearest_name
from recallbench.reading import document, toml
from recallbench.scoring.measures.measure import Measure
from recallbench.scoring.measures.registry import parse
from recallbench.scoring.quantiles import NEAREST_RANK, Rule
from recallbench.scoring.recommended import RECOMMENDED, recommended

DEPTH = 10
"""The k of recommended thresholds."""
EVERY = "*"
"""In place of the name of a kind or tenant: each of them."""
EXAMPLE = '[result.nightly] with folder = "results/*" and [result.nightly.at_least] with "recall_any@10" = 0.95'


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)


Floor = Annotated[float, Field(ge=0, le=1)]
Drop = Annotated[float, Field(gt=0, le=1)]
State = Literal["cold", "warm"]
_BOUNDS = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")
_BARE = re.compile(r"[^=\[#]+=\s*(?P<value>[A-Za-z][\w-]*)\s*(?:#.*)?")
_NO_WORDS = ("true", "false", "nan", "inf")
_YES_NO = ("yes", "no", "on", "off", "true", "false")


def _of_warm(value: Any) -> Any:
    return {"warm": value} if isinstance(value, float) else value


Milliseconds = Annotated[dict[State, Annotated[float, Field(gt=0)]], BeforeValidator(_of_warm)]
"""By state of the queries; a number alone is for warm ones."""


class AtLoad(_Part):
    """The most that the p95 may be where questions arrive at this rate."""

    rate: float = Field(gt=0)
    """Questions a second."""
    ms: float = Field(gt=0)


Ratios = Annotated[dict[State, Annotated[float, Field(gt=0)]], BeforeValidator(_of_warm)]


class PartThresholds(_Part):
    """Thresholds on one set of questions, by exact measure name."""

    thresholds: Literal["recommended"] | None = None
    """The recommended floors at DEPTH; `at_least` overrides them."""
    at_least: dict[str, Floor] = {}
    drops: dict[str, Drop] = {}
    rules: list[str] = []
    """Floors and drops as texts: `recall_any@10 >= 0.95`, `mrr@50 drops 0.01`."""

    @model_validator(mode="before")
    @classmethod
    def _with_rules(cls, values: Any) -> Any:
        texts = values.get("rules", []) if isinstance(values, dict) else None
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return values
        stated: dict[str, dict[str, float]] = {"at_least": {}, "drops": {}}
        if values.get("thresholds") == RECOMMENDED:
            stated["at_least"] = {str(measure): floor for measure, floor in recommended(DEPTH).items()}
        known: set[tuple[str, str]] = {
            (word, name) for word in stated if isinstance(own := values.get(word), dict) for name in own
        }
        for text in texts:
            rule = parse_rule(text)
            name = str(rule.measure)
            if (rule.word, name) in known:
                raise UsageError(
                    f"{name} has two thresholds of the same kind",
                    expected="the stricter alone",
                    found=f"{text!r} and another",
                    remedy="take one out",
                )
            known.add((rule.word, name))
            stated[rule.word][name] = rule.threshold
        tables = {word: values.get(word, {}) for word, figures in stated.items() if figures}
        return values | {word: stated[word] | own for word, own in tables.items() if isinstance(own, dict)}


class AbstentionThresholds(_Part):
    """Thresholds on the queries that should find nothing."""

    auroc: float | None = None
    """The lowest AUROC."""
    false_retrieval: float | None = None
    """The highest rate of false retrieval."""

    @property
    def stated(self) -> dict[str, float]:
        return {key: value for key, value in self.model_dump().items() if value is not None}


class ResultThresholds(PartThresholds):
    """The thresholds of one result."""

    folder: str = Field(min_length=1)
    baseline: str | None = Field(default=None, min_length=1)
    allow: list[Literal["embedder", "store", "pipeline"]] = []
    """What may differ from the baseline. `recallbench compare` only says it; a release that changed its encoder by
    mistake is to be refused."""
    pipeline: str | None = Field(default=None, min_length=1)
    """The file of the pipeline that the result is to have been made by."""
    strict: bool = False
    audit: bool = False
    corpus_file: str | None = None
    p95_ms: Milliseconds = {}
    p95_ratio: Ratios = {}
    """The highest ratio to the baseline's p95."""
    percentiles: Rule = NEAREST_RANK
    """The rule of both p95."""
    p95_at_load: AtLoad | None = None
    latency: str | None = Field(default=None, min_length=1)
    """The folder of the study that tells of it."""
    abstention: AbstentionThresholds = AbstentionThresholds()
    kinds: dict[str, PartThresholds] = {}
    abilities: dict[str, PartThresholds] = {}
    tenants: dict[str, PartThresholds] = {}

    @property
    def demands(self) -> list[PartThresholds]:
        """The thresholds of all questions, then of every part."""
        return [self, *self.kinds.values(), *self.abilities.values(), *self.tenants.values()]

    @property
    def compared(self) -> bool:
        """Whether any threshold needs the baseline."""
        return bool(self.p95_ratio) or any(part.drops for part in self.demands)


class ThresholdsFile(_Part):
    """The whole file; paths in it count from its folder."""

    thresholds: Literal["recommended"] | None = None
    """Thresholds of every result."""
    percentiles: Rule | None = None
    """The rule of percentiles for results without their own."""
    result: dict[str, ResultThresholds] = Field(min_length=1)

    def with_pipeline(self, path: Path) -> ThresholdsFile:
        """Return it with this pipeline's file demanded of every result."""
        results = {name: each.model_copy(update={"pipeline": str(path)}) for name, each in self.result.items()}
        return self.model_copy(update={"result": results})

    @model_validator(mode="before")
    @classmethod
    def _of_every_result(cls, values: Any) -> Any:
        results = values.get("result") if isinstance(values, dict) else None
        shared = {key: values[key] for key in ("thresholds", "percentiles") if key in values}
        if not isinstance(results, dict) or not shared:
            return values
        return values | {
            "result": {name: shared | table if isinstance(table, dict) else table for name, table in results.items()}
        }


def read_thresholds(path: Path) -> ThresholdsFile:
    """Return the file; raises InputError, naming line and key, for anything invalid in it."""
    if not path.exists():
        raise InputError(
            f"there is no {path} here" if not path.is_absolute() else f"there is no {path}",
            expected=EXAMPLE,
            remedy="recallbench gate DIR --init writes one from a result; --config FILE names another",
        )
    try:
        text = document(path).decode("utf-8")
    except ValueError as error:
        raise InputError(f"{path} can't be read as TOML", expected=EXAMPLE, found=str(error)) from None
    try:
        table = toml(text)
    except ValueError as error:
        raise InputError(
            f"{path} can't be read as TOML",
            expected=EXAMPLE,
            found=str(error),
            remedy=_bare_word(text) or "mend the file",
        ) from None
    try:
        file = ThresholdsFile.model_validate(_numbers(table))
    except ValidationError as error:
        raise _invalid(path, text, error) from None
    except UsageError as error:
        raise InputError(
            f"{path}: {error.problem}", expected=error.expected, found=error.found, remedy=error.remedy
        ) from None
    for name, thresholds in file.result.items():
        _sensible(path, text, name, thresholds)
    return file


def _sensible(path: Path, text: str, name: str, thresholds: ResultThresholds) -> None:
    measures = [
        (key, measure) for part in thresholds.demands for key in ("at_least", "drops") for measure in getattr(part, key)
    ]
    for key, measure in measures:
        known = _measure(path, text, measure)
        if key == "drops" and not known.separable:
            raise InputError(
                f"{path}{_line(text, (measure,))}: {measure} can't be compared in pairs",
                expected="a measure that gives each question a value",
                found=measure,
                remedy=f"take {str(known).replace(known.name, 'f1')}, which does",
            )
    if thresholds.baseline is None and thresholds.compared:
        raise InputError(
            f"{path}: [result.{name}] has {'p95_ratio' if thresholds.p95_ratio else 'drops'} and no baseline",
            expected='baseline = "DIR", the result to compare with',
            found="none",
            remedy=f"name one, and store it: {gate_command(str(path), '--update')}",
        )
    for key, value in thresholds.abstention.stated.items():
        if not 0 <= value <= 1:
            sign, end = (">=", "at most 1") if key == "auroc" else ("<=", "at least 0")
            out = value > 1 if key == "auroc" else value < 0
            raise InputError(
                f"{path}{_line(text, ('result', name, 'abstention', key))}: "
                + ("no ranking could keep this threshold" if out else "any ranking keeps this threshold"),
                expected=f"{key} of {end}, which an oracle reaches" if out else "a share from 0 to 1",
                found=f"{key} {sign} {value:g}",
                remedy="mend the file",
            )
    if not measures and not (
        thresholds.p95_ms
        or thresholds.p95_ratio
        or thresholds.p95_at_load
        or thresholds.abstention.stated
        or thresholds.audit
    ):
        raise InputError(
            f"{path}{_line(text, ('result', name))}: [result.{name}] has no threshold",
            expected="thresholds, at_least, drops (also for kinds, abilities or tenants), abstention, p95_ms, "
            "p95_ratio, p95_at_load or audit",
            found="none",
            remedy=EXAMPLE,
        )


def _measure(path: Path, text: str, measure: str) -> Measure:
    try:
        return parse(measure)
    except UsageError as error:
        raise InputError(
            f"{path}{_line(text, (measure,))}: {error.problem}",
            expected=error.expected,
            found=error.found,
            remedy=error.remedy,
        ) from None


def _numbers(value: Any) -> Any:
    """Return whole numbers as floats: `at_least = 1` means 1.0, while strict validation still refuses `true`."""
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    # A number of 400 digits overflows float(int), but as text it is infinite, which validation refuses.
    return float(str(value)) if isinstance(value, int) and not isinstance(value, bool) else value


def _invalid(path: Path, text: str, error: ValidationError) -> InputError:
    errors = error.errors(include_url=False)
    # A key that is unknown may be the one that is missing, misspelt.
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    place = [str(step) for step in first["loc"] if step != "[key]"]
    name = ".".join(place) or "the file"
    where = f"{path}{_line(text, tuple(place))}"
    if first["type"] == "extra_forbidden":
        known = _known_keys(place[:-1])
        near = nearest_name(place[-1], known)
        return InputError(
            f"{where}: unknown key {name}",
            expected=f"one of {', '.join(known)}",
            found=place[-1],
            remedy=f"did you mean {near}?" if near else "take it out",
        )
    if first["type"] == "missing":
        return InputError(f"{where}: {name} is missing", expected=EXAMPLE, found="nothing", remedy="add it")
    given = first["input"]
    if isinstance(given, float) and first["type"] in _BOUNDS and set(place) & {"at_least", "drops"}:
        example = f" ({given / 100:g}, not {given:g})" if 2 <= given <= 100 else ""
        return InputError(
            f"{where}: {name} can't be used",
            expected=f"{'above 0, up to 1' if 'drops' in place else '0 to 1'}{example}",
            found=f"{given:g}",
            remedy="a measure goes from 0 to 1: write a percentage as a share" if example else "mend the file",
        )
    return InputError(
        f"{where}: {name} can't be used", expected=first["msg"], found=repr(given), remedy="mend the file"
    )


def _bare_word(text: str) -> str:
    """Return what to write for the first value without quotes that TOML does not know; empty where there is none."""
    for number, line in enumerate(text.splitlines(), 1):
        word = _BARE.fullmatch(line.strip())
        if word is None or word["value"] in _NO_WORDS:
            continue
        meant = "true or false" if word["value"].lower() in _YES_NO else f'"{word["value"]}"'
        return f"line {number}: `{word['value']}` is no TOML value: {meant}"
    return ""


def _known_keys(place: list[str]) -> list[str]:
    """Return the keys that a table of the file may have."""
    if len(place) < 2:
        return list(ThresholdsFile.model_fields)
    if len(place) == 2:
        return list(ResultThresholds.model_fields)
    kinds: dict[str, type[_Part]] = {"abstention": AbstentionThresholds, "p95_at_load": AtLoad}
    return list(kinds.get(place[2], PartThresholds).model_fields)


def _line(text: str, place: tuple[str, ...]) -> str:
    """Return `, line N` of the last of these keys, each searched below the one before; empty where it is not found."""
    at = 0
    text = re.sub(r"(?m)^[ \t]*#.*$", lambda comment: " " * len(comment[0]), text)
    for key in place:
        if match := re.compile(rf"(?<![\w@]){re.escape(key)}(?![\w@])").search(text, at):
            at = match.end()
    return f", line {text.count(chr(10), 0, at) + 1}" if at else ""
