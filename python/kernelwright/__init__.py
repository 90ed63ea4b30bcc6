"""kernelwright: turns a PyTorch reference into a verified CUDA kernel and, on a GPU, times it.

    from kernelwright import synthesize

    def rms_norm(x):
        return x * (x.float().pow(2).mean(dim=-1, keepdim=True) + 1e-5).rsqrt().to(x.dtype)

    result = synthesize("fp16 RMSNorm over the last dimension", rms_norm)
    y = result.kernel(x)

Importing the package is cheap: torch, NumPy and the library are loaded only when needed.
"""

from kernelwright._version import __version__
from kernelwright.api import bench, compare, synthesize, verify
from kernelwright.config import RetryBudgets, StageModels, SynthesisConfig
from kernelwright.errors import CandidateError, InputError, InternalError, KernelwrightError, MachineError
from kernelwright.kernel import Kernel
from kernelwright.results import (
    Benchmark,
    CorrectnessReport,
    KernelArtifact,
    KernelSpec,
    PerformanceReport,
    StageTrace,
    SynthesisReport,
    SynthesisResult,
    TensorArg,
    Verdict,
)
from kernelwright.runs import Run

__all__ = [
    "Benchmark", "CandidateError", "CorrectnessReport", "InputError", "InternalError", "Kernel", "KernelArtifact",
    "KernelSpec", "KernelwrightError", "MachineError", "PerformanceReport", "RetryBudgets", "Run", "StageModels",
    "StageTrace", "SynthesisConfig", "SynthesisReport", "SynthesisResult", "TensorArg", "Verdict", "__version__",
    "bench", "compare", "synthesize", "verify",
]
