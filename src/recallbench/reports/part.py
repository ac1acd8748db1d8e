"""The base class of the JSON documents' parts."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class DocumentPart(BaseModel):
    """A part of a JSON document: without undeclared fields, and without numbers that JSON lacks."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
