"""The system that was measured is the version the result names."""

from recallbench.audit.gate import Finding, Gate, GateEvidence, passed_if
from recallbench.audit.named_version import alike, leading_version, version_in


def check(evidence: GateEvidence) -> Finding:
    store, pinned = evidence.metrics.store, evidence.metrics.pgmnemo_version
    if store.version != store.version_after:
        return Finding("fail", f"version() was {store.version} before the run and {store.version_after} after it")
    named = leading_version(evidence.folder.resolve().name) if evidence.folder else ""
    if store.name == "pgmnemo" and named and not alike(named, version_in(store.version)):
        return Finding("fail", f"the folder is named {named}, measured was {store.version}")
    requested = store.asked_version
    # A store may state what it runs on behind its own version, which alone counts here.
    own = store.version.split(" ")[0].removeprefix("v")
    as_requested = requested is None or requested.removeprefix("v") in (own, own.rpartition("/")[2])
    should = store.version if store.name == "pgmnemo" else None
    return passed_if(
        pinned == should and as_requested,
        f"{store.name} states {store.version}, pgmnemo_version is {pinned or 'null'}, "
        f"--version {requested or 'not given'}",
    )


GATE = Gate("version pin", check, "RB-VERSION")
