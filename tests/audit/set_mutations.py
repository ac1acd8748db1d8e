"""Single changes to results over LongMemEval, a labelled set, and a set matched by its texts."""

from __future__ import annotations

from mutations import (
    Mutation,
    file,
    metrics,
    row,
    rows,
    text,
    up,
)

LONGMEMEVAL: tuple[Mutation, ...] = (
    Mutation("AUROC raised", "RB-ABSTENTION", metrics("abstention", "auroc", by=lambda value: value / 2)),
    Mutation("threshold moved", "RB-ABSTENTION", metrics("abstention", "threshold", by=up)),
    Mutation("abstention dropped", "RB-ABSTENTION", metrics("abstention", to=None)),
    Mutation("abstention denied", "RB-LABELS", rows(lambda rows: [r.update(abstention=False) for r in rows])),
    Mutation("an ability's figure", "RB-ABILITIES", metrics("abilities", "temporal reasoning", 0, "low", to=0.99)),
    Mutation("abilities dropped", "RB-ABILITIES", metrics("abilities", to=None)),
)
LABELLED: tuple[Mutation, ...] = (
    Mutation("a tenant's figure", "RB-LABELLED", metrics("tenants", "north", 0, "value", by=lambda value: value / 2)),
    Mutation("a tenant dropped", "RB-LABELLED", metrics("tenants", by=lambda tenants: {"north": tenants["north"]})),
    Mutation("the worst question dropped", "RB-LABELLED", metrics("worst", by=lambda worst: worst[1:])),
    Mutation("younger labels", "RB-LABELLED", metrics("labels", "oldest", to="2026-10-01")),
    Mutation("a row's tenant", "RB-LABELS", row(lambda r: r.update(tenant="south"), 0)),
    Mutation("a grade in the row", "RB-GOLD", row(lambda r: r["grades"].update({"north/0": 1.0}), 0)),
    Mutation("a grade in the judgements", "RB-QRELS", text("qrels.graded.trec", "200$", "100")),
    Mutation("documents renamed", "RB-DOCUMENTS", text("documents.tsv", r"^north/0\toslo", "north/0\tfjord")),
    Mutation("no names of documents", "RB-DOCUMENTS", file("documents.tsv", None)),
    Mutation("no graded judgements", "RB-QRELS", file("qrels.graded.trec", None)),
)

MATCHED: tuple[Mutation, ...] = (
    Mutation("another method in the name", "RB-LABELLED", metrics("corpus", "name", by=lambda s: s + "-60")),
    Mutation("a threshold in the name", "RB-GOLD", metrics("corpus", "name", by=lambda s: s.replace("0.3", "0.7"))),
    Mutation("another method stated", "RB-LABELLED", metrics("matching", "method", to="exact")),
    Mutation("a fuzzy match stated as exact", "RB-LABELLED", metrics("matching", "exact", by=lambda n: n + 1)),
    Mutation("a question without a match hidden", "RB-LABELLED", metrics("matching", "unmatched", to=[])),
    Mutation("random matches made rare", "RB-LABELLED", metrics("matching", "sensitivity", 1, "random", to=0.0)),
    Mutation(
        "sensitivity smoothed", "RB-LABELLED", metrics("matching", "sensitivity", 0, "recall_frac_10_of_all", to=1)
    ),
    Mutation("matching left out", "RB-LABELLED", metrics("matching", to=None)),
)
