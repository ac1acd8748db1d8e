SELECT
    s.made AS "made",
    s.corpus AS "corpus",
    l.store AS "store",
    l.loop AS "loop",
    l.clients AS "clients",
    l.rate AS "questions/s",
    l.throughput AS "answers/s",
    l.p95_ms AS "p95 ms",
    l.p95_low AS "low",
    l.p95_high AS "high",
    l.void AS "void",
    l.saturated AS "saturated",
    l.quiet AS "machine quiet",
    q.value AS "recall_any@10 of these answers"
FROM recallbench_history.latency_levels AS l
JOIN recallbench_history.latency_studies AS s USING (study)
LEFT JOIN recallbench_history.latency_quality AS q
    ON q.study = l.study AND q.level = l.level AND q.measure = 'recall_any@10'
WHERE s.corpus IN (${corpus:sqlstring})
    AND l.store IN (${store:sqlstring})
ORDER BY s.made DESC, s.study DESC, l.level
LIMIT 200
