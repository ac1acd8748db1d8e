"""The tables of results. A history in Postgres and files of Parquet have the same ones."""

from __future__ import annotations

from recallbench.exports.table_form import Column, TableForm, columns, percentiles

_OF_RESULT = Column("result", "text", "the result it is of: the sha256 of its manifest")

RESULTS = TableForm(
    "results",
    "a row for each result",
    ("result",),
    (
        Column("result", "text", "sha256 of the manifest, which stands for every file: the same run is there once"),
        Column(
            "content_sha256", "text", "over the files that a repeat must reproduce: runs with the same answers share it"
        ),
        Column("folder", "text", "the name of the folder"),
        Column("made", "moment", "when the run started"),
        Column(
            "series",
            "text",
            "hash of all that makes results one line over time: the system without its version, every detail of its "
            "encoder and stages, and the questions",
        ),
        Column(
            "line", "text", "the same in words: system, encoder, corpus, and what else was asked otherwise than usual"
        ),
        Column("system", "text", "store, settings that are not defaults, and stages, in words"),
        *columns(
            "text",
            corpus="what was measured on",
            dataset_sha256="of the corpus file",
            protocol="version of the frozen protocol",
            store="the system under test",
            variant="its settings that are not defaults",
            version="as the store stated it",
            pipeline="the stages in words; empty for a search alone",
            pipeline_sha256="over every option of its stages",
            embedder="the encoder; empty where the store needs no vectors",
            embedder_sha256="of its fingerprint, which decides every vector",
            scope="own or pooled: what a question is answered from",
        ),
        *columns(
            "whole",
            depth="hits kept of each ranking",
            question_limit="only so many questions were asked; empty for all",
            asked="questions that were asked",
            failed_questions="of these, how many the store failed on",
            missing_hits="hits that came back too few, over all questions",
        ),
        Column("verdict", "text", "VERIFIED or UNVERIFIED, as the result records it"),
        Column("verdict_text", "text", "the verdict with what is pending"),
        Column("canonical", "flag", "VERIFIED, without any deviation"),
        Column("deviations", "texts", "where the run departed from the protocol"),
        *columns(
            "text",
            recallbench_version="that measured it",
            commit_sha="of the checkout that it was measured in; empty outside one",
            cpu="processor that the times are of",
        ),
        Column("quiet", "flag", "nothing is known to have disturbed the times; empty where it was not looked at"),
        Column("timed", "whole", "single warm queries that were timed"),
        *columns(
            "number",
            p50_ms="milliseconds of a warm query, end to end, nearest rank",
            p95_ms="likewise",
            p95_low="lower bound of the p95",
            p95_high="upper bound; empty where there are too few queries for one",
            p99_ms="milliseconds",
            cost_per_1000="money for 1,000 queries, without ingest and index; empty where it is not recorded",
        ),
        Column("currency", "text", "of the money"),
        Column("prices_of", "text", "the day of the prices"),
        Column("cost_lacks", "texts", "what has no price, so that the money is at least that"),
    ),
)
FIGURES = TableForm(
    "figures",
    "a row for each measure of a result, over all questions and by slice",
    ("result", "slice_kind", "slice", "measure"),
    (
        _OF_RESULT,
        Column("slice_kind", "text", "overall, kind, tenant or ability"),
        Column("slice", "text", "which of them"),
        Column("measure", "text", "what is counted"),
        Column("n", "whole", "questions that count"),
        *columns(
            "number",
            value="the mean over them",
            low="lower end of the 95% interval",
            high="upper end",
            chance="what a random order would reach",
            ceiling="what an oracle reaches",
            bm25="what the lexical control reaches on the same questions",
            saturated="share of questions whose haystack is no larger than k",
            design_effect="clustered variance over that of independent questions",
        ),
        Column("method", "text", "how the interval was made"),
    ),
)
LATENCIES = TableForm(
    "latencies",
    "a row for each stage, part and state that single queries of a result were timed in",
    ("result", "state", "stage", "part"),
    (
        _OF_RESULT,
        *columns(
            "text",
            state="warm, cold, failed or no-op",
            stage="a stage of the pipeline; empty for a query end to end",
            part="store call or adapter, of a query; empty for the whole",
        ),
        *columns("whole", n="how many were timed", kept="answers kept from before, which count with their first time"),
        *percentiles("milliseconds, nearest rank"),
    ),
)
COSTS = TableForm(
    "costs",
    "a row for each quantity that a result used",
    ("result", "position"),
    (
        _OF_RESULT,
        Column("position", "whole", "its place in the ledgers"),
        *columns(
            "text",
            ledger="ingest, index, query, generate; measuring for what only the measurement used",
            what="what was used",
            model="of tokens",
            unit="tokens, processor seconds or bytes",
        ),
        Column("quantity", "number", "how much"),
        Column("at_least", "flag", "there was more of it, kept from an earlier run"),
        Column("amount", "number", "money, of bytes by the month; empty without a price"),
        Column("currency", "text", "of the money"),
        Column("prices_of", "text", "the day of the prices"),
    ),
)
GATES = TableForm(
    "gates",
    "a row for each gate of a result, as it is recorded there",
    ("result", "gate"),
    (
        _OF_RESULT,
        *columns(
            "text",
            gate="its name",
            status="pass, fail, pending or cannot-tell",
            required="what it asks for",
            observed="what was found",
        ),
    ),
)
QUESTIONS = TableForm(
    "questions",
    "a row for each question of a result: where its gold came back, and no text of the corpus",
    ("result", "question"),
    (
        _OF_RESULT,
        *columns(
            "text",
            question="its id",
            kind="the slice it belongs to",
            tenant="whose it is; its scope where nobody is named",
            cluster="questions that depend on each other share it; empty where each is independent",
        ),
        Column("abstention", "flag", "it has no answer, by intent"),
        *columns(
            "whole",
            candidates="segments that it may be answered from",
            gold="segments that answer it",
            returned="hits that came back in the deepest call",
            first_rank="place of the first gold segment there; empty where none came back",
        ),
        Column("gold_ranks", "wholes", "the places of all gold segments that came back"),
    ),
)
VALUES = TableForm(
    "question_values",
    "a row for each measure of each question that counts in it",
    ("result", "question", "measure"),
    (
        _OF_RESULT,
        Column("question", "text", "its id"),
        Column("measure", "text", "what is counted"),
        Column("value", "number", "of this question alone"),
    ),
)
HISTORY = TableForm(
    "history",
    "a row for each measure of a result, with all that is known of the result beside it",
    FIGURES.key,
    (*RESULTS.columns, *FIGURES.columns[1:]),
)
OF_RESULTS = (RESULTS, FIGURES, LATENCIES, COSTS, GATES)
OF_QUESTIONS = (QUESTIONS, VALUES)
