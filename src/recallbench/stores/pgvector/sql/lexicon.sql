-- The postings of scope $1. A lexeme's frequency is how often a segment has it, a segment's length the sum of those.
INSERT INTO postings (scope, lexeme, ids, impacts)
:words,
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
