"""Every row of the performance table: python benchmarks/performance

LOCOMO_DATA_DIR names the folder of the real LoCoMo file, LONGMEMEVAL_DATA_DIR that of LongMemEval-S,
RECALLBENCH_DATA_DIR that of RealMem and BEAM.
"""

from __future__ import annotations

import api
import audit
import board
import compare
import constant
import embedding
import foreseen
import look
import memory
import pipeline
import releases
import scoring
import search
import startup
import sweep
import warm
import whole
from row import show

PARTS = (
    startup,
    scoring,
    api,
    pipeline,
    audit,
    compare,
    look,
    board,
    search,
    whole,
    warm,
    embedding,
    sweep,
    memory,
    constant,
    foreseen,
    releases,
)

if __name__ == "__main__":
    raise SystemExit(show([row for part in PARTS for row in part.rows()]))
