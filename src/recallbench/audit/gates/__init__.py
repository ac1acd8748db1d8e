"""The protocol's gates, in its order. A new gate is one file here and one line below."""

from recallbench.audit.gate import Gate
from recallbench.audit.gates import artefacts, blocked, coverage, dataset, granularity, seed, version

GATES: tuple[Gate, ...] = (
    dataset.GATE,
    version.GATE,
    seed.GATE,
    coverage.GATE,
    granularity.GATE,
    artefacts.GATE,
    blocked.GATE,
)
