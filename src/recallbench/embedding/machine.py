"""Processor, device and library versions, without importing anything heavy."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ("torch", "transformers", "tokenizers", "openvino", "numpy")
SENTENCE = "sentence-transformers"
RUNTIMES: Mapping[str, tuple[str, ...]] = {
    "onnxruntime": ("onnxruntime", "tokenizers", "numpy"),
    "llama.cpp": ("xllamacpp", "tokenizers", "numpy"),
    "numpy": ("numpy", "tokenizers"),
}
"""The libraries of runtimes that compute without torch."""
GRAPH = ("openvino", "tokenizers", "numpy")
"""The libraries of OpenVINO where it runs a graph that torch has no part in."""


@cache
def cpu_model() -> str:
    """Return the processor's name, or its architecture where the system doesn't name it."""
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def library_versions() -> dict[str, str]:
    """Return the installed versions of the libraries that compute a vector; "" where one is missing."""
    return {name: version_of(name) for name in LIBRARIES}


def describe_computation(backend: str, libraries: Sequence[str] = LIBRARIES) -> str:
    """Return in a line all that computes a vector on this backend and may change its last digits."""
    runtime, _, device = backend.partition("/")
    names = [name for name in RUNTIMES.get(runtime, libraries) if name != "openvino" or name == runtime]
    if runtime == SENTENCE:
        names.append(SENTENCE)
    used = [f"{name} {version_of(name)}" for name in names]
    return f"{', '.join(used)} on {cpu_model() if device == 'cpu' else device}"


def likely_device(environ: Mapping[str, str]) -> str:
    """Return `cuda`, `mps` or `cpu`, as torch will most likely find; torch has the last word when a model is loaded."""
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        return "mps"
    hidden = environ.get("CUDA_VISIBLE_DEVICES", "all") in ("", "-1")
    driver = Path("/proc/driver/nvidia/version").exists()
    return "cuda" if driver and not hidden and not version_of("torch").endswith("+cpu") else "cpu"


@cache
def version_of(name: str) -> str:
    """Return the installed version of a package; "" where it is missing."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _cpuinfo(field: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(field)), "")
