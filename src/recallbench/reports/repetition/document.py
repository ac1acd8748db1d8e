"""`repeat.json`: one configuration measured several times."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from recallbench.reports.part import DocumentPart

JSON, MARKDOWN = "repeat.json", "repeat.md"


class PassPart(DocumentPart):
    name: str = Field(description="the run's folder, or the file of rankings without its ending")
    state: Literal["cold", "warm"]
    values: dict[str, float | None] = Field(description="by measure")
    rankings_sha256: str = Field(description="of its rows; equal where every id, rank and score is")
    content_sha256: str = Field(description="of the run's manifest; empty for a warm pass, which has none")


class SpreadPart(DocumentPart):
    measure: str
    minimum: float
    maximum: float
    range: float
    mean: float
    sd: float = Field(description="with n - 1")
    cold_range: float
    warm_range: float | None = Field(description="null where nothing was asked warm")


class BandPart(DocumentPart):
    protocol_name: str
    measure: str
    width: float | None = Field(description="null where the protocol registers none")
    apart: float | None = Field(description="between the two passes furthest from each other")
    inside: bool | None = Field(description="null where no band judges these passes")
    told: str


class MovedPart(DocumentPart):
    question_id: str
    found: list[bool] = Field(description="recall_any@10, by pass")
    first_gold: list[int | None] = Field(description="rank of the first gold segment, by pass; null beyond the depth")

    @property
    def flips(self) -> bool:
        """Whether some passes find it among the first ten, and others do not."""
        return len(set(self.found)) > 1


class Repetition(DocumentPart):
    """Several runs of one configuration."""

    schema_version: Literal["1"]
    recallbench_version: str
    protocol: str
    corpus: str
    dataset_sha256: str
    store: str = Field(description="with what of its settings is not its default")
    version: str = Field(description="as the store states it")
    embedder: str
    n: int = Field(description="questions counted")
    deviations: list[str]
    cold: str = Field(description="what a cold run was here")
    warm: str = Field(description="what a warm pass was here, or why there is none")
    limits: list[str] = Field(description="sources of spread that were not let in")
    unlike: list[str] = Field(description="settings that were not the same in all runs; none should be")
    same_content: bool = Field(description="content_sha256 agrees over all runs")
    same_rankings: bool = Field(description="every pass gave the same ids, ranks and scores")
    passes: list[PassPart]
    spread: list[SpreadPart]
    bands: list[BandPart]
    moved: list[MovedPart] = Field(
        description="questions whose first gold segment changed its rank, or was found or not"
    )

    @property
    def holds(self) -> bool:
        """Whether every spread is inside its band, and all runs were of one configuration."""
        return not self.unlike and all(band.inside is not False for band in self.bands)
