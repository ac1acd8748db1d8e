"""The parts of the installation that a user may leave out, and the words that bring them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from recallbench.errors import Blocked

EXTRAS = {
    "attest": ("securesystemslib", "cryptography"),
    "embed": ("torch", "transformers", "tokenizers", "safetensors"),
    "gguf": ("xllamacpp", "tokenizers"),
    "neo4j": ("neo4j",),
    "onnx": ("onnxruntime", "tokenizers"),
    "pandas": ("pandas",),
    "parity": ("ir_measures", "pytrec_eval"),
    "parquet": ("pyarrow",),
    "postgres": ("psycopg", "pgvector"),
    "prometheus": ("prometheus_client",),
    "ray": ("ray",),
    "rerank": ("onnxruntime", "tokenizers"),
    "static": ("safetensors", "tokenizers"),
}
"""The modules without which a part can't work."""
_IN_CHECKOUT = (Path(__file__).resolve().parents[2] / "pyproject.toml").is_file()


def install_command(extra: str) -> str:
    """Return what to type for a part; in a checkout it is installed from there."""
    return f"in the checkout: pip install -e '.[{extra}]'" if _IN_CHECKOUT else f"pip install 'recallbench[{extra}]'"


def missing_modules(extra: str) -> list[str]:
    """Return the modules of a part that are not installed."""
    return [module for module in EXTRAS[extra] if importlib.util.find_spec(module) is None]


def require(extra: str, user: str) -> None:
    """Raise Blocked where a part is not installed; `user` is what can't work without it."""
    if missing := missing_modules(extra):
        raise Blocked(
            f"{user} needs packages that are not installed",
            expected=", ".join(EXTRAS[extra]),
            found=f"no {', no '.join(missing)}",
            remedy=install_command(extra),
        )
