"""No import cycle, no class name twice, no folder too large; lint-imports checks the layers."""

from __future__ import annotations

import ast
import re
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "recallbench"
MODULES = sorted(PACKAGE.rglob("*.py"))


def test_no_module_imports_itself_by_way_of_others() -> None:
    # Imports inside functions count too: they hide a cycle and don't break it.
    graph = grimp.build_graph("recallbench", exclude_type_checking_imports=True)
    # The package itself names its public objects, and imports them at first use.
    inner = graph.modules - {"recallbench"}
    imports = {module: graph.find_modules_directly_imported_by(module) & inner for module in inner}
    assert len(tuple(TopologicalSorter(imports).static_order())) == len(inner)  # raises CycleError, which names it


def test_no_public_class_has_the_name_of_another() -> None:
    names = Counter(
        node.name
        for module in MODULES
        for node in ast.parse(module.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_no_folder_holds_more_than_30_modules() -> None:
    folders = Counter(module.parent for module in MODULES if module.name != "__init__.py")
    assert {folder.name: count for folder, count in folders.items() if count > 30} == {}


def test_no_module_and_no_test_file_is_longer_than_400_lines() -> None:
    files = (*MODULES, *Path(__file__).parent.rglob("*.py"))
    lines = {file.name: len(file.read_text("utf-8").splitlines()) for file in files}
    assert {name: count for name, count in lines.items() if count > 400} == {}


def test_nothing_that_is_printed_names_a_guide_that_an_installation_lacks() -> None:
    named = {module.name: re.findall(r"\bdocs/[\w-]+\.md", module.read_text("utf-8")) for module in MODULES}
    assert {name: guides for name, guides in named.items() if guides} == {}
