SELECT shown || ', ' || version AS "version", value AS "value", low AS "low", high AS "high", chance AS "chance"
FROM (
    SELECT DISTINCT ON (series, version) *
    FROM recallbench_history.history
    JOIN recallbench_history.lines USING (series)
    WHERE $__timeFilter(made)
        AND corpus IN (${corpus:sqlstring})
        AND store IN (${store:sqlstring})
        AND measure = ${measure:sqlstring}
        AND slice_kind = 'overall'
    ORDER BY series, version, made DESC, result DESC
) AS newest
ORDER BY shown, made, result
