SELECT
    s.name AS "sweep",
    p.point AS "point",
    p.parameters AS "parameters",
    p.value AS "value",
    p.low AS "low",
    p.high AS "high",
    p.held_out AS "held out",
    p.p95_ms AS "p95 ms",
    p.usd_per_1000 AS "USD per 1,000",
    CASE WHEN p.chosen THEN 'chosen' WHEN p.in_set THEN 'can''t be told from the best' ELSE '' END AS "choice",
    p.passes AS "keeps the gates",
    p.failure AS "failure"
FROM recallbench_history.sweep_points AS p
JOIN recallbench_history.sweeps AS s USING (sweep)
WHERE s.sweep = (
    SELECT last.sweep
    FROM recallbench_history.sweeps AS last
    WHERE last.corpus IN (${corpus:sqlstring})
    ORDER BY last.made DESC, last.sweep DESC
    LIMIT 1
)
ORDER BY p.chosen DESC, p.value DESC NULLS LAST, p.position
