"""The options of a run that concern its encoder, each declared here once."""

from __future__ import annotations

from typing import Literal

Backend = Literal["auto", "openvino", "torch", "onnxruntime"]
Dtype = Literal["fp32", "bf16", "int8"]
DTYPE_HELP = (
    "The numbers an encoder computes with: bf16 and int8 are quicker on some processors and give other vectors, which "
    "departs from the protocol; the run tells how far they are from fp32's. Not with --engine ray."
)
BACKEND_HELP = (
    "What runs the encoder: auto tries which is faster, openvino or torch; an encoder that is an ONNX graph takes "
    "openvino or onnxruntime."
)
