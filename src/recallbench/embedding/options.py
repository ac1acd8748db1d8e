"""The options of a run that concern its encoder, each declared here once."""

from __future__ import annotations

from typing import Literal

Backend = Literal["auto", "openvino", "torch", "onnxruntime"]
BACKEND_HELP = "What runs the encoder (graphs: openvino or onnxruntime); auto takes the faster, by a probe."
