SELECT
    r.made AS "made",
    l.shown AS "line",
    r.version AS "version",
    h.value AS "value",
    h.low AS "low",
    h.high AS "high",
    h.chance AS "chance",
    h.bm25 AS "BM25",
    h.n AS "n",
    r.p95_ms AS "p95 ms",
    r.verdict_text AS "verdict, as recorded",
    array_to_string(r.deviations, '; ') AS "deviations"
FROM recallbench_history.latest AS r
JOIN recallbench_history.lines AS l USING (series)
JOIN recallbench_history.figures AS h USING (result)
WHERE r.corpus IN (${corpus:sqlstring})
    AND r.store IN (${store:sqlstring})
    AND h.measure = ${measure:sqlstring}
    AND h.slice_kind = 'overall'
ORDER BY h.value DESC NULLS LAST
