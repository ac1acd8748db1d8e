from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commandline import recallbench
from recallbench import Case
from recallbench.errors import InputError


def test_a_case_has_the_fields_it_is_built_from() -> None:
    case = Case("q", ["a", "b"], {"a": 3, "b": 1}, kind="fact", labels={"tenant": "t1"})
    assert (case.relevant, case.grades, case.name) == (("a", "b"), {"a": 3.0, "b": 1.0}, "q")
    assert (case.label("kind"), case.label("tenant"), case.label("scope")) == ("fact", "t1", "")
    assert Case("q", {"a": 2, "b": 0}).relevant == ("a",)
    assert Case("q", {"a": 2, "b": 0}).grades == {"a": 2.0, "b": 0.0}
    assert Case("q", kind="abstention").relevant == ()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"relevant": []}, 'relevant ids, an expected text, or kind="abstention"'),
        ({"relevant": None}, "a list of ids"),
        ({"relevant": "acme"}, "ids in brackets, as ['acme']"),
        ({"relevant": ["a", "b", "a"]}, "'a' again"),
        ({"relevant": [["a"]]}, "ids can be hashed"),
        ({"relevant": [None]}, "None"),
        ({"relevant": [("a", 0.5)]}, "a pair with a number is a scored hit"),
        ({"relevant": {"a": -1}}, "-1 for 'a'"),
        ({"relevant": {"a": float("nan")}}, "nan for 'a'"),
        ({"relevant": {"a": "2"}}, "'2' for 'a'"),
        ({"relevant": {"a": 0}}, "none of these"),
        ({"relevant": [], "grades": {"a": 1}, "kind": "abstention"}, "a grade above 0"),
        ({"relevant": ["a"], "grades": {"b": 1}}, "a grade for 'a'"),
        ({"relevant": ["a", "b"], "grades": {"a": 1, "b": 0}}, "a grade above 0 for 'b'\n  found: 0"),
        ({"relevant": {"a": 1}, "grades": {"a": 1}}, "in both"),
        ({"relevant": ["a"], "grades": [3]}, "expected: {id: grade}\n  found: [3]"),
        ({"relevant": ["a"], "kind": "abstention"}, "1 relevant"),
        ({"relevant": [], "kind": "abstention", "expected": "x"}, "an expected text"),
        ({"relevant": ["a"], "expected": " "}, "a string that is not blank"),
    ],
)
def test_an_invalid_case_is_refused_by_its_name(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        Case("where is acme?", **fields)
    assert str(caught.value).startswith("case `where is acme?`: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("query", ["", "  ", None, 3])
def test_a_query_is_a_text(query: Any) -> None:
    with pytest.raises(InputError, match="a query is a text"):
        Case(query, ["a"])


def test_a_file_of_gold_may_not_grade_a_relevant_id_0_either(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text(
        '{"query_id": "q", "relevant": ["a", "b"], "grades": {"a": 1, "b": 0}, "ranked": ["a"]}\n'
    )
    result = recallbench("evaluate", "--gold", "gold.jsonl", "--k", "2", cwd=tmp_path)
    assert result.returncode == 2
    message = "gold.jsonl, line 1: case `q`: a relevant id has grade 0\n  expected: a grade above 0 for 'b'\n  found: 0"
    assert message in result.stderr
