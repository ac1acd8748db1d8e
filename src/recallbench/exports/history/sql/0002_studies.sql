-- A row for each study of latency under load.
CREATE TABLE recallbench_history.latency_studies (
    study text PRIMARY KEY,
    folder text,
    made timestamptz NOT NULL,
    corpus text,
    dataset_sha256 text,
    questions bigint,
    depth bigint,
    seed bigint,
    seconds double precision,
    arrivals text,
    finished boolean,
    cpu text,
    recallbench_version text
);

-- A row for each level of load.
CREATE TABLE recallbench_history.latency_levels (
    study text REFERENCES recallbench_history.latency_studies ON DELETE CASCADE,
    level bigint,
    side text,
    store text,
    variant text,
    version text,
    pipeline text,
    embedder text,
    loop text,
    size bigint,
    stored bigint,
    clients bigint,
    rate double precision,
    utilisation double precision,
    n bigint,
    failed bigint,
    skipped bigint,
    seconds double precision,
    throughput double precision,
    p50_ms double precision,
    p50_low double precision,
    p50_high double precision,
    p95_ms double precision,
    p95_low double precision,
    p95_high double precision,
    p99_ms double precision,
    p99_low double precision,
    p99_high double precision,
    slowest_ms double precision,
    lag_p99_ms double precision,
    at_least boolean,
    void boolean,
    why_void text,
    saturated boolean,
    quiet boolean,
    PRIMARY KEY (study, level)
);

-- A row for each measure of the answers that a level timed.
CREATE TABLE recallbench_history.latency_quality (
    study text,
    level bigint,
    measure text,
    n bigint,
    value double precision,
    low double precision,
    high double precision,
    chance double precision,
    PRIMARY KEY (study, level, measure),
    FOREIGN KEY (study, level) REFERENCES recallbench_history.latency_levels ON DELETE CASCADE
);

-- A row for each sweep.
CREATE TABLE recallbench_history.sweeps (
    sweep text PRIMARY KEY,
    folder text,
    made timestamptz NOT NULL,
    name text,
    file_sha256 text,
    corpus text,
    dataset_sha256 text,
    method text,
    measure text,
    questions bigint,
    depth bigint,
    seed bigint,
    gates text[],
    chosen text,
    best text,
    cheapest text,
    knee text,
    shown boolean,
    margin double precision,
    gain double precision,
    gain_low double precision,
    gain_high double precision,
    recallbench_version text
);

-- A row for each point of a sweep.
CREATE TABLE recallbench_history.sweep_points (
    sweep text REFERENCES recallbench_history.sweeps ON DELETE CASCADE,
    point text,
    position bigint,
    parameters text,
    store text,
    variant text,
    pipeline text,
    embedder text,
    version text,
    value double precision,
    low double precision,
    high double precision,
    chance double precision,
    tuning double precision,
    held_out double precision,
    held_out_low double precision,
    held_out_high double precision,
    front_share double precision,
    usd_per_1000 double precision,
    p50_ms double precision,
    p95_ms double precision,
    n bigint,
    timed bigint,
    dropped_after bigint,
    passes boolean,
    in_set boolean,
    on_front boolean,
    chosen boolean,
    measured text,
    cpu text,
    failure text,
    PRIMARY KEY (sweep, point)
);

CREATE INDEX latency_studies_by_corpus ON recallbench_history.latency_studies (corpus, made);
CREATE INDEX sweeps_by_corpus ON recallbench_history.sweeps (corpus, made);
