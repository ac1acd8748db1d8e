    -- Each lexeme of the question counts once, however often it is asked.
    lexical AS (
        SELECT posting.id, sum(posting.impact) AS bm25
        FROM postings p, unnest(p.ids, p.impacts) AS posting (id, impact)
        WHERE p.scope = asked.scope
            AND p.lexeme = ANY (tsvector_to_array(to_tsvector('pg_catalog.english', asked.question)))
        GROUP BY posting.id
    ),
