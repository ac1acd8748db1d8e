    -- What was there when the question was asked, and how long it was.
    seen AS (
        SELECT count(*)::double precision AS segments, avg(l.length) AS mean_length
        FROM segment_lengths l
        WHERE l.scope = asked.scope AND l.id < asked.before
    ),
    postings_seen AS (
        SELECT posting.id, posting.tf, (count(*) OVER (PARTITION BY p.lexeme))::double precision AS df
        FROM occurrences p, unnest(p.ids, p.frequencies) AS posting (id, tf)
        WHERE p.scope = asked.scope
            AND posting.id < asked.before
            AND p.lexeme = ANY (tsvector_to_array(to_tsvector('pg_catalog.english', asked.question)))
    ),
    -- Each lexeme of the question counts once, however often it is asked.
    lexical AS (
        SELECT
            postings_seen.id,
            sum(impact(
                postings_seen.tf, postings_seen.df, seen.segments, l.length, seen.mean_length,
                (SELECT setting('bm25_k1')), (SELECT setting('bm25_b'))
            )) AS bm25
        FROM postings_seen CROSS JOIN seen JOIN segment_lengths l ON l.scope = asked.scope AND l.id = postings_seen.id
        GROUP BY postings_seen.id
    ),
