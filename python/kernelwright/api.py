"""The jobs: synthesize, verify, bench, compare."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelwright import _jobs
from kernelwright import reference as references
from kernelwright.config import SynthesisConfig
from kernelwright.errors import InputError
from kernelwright.kernel import Kernel
from kernelwright.progress import Watcher
from kernelwright.reference import Inputs, Prepared, Reference
from kernelwright.results import Benchmark, KernelArtifact, SynthesisResult, Verdict

#: A module: a Kernel, a result that shipped one, a file, or its text.
Module = Kernel | SynthesisResult | str | os.PathLike[str]
_WITHOUT_EFFECT = ("benchmark_warmup_iterations", "benchmark_timed_iterations", "nvcc_flags")


def _warn_without_effect(config: SynthesisConfig) -> None:
    for name in _WITHOUT_EFFECT:
        if config.changed(name):
            warnings.warn(f"SynthesisConfig.{name} has no effect here", stacklevel=3)


def _kernel_maker(prepared: Prepared, target: str) -> Any:
    def make(artifact: KernelArtifact) -> Kernel:
        return Kernel(artifact.kernel_cu_path, tunes=artifact.tunes, target=target, parameters=prepared.parameters,
                      weights=prepared.weights)

    return make


def synthesize(
    prompt: str,
    reference: Reference,
    target: str = "auto",
    config: SynthesisConfig | None = None,
    *,
    inputs: Inputs = None,
    dims: Mapping[str, int] | None = None,
    progress: bool | Watcher | None = None,
    **options: Any,
) -> SynthesisResult:
    """Turns a reference into a verified and timed CUDA kernel.

    prompt: request in plain English; may be "". It cannot change what is computed: only the reference decides that.
    reference: any callable (function, lambda, builtin, nn.Module), or the path of a Python file ("file.py:name") or
        task folder.
    target: "sm_80" … or "auto": the GPU of this machine, otherwise sm_90.
    config: see SynthesisConfig.
    inputs: what the reference takes, if neither it nor the prompt says so: {"x": "fp16[B, D]", "eps": 1e-5}, examples
        by name, or a list of either.
    dims: shape to optimise for: {"B": 8192, "D": 2048}.
    progress: True, False, None (only on a terminal or in a notebook), or a function of ("progress" | "note", text).
    options: any other option of `kernelwright synthesize`, by its name.

    Works without a GPU: kernels are then verified on the virtual GPU, and times are estimates. Returns a result even if
    no kernel passed (`result.passed`). Raises InputError, MachineError or InternalError if it could not try, and
    KeyboardInterrupt if it was stopped; the run is kept.
    """
    config = config or SynthesisConfig()
    if not isinstance(config, SynthesisConfig):
        raise InputError(f"config is {type(config).__name__}, not a SynthesisConfig")
    _warn_without_effect(config)
    prepared = references.prepare(reference, inputs, dims, config.correctness_rtol, config.correctness_atol)
    asked = {**config.engine_options(), **prepared.options(), "prompt": prompt, "target": target,
             "dim": dict(dims) if dims else None, **options}
    try:
        document = _jobs.run("synthesize", asked, progress)
    finally:
        if asked.get("no_store_reference"):
            prepared.forget()
    result = SynthesisResult.of(document, _kernel_maker(prepared, "" if target == "auto" else target))
    return _with_shapes(result, prepared, config, progress) if config.changed("correctness_shapes") else result


def _with_shapes(
    result: SynthesisResult, prepared: Prepared, config: SynthesisConfig, progress: bool | Watcher | None
) -> SynthesisResult:
    """Judges the shapes that the user listed, one by one, in addition to the judge's own."""
    kernel = result.kernel
    if kernel is None or not result.passed:
        return result
    names = kernel.inputs[0].shape
    for shape in config.correctness_shapes:
        if 0 in shape or len(shape) != len(names):
            continue
        dims = {name: extent for name, extent in zip(names, shape, strict=True) if name in kernel.dims}
        verdict = _verify(str(result.kernel_path), prepared, dims, config.device, progress, {
            "tune": dict(result.artifact.tunes) if result.artifact is not None else None})
        if not verdict.passed:
            failed = {**result.document, "passed": False, "kernel": None, "failed_stage": "correctness",
                      "failure_reason": f"at the shape {list(shape)}: {verdict.verdict}"}
            return SynthesisResult.of(failed)
    return result


def _module_path(module: Module) -> tuple[str, dict[str, int]]:
    """The file and tunables of a module; a text is written to a file in the cache."""
    if isinstance(module, SynthesisResult):
        if module.artifact is None:
            raise InputError(f"run {module.run_id} shipped no kernel")
        return str(module.artifact.kernel_cu_path), dict(module.artifact.tunes)
    if isinstance(module, Kernel):
        return str(_kept_module(module.task, module.source)), dict(module.tunes)
    text = os.fspath(module)
    if "\n" in text:
        return str(_kept_module("kernel", text)), {}
    if not Path(text).is_file():
        raise InputError(f"there is no file {text}")
    return text, {}


def _kept_module(name: str, text: str) -> Path:
    return references.keep(name, text, ".cu")


def _verify(
    path: str, prepared: Prepared, dims: Mapping[str, int] | None, device: str, progress: bool | Watcher | None,
    options: Mapping[str, Any],
) -> Verdict:
    asked = {**prepared.options(), "arguments": [path], "device": device, "dim": dict(dims) if dims else None,
             **options}
    document = _jobs.run("verify", asked, progress)
    return Verdict(document.get("verdict") == "passed", str(document.get("verdict")), document)


def verify(
    module: Module,
    reference: Reference,
    *,
    inputs: Inputs = None,
    dims: Mapping[str, int] | None = None,
    device: str = "auto",
    progress: bool | Watcher | None = None,
    **options: Any,
) -> Verdict:
    """Judges whether a module computes what the reference computes, as candidates are judged.

    module: a Kernel, a SynthesisResult, the module's file or its text. dims: only at this shape.
    options: any other option of `kernelwright verify`, by its name (seed, family, target, …).
    """
    prepared = references.prepare(reference, inputs, dims)
    path, tunes = _module_path(module)
    return _verify(path, prepared, dims, device, progress, {"tune": tunes or None, **options})


def bench(
    module: Module,
    reference: Reference,
    *,
    versus: Sequence[str] = (),
    inputs: Inputs = None,
    dims: Mapping[str, int] | None = None,
    device: str = "auto",
    quick: bool = False,
    progress: bool | Watcher | None = None,
    **options: Any,
) -> Benchmark:
    """Times a module at a shape where it is verified, and compares it with PyTorch or other modules (`versus`).

    versus: "eager", "compile", "max-autotune-no-cudagraphs", "reduce-overhead", "max-autotune", .cu files,
    "py:package.module.function". Without a GPU the result is only an estimate.
    """
    prepared = references.prepare(reference, inputs, dims)
    path, tunes = _module_path(module)
    asked = {**prepared.options(), "arguments": [path], "versus": list(versus) or None, "device": device,
             "quick": quick, "dim": dict(dims) if dims else None, "tune": tunes or None, **options}
    return _benchmark(_jobs.run("bench", asked, progress))


def compare(
    first: Module,
    second: Module,
    reference: Reference | None = None,
    *,
    inputs: Inputs = None,
    dims: Mapping[str, int] | None = None,
    device: str = "auto",
    quick: bool = False,
    progress: bool | Watcher | None = None,
    **options: Any,
) -> Benchmark:
    """Two modules timed in pairs over the same inputs. With a reference both are verified first. Needs a GPU."""
    asked: dict[str, Any] = {"arguments": [_module_path(first)[0], _module_path(second)[0]], "device": device,
                             "quick": quick, "dim": dict(dims) if dims else None, **options}
    if reference is not None:
        asked = {**references.prepare(reference, inputs, dims).options(), **asked}
    return _benchmark(_jobs.run("compare", asked, progress))


def _benchmark(document: dict[str, Any]) -> Benchmark:
    verdict = document.get("verdict")
    passed = verdict.get("verdict") == "passed" if isinstance(verdict, dict) else bool(document.get("ok"))
    timed: dict[str, Any] = document.get("candidate") or next(iter(document.get("modules") or []), {})
    rivals = document.get("rivals") or (document.get("modules") or [])[1:]
    compared: dict[str, Any] = document.get("comparison") or next(
        (one["comparison"] for one in rivals if one.get("comparison")), {})
    return Benchmark(
        passed=passed,
        time_us=(timed.get("timing") or {}).get("median_us"),
        estimate_us=(document.get("estimate") or {}).get("us"),
        speedup=compared.get("speedup"),
        relation=compared.get("verdict"),
        rivals=rivals,
        document=document,
    )
