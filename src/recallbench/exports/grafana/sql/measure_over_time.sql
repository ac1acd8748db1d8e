SELECT
    made AS "time",
    shown AS "line",
    value AS "value",
    low AS "low",
    high AS "high"
FROM recallbench_history.history
JOIN recallbench_history.lines USING (series)
WHERE $__timeFilter(made)
    AND corpus IN (${corpus:sqlstring})
    AND store IN (${store:sqlstring})
    AND measure = ${measure:sqlstring}
    AND slice_kind = 'overall'
ORDER BY made, result
