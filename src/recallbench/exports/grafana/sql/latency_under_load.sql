SELECT
    l.store || coalesce(' (' || nullif(l.variant, '') || ')', '') || ', '
        || CASE l.loop WHEN 'closed' THEN 'closed, ' || l.clients || ' clients' ELSE 'open, ' || round(l.rate) || '/s' END
        || CASE WHEN l.saturated THEN ', saturated' ELSE '' END AS "level",
    l.p50_ms AS "p50",
    l.p95_ms AS "p95",
    l.p99_ms AS "p99"
FROM recallbench_history.latency_levels AS l
WHERE l.store IN (${store:sqlstring})
    AND NOT l.void
    AND l.study = (
        SELECT s.study
        FROM recallbench_history.latency_studies AS s
        WHERE s.corpus IN (${corpus:sqlstring})
            AND EXISTS (
                SELECT FROM recallbench_history.latency_levels AS own
                WHERE own.study = s.study AND own.store IN (${store:sqlstring}) AND NOT own.void
            )
        ORDER BY s.made DESC, s.study DESC
        LIMIT 1
    )
ORDER BY l.level
