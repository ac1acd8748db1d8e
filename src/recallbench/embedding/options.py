"""The options of a run that concern its encoder, each declared here once."""

from __future__ import annotations

from typing import Literal

Backend = Literal["auto", "openvino", "torch", "onnxruntime"]
BACKEND_HELP = (
    "What runs the encoder: auto tries which is faster, openvino or torch; an encoder that is an ONNX graph takes "
    "openvino or onnxruntime."
)
