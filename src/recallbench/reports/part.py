"""What the documents of reports are made of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class DocumentPart(BaseModel):
    """A part of a JSON document: no field but those declared, and no number that JSON does not have."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
