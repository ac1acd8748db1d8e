"""The options of a run that concern its encoder, each declared here once."""

from __future__ import annotations

from typing import Literal

Backend = Literal["auto", "openvino", "torch"]
BACKEND_HELP = "What runs the encoder; auto takes the faster, by a probe on this machine."
