-- Cosine alone. $1 scopes, $2 embeddings, $3 texts (unused here), $4 moments (unused here), $5 how many.
SELECT best.ids, best.scores
FROM unnest($1::integer[], $2::vector[], $3::text[], $4::timestamptz[]:moments) WITH ORDINALITY
    AS asked (scope, embedding, question, asked_at:before, turn)
CROSS JOIN LATERAL (
    SELECT array_agg(id ORDER BY score DESC, id) AS ids, array_agg(score ORDER BY score DESC, id) AS scores
    FROM (
        SELECT s.id, (SELECT setting('weight_cosine')) * (1 - (s.embedding <=> asked.embedding)) AS score
        FROM segments s
        WHERE s.scope = asked.scope:visible
        ORDER BY score DESC, s.id
        LIMIT $5
    ) ranked
) best
ORDER BY asked.turn
