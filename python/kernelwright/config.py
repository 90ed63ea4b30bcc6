"""Settings of a synthesis other than prompt, reference and target. Frozen; defaults are those of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

STAGES = ("interview", "codegen", "correctness", "performance", "polish")
DEFAULT_MODEL = "anthropic:claude-sonnet-4-6"
ESCALATION_MODEL = "claude-opus-4-7"
DEFAULT_SHAPES: tuple[tuple[int, ...], ...] = ((0,), (1,), (127,), (128,), (1024,), (4097,))


def _option(default: Any, name: str = "", own_default: bool = False) -> Any:
    """A field for an option of `kernelwright synthesize`, by default of the same name.

    own_default: the default is not the option's, so it is passed on only when it is changed.
    """
    return field(default=default, metadata={"option": name, "own_default": own_default})


@dataclass(frozen=True)
class RetryBudgets:
    """How often each stage may ask a model. The built-in proposer asks no model and ignores them."""

    interview: int = 1
    codegen: int = 3
    correctness: int = 3
    performance: int = 3
    polish: int = 1

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ValueError(f"RetryBudgets.{name} is {value!r}; it must be a whole number, 0 or more")


@dataclass(frozen=True)
class StageModels:
    """Which model each stage asks: "provider:model"; without a provider, Anthropic's."""

    interview: str = DEFAULT_MODEL
    codegen: str = DEFAULT_MODEL
    correctness: str = DEFAULT_MODEL
    performance: str = DEFAULT_MODEL
    polish: str = DEFAULT_MODEL

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, str) or not value:
                raise ValueError(f'StageModels.{name} is {value!r}; it must be a "provider:model"')


@dataclass(frozen=True)
class SynthesisConfig:
    """Options of `synthesize`.

    Only fields that differ from their defaults are passed to kernelwright. It chooses the others itself.

    Fields of the first group have the names that other generators use:

    retry_budgets, stage_models, escalate_to_opus_on_bust, opus_model: settings of the stages that ask a model.
    perf_target_speedup_vs_torch_compile: required speedup. A slower kernel is shipped too, with `below_target`.
    correctness_rtol, correctness_atol: a bound *in addition to* the judge's own error bound, never instead of it;
    None: only the judge's own bound.
    correctness_shapes: further shapes of the first input to judge; the judge always draws its own, harder shapes too.
    performance_shape_n: shape to optimise for, as elements of the largest input with equal dims; `dims` is exact.
    opus_retry_budget_codegen, opus_retry_budget_performance: attempts of the stronger model, when it may be asked.
    artifact_root: folder for runs; None: the user's data folder.
    request_timeout_seconds: time limit of each compile and each run of a candidate, when it is not the default.
    benchmark_warmup_iterations, benchmark_timed_iterations, nvcc_flags: accepted, without effect and with a warning.
    The clock decides by statistics how often it measures. A module is compiled in the same way for judging and
    timing; flags such as --use_fast_math would make it another kernel. Use `precision` to allow less precision.

    The second group is ours: device ("auto", "gpu", "vgpu"), compiler, proposer ("builtin", "llm", "hybrid"), seconds
    (search time), candidates, goal (fraction of the floor at which the search stops), precision ("tf32", "flush",
    "deterministic"), seed (replays; never certified), quick, cross_check, baselines, budget (USD), and `options` for
    any other option of `kernelwright synthesize` by its name.
    """

    retry_budgets: RetryBudgets = field(default_factory=RetryBudgets)
    stage_models: StageModels = field(default_factory=StageModels)
    escalate_to_opus_on_bust: bool = _option(False, "escalate")
    opus_model: str = _option(ESCALATION_MODEL, "escalation_model", own_default=True)
    opus_retry_budget_codegen: int = 1
    opus_retry_budget_performance: int = 1
    perf_target_speedup_vs_torch_compile: float = _option(1.0, "perf_target")
    correctness_rtol: float | None = None
    correctness_atol: float | None = None
    correctness_shapes: tuple[tuple[int, ...], ...] = DEFAULT_SHAPES
    performance_shape_n: int = _option(16_777_216, "elements", own_default=True)
    artifact_root: str | Path | None = _option(None, "out")  # noqa: RUF009
    benchmark_warmup_iterations: int = 10
    benchmark_timed_iterations: int = 100
    nvcc_flags: tuple[str, ...] = ("-O3", "--use_fast_math")
    request_timeout_seconds: float = _option(120, "timeout", own_default=True)

    device: str = _option("auto")
    compiler: str = _option("")
    proposer: str = _option("")
    seconds: float | None = _option(None, "time")
    candidates: int | None = _option(None)
    goal: float | None = _option(None)
    precision: str = _option("")
    seed: int | None = _option(None)
    quick: bool = _option(False)
    cross_check: str = _option("")
    baselines: tuple[str, ...] | None = _option(None, "versus")
    budget: float | None = _option(None)
    options: Mapping[str, Any] = field(default_factory=dict)

    def changed(self, name: str) -> bool:
        """Whether a field differs from its default."""
        return bool(getattr(self, name) != getattr(SynthesisConfig(), name))

    def engine_options(self) -> dict[str, Any]:
        """These settings as options of `kernelwright synthesize`."""
        options = {
            one.metadata["option"] or one.name: _plain(getattr(self, one.name))
            for one in fields(self)
            if "option" in one.metadata and (self.changed(one.name) or not one.metadata["own_default"])
        }
        options = {name: value for name, value in options.items() if value != ""}
        options.update(self._stage_options())
        options.update(self.options)
        return {name: value for name, value in options.items() if value is not None and value is not False}

    def _stage_options(self) -> dict[str, Any]:
        options: dict[str, Any] = {}
        retries = _differences(self.retry_budgets, RetryBudgets())
        for stage in ("codegen", "performance"):
            if self.changed(f"opus_retry_budget_{stage}"):
                retries[f"escalated_{stage}"] = getattr(self, f"opus_retry_budget_{stage}")
        models = _differences(self.stage_models, StageModels())
        if retries:
            options["retries"] = retries
        if models:
            options["stage_model"] = models
        return options


def _plain(value: Any) -> Any:
    """A field's value as the library takes it. An empty tuple means "none"."""
    if isinstance(value, tuple):
        return list(value) or ["none"]
    return str(value) if isinstance(value, Path) else value


def _differences(value: Any, default: Any) -> dict[str, Any]:
    return {
        one.name: getattr(value, one.name)
        for one in fields(value)
        if getattr(value, one.name) != getattr(default, one.name)
    }
