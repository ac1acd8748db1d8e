import pytest

from recallbench.errors import UsageError
from recallbench.scoring.measures.precision import Precision
from recallbench.scoring.measures.registry import ALL, MEASURES, PRIMARY, known, parse


def test_the_sets_results_carry() -> None:
    assert [str(measure) for measure in PRIMARY] == ["recall_any@10", "mrr@50"]
    expected = """
        recall_any@1 recall_any@5 recall_any@10 recall_any@25 recall_any@50
        recall_frac@1 recall_frac@5 recall_frac@10 recall_frac@25 recall_frac@50
        recall_all@1 recall_all@5 recall_all@10 recall_all@25 recall_all@50
        precision@10 f1@10 ndcg@10 mrr@50
    """
    assert [str(measure) for measure in ALL] == expected.split()
    assert set(PRIMARY) <= set(ALL)


@pytest.mark.parametrize("form", known())
def test_the_text_of_every_measure_parses_back(form: str) -> None:
    text = form.replace("@k", "@17")
    assert str(parse(text)) == text
    assert parse(text) == parse(text)
    assert hash(parse(text)) == hash(parse(text))


def test_measures_that_differ_are_not_equal() -> None:
    assert parse("recall_any@10") != parse("recall_all@10")
    assert parse("precision@10") != parse("precision@10(retrieved)")
    assert parse("precision@10(retrieved)") == Precision(10, "retrieved")
    assert len({parse(form.replace("@k", f"@{k}")) for form in known() for k in (1, 2)}) == 2 * len(known())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "recall_any",
        "recall_any@",
        "recall_any@0",
        "recall_any@010",
        "recall_any@-1",
        "recall_any@1.5",
        "recall_any@10(",
        "recall_any @10",
        "ndcg10",
        "unheard@10",
    ],
)
def test_an_unknown_measure_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert f"unknown measure {text!r}" in str(caught.value)
    for form in known():
        assert form in caught.value.expected


def test_a_name_that_others_use_for_two_things_is_refused_with_both() -> None:
    with pytest.raises(UsageError) as caught:
        parse("recall@10")
    assert caught.value.remedy == (
        "say recall_any@10, which the protocol calls recall@10; elsewhere that name may also mean recall_frac@10 or "
        "recall_all@10"
    )
    with pytest.raises(UsageError) as caught:
        parse("R@10")
    assert caught.value.remedy == "say recall_any@10 or recall_frac@10"
    with pytest.raises(UsageError) as caught:
        parse("mmr@50")
    assert caught.value.remedy == "did you mean mrr@50?"
    with pytest.raises(UsageError) as caught:
        parse("success@5")
    assert caught.value.remedy == "say recall_any@5"


def test_an_unknown_option_is_refused_with_the_known_one() -> None:
    with pytest.raises(UsageError, match="no option 'found'") as caught:
        parse("precision@10(found)")
    assert caught.value.expected == "precision@10 or precision@10(retrieved)"
    with pytest.raises(UsageError, match="mrr has no option"):
        parse("mrr@50(retrieved)")


def test_every_measure_documents_itself() -> None:
    docs = [kind.__doc__ or "" for kind in MEASURES.values()]
    assert all(len(doc.splitlines()[0]) > 20 for doc in docs)
    assert len(set(docs)) == len(docs)


@pytest.mark.parametrize("text", ["recall_any@10001", "mrr@1000000000", f"precision@{'9' * 5000}(retrieved)"])
def test_no_measure_is_deeper_than_anyone_reads(text: str) -> None:
    assert parse("recall_any@10000").k == 10_000
    with pytest.raises(UsageError, match="needs a depth") as caught:
        parse(text)
    assert caught.value.expected == "a whole number from 1 to 10,000"
