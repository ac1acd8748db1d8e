-- The postings of scope $1. A lexeme's frequency is its number of positions, a segment's length their sum.
INSERT INTO postings (scope, lexeme, ids, impacts)
WITH
words AS MATERIALIZED (
    SELECT s.id, word.lexeme, sum(cardinality(word.positions))::double precision AS tf
    FROM segments s, unnest(s.pieces) AS piece, unnest(to_tsvector('pg_catalog.english', piece)) AS word
    WHERE s.scope = $1
    GROUP BY s.id, word.lexeme
),
lengths AS MATERIALIZED (
    SELECT s.id, coalesce(sum(w.tf), 0) AS length
    FROM segments s LEFT JOIN words w ON w.id = s.id
    WHERE s.scope = $1
    GROUP BY s.id
),
whole AS MATERIALIZED (SELECT count(*)::double precision AS segments, avg(length) AS mean_length FROM lengths),
frequencies AS (SELECT lexeme, count(*)::double precision AS df FROM words GROUP BY lexeme),
factors AS MATERIALIZED (SELECT setting('bm25_k1') AS k1, setting('bm25_b') AS b)
SELECT
    $1,
    lexeme,
    array_agg(id ORDER BY id),
    array_agg(impact(tf, df, segments, length, mean_length, k1, b) ORDER BY id)
FROM words JOIN lengths USING (id) JOIN frequencies USING (lexeme) CROSS JOIN whole CROSS JOIN factors
GROUP BY lexeme
