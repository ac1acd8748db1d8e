"""The protocol's form of a citation. As in test_citation.py, the audit is what is given."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recallbench.audit.decision import Label
from recallbench.citing.citation import AuditedResult
from recallbench.citing.template import conclusion, template

Side = Callable[..., AuditedResult]

RULE = (
    "Every citation names the protocol and its version; the corpus; the embedder; recall@10, previous -> new version; "
    "the path of the run's artefacts. None has a recall number without the protocol version; a number from a BLOCKED "
    "directory (PROTOCOL.md, section 8)."
)


def test_the_form_has_a_place_for_all_that_the_protocol_asks_for() -> None:
    assert template().splitlines() == [
        "pgmnemo Recall Benchmark Protocol v1.0.0 (benchmarks/PROTOCOL.md): corpus [corpus], embedder [embedder], "
        "store [store] ([version]).",
        "",
        "- recall@10 (recall_any@10) [previous value] -> [value] ([previous version] -> [version]), 95% interval "
        "[low] to [high], n = [n]; [path of the run's artefacts], manifest sha256 [sha256]",
        "- MRR (mrr@50) [previous value] -> [value] ([previous version] -> [version]), 95% interval [low] to [high], "
        "n = [n]; [path of the run's artefacts], manifest sha256 [sha256]",
        "",
        RULE,
    ]
    assert str(conclusion(None)) == (
        "The form of a citation, with a [place] for each thing it needs; next: recallbench cite DIR"
    )


def test_a_canonical_result_fills_it_under_the_protocols_name(side: Side) -> None:
    one = side("VERIFIED")
    version, sha256 = one.result.version, one.result.manifest_sha256
    first, _, recall, _, _, rule = template(one).splitlines()
    assert first == (
        "pgmnemo Recall Benchmark Protocol v1.0.0 (benchmarks/PROTOCOL.md): corpus canary-locomo, embedder no "
        f"embedder, store bm25 ({version})."
    )
    assert recall == (
        f"- recall@10 (recall_any@10) [previous value] -> 0.8354 ([previous version] -> {version}), 95% interval "
        f"0.7598 to 0.8877, n = 158; results/r, manifest sha256 {sha256}"
    )
    assert rule == RULE
    assert "`recall_any@10`" in template(one, markdown=True)
    assert str(conclusion(one)) == (
        "The form is filled from results/r; its audit holds; what was measured before is yours to fill in; next: "
        "recallbench cite results/r --previous DIR"
    )


def test_a_deviation_is_not_put_under_the_protocols_name(side: Side) -> None:
    one = side("VERIFIED", "store: bm25 instead of pgmnemo")
    text = template(one)
    assert text.startswith(
        "Deviations from the frozen rules (1.0.0): store: bm25 instead of pgmnemo.\nSo this is no result"
    )
    assert "Recall Benchmark Protocol" not in text
    assert "- recall_any@10 [previous value] -> 0.8354 (" in text
    assert str(conclusion(one)) == (
        "The form is filled from results/r, not under the protocol's name, since it deviates; its audit holds; what "
        "was measured before is yours to fill in; next: recallbench cite results/r --as-deviation --previous DIR"
    )


@pytest.mark.parametrize("label", ["UNVERIFIED", "BLOCKED"])
def test_what_is_not_verified_lends_no_figure(side: Side, label: Label) -> None:
    one = side(label)
    text = template(one)
    assert "[previous value] -> [value, once the folder is VERIFIED] (" in text
    assert "0.8354" not in text
    assert "n = 158" not in text
    assert str(conclusion(one)) == (
        f"The form is filled as far as results/r supports it: no figure; it is {label}, and only what is VERIFIED is "
        "cited; next: recallbench audit results/r"
    )
