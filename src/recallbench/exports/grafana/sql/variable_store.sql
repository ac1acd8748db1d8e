SELECT DISTINCT store FROM recallbench_history.results WHERE corpus IN (${corpus:sqlstring}) ORDER BY store
