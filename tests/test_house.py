"""The house: no import cycle, no folder too large. The layers are lint-imports' to hold."""

from __future__ import annotations

from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "recallbench"
MODULES = sorted(PACKAGE.rglob("*.py"))


def test_no_module_imports_itself_by_way_of_others() -> None:
    # Imports inside functions count: they hide a cycle and don't break it.
    graph = grimp.build_graph("recallbench", exclude_type_checking_imports=True)
    # The front door names what it hands out, and opens it at first use.
    inner = graph.modules - {"recallbench"}
    imports = {module: graph.find_modules_directly_imported_by(module) & inner for module in inner}
    assert len(tuple(TopologicalSorter(imports).static_order())) == len(inner)  # raises CycleError, which names it


def test_no_folder_holds_more_than_30_modules() -> None:
    folders = Counter(module.parent for module in MODULES if module.name != "__init__.py")
    assert {folder.name: count for folder, count in folders.items() if count > 30} == {}
