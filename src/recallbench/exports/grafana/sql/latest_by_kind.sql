SELECT h.slice || ' (' || l.shown || ', n ' || h.n || ')' AS "slice", h.value AS "value", h.chance AS "chance", h.bm25 AS "BM25"
FROM recallbench_history.history AS h
JOIN recallbench_history.latest AS newest USING (result)
JOIN recallbench_history.lines AS l ON l.series = h.series
WHERE h.corpus IN (${corpus:sqlstring})
    AND h.store IN (${store:sqlstring})
    AND h.measure = ${measure:sqlstring}
    AND h.slice_kind IN ('kind', 'tenant')
    AND h.value IS NOT NULL
ORDER BY h.slice_kind, h.slice, l.shown
