SELECT
    made AS "time",
    shown AS "line",
    p95_ms AS "p95",
    p95_low AS "p95 low",
    p95_high AS "p95 high",
    p50_ms AS "p50"
FROM recallbench_history.results
JOIN recallbench_history.lines USING (series)
WHERE $__timeFilter(made)
    AND corpus IN (${corpus:sqlstring})
    AND store IN (${store:sqlstring})
    AND p95_ms IS NOT NULL
ORDER BY made, result
