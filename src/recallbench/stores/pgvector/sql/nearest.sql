-- The nearest by an index over all scopes. $1 scopes, $2 embeddings, $3 texts (unused here), $4 moments (unused here),
-- $5 how many. What the index finds in other scopes falls away while it is scanned; the rest is scored in full.
SELECT best.ids, best.scores
FROM unnest($1::integer[], $2::vector[], $3::text[], $4::timestamptz[]:moments) WITH ORDINALITY
    AS asked (scope, embedding, question, asked_at:before, turn)
CROSS JOIN LATERAL (
    WITH found AS MATERIALIZED (
        SELECT s.id, s.embedding
        FROM segments s
        WHERE s.scope = asked.scope:visible
        ORDER BY :indexed :distance :asked
        LIMIT :found
    )
    SELECT array_agg(id ORDER BY score DESC, id) AS ids, array_agg(score ORDER BY score DESC, id) AS scores
    FROM (
        SELECT id, (SELECT setting('weight_cosine')) * (1 - (embedding <=> asked.embedding)) AS score
        FROM found
        ORDER BY score DESC, id
        LIMIT $5
    ) ranked
) best
ORDER BY asked.turn
