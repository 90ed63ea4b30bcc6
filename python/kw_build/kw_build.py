"""Builds the wheel of kernelwright with the standard library: a PEP 517 backend, and `make wheel`.

The library and the program of the workers come from the build folder $KW_BUILD; without it, CMake builds them.

    python3 python/kw_build/kw_build.py BUILD DIST     the wheel of a build folder, its name on standard output
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TAG = "py3-none-manylinux_2_34_x86_64"
NATIVE = ("kernelwright", "libkernelwright.so")
SOURCES = ("CMakeLists.txt", "CMakePresets.json", "CHANGELOG.md", "LICENSE", "README.md", "Makefile",
           "pyproject.toml", "apps", "bench", "catalog", "cmake", "device", "device_nvrtc", "docs", "examples",
           "prompts", "python", "src", "suites", "tests", "tools")


def project() -> dict[str, str]:
    """Name, version and so on from pyproject.toml, without a TOML reader: the file is ours and simple."""
    text = (ROOT / "pyproject.toml").read_text()
    section = text.partition("[project]")[2].partition("\n[")[0]
    return dict(re.findall(r'^([\w-]+) = "(.*)"$', section, re.MULTILINE))


def metadata() -> str:
    """The wheel's METADATA."""
    about = project()
    lines = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {about['version']}",
             f"Summary: {about['description']}", f"Requires-Python: {about['requires-python']}", "License: MIT",
             "Classifier: Operating System :: POSIX :: Linux", "Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + (ROOT / "README.md").read_text()


def build_folder() -> Path:
    """$KW_BUILD, or a folder that CMake builds now."""
    named = os.environ.get("KW_BUILD")
    if named:
        return Path(named).resolve()
    folder = ROOT / "build"
    print(f"building kernelwright in {folder}", file=sys.stderr, flush=True)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    if not (folder / "CMakeCache.txt").exists():
        _run(["cmake", "-S", str(ROOT), "-B", str(folder), *generator, "-DCMAKE_BUILD_TYPE=Release", "-DKW_UNITY=ON"])
    _run(["cmake", "--build", str(folder), "--target", "kernelwright", "kwlibrary", "--parallel"])
    return folder


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, stdout=sys.stderr)
    except FileNotFoundError as error:
        raise SystemExit(f"kernelwright: building from source needs {command[0]}; 'make' installs it") from error
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"kernelwright: {' '.join(command)} failed") from error


def package_files(build: Path) -> Iterator[tuple[str, Path]]:
    """The files of the wheel: path in the wheel, and source file."""
    for path in sorted((ROOT / "python" / "kernelwright").rglob("*")):
        if path.is_file() and path.suffix in (".py", ".pyi", ".typed") and "_native" not in path.parts:
            yield str(path.relative_to(ROOT / "python")), path
    for name in NATIVE:
        if not (build / name).is_file():
            raise SystemExit(f"kernelwright: {build / name} is missing; build the targets kernelwright and kwlibrary")
        yield f"kernelwright/_native/{name}", build / name
    yield "kernelwright/_native/kernelwright.h", ROOT / "src" / "apps" / "clib" / "kernelwright.h"


class Wheel:
    """A wheel being written: files, and the RECORD that lists them."""

    def __init__(self, path: Path, level: int) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._level = level
        self._record: list[str] = []

    def add(self, name: str, content: bytes, mode: int = 0o644) -> None:
        """Adds one file; the same bytes give the same wheel."""
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.external_attr = (stat.S_IFREG | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(info, content, compresslevel=self._level)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(content)}")

    def close(self, folder: str) -> None:
        """Writes the RECORD."""
        self._record.append(f"{folder}/RECORD,,")
        self._zip.writestr(zipfile.ZipInfo(f"{folder}/RECORD", (1980, 1, 1, 0, 0, 0)), "\n".join(self._record) + "\n")
        self._zip.close()


def info_files() -> dict[str, str]:
    """The files of the .dist-info folder, except RECORD."""
    return {
        "METADATA": metadata(),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: kw_build\nRoot-Is-Purelib: false\nTag: {TAG}\n",
        "entry_points.txt": "[console_scripts]\nkernelwright = kernelwright.__main__:main\n",
        "LICENSE": (ROOT / "LICENSE").read_text(),
    }


def make_wheel(build: Path, dist: Path, level: int = 6) -> str:
    """Writes the wheel at this compression level and returns its name."""
    about = project()
    stem = f"{about['name']}-{about['version']}"
    dist.mkdir(parents=True, exist_ok=True)
    name = f"{stem}-{TAG}.whl"
    partial = dist / f".{name}.{os.getpid()}"
    wheel = Wheel(partial, level)
    for target, path in package_files(build):
        wheel.add(target, path.read_bytes(), 0o755 if path.name in NATIVE else 0o644)
    for file, text in info_files().items():
        wheel.add(f"{stem}.dist-info/{file}", text.encode())
    wheel.close(f"{stem}.dist-info")
    partial.replace(dist / name)
    return name


# The functions of PEP 517.


def build_wheel(
    wheel_directory: str, config_settings: Mapping[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """A wheel; config_settings={"build": FOLDER} names a build folder, as $KW_BUILD does."""
    named = (config_settings or {}).get("build")
    return make_wheel(Path(named).resolve() if named else build_folder(), Path(wheel_directory))


def build_sdist(sdist_directory: str, config_settings: Mapping[str, Any] | None = None) -> str:
    """The source distribution: all files that a build needs."""
    about = project()
    stem = f"{about['name']}-{about['version']}"
    path = Path(sdist_directory) / f"{stem}.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for name in SOURCES:
            if (ROOT / name).exists():
                archive.add(ROOT / name, f"{stem}/{name}", filter=_without_caches)
        (Path(sdist_directory) / "PKG-INFO").write_text(metadata())
        archive.add(Path(sdist_directory) / "PKG-INFO", f"{stem}/PKG-INFO")
        (Path(sdist_directory) / "PKG-INFO").unlink()
    return path.name


def _without_caches(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if "__pycache__" in info.name or "/_native" in info.name else info


def main() -> None:
    """`kw_build.py BUILD DIST`."""
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print(Path(sys.argv[2]) / make_wheel(Path(sys.argv[1]).resolve(), Path(sys.argv[2])))


if __name__ == "__main__":
    main()
