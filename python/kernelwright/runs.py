"""Earlier runs: their results, and how to resume them."""

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
    """A run folder: the request, the result and the kernel.

    Named by its folder, its id, the beginning of the id, or "latest".
    """

    def __init__(self, name: str | os.PathLike[str] = "latest", root: str | os.PathLike[str] | None = None) -> None:
        """`root`: the folder of runs; None: the user's data folder."""
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
        """The document of `kernelwright inspect --json`."""
        return self._view

    @property
    def result(self) -> SynthesisResult:
        """What `synthesize` returned, or would have."""
        path = self.folder / "report.json"
        if not path.is_file():
            raise InputError(f"{self!r} has no report yet; resume() continues it")
        document = json.loads(path.read_text())
        document["artifacts_dir"] = str(self.folder)
        shipped = self.folder / "final" / "kernel.cu"
        if document.get("kernel") and shipped.is_file():
            document["kernel"] = str(shipped)  # the folder may have been moved
        return SynthesisResult.of(document, _make)

    @property
    def kernel(self) -> Kernel | None:
        """The shipped kernel as a callable; None when none was shipped."""
        return self.result.kernel

    def resume(
        self, *, seconds: float | None = None, candidates: int | None = None,
        progress: bool | Watcher | None = None, **options: Any
    ) -> SynthesisResult:
        """Continues the run where it stopped."""
        return self._go_on("resume", {"time": seconds, "candidates": candidates, **options}, progress)

    def tune(
        self, *, seconds: float | None = None, progress: bool | Watcher | None = None, **options: Any
    ) -> SynthesisResult:
        """Times the candidates of the run on the GPU of this machine; adds no new ones."""
        return self._go_on("tune", {"time": seconds, **options}, progress)

    def _go_on(self, command: str, options: dict[str, Any], progress: bool | Watcher | None) -> SynthesisResult:
        asked = {"arguments": [str(self.folder)], "out": self._root, **options}
        return SynthesisResult.of(_jobs.run(command, asked, progress), _make)


def _make(artifact: KernelArtifact) -> Kernel:
    return Kernel(artifact.kernel_cu_path, tunes=artifact.tunes)

