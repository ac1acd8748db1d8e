"""A method of the user's class: which of its parameters gets what, decided by their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recallbench.errors import UsageError

IDS = ("id", "doc_id", "document_id", "item_id", "memory_id", "key")
SCOPES = ("scope", "user_id", "namespace", "tenant")
OF_ITEMS = {
    **dict.fromkeys((*IDS, *(f"{name}s" for name in IDS)), "id"),
    **dict.fromkeys(("metadata", "metadatas"), "metadata"),
    **dict.fromkeys(("vector", "vectors", "embedding", "embeddings"), "vector"),
    **dict.fromkeys(SCOPES, "scope"),
    **dict.fromkeys(("item", "items"), "item"),
    "occurred_at": "occurred_at",
    "importance": "importance",
}
"""What parameters of `add` get by their names; the first of another name gets the text."""
OF_QUERIES = {
    **dict.fromkeys(("k", "top_k", "topk", "top_n", "n", "limit", "n_results", "num_results", "max_results"), "k"),
    **dict.fromkeys(("vector", "embedding", "query_vector", "query_embedding"), "vector"),
    **dict.fromkeys(SCOPES, "scope"),
    "asked_at": "asked_at",
    "visible": "visible",
}
"""What those of `search` get; the first of another name gets the question, a second one that is required k."""


class Method:
    """A method, and what each of its parameters gets."""

    def __init__(
        self, owner: str, kind: type, name: str, by_name: Mapping[str, str], rest: Sequence[str], *, vectors: bool
    ) -> None:
        """`rest` is for parameters of other names, in turn. Only with `vectors` does one with a default get vectors.

        Raises UsageError where the names leave open what a parameter gets.
        """
        self.name, self._owner, self._by_name, self._rest = name, owner, by_name, rest
        try:
            own = list(inspect.signature(getattr(kind, name)).parameters.values())
        except ValueError:
            raise self._unclear("it does not say what it takes", f"{name}, without a signature") from None
        if not isinstance(inspect.getattr_static(kind, name), (staticmethod, classmethod)):
            own = own[1:]
        self.parameters = [p for p in own if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        self.text = f"{name}({', '.join(p.name for p in self.parameters)})"
        self._gets = {
            p.name: role
            for p in self.parameters
            if (role := by_name.get(p.name)) and (role != "vector" or vectors or p.default is p.empty)
        }
        self._give_rest()
        self._further = "k" if "k" in rest and not self.takes("k") and any(p.kind is p.VAR_KEYWORD for p in own) else ""

    def takes(self, role: str) -> bool:
        """Return whether some parameter gets this."""
        return role in self._gets.values()

    def parameter(self, role: str) -> str:
        """Return the name of the parameter that gets this; empty where none does."""
        return next((name for name, of in self._gets.items() if of == role), "")

    def annotation(self, role: str) -> str:
        """Return the annotation of the parameter that gets this; empty where there is none."""
        found = next((p for p in self.parameters if self._gets.get(p.name) == role), None)
        if found is None or found.annotation is found.empty:
            return ""
        return found.annotation if isinstance(found.annotation, str) else inspect.formatannotation(found.annotation)

    def bound(self, instance: Any, values: Mapping[str, Any]) -> Callable[[], Any]:
        """Return the call of the method with these values, by what they are."""
        given = [p for p in self.parameters if p.name in self._gets]
        positional = [values[self._gets[p.name]] for p in given if p.kind is p.POSITIONAL_ONLY]
        named = {p.name: values[self._gets[p.name]] for p in given if p.kind is not p.POSITIONAL_ONLY}
        if self._further:
            named[self._further] = values[self._further]
        return lambda: getattr(instance, self.name)(*positional, **named)

    def _give_rest(self) -> None:
        main, *others = self._rest
        left = [p for p in self.parameters if p.name not in self._by_name]
        required = [p for p in left if p.default is p.empty]
        if not required and not {"item", "vector"} & {*self._gets.values()}:
            required = left[:1]
        roles = [main, *(role for role in others if not self.takes(role))]
        self._gets |= {p.name: role for p, role in zip(required, roles, strict=False)}
        if not {main, "item", "vector"} & {*self._gets.values()}:
            raise self._unclear(f"nothing gets the {main}", self.text)
        for parameter in left:
            if parameter.name in self._gets:
                continue
            if parameter.default is parameter.empty:
                raise self._unclear(f"what is {parameter.name}?", self.text)
            if "k" in self._rest and not self.takes("k") and type(parameter.default) is int:
                raise self._unclear(f"is {parameter.name} the number of hits?", self.text)

    def _unclear(self, problem: str, found: str) -> UsageError:
        others = ", ".join(self._by_name)
        return UsageError(
            f"it is not clear how to call `{self.name}` of `{self._owner}`: {problem}",
            expected=f"a parameter for the {self._rest[0]}, and others with a default or named {others}",
            found=found,
            remedy="rename the parameter or give it a default, or derive a class in which it has one",
        )
