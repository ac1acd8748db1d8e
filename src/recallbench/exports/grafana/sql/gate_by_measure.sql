SELECT
    l.shown AS "line",
    r.version AS "version",
    h.value AS "value",
    h.low AS "low",
    h.chance AS "chance",
    h.saturated AS "saturated",
    before.value AS "result before",
    h.value - before.value AS "change",
    ${at_least:sqlstring}::double precision AS "at least",
    CASE
        WHEN h.measure = 'false_retrieval' THEN 'no floor: less is better'
        WHEN h.value IS NULL THEN 'cannot tell'
        WHEN h.value < ${at_least:sqlstring}::double precision THEN 'falls short'
        WHEN h.chance >= ${at_least:sqlstring}::double precision THEN 'holds, but so does chance'
        WHEN h.low >= ${at_least:sqlstring}::double precision THEN 'holds'
        ELSE 'holds, but its interval does not'
    END AS "gate"
FROM recallbench_history.latest AS r
JOIN recallbench_history.lines AS l USING (series)
JOIN recallbench_history.figures AS h USING (result)
LEFT JOIN LATERAL (
    SELECT earlier.value
    FROM recallbench_history.history AS earlier
    WHERE earlier.series = r.series
        AND (earlier.made, earlier.result) < (r.made, r.result)
        AND earlier.measure = h.measure
        AND earlier.slice_kind = 'overall'
    ORDER BY earlier.made DESC, earlier.result DESC
    LIMIT 1
) AS before ON true
WHERE r.corpus IN (${corpus:sqlstring})
    AND r.store IN (${store:sqlstring})
    AND h.measure = ${measure:sqlstring}
    AND h.slice_kind = 'overall'
ORDER BY h.value, l.shown
