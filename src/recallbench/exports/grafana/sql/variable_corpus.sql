SELECT DISTINCT corpus FROM recallbench_history.results ORDER BY corpus
