"""A static encoder: a vector for each token of a table, and their mean for a text. There is no forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from recallbench.embedding.embedder import Matrix
from recallbench.embedding.encoders import Role
from recallbench.embedding.spec_encoder import SpecEncoder
from recallbench.embedding.tokens import TokenIds
from recallbench.errors import InputError
from recallbench.extras import require

BACKEND = "numpy/cpu"


class StaticEncoder(SpecEncoder):
    """Looks the tokens up in the one table of a safetensors file."""

    backend = BACKEND

    def embed(self, contents: Sequence[TokenIds], role: Role) -> Matrix:
        return np.stack([self._vector(ids) for ids in contents])

    def close(self) -> None:
        self.__dict__.pop("_table", None)
        super().close()

    def _vector(self, ids: TokenIds) -> npt.NDArray[np.float32]:
        table = self._table
        if not len(ids):
            # A text without tokens has no direction; a vector of length 1 is near to all others alike.
            return np.full(table.shape[1], table.shape[1] ** -0.5, np.float32)
        # The table may have fewer rows than the tokenizer has tokens.
        mean: npt.NDArray[np.float32] = table[np.minimum(ids, len(table) - 1)].astype(np.float32).mean(axis=0)
        length = np.linalg.norm(mean)
        if self.spec.normalise and length:
            mean /= length
        return mean

    @cached_property
    def _table(self) -> npt.NDArray[Any]:
        require(self.spec.extra, f"embedding with {self.name}")
        files = self.spec.passage
        path = self._resolver.verified_paths(files)[files.model_file]
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        with self.stopwatch.part("load"):
            try:
                tables = list(load_file(str(path)).values())
            except SafetensorError as error:
                raise InputError(f"{path} is not a safetensors file", found=str(error)) from error
        if len(tables) != 1 or tables[0].ndim != 2 or tables[0].shape[1] != self.spec.native_dims:
            raise InputError(
                f"{path} is no table of vectors",
                expected=f"one table of {self.spec.native_dims} columns",
                found=", ".join(str(table.shape) for table in tables),
            )
        table: npt.NDArray[Any] = tables[0]
        return table
