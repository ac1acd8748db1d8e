-- A row for each result.
CREATE TABLE recallbench_history.results (
    result text PRIMARY KEY,
    content_sha256 text,
    folder text,
    made timestamptz NOT NULL,
    series text,
    line text,
    system text,
    corpus text,
    dataset_sha256 text,
    protocol text,
    store text,
    variant text,
    version text,
    pipeline text,
    pipeline_sha256 text,
    embedder text,
    embedder_sha256 text,
    scope text,
    depth bigint,
    question_limit bigint,
    asked bigint,
    failed_questions bigint,
    missing_hits bigint,
    verdict text,
    verdict_text text,
    canonical boolean,
    deviations text[],
    recallbench_version text,
    commit_sha text,
    cpu text,
    quiet boolean,
    timed bigint,
    p50_ms double precision,
    p95_ms double precision,
    p95_low double precision,
    p95_high double precision,
    p99_ms double precision,
    cost_per_1000 double precision,
    currency text,
    prices_of text,
    cost_lacks text[]
);

-- A row for each measure of a result, over all questions and by slice.
CREATE TABLE recallbench_history.figures (
    result text REFERENCES recallbench_history.results ON DELETE CASCADE,
    slice_kind text,
    slice text,
    measure text,
    n bigint,
    value double precision,
    low double precision,
    high double precision,
    chance double precision,
    ceiling double precision,
    bm25 double precision,
    saturated double precision,
    design_effect double precision,
    method text,
    PRIMARY KEY (result, slice_kind, slice, measure)
);

-- A row for each stage, part and state that single queries of a result were timed in.
CREATE TABLE recallbench_history.latencies (
    result text REFERENCES recallbench_history.results ON DELETE CASCADE,
    state text,
    stage text,
    part text,
    n bigint,
    kept bigint,
    p50_ms double precision,
    p50_low double precision,
    p50_high double precision,
    p95_ms double precision,
    p95_low double precision,
    p95_high double precision,
    p99_ms double precision,
    p99_low double precision,
    p99_high double precision,
    PRIMARY KEY (result, state, stage, part)
);

-- A row for each quantity that a result used.
CREATE TABLE recallbench_history.costs (
    result text REFERENCES recallbench_history.results ON DELETE CASCADE,
    position bigint,
    ledger text,
    what text,
    model text,
    unit text,
    quantity double precision,
    at_least boolean,
    amount double precision,
    currency text,
    prices_of text,
    PRIMARY KEY (result, position)
);

-- A row for each gate of a result, as it is recorded there.
CREATE TABLE recallbench_history.gates (
    result text REFERENCES recallbench_history.results ON DELETE CASCADE,
    gate text,
    status text,
    required text,
    observed text,
    PRIMARY KEY (result, gate)
);

CREATE INDEX results_by_line ON recallbench_history.results (series, made);
CREATE INDEX results_by_corpus ON recallbench_history.results (corpus, made);

-- Every figure with the result that it is of: what most questions are asked of.
CREATE VIEW recallbench_history.history AS
    SELECT r.*, f.slice_kind, f.slice, f.measure, f.n, f.value, f.low, f.high, f.chance, f.ceiling, f.bm25, f.saturated,
        f.design_effect, f.method
    FROM recallbench_history.figures f JOIN recallbench_history.results r USING (result);

-- The words of each line, `shown`: where several lines share them, each with the beginning of its hash.
CREATE VIEW recallbench_history.lines AS
    SELECT series,
        line || CASE WHEN count(*) OVER (PARTITION BY line) > 1 THEN ' #' || left(series, 6) ELSE '' END AS shown
    FROM (SELECT series, max(line) AS line FROM recallbench_history.results GROUP BY series) AS named;

-- The newest result of each line: the same system, whatever its version, on the same questions. Of two that started at
-- the same moment it is the one with the last key, here as wherever the newest is asked for.
CREATE VIEW recallbench_history.latest AS
    SELECT DISTINCT ON (series) * FROM recallbench_history.results ORDER BY series, made DESC, result DESC;
