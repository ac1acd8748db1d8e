"""The system that was measured is the version the result names."""

from recallbench.verdict.gate import Evidence, Finding, Gate, passed_if


def check(evidence: Evidence) -> Finding:
    store, pinned = evidence.metrics.store, evidence.metrics.pgmnemo_version
    if store.version != store.version_after:
        return Finding("fail", f"version() was {store.version} before the run and {store.version_after} after it")
    if store.name != "pgmnemo":
        return passed_if(
            pinned is None, f"store {store.name} states {store.version}; pgmnemo_version is {pinned or 'null'}"
        )
    asked = store.asked_version
    agree = pinned == store.version and (asked is None or asked.lstrip("v") == store.version.lstrip("v"))
    return passed_if(agree, f"version() is {store.version}, pgmnemo_version {pinned}, --version {asked or 'not given'}")


GATE = Gate("version pin", check)
