"""Each check has a code of its own, which benchmarks/AUDIT.md explains."""

import re
from pathlib import Path

from recallbench.audit.checks import CHECKS, LAST, OF_A_PIPELINE, OF_THE_STATIC_CONTROL, ON_DEMAND, static_control
from recallbench.audit.gates import GATES
from recallbench.citing import attestation, publication
from recallbench.foreign.case import CODES

DOCUMENT = Path(__file__).parents[2] / "benchmarks" / "AUDIT.md"


def test_codes_are_unique_and_explained() -> None:
    codes = [check.code for check in (*CHECKS, *OF_A_PIPELINE, *ON_DEMAND, *GATES, *LAST)]
    codes += [check.code for check in (*OF_THE_STATIC_CONTROL, static_control.AGAIN)]
    codes += [attestation.CODE, publication.CODE, *CODES]
    assert len(set(codes)) == len(codes)
    explained = re.findall(r"^\| (RB-[A-Z0-9-]+) \| (?:\S.*\S) \|$", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    assert sorted(explained) == sorted(codes)
