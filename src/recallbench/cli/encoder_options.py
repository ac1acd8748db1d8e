"""The options of an encoder, each declared here once."""

from __future__ import annotations

from typing import get_args

from recallbench.cli.command import Whole, choice, option
from recallbench.embedding.options import BACKEND_HELP, DTYPE_HELP, Backend, Dtype

EMBEDDER = option(
    "embedder",
    "The encoder: a name, path:DIR, hub:OWNER/NAME@REVISION, python:module:function, or https://host/v1#MODEL "
    "[default: the protocol's for the corpus].",
)
MAX_TOKENS = option(
    "max-tokens",
    "How many tokens of a text the encoder sees; an encoder that the protocol names has its own limit "
    "[default: what the encoder says itself].",
    type=Whole(8),
)
BACKEND = choice("backend", BACKEND_HELP, get_args(Backend), default="auto")
DTYPE = choice("dtype", DTYPE_HELP, get_args(Dtype), default="fp32")
