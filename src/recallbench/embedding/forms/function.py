"""A function of one's own that gives vectors of texts: `python:module:function`.

    def embed(texts: list[str]) -> list of vectors (a NumPy array, lists, tensors on the CPU)

A second parameter called `role` is given "passage" or "query". `embed.settings`, a mapping, is written into results, so
is the module's `__version__`.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from recallbench.addresses import PYTHON
from recallbench.confidential import without_secrets
from recallbench.embedding import machine
from recallbench.embedding.embedder import Matrix
from recallbench.embedding.encoders import Role
from recallbench.embedding.fingerprint import PINNED, TOLD_APART
from recallbench.embedding.forms.form import EncoderForm, EncoderRequest
from recallbench.embedding.forms.outside_encoder import OutsideEncoder
from recallbench.errors import InputError, RecallBenchError, UsageError
from recallbench.user_function import load_function, module_and_name, user_traceback

EXAMPLE = "--embedder python:my_module:embed"
AT_ONCE = 32
"""Texts in one call."""
_BUILT_IN = "built in"


class FunctionEncoder(OutsideEncoder):
    """Calls the function with at most 32 texts at once."""

    batch_size = AT_ONCE

    def __init__(self, request: EncoderRequest) -> None:
        super().__init__(request.progress)
        self.name = recorded(request.name)
        self._call = self.name.partition(":")[2]
        self.title, self.remedy = (
            f"`{self._call}`",
            "mend the function: a vector for each text, in order",
        )
        self._module, self._function = load_function(self._call, EXAMPLE)
        self._by_role = _takes_role(self._function)
        self.one_sided = not self._by_role

    @property
    def backend(self) -> str:
        return "function/its own"

    @cached_property
    def fingerprint(self) -> Mapping[str, str]:
        own = getattr(self._function, "settings", None)
        settings = {str(name): str(value) for name, value in own.items()} if isinstance(own, Mapping) else {}
        file = getattr(self._module, "__file__", None)
        return {
            "encoder": self._call,
            "version": str(getattr(self._module, "__version__", "not stated")),
            "module_sha256": hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else _BUILT_IN,
            **{f"setting {name}": value for name, value in without_secrets(settings).items()},
            "roles": TOLD_APART if self._by_role else "alike",
            "stored_dims": str(self.stored_dims),
            "dtype": "float32",
            "backend": self.backend,
            PINNED: "no: a function, known by the hash of its module alone",
        }

    @property
    def computation(self) -> str:
        return f"{self._call}, numpy {machine.version_of('numpy')} on {machine.cpu_model()}"

    def vectors(self, texts: Sequence[str], role: Role) -> Matrix:
        try:
            answer = self._function(list(texts), role=role) if self._by_role else self._function(list(texts))
        except RecallBenchError:
            raise
        except (Exception, SystemExit) as error:
            raise InputError(
                f"{self.title} failed on a batch of {len(texts)}",
                found=f"{type(error).__name__}: {error}",
                remedy=self.remedy,
                traceback=user_traceback(error),
            ) from error
        return self.checked(answer, len(texts))


def recorded(name: str) -> str:
    """Return the name; raises UsageError for one without module and function."""
    call = name.partition(":")[2]
    module, function = module_and_name(call, EXAMPLE)
    if not all(part.isidentifier() or part == "<locals>" for part in (*module.split("."), *function.split("."))):
        raise UsageError(f"`{call}` names no function", expected="module:function", remedy=EXAMPLE)
    return f"{PYTHON}:{module}:{function}"


def _takes_role(function: object) -> bool:
    try:
        return "role" in inspect.signature(function).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):  # built-in functions need not say
        return False


def _status(request: EncoderRequest) -> tuple[bool, str, str]:
    try:
        encoder = FunctionEncoder(request)
    except RecallBenchError as error:
        return False, error.brief, error.remedy
    return True, f"{encoder.title}, in this process", ""


FUNCTION = EncoderForm(
    typed="python:module:function",
    summary="a function of your own: texts in, vectors out",
    recorded=recorded,
    open=FunctionEncoder,
    status=_status,
    facts={
        "encoder": r"[\w.]+:[\w.<>]+",
        "version": ".+",
        "module_sha256": f"[0-9a-f]{{64}}|{_BUILT_IN}",
        "roles": f"{TOLD_APART}|alike",
        "stored_dims": "[0-9]+",
        "dtype": "float32",
        "backend": "function/its own",
        PINNED: "no: .+",
    },
    further={"setting .+": ".*"},
)
