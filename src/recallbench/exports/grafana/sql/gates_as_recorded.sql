SELECT l.shown AS "line", r.version AS "version", g.gate AS "gate", g.status AS "status", g.observed AS "observed"
FROM recallbench_history.latest AS r
JOIN recallbench_history.lines AS l USING (series)
JOIN recallbench_history.gates AS g USING (result)
WHERE r.corpus IN (${corpus:sqlstring})
    AND r.store IN (${store:sqlstring})
ORDER BY array_position(ARRAY['fail', 'cannot-tell', 'pending', 'pass'], g.status), l.shown, g.gate
