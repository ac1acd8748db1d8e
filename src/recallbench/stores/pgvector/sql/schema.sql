-- What one run holds, in a schema of its own. Unlogged: the data live as long as the run.

CREATE UNLOGGED TABLE segments (
    scope integer NOT NULL,
    id bigint NOT NULL,
    occurred_at timestamptz,
    importance double precision NOT NULL CHECK (importance BETWEEN 0 AND 1),
    text text NOT NULL,
    -- A tsvector holds a megabyte, and takes a few bytes for one of the text: never ten.
    huge boolean GENERATED ALWAYS AS (octet_length(text) > 100000) STORED,
    embedding vector(:dims) NOT NULL,
    PRIMARY KEY (scope, id)
);
ALTER TABLE segments ALTER text SET STORAGE EXTERNAL, ALTER text SET STATISTICS 0;
ALTER TABLE segments ALTER embedding SET STORAGE :storage, ALTER embedding SET STATISTICS 0;

-- What each lexeme adds to the BM25 score of each segment of its scope that has it.
CREATE UNLOGGED TABLE postings (
    scope integer NOT NULL,
    lexeme text COLLATE "C" NOT NULL,
    ids bigint[] NOT NULL,
    impacts double precision[] NOT NULL,
    PRIMARY KEY (scope, lexeme)
);
ALTER TABLE postings ALTER ids SET STATISTICS 0, ALTER impacts SET STATISTICS 0;

CREATE FUNCTION setting(name text) RETURNS double precision
    LANGUAGE sql STABLE RETURN current_setting('recallbench.' || name)::double precision;

-- What to_tsvector makes of a token of this type: the first dictionary of the configuration that knows it decides.
CREATE FUNCTION lexemes(type integer, token text) RETURNS text[]
    LANGUAGE sql STABLE RETURN (
        SELECT ts_lexize(m.mapdict::regdictionary, token)
        FROM pg_catalog.pg_ts_config_map m
        WHERE m.mapcfg = 'pg_catalog.english'::regconfig
            AND m.maptokentype = type
            AND ts_lexize(m.mapdict::regdictionary, token) IS NOT NULL
        ORDER BY m.mapseqno
        LIMIT 1
    );

-- One lexeme's part of a BM25 score. Kept as a multiple of 2^-40, so that a sum does not depend on the order of adding:
-- the same question scores the same to the last bit, whatever plan answers it.
CREATE FUNCTION impact(
    tf double precision, df double precision, segments double precision,
    length double precision, mean_length double precision, k1 double precision, b double precision
) RETURNS double precision
    LANGUAGE sql IMMUTABLE RETURN round(
        ln(1 + (segments - df + 0.5) / (df + 0.5)) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean_length))
        * 1099511627776
    ) / 1099511627776;

-- Halves with every half-life. Age is never negative; what has no date counts as infinitely old. After a thousand
-- half-lives nothing is left that a number could hold: Postgres would refuse it.
CREATE FUNCTION recency(age interval, half_life_days double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE RETURN CASE
        WHEN age IS NULL THEN 0
        ELSE exp(greatest(
            -700, -ln(2::double precision) * greatest(0, date_part('epoch', age) / 86400) / half_life_days
        ))
    END;
