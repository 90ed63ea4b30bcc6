"""Runs that were made before, and going on with them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kernelwright import _jobs
from kernelwright.errors import InputError
from kernelwright.kernel import Kernel
from kernelwright.progress import Watcher
from kernelwright.results import KernelArtifact, SynthesisResult


class Run:
    """A run folder: what was asked, what came of it, and its kernel.

    Named by folder, id, the beginning of an id, or "latest".
    """

    def __init__(self, name: str | os.PathLike[str] = "latest", root: str | os.PathLike[str] | None = None) -> None:
        """`root`: folder of runs; None: the user's own."""
        self._root = os.fspath(root) if root is not None else None
        self._view = _jobs.run("inspect", {"arguments": [os.fspath(name)], "out": self._root}, False)
        row = self._view["run"]
        self.id = str(row["id"])
        self.status = str(row["status"])
        self.folder = Path(row["folder"])

    def __repr__(self) -> str:
        return f"<run {self.id}: {self.status}>"

    @staticmethod
    def all(root: str | os.PathLike[str] | None = None) -> Iterator[Run]:
        """Every run of a folder of runs, newest first."""
        out = os.fspath(root) if root is not None else None
        for row in _jobs.run("runs", {"out": out}, False).get("runs", []):
            yield Run(row["folder"], root)

    @property
    def document(self) -> dict[str, Any]:
        """All that `kernelwright inspect --json` says."""
        return self._view

    @property
    def result(self) -> SynthesisResult:
        """What `synthesize` returned, or would have."""
        path = self.folder / "report.json"
        if not path.is_file():
            raise InputError(f"{self!r} has no report yet; resume() goes on with it")
        document = json.loads(path.read_text())
        document["artifacts_dir"] = str(self.folder)
        shipped = self.folder / "final" / "kernel.cu"
        if document.get("kernel") and shipped.is_file():
            document["kernel"] = str(shipped)  # folders may be moved
        return SynthesisResult.of(document, _make)

    @property
    def kernel(self) -> Kernel | None:
        """The shipped kernel as a callable; None when none was shipped."""
        return self.result.kernel

    def resume(
        self, *, seconds: float | None = None, candidates: int | None = None,
        progress: bool | Watcher | None = None, **options: Any
    ) -> SynthesisResult:
        """Goes on where the run stopped."""
        return self._go_on("resume", {"time": seconds, "candidates": candidates, **options}, progress)

    def tune(
        self, *, seconds: float | None = None, progress: bool | Watcher | None = None, **options: Any
    ) -> SynthesisResult:
        """Measures what the run holds on this machine's GPU, without new candidates."""
        return self._go_on("tune", {"time": seconds, **options}, progress)

    def _go_on(self, command: str, options: dict[str, Any], progress: bool | Watcher | None) -> SynthesisResult:
        asked = {"arguments": [str(self.folder)], "out": self._root, **options}
        return SynthesisResult.of(_jobs.run(command, asked, progress), _make)


def _make(artifact: KernelArtifact) -> Kernel:
    return Kernel(artifact.kernel_cu_path, tunes=artifact.tunes)

