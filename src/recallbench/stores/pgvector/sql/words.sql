-- How often each segment of scope $1 has each lexeme, and how long it is.
WITH
indexed AS MATERIALIZED (
    SELECT s.id, word.lexeme, cardinality(word.positions) AS tf, word.positions[cardinality(word.positions)] AS last
    FROM segments s, unnest(to_tsvector('pg_catalog.english', s.text)) AS word
    WHERE s.scope = $1 AND NOT s.huge
),
-- A tsvector counts to 255 for each lexeme and to place 16383 of the text; what reaches either is counted by hand.
uncounted AS MATERIALIZED (
    SELECT s.id, s.text
    FROM segments s
    WHERE s.scope = $1 AND (s.huge OR s.id IN (SELECT id FROM indexed WHERE tf >= 255 OR last >= 16383))
),
-- Words of 2047 bytes and more are left out, as to_tsvector does.
tokens AS MATERIALIZED (
    SELECT u.id, word.tokid, word.token, count(*) AS times
    FROM uncounted u, ts_parse('pg_catalog.default', u.text) AS word
    WHERE octet_length(word.token) < 2047
    GROUP BY u.id, word.tokid, word.token
),
words AS MATERIALIZED (
    SELECT id, lexeme, tf::double precision AS tf FROM indexed WHERE id NOT IN (SELECT id FROM uncounted)
    UNION ALL
    SELECT t.id, lexeme, sum(t.times)::double precision
    FROM tokens t, unnest(lexemes(t.tokid, t.token)) AS lexeme
    GROUP BY t.id, lexeme
),
lengths AS MATERIALIZED (
    SELECT s.id, coalesce(sum(w.tf), 0) AS length
    FROM segments s LEFT JOIN words w ON w.id = s.id
    WHERE s.scope = $1
    GROUP BY s.id
)
