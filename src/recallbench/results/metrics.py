"""`metrics.json`: every figure of a result and everything that decided it. `python -m` prints its JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import Field

from recallbench.embedding.fingerprint import dtype_of
from recallbench.protocol.packed_vectors import ComparedBy, PackedVectors
from recallbench.results.answers_part import AnswersPart
from recallbench.results.canary_part import CanaryPart
from recallbench.results.matching_part import MatchingPart
from recallbench.results.metrics_part import MetricsPart, left_out
from recallbench.results.pipeline_part import PipelinePart
from recallbench.results.sets.labels_part import LabelsPart
from recallbench.results.time.later_part import LaterPart
from recallbench.results.time.visible_part import VisiblePart
from recallbench.scoring.depth import DEEPEST
from recallbench.scoring.editions import CURRENT, FIRST

OVERALL = "overall"
"""The slice of all questions; the other slices are kinds."""
COMPARED = ("recall_any@10", "recall_frac@10", "recall_all@10", "mrr@50")
"""The measures that tables of slices and denominators show: the three recalls side by side, and MRR."""
SCHEMA_FILE = Path(__file__).with_name("metrics.schema.json")


class ProtocolPart(MetricsPart):
    version: str = Field(description="the frozen protocol's version")
    cited_as: str = Field(description="the name by which a release note cites it")
    sha256: str = Field(description="of the frozen data file")
    clarifications_sha256: str = Field(description="of the clarifications' data file")
    published_sha256: str = Field(description="of the published text that governs")
    clarifications: list[int] = Field(description="numbers of the clarifications this result applied")


class CheckPart(MetricsPart):
    name: str
    expected: str
    found: str
    holds: bool


class CorpusPart(MetricsPart):
    name: str
    file: str = Field(description="file name, without its folder")
    source: str = Field(description="who publishes the file")
    revision: str = Field(description="the pinned revision there; empty where none is registered")
    sha256: str
    registered_sha256: str
    scopes: int
    segments: int = Field(description="in the whole file")
    turns: int
    questions: int = Field(description="in the whole file, with or without evidence")
    with_evidence: int
    unresolved_evidence: int = Field(description="questions whose evidence resolves to no segment")
    kinds: dict[str, int]
    segments_per_scope: list[int]
    repeated_sessions: int
    empty_turns: int
    repaired_evidence: int
    missing_turns: int
    unseen_gold: int = Field(
        default=0,
        exclude_if=lambda count: count == 0,
        description="references to sessions that were yet to come when the question was asked: left out of its gold",
    )
    checks: list[CheckPart] = Field(description="registered counts against what the file holds")


class PackPart(MetricsPart):
    """The file with the vectors, which another machine may have made."""

    sha256: str = Field(description="of the file")
    maker: str
    machine: str = Field(description="the processor of the machine that it was made on")
    made: str = Field(description="the day")
    release: str = Field(description="of RecallBench, which made it")
    texts: int = Field(description="in the pack, each of which has a vector")
    vectors_sha256: str = Field(description="what a run over the whole corpus has to state as its own")
    compared: int = Field(description="texts that were embedded again, and agreed")
    cosine: float | None = Field(description="the lowest of these; null where nothing was compared")
    compared_by: ComparedBy = Field(description="empty where nobody did, as far as is known")
    key: str = Field(description="the id of the key that signed it, where its user named the key; else empty")


class EmbedderPart(MetricsPart):
    name: str
    fingerprint: dict[str, str] = Field(description="everything that decides a vector")
    fingerprint_sha256: str
    vectors_sha256: str = Field(description="over every vector that was used, segments and questions in corpus order")
    canonical: str = Field(description="the embedder the protocol asks for; empty where it names none")
    pack: PackPart | None = left_out("the pack that the vectors are of")

    @property
    def dtype(self) -> str:
        """What the encoder computed in."""
        return dtype_of(self.name, self.fingerprint)

    def packed_vectors(self, *, whole: bool) -> PackedVectors | None:
        """Return what decides whether vectors of a pack count as the embedder's own; None where there is no pack.

        Only where the `whole` corpus was asked, each haystack by itself, the pack says what the vectors hash to.
        """
        pack = self.pack
        if pack is None:
            return None
        beside = whole and self.vectors_sha256 != pack.vectors_sha256
        return PackedVectors(pack.texts, pack.compared, pack.cosine, pack.compared_by, beside)


class StorePart(MetricsPart):
    name: str
    variant: str = Field(description="settings that are not the store's defaults, in words; empty where there are none")
    version: str = Field(description="as the store stated it before the run")
    version_after: str = Field(description="as the store stated it after the run")
    asked_version: str | None = Field(description="the --version this run was asked to measure")
    evidence: dict[str, str] = Field(description="index kind, plan and whatever else shows how it worked")


class AgreementPart(MetricsPart):
    depth: int
    identical: float | None = Field(description="share of questions with the same list from both calls")
    overlap: float | None = Field(description="mean share of segments in both lists")


class RetrievalPart(MetricsPart):
    calls: list[int] = Field(description="the k of each call made per question")
    depth: int = Field(ge=1, le=DEEPEST)
    scope: Literal["own", "pooled"] = Field(description="what a question may be answered from")
    limit: int | None = Field(ge=1)
    asked: int
    left_out: int = Field(description="questions of the file without gold, which are not asked and no mean counts")
    segments: int = Field(description="segments the store was given")
    short_questions: int = Field(description="questions answered with fewer hits than the haystack and depth allow")
    missing_hits: int = Field(description="hits missing in total from those, over all calls")
    agreement: AgreementPart | None = Field(description="top 10 of the two calls; null where one call serves both")
    failed: list[str] = Field(
        default=[],
        # Left out where empty, so that results have the bytes of earlier releases.
        exclude_if=lambda failed: not failed,
        description="questions that the store failed on: empty rankings, and false retrievals where nothing is right",
    )


class EstimatePart(MetricsPart):
    measure: str
    value: float | None
    n: int
    low: float | None = Field(description="lower end of the 95% interval")
    high: float | None = Field(description="upper end of the 95% interval")
    method: str = Field(description="how the interval was made")
    chance: float | None = Field(description="expected value for a random order, closed form")
    ceiling: float | None = Field(description="what an oracle reaches")
    saturated: float | None = Field(description="share of questions whose haystack is no larger than k")
    ordered: bool = Field(description="the order inside the top k counts, so a saturated value still tells of it")
    design_effect: float | None = Field(description="clustered variance over the variance of independent questions")


class HeadlinePart(MetricsPart):
    protocol_name: str = Field(description="what the protocol calls it")
    estimate: EstimatePart
    band: float | None = Field(description="the protocol's run-to-run band")
    band_status: str = Field(description="bands judge repeats of one configuration only")


class DenominatorPart(MetricsPart):
    name: str
    count: int
    scored: int = Field(description="of these, how many were asked and have gold; the others count as 0")
    headline: bool
    values: dict[str, float | None]
    chance: dict[str, float | None]


class ExposurePart(MetricsPart):
    max_tokens: int
    segments: int
    tokens: int
    longest: int
    truncated: int
    truncated_share: float | None
    gold_turns: int = Field(description="turns labelled as evidence")
    gold_turns_cut: int = Field(description="of these, how many start after the cut")
    gold_turns_cut_share: float | None


class IntervalPart(MetricsPart):
    low: float | None
    high: float | None
    method: str
    design_effect: float | None = None


class AbstentionPart(MetricsPart):
    questions: int
    answerable: int
    threshold: float | None = Field(
        description="the top score at which retrieval counts as an answer; null where any hit does"
    )
    threshold_rule: str
    false_retrieval: float | None = Field(description="share of abstention questions whose top score reaches it")
    false_retrieval_interval: IntervalPart
    auroc: float | None = Field(description="chance that an answerable question's top score is the higher one")
    auroc_interval: IntervalPart


class CoveredPart(MetricsPart):
    """What came back among the first k of at least one question."""

    k: int
    segments: int = Field(description="segments that came back for any question")
    segments_share: float | None = Field(description="of all that a question may be answered from")
    segments_chance: float | None = Field(description="expected value for rankings in random order, closed form")
    segments_ceiling: float | None = Field(description="what k places for each question can hold")
    segments_bm25: float | None = Field(description="the lexical control's share")
    gold: int = Field(description="gold segments that came back for a question that they answer")
    gold_share: float | None
    gold_chance: float | None
    gold_bm25: float | None


class CoveragePart(MetricsPart):
    """How much of the memory any question retrieves, and how much of the gold any ranking reaches."""

    segments: int = Field(description="that at least one asked question may be answered from")
    gold: int = Field(description="of these, how many answer at least one asked question")
    at: list[CoveredPart] = Field(description="by k, the last one the depth of the rankings")


class HubFilePart(MetricsPart):
    name: str
    sha256: str
    pinned: bool = Field(description="its hash was given beforehand; else it was recorded at first use")


class HubPart(MetricsPart):
    """The commit of the hub that a labelled set is from."""

    repo: str
    revision: str
    qrels_repo: str = Field(description="where the judgements are from; empty where it is the same dataset")
    qrels_revision: str
    files: list[HubFilePart]
    task: str = Field(
        default="", exclude_if=lambda task: not task, description="of a dataset that holds several: which one"
    )
    published: list[CheckPart] = Field(
        default_factory=list,
        exclude_if=lambda counts: not counts,
        description="counts that were published of the task, beside those of its files",
    )


class WorstPart(MetricsPart):
    """A question that drags the mean down."""

    question_id: str
    kind: str
    tenant: str
    first_rank: int | None = Field(description="place of the first gold segment; null where none came back")
    gold: int
    found: int = Field(description="gold segments among the first 10")


class GatePart(MetricsPart):
    name: str
    status: Literal["pass", "fail", "pending", "cannot-tell"]
    required: str
    observed: str


class DeviationPart(MetricsPart):
    kind: str
    detail: str


class VerdictPart(MetricsPart):
    label: Literal["UNVERIFIED", "VERIFIED", "BLOCKED"]
    text: str = Field(description="the label with what is pending")
    pending: list[str]
    canonical: bool


class Metrics(MetricsPart):
    """One result."""

    schema_version: Literal["1"]
    statistics_edition: int = Field(
        default=FIRST.number,
        ge=FIRST.number,
        le=CURRENT.number,
        # Results of the first edition do not name it.
        exclude_if=lambda number: number == FIRST.number,
        description="how intervals were made and figures rounded; the audit works a result out again by its own",
    )
    recallbench_version: str
    protocol: ProtocolPart
    dataset_sha256: str
    seed: int | None = Field(description="PYTHONHASHSEED in force; null where it was not set")
    guc_state: dict[str, str] = Field(description="settings in force, read back from the store")
    pgmnemo_version: str | None = Field(description="null where the store is not pgmnemo")
    corpus: CorpusPart
    embedder: EmbedderPart | None = Field(description="null where the store needs no vectors")
    store: StorePart
    retrieval: RetrievalPart
    deviations: list[DeviationPart]
    headline: list[HeadlinePart]
    estimates: dict[str, list[EstimatePart]] = Field(description="by slice: `overall`, then each kind")
    denominators: list[DenominatorPart]
    control_bm25: dict[str, list[EstimatePart]] = Field(description="the lexical control, scored like the store")
    control_static: dict[str, list[EstimatePart]] | None = left_out(
        "the static control, scored like the store; left out where it was not asked for"
    )
    static_fingerprint: dict[str, str] | None = left_out("all that decides the static control's vectors")
    exposure: ExposurePart | None
    abstention: AbstentionPart | None
    coverage: CoveragePart | None = Field(
        default=None,
        # Earlier editions do not tell it.
        exclude_if=lambda value: value is None,
        description="segments that any question retrieved, and gold that any ranking reaches, at several depths",
    )
    gates: list[GatePart]
    verdict: VerdictPart
    tenants: dict[str, list[EstimatePart]] | None = left_out(
        "a labelled set's measures by tenant, where it tells several apart"
    )
    abilities: dict[str, list[EstimatePart]] | None = left_out(
        "the kinds rolled up into the abilities that the corpus' paper names, where it names some"
    )
    worst: list[WorstPart] | None = left_out(
        "a labelled set's questions with the lowest mrr@50, then the least gold found, at most 20"
    )
    labels: LabelsPart | None = left_out("how old a labelled set's labels are")
    hub: HubPart | None = left_out("where a labelled set of the hub is from")
    canary: CanaryPart | None = left_out(
        "the canary of one's own whose questions were asked; left out for any other set"
    )
    matching: MatchingPart | None = left_out("how expected texts became gold, where they did; ids are gold elsewhere")
    time: VisiblePart | None = left_out(
        "how questions were held to what was said before them; left out where the corpus does not ask it"
    )
    later: LaterPart | None = left_out(
        "what sessions dated after their question are worth, where the corpus lets it see them"
    )
    pipeline: PipelinePart | None = left_out(
        "the stages between a question and its ranking; left out where a search stands alone"
    )
    answers: AnswersPart | None = left_out(
        "what was answered from the rankings, where the pipeline answers; its rows are in answers.jsonl"
    )
    reproduction: str | None = Field(
        default=None,
        # Left out where there is none, so that results have the bytes of earlier releases.
        exclude_if=lambda name: name is None,
        description="the published baseline measured again beside this result; its figures are in reproduction.json",
    )

    def bm25(self, measure: str) -> float | None:
        """What the lexical control reaches by a measure over all questions; None where it has none."""
        return next((part.value for part in self.control_bm25[OVERALL] if part.measure == measure), None)

    @property
    def embedder_name(self) -> str:
        """The name of the embedder, or `no embedder`."""
        return self.embedder.name if self.embedder else "no embedder"


def schema_text() -> str:
    """Return the JSON Schema of metrics.json, as published beside this module."""
    return json.dumps(Metrics.model_json_schema(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
