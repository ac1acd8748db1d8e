"""Wheels of a few bytes, as pip takes them."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path


def write_wheel(folder: Path, name: str, version: str, files: Mapping[str, bytes], needs: str = "") -> str:
    """Write a wheel of these files, the same bytes for the same files, and return its sha256."""
    spelt = name.replace("-", "_")
    info = f"{spelt}-{version}.dist-info"
    required = f"Requires-Dist: {needs}\n" if needs else ""
    held = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{required}".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    path = folder / f"{spelt}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        record = ""
        for at, content in held.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{at},sha256={digest},{len(content)}\n"
            wheel.writestr(zipfile.ZipInfo(at), content)
        wheel.writestr(zipfile.ZipInfo(f"{info}/RECORD"), f"{record}{info}/RECORD,,\n")
    return hashlib.sha256(path.read_bytes()).hexdigest()
