-- The whole score. $1 scopes, $2 embeddings, $3 texts, $4 moments the questions were asked (or null), $5 how many.
WITH factors AS MATERIALIZED (
    SELECT
        setting('weight_cosine') AS cosine,
        setting('weight_bm25') AS bm25,
        setting('weight_recency') AS recency,
        setting('weight_importance') AS importance,
        setting('weight_graph') AS graph,
        setting('recency_half_life_days') AS half_life_days,
        setting('graph_best') AS graph_best,
        coalesce(nullif(current_setting('recallbench.importance_threshold', true), ''), '0')::double precision
            AS importance_threshold
)
SELECT best.ids, best.scores
FROM factors f
CROSS JOIN unnest($1::integer[], $2::vector[], $3::text[], $4::timestamptz[]:moments) WITH ORDINALITY
    AS asked (scope, embedding, question, asked_at:before, turn)
CROSS JOIN LATERAL (
    WITH
:lexical    apart AS (
        SELECT
            s.id,
            f.cosine * (1 - (s.embedding <=> asked.embedding))
            + f.bm25 * coalesce(lexical.bm25 / max(lexical.bm25) OVER scope, 0)
            + f.recency * recency(
                coalesce(asked.asked_at, max(s.occurred_at) OVER scope) - s.occurred_at, f.half_life_days
            )
            + f.importance * CASE WHEN s.importance >= f.importance_threshold THEN s.importance ELSE 0 END AS score
        FROM segments s LEFT JOIN lexical ON lexical.id = s.id
        WHERE s.scope = asked.scope:visible
        WINDOW scope AS ()
    ),
    placed AS (SELECT id, score, row_number() OVER (ORDER BY score DESC, id) AS place FROM apart),
    -- An edge joins sessions that follow one another; it counts when the other end is among the best so far.
    linked AS (
        SELECT
            id,
            score + f.graph * CASE
                WHEN lag(id) OVER row = id - 1 AND lag(place) OVER row <= f.graph_best THEN 1
                WHEN lead(id) OVER row = id + 1 AND lead(place) OVER row <= f.graph_best THEN 1
                ELSE 0
            END AS score
        FROM placed
        WINDOW row AS (ORDER BY id)
    )
    SELECT array_agg(id ORDER BY score DESC, id) AS ids, array_agg(score ORDER BY score DESC, id) AS scores
    FROM (SELECT id, score FROM linked ORDER BY score DESC, id LIMIT $5) ranked
) best
ORDER BY asked.turn
