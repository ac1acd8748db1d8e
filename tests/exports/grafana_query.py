"""A query as Grafana sends it: its macros and variables replaced as its documentation says.

- `$__timeFilter(column)` becomes `column BETWEEN '…Z' AND '…Z'`, and such macros stand in PostgreSQL's documentation
  (https://grafana.com/docs/grafana/latest/datasources/postgres/).
- `${name:sqlstring}` becomes every chosen value in single quotes, quotes inside them doubled, with commas between
  ("Advanced variable format options", https://grafana.com/docs/grafana/latest/dashboards/variables/variable-syntax/);
  All stands for every value that the variable's query gives.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

FROM, TO = "2026-01-01T00:00:00Z", "2027-12-31T23:59:59Z"


def sent(sql: str, chosen: Mapping[str, Sequence[str]]) -> str:
    """Return the query with macros and variables replaced; KeyError for a variable that the dashboard lacks."""
    sql = re.sub(r"\$__timeFilter\(([^()]+)\)", rf"\1 BETWEEN '{FROM}' AND '{TO}'", sql)
    sql = re.sub(r"\$\{(\w+):sqlstring\}", lambda match: ",".join(map(_quoted, chosen[match[1]])), sql)
    assert "$" not in sql, f"a macro or variable that is not replaced: {sql}"
    return sql


def variables(sql: str) -> set[str]:
    """Return the names of the variables in a query."""
    return set(re.findall(r"\$\{?(?!__)(\w+)", sql))


def _quoted(value: str) -> str:
    doubled = value.replace("'", "''")
    return f"'{doubled}'"
