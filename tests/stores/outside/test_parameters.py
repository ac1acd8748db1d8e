"""`--set name=value` for code of the user's own."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from recallbench.confidential import remember_secrets
from recallbench.errors import UsageError
from recallbench.stores.outside.own_code import OwnCode
from recallbench.stores.outside.parameters import Parameters, recorded_text, value_of

SOURCE = """
class Memory:
    def __init__(self, path, k1=1.5, *, words=("a",), split=str.split, api_key="hunter2secret", **more): ...

class Strict:
    def __init__(self, k1=1.5, *, fold=True): ...

class Bare: ...

def open_memory(items, vectors, k1=1.5): ...
"""


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "parameters_of_mine.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    return lambda name: OwnCode(f"parameters_of_mine:{name}", 1.0)


@pytest.mark.parametrize(
    ("text", "value", "recorded"),
    [
        ("1.50", 1.5, "1.5"),
        ("3", 3, "3"),
        ("true", True, "true"),
        ('"3"', "3", "3"),
        ("fast", "fast", "fast"),
        ("", "", ""),
        ('[1, "a"]', [1, "a"], '[1, "a"]'),
        ("2026-03-01", date(2026, 3, 1), "2026-03-01"),
        ("[" * 5_000, "[" * 5_000, f"{'[' * 59}… (sha256 dd30fcf2aa5c)"),
        ("1\nother = 2", "1\nother = 2", "1\\nother = 2"),
        ("<b>a < b", "<b>a < b", "\\x3cb>a < b"),
        ("word " * 50, "word " * 50, f"{'word ' * 11}word… (sha256 3a0a356c44b6)"),
    ],
)
def test_values_are_those_of_toml_and_else_texts(text: str, value: object, recorded: str) -> None:
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)
    assert recorded_text(text) == recorded


def test_what_is_in_force_is_recorded_with_the_defaults(code: Any) -> None:
    parameters = Parameters(code("Memory"), {"path": "here", "k1": "2", "depth": "[3]"})
    assert parameters.values == {"path": "here", "k1": 2, "depth": [3]}
    assert parameters.recorded == {
        "path": "here", "k1": "2", "words": '["a"]', "split": "str.split", "api_key": "***", "depth": "[3]",
    }  # fmt: skip
    assert Parameters(code("Bare"), {}).recorded == {}
    assert Parameters(code("open_memory"), {"k1": "2"}, leading=2).recorded == {"k1": "2"}


@pytest.mark.parametrize(
    ("name", "texts", "problem", "listed"),
    [
        ("Strict", {"k2": "1"}, "has no parameter k2", "its own parameters: k1=1.5, fold=True"),
        ("Bare", {"k2": "1"}, "has no parameter k2", "its own parameters: it takes none"),
        ("open_memory", {"items": "1"}, "has no parameter items", "its own parameters: k1=1.5"),
        ("Memory", {"k1": "1"}, "needs a value for path", "--set path=VALUE"),
    ],
)
def test_a_wrong_or_missing_name_is_refused_with_the_parameters(
    code: Any, name: str, texts: dict[str, str], problem: str, listed: str
) -> None:
    leading = 2 if name == "open_memory" else 0
    with pytest.raises(UsageError, match=problem) as caught:
        Parameters(code(name), texts, leading=leading)
    assert caught.value.expected == listed


def test_a_login_and_a_known_secret_are_left_out_whatever_the_parameter_is_called() -> None:
    remember_secrets("sk-of-a-variable-1")
    assert recorded_text("https://joe:pw@host/x") == "https://***@host/x"
    assert recorded_text("sk-of-a-variable-1") == "***"
