-- The occurrences of scope $1: what a lexeme adds to a score is worked out from what a question could see.
:words,
kept AS (INSERT INTO segment_lengths (scope, id, length) SELECT $1, id, length FROM lengths)
INSERT INTO occurrences (scope, lexeme, ids, frequencies)
SELECT $1, lexeme, array_agg(id ORDER BY id), array_agg(tf ORDER BY id)
FROM words
GROUP BY lexeme
