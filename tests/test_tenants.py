"""LongMemEval's turns as tenants of a table: what the measurement of vector indexes reads."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "longmemeval" / "tenants.py"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tenants", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where its dataclasses look for themselves
    spec.loader.exec_module(module)
    return module


def item(name: str, *turns: str, gold: str = "") -> dict[str, object]:
    said = [{"role": "user", "content": text} | ({"has_answer": True} if text == gold else {}) for text in turns]
    answered = {"role": "assistant", "content": f"to {name}"}
    return {"question_id": name, "question": f"{name}?", "haystack_sessions": [[*said, answered]]}


def test_each_text_is_one_segment_in_the_tenant_of_the_question_that_it_answers(tmp_path: Path) -> None:
    items = [
        item("a", "shared", "of a", "again", gold="of a"),
        item("b", "shared", "of b", gold="shared"),
        item("c_abs", "of c", "again", gold="of c"),
    ]
    (tmp_path / "file.json").write_text(json.dumps(items))
    turns = script().read(tmp_path / "file.json", seed=14)
    assert sorted(turns.texts) == ["again", "of a", "of b", "of c", "shared"]
    assert sorted(turns.tenants) == turns.tenants
    tenant = dict(zip(turns.texts, turns.tenants, strict=True))
    assert tenant["shared"] == tenant["of b"] != tenant["of a"] == tenant["again"]
    (of_a, of_b) = turns.questions
    assert (of_a.text, of_a.tenant, {turns.texts[n] for n in of_a.gold}) == ("a?", tenant["of a"], {"of a"})
    assert (of_b.text, of_b.tenant, {turns.texts[n] for n in of_b.gold}) == ("b?", tenant["shared"], {"shared"})
    assert turns == script().read(tmp_path / "file.json", seed=14)
