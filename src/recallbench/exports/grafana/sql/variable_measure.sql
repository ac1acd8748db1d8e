SELECT DISTINCT measure FROM recallbench_history.history WHERE corpus IN (${corpus:sqlstring}) ORDER BY measure
