"""Results of jobs, as frozen dataclasses. None means unknown on this machine; no value is a guess."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kernelwright.tensors import BY_NAME

if TYPE_CHECKING:
    from kernelwright.kernel import Kernel

T = TypeVar("T")


def from_document(kind: type[T], document: Mapping[str, Any] | None) -> T | None:
    """Reads the fields of the dataclass from a JSON object; None if there is none. Other members stay in `document`."""
    if document is None:
        return None
    known = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    values = {name: value for name, value in document.items() if name in known and value is not None}
    return kind(**values, **({"document": dict(document)} if "document" in known else {}))


@dataclass(frozen=True)
class StageTrace:
    """One stage: the number of attempts, the model it asked, the cost."""

    stage_name: str = ""
    attempts: int = 0
    succeeded: bool = False
    model_used: str = "none"
    tokens_in: int = 0
    tokens_out: int = 0
    cache_read_tokens: int = 0
    latency_seconds: float = 0.0
    provider: str = ""
    degraded: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SynthesisReport:
    """The run as a whole."""

    run_id: str = ""
    spec_name: str = ""
    stages_executed: list[str] = field(default_factory=list)
    stage_traces: list[StageTrace] = field(default_factory=list)
    total_llm_tokens_in: int = 0
    total_llm_tokens_out: int = 0
    total_cost_usd: float | None = None
    wall_time_seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)
    document: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> SynthesisReport:
        """From report.json's `report`."""
        traces = [from_document(StageTrace, one) or StageTrace() for one in document.get("stage_traces", [])]
        return from_document(cls, {**document, "stage_traces": traces}) or cls()


@dataclass(frozen=True)
class CorrectnessReport:
    """The verdict of the judge. `document` also has the numbers of the error bound."""

    passed: bool = False
    max_abs_err: float | None = None
    max_rel_err: float | None = None
    shapes_tested: list[str] = field(default_factory=list)
    shape_results: list[dict[str, Any]] = field(default_factory=list)
    failing_inputs: list[Any] = field(default_factory=list)
    document: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class PerformanceReport:
    """The measured times. Without a GPU there are none: `estimate_us` is set, and speedups are None."""

    speedup_vs_reference: float | None = None
    speedup_vs_torch_compile: float | None = None
    speedup_vs_best: float | None = None
    achieved_tflops: float | None = None
    achieved_gbps: float | None = None
    occupancy: float | None = None
    regs_per_thread: int | None = None
    spill_bytes: int | None = None
    time_us: float | None = None
    estimate_us: float | None = None
    floor_us: float | None = None
    of_floor: float | None = None
    below_target: bool | None = None
    baselines: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    document: dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class TensorArg:
    """A tensor of a kernel: dtype and symbolic shape."""

    name: str
    dtype: str
    shape: tuple[str, ...]
    layout_hint: str = "row_major"
    optional: bool = False

    def __post_init__(self) -> None:
        if self.dtype not in BY_NAME:
            raise ValueError(f"{self.name!r}: {self.dtype!r} is not one of {', '.join(BY_NAME)}")


@dataclass(frozen=True)
class KernelSpec:
    """The frozen specification that all stages with a model use."""

    name: str
    target_arch: str
    inputs: tuple[TensorArg, ...]
    outputs: tuple[TensorArg, ...]
    precision_tolerance: Mapping[str, float | None] = field(default_factory=dict)
    optimization_priority: str = "balanced"
    notes: str = ""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> KernelSpec:
        """From a run's kernel_spec.json."""
        def listed(name: str) -> tuple[TensorArg, ...]:
            return tuple(TensorArg(one["name"], one["dtype"], tuple(map(str, one["shape"])),
                                   one.get("layout_hint", "any")) for one in document.get(name, []))

        return cls(document["name"], document.get("target_arch", ""), listed("inputs"), listed("outputs"),
                   dict(document.get("precision_tolerance") or {}), document.get("optimization_priority", "balanced"),
                   document.get("notes") or "")

    def to_json(self) -> dict[str, Any]:
        """The document that `of` reads."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class KernelArtifact:
    """The shipped module."""

    kernel_cu_path: Path
    design: str = ""
    tunes: Mapping[str, int] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The text of the module."""
        return self.kernel_cu_path.read_text()


@dataclass(frozen=True)
class SynthesisResult:
    """What `synthesize` returns, whether a kernel passed or not.

    `kernel(x)`, also called `kernel_callable`, runs the shipped kernel on tensors; it is None when none was shipped.
    """

    passed: bool
    run_id: str
    artifacts_dir: str
    report: SynthesisReport
    failed_stage: str | None = None
    failure_reason: str | None = None
    correctness: CorrectnessReport | None = None
    performance: PerformanceReport | None = None
    artifact: KernelArtifact | None = None
    document: dict[str, Any] = field(default_factory=dict, repr=False)
    make_kernel: Callable[[KernelArtifact], Kernel] | None = field(default=None, repr=False, compare=False)
    _made: list[Kernel] = field(default_factory=list, repr=False, compare=False)

    @property
    def kernel(self) -> Kernel | None:
        """The shipped kernel as a callable; None when none was shipped."""
        if not self._made and self.artifact is not None and self.make_kernel is not None:
            self._made.append(self.make_kernel(self.artifact))
        return self._made[0] if self._made else None

    @property
    def kernel_callable(self) -> Kernel | None:
        """The same as `kernel`."""
        return self.kernel

    @property
    def kernel_path(self) -> Path | None:
        """The shipped module's file."""
        return self.artifact.kernel_cu_path if self.artifact is not None else None

    @property
    def spec(self) -> KernelSpec | None:
        """The specification that models received; None if no model was asked."""
        path = Path(self.artifacts_dir) / "inputs" / "spec.json"
        if not self.artifacts_dir or not path.is_file():
            return None
        agreed = json.loads(path.read_text()).get("kernel_spec")
        return KernelSpec.of(agreed) if agreed else None

    @classmethod
    def of(
        cls, document: dict[str, Any], make_kernel: Callable[[KernelArtifact], Kernel] | None = None
    ) -> SynthesisResult:
        """From report.json."""
        return cls(
            passed=bool(document.get("passed")),
            run_id=document.get("run_id", ""),
            artifacts_dir=document.get("artifacts_dir", ""),
            report=SynthesisReport.of(document.get("report") or {}),
            failed_stage=document.get("failed_stage"),
            failure_reason=document.get("failure_reason"),
            correctness=from_document(CorrectnessReport, document.get("correctness")),
            performance=from_document(PerformanceReport, document.get("performance")),
            artifact=_artifact(document),
            document=document,
            make_kernel=make_kernel,
        )


def _artifact(document: Mapping[str, Any]) -> KernelArtifact | None:
    path = document.get("kernel")
    if not path:
        return None
    full = Path(path)
    if not full.is_absolute():
        inside = Path(document.get("artifacts_dir", "")) / full
        full = inside if inside.exists() else full
    return KernelArtifact(full, document.get("design") or "", dict(document.get("tunes") or {}))


@dataclass(frozen=True)
class Verdict:
    """What `verify` returns: true when the module passed."""

    passed: bool
    verdict: str
    document: dict[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        return self.passed


@dataclass(frozen=True)
class Benchmark:
    """What `bench` and `compare` return. Without a GPU `time_us` is None and `estimate_us` is set.

    `speedup` and `relation` (FASTER, SAME, SLOWER, AMBIGUOUS) compare it with the first of `rivals`.
    """

    passed: bool
    time_us: float | None
    estimate_us: float | None
    speedup: float | None
    relation: str | None
    rivals: list[dict[str, Any]] = field(repr=False)
    document: dict[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        return self.passed
