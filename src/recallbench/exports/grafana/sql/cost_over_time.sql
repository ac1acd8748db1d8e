SELECT
    made AS "time",
    shown || ', ' || currency || CASE WHEN cardinality(cost_lacks) > 0 THEN ', at least' ELSE '' END AS "line",
    cost_per_1000 AS "1,000 queries"
FROM recallbench_history.results
JOIN recallbench_history.lines USING (series)
WHERE $__timeFilter(made)
    AND corpus IN (${corpus:sqlstring})
    AND store IN (${store:sqlstring})
    AND cost_per_1000 IS NOT NULL
ORDER BY made, result
