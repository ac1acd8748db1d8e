SELECT made AS "time", line || ', ' || currency AS "line", cost_per_1000 AS "1,000 queries"
FROM recallbench_history.results
WHERE $__timeFilter(made)
    AND corpus IN (${corpus:sqlstring})
    AND store IN (${store:sqlstring})
    AND cost_per_1000 IS NOT NULL
ORDER BY made, result
