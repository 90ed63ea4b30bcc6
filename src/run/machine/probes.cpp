// `doctor` must say which tools this machine has and what their absence costs. A file of the right
// name proves little: libraries fail to load, counters are forbidden, an nvidia-smi has no driver.
// So each probe runs its program, and the tool counts as found when it answers.
// The alternative, to look only for files, takes milliseconds. Running them costs up to 20 s per
// program, and up to 60 s for the trial profile, when they hang. Facts that several probes share
// are found once, in Examination.
#include "machine/probes.h"

#include <fmt/core.h>

#include <cctype>

#include "core/text.h"
#include "cuda/driver.h"
#include "gpu/gpu_device.h"
#include "os/files.h"
#include "os/process.h"
#include "sandbox/properties.h"
#include "sandbox/sandbox.h"

namespace kw::machine {

namespace {

constexpr double kAskSeconds = 20;
constexpr double kProfileSeconds = 60;
constexpr char kTrialMetric[] = "sm__cycles_elapsed.max";

// Returns standard output and error of a program; nullopt when it did not run or failed.
std::optional<std::string> ask(const std::vector<std::string>& argv, double seconds = kAskSeconds) {
  os::ProcessLimits limits;
  limits.timeout_seconds = seconds;
  limits.output_bytes = 1 << 20;
  const auto result = os::run_process(argv, {}, limits);
  if (!result || result->timed_out || result->signal != 0 || result->exit_code != 0)
    return std::nullopt;
  return result->out + result->err;
}

void found(Tool& tool, const std::string& version, const std::string& path) {
  tool.state = ToolState::Found;
  tool.version = version;
  tool.path = path;
}

void probe_program(Tool& tool, const std::string& program) {
  const std::string path = compile::find_cuda_program(program);
  if (path.empty()) return;
  const auto answer = ask({path, "--version"});
  if (answer) {
    found(tool, find_version(*answer), path);
  } else {
    tool.note = path + " was found but does not answer --version";
  }
}

void probe_nvrtc(Examination& examination, Tool& tool) {
  const auto& nvrtc = examination.compilers().nvrtc;
  if (nvrtc) found(tool, nvrtc->version, nvrtc->library);
}

void probe_nvcc(Examination& examination, Tool& tool) {
  const auto& nvcc = examination.compilers().nvcc;
  if (nvcc) found(tool, nvcc->version, nvcc->path);
}

void probe_clang(Examination& examination, Tool& tool) {
  const auto& clang = examination.compilers().clang;
  if (!clang) return;
  found(tool, clang->version, clang->path);
  const auto major = parse_int(clang->version.substr(0, clang->version.find('.')));
  if (major && *major < compile::kOldestClang) {
    tool.state = ToolState::Missing;
    tool.note = fmt::format("clang {} is too old; {} or newer is needed", clang->version,
                            compile::kOldestClang);
  }
}

void probe_headers(Examination& examination, Tool& tool) {
  const compile::FoundHeaders& headers = examination.compilers().headers;
  if (!headers.runtime) return;
  found(tool, "", join(headers.folders, ":"));
  std::vector<std::string> missing;
  if (!headers.crt) missing.emplace_back("crt");
  if (!headers.cccl) missing.emplace_back("cccl (cub, cuda/std)");
  if (missing.empty()) return;
  tool.state = ToolState::Limited;
  tool.note = "without " + join(missing, " and ");
}

void probe_driver(Examination& examination, Tool& tool) {
  const Result<DriverFacts>& driver = examination.driver();
  if (driver) {
    found(tool, driver->version, driver->path);
  } else {
    tool.note = driver.error().message;
  }
}

void probe_gpu(Examination& examination, Tool& tool) {
  const Result<ports::DeviceInfo>& gpu = examination.gpu();
  if (gpu) {
    found(tool, gpu->target, gpu->uuid);
    tool.note = fmt::format("{}, {} SMs, {}", gpu->name, gpu->sms,
                            human_bytes(static_cast<uint64_t>(gpu->memory_bytes)));
  } else {
    tool.note = gpu.error().message;
  }
}

void probe_smi(Examination&, Tool& tool) {
  const std::string path = compile::find_cuda_program("nvidia-smi");
  if (path.empty()) return;
  const auto answer = ask({path, "--query-gpu=driver_version", "--format=csv,noheader"});
  if (answer) {
    found(tool, find_version(*answer), path);
  } else {
    tool.note = path + " was found but cannot reach a driver";
  }
}

void probe_ncu(Examination&, Tool& tool) { probe_program(tool, "ncu"); }
void probe_cuobjdump(Examination&, Tool& tool) { probe_program(tool, "cuobjdump"); }
void probe_nvdisasm(Examination&, Tool& tool) { probe_program(tool, "nvdisasm"); }
void probe_sanitizer(Examination&, Tool& tool) { probe_program(tool, "compute-sanitizer"); }

// The driver often forbids counters although ncu is installed, so one real kernel is profiled.
void probe_counters(Examination& examination, Tool& tool) {
  const std::string ncu = compile::find_cuda_program("ncu");
  if (ncu.empty() || !examination.gpu()) {
    tool.note = ncu.empty() ? "ncu is missing" : "there is no GPU";
    return;
  }
  os::ProcessLimits limits;
  limits.timeout_seconds = kProfileSeconds;
  const auto run = os::run_process({ncu, "--metrics", kTrialMetric, "--launch-count", "1",
                                    "--target-processes", "all", os::self_path(), "gpu-canary"},
                                   {}, limits, {sandbox::also_unconfined("gpu")});
  if (!run || run->timed_out) {
    tool.note = run ? "ncu did not finish within a minute" : run.error().message;
    return;
  }
  tool.note = counters_problem(run->out + run->err);
  if (tool.note.empty()) found(tool, "", ncu);
}

void probe_python(Examination&, Tool& tool) {
  const std::string path = os::find_program("python3");
  if (path.empty()) return;
  if (const auto answer = ask({path, "--version"})) found(tool, find_version(*answer), path);
}

void probe_torch(Examination& examination, Tool& tool) {
  const torch_worker::FoundPython& python = examination.torch_python();
  if (!python.path.empty()) return found(tool, python.version, python.path);
  tool.note = python.forbidden.empty() ? join(python.looked_at, "; ") : python.forbidden;
}

// The metadata answers in milliseconds; importing the package takes seconds.
void probe_triton(Examination& examination, Tool& tool) {
  const std::string& with_torch = examination.torch_python().path;
  const std::string python = with_torch.empty() ? os::find_program("python3") : with_torch;
  if (python.empty()) return;
  const auto answer =
      ask({python, "-I", "-c", "import importlib.metadata as m; print(m.version('triton'))"});
  if (answer) found(tool, find_version(*answer), python);
}

std::string defined_number(const std::string& text, const std::string& name) {
  const auto at = text.find("#define " + name);
  if (at == std::string::npos) return "?";
  const auto first = text.find_first_of("0123456789", at + 8 + name.size());
  const auto last = text.find_first_not_of("0123456789", first);
  return first == std::string::npos ? "?" : text.substr(first, last - first);
}

void probe_cutlass(Examination&, Tool& tool) {
  const std::string path = os::env_path("CUTLASS_PATH");
  const std::string include = os::env_path("CUTLASS_INCLUDE_DIR");
  std::vector<std::string> tried;
  for (const std::string& folder : {include, path.empty() ? "" : path + "/include", path}) {
    if (folder.empty()) continue;
    tried.push_back(folder);
    if (!os::exists(folder + "/cutlass/cutlass.h")) continue;
    const auto text = os::read_file(folder + "/cutlass/version.h");
    const std::string version = text ? defined_number(*text, "CUTLASS_MAJOR") + "." +
                                           defined_number(*text, "CUTLASS_MINOR") + "." +
                                           defined_number(*text, "CUTLASS_PATCH")
                                     : "";
    return found(tool, version, folder);
  }
  tool.note = tried.empty() ? "neither $CUTLASS_PATH nor $CUTLASS_INCLUDE_DIR is set"
                            : "no cutlass/cutlass.h in " + join(tried, ", ");
}

/// The kernel's means to confine what executes other people's code.
void probe_walls(Examination&, Tool& tool) {
  std::vector<std::string> there, missing;
  for (const sandbox::Property& one : sandbox::properties_on(sandbox::this_kernel())) {
    if (one.provider.empty())
      missing.push_back(fmt::format("{}: {}", one.name, one.missing));
    else
      there.push_back(fmt::format("{} by {}", one.name, one.provider));
  }
  found(tool, "", join(there, "; "));
  if (!missing.empty()) tool.state = ToolState::Limited;
  tool.note = join(missing, "; ");
}

constexpr ToolRow kToolRows[] = {
    {"nvrtc", "NVRTC", probe_nvrtc,
     "the fastest compiler (30-60 ms per kernel), and cubins without nvcc",
     "pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl, or a CUDA toolkit; "
     "$KERNELWRIGHT_NVRTC names one elsewhere"},
    {"nvcc", "nvcc", probe_nvcc, "nothing if NVRTC is found, except candidates with host code",
     "install a CUDA toolkit and set $CUDA_HOME"},
    {"clang", "clang", probe_clang,
     "nothing if NVRTC is found; without CUDA it compiles for the virtual GPU",
     "apt-get install clang-19 (19 or newer)"},
    {"cuda-headers", "CUDA headers", probe_headers,
     "modules that include CUB or cooperative_groups; with clang, our own device header is enough "
     "for others",
     "pip install nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt, or a CUDA toolkit"},
    {"driver", "CUDA driver", probe_driver, "running on a GPU; the virtual GPU works without it",
     "install NVIDIA's driver (in a container: --gpus all)"},
    {"gpu", "GPU", probe_gpu,
     "times, and the final judgement of results; everything else works on the virtual GPU",
     "run on a machine with an NVIDIA GPU of compute capability 7.5 or newer"},
    {"nvidia-smi", "nvidia-smi", probe_smi, "clock rates, and which other processes use the GPU",
     "it comes with NVIDIA's driver"},
    {"ncu", "Nsight Compute", probe_ncu, "hardware counters beside the virtual GPU's",
     "install nsight-compute, or a CUDA toolkit"},
    {"ncu-counters", "hardware counters", probe_counters,
     "measured counters; the virtual GPU's exact counts remain",
     "any one of: run as root or with CAP_SYS_ADMIN; load the driver with 'options nvidia "
     "NVreg_RestrictProfilingToAdminUsers=0' "
     "in /etc/modprobe.d and reboot; in a container add --cap-add SYS_ADMIN"},
    {"cuobjdump", "cuobjdump", probe_cuobjdump, "machine code where nvdisasm is missing",
     "pip install nvidia-cuda-cuobjdump, or a CUDA toolkit"},
    {"nvdisasm", "nvdisasm", probe_nvdisasm,
     "machine code (SASS): whether a method can be seen in it stays unknown",
     "pip install nvidia-cuda-nvdisasm, triton (it brings one), or a CUDA toolkit"},
    {"compute-sanitizer", "compute-sanitizer", probe_sanitizer,
     "another check for memory errors on the GPU",
     "pip install nvidia-cuda-sanitizer-api, or a CUDA toolkit"},
    {"python3", "Python", probe_python, "references written in Python", "apt-get install python3"},
    {"torch", "PyTorch", probe_torch, "cross-checks against PyTorch and its times as baselines",
     "pip install torch"},
    {"triton", "Triton", probe_triton, "Triton kernels as candidates",
     "pip install triton (it comes with torch)"},
    {"walls", "sandbox", probe_walls,
     "processes that run foreign text are not started, unless --unconfined names their kind",
     "Linux 5.13 or newer with Landlock and seccomp (boot option lsm=landlock,…)"},
    {"cutlass", "CUTLASS", probe_cutlass, "modules that include CUTLASS or CuTe",
     "git clone https://github.com/NVIDIA/cutlass and set $CUTLASS_PATH to it"},
};

}  // namespace

std::span<const ToolRow> tool_rows() { return kToolRows; }

std::string find_version(const std::string& text) {
  std::string first;
  for (size_t at = 0; at < text.size(); ++at) {
    if (std::isdigit(static_cast<unsigned char>(text[at])) == 0) continue;
    const size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    std::string number = text.substr(at, end - at);
    while (number.back() == '.') number.pop_back();
    const bool dotted = number.find('.') != std::string::npos;
    if (dotted && at > 0 && text[at - 1] == 'V') return number;
    if (dotted && first.empty()) first = number;
    at = end;
  }
  return first;
}

std::string counters_problem(const std::string& said) {
  if (said.find("ERR_NVGPUCTRPERM") != std::string::npos) {
    return "the driver forbids them to this user (ERR_NVGPUCTRPERM)";
  }
  const auto error = said.find("==ERROR==");
  if (error != std::string::npos)
    return "a trial profile failed: " + said.substr(error, said.find('\n', error) - error);
  if (said.find(kTrialMetric) == std::string::npos) return "a trial profile saw no kernel";
  return said.find("n/a", said.find(kTrialMetric)) == std::string::npos
             ? ""
             : "a trial profile read no value";
}

const compile::Toolbox& Examination::compilers() {
  if (!compilers_) compilers_ = compile::find_tools();
  return *compilers_;
}

const Result<DriverFacts>& Examination::driver() {
  if (driver_) return *driver_;
  const auto opened = cuda::Driver::open();
  if (opened) {
    driver_.emplace(DriverFacts{"CUDA " + (*opened)->version_text(), (*opened)->path()});
  } else {
    driver_.emplace(opened.error());
  }
  return *driver_;
}

const Result<ports::DeviceInfo>& Examination::gpu() {
  if (gpu_) return *gpu_;
  if (!driver()) {
    gpu_.emplace(environment_error("there is no driver"));
    return *gpu_;
  }
  const auto device = gpu::GpuDevice::open(0);
  if (device) {
    gpu_.emplace((*device)->info());
  } else {
    gpu_.emplace(device.error());
  }
  return *gpu_;
}

const torch_worker::FoundPython& Examination::torch_python() {
  if (!torch_python_) torch_python_ = torch_worker::find_torch_python();
  return *torch_python_;
}

Tool examine_row(const ToolRow& row, Examination& examination) {
  Tool tool{row.name, row.title, ToolState::Missing, "", "", "", row.cost, row.remedy};
  row.probe(examination, tool);
  return tool;
}

std::optional<Tool> examine_one(const std::string& name) {
  Examination examination;
  for (const ToolRow& row : tool_rows()) {
    if (name == row.name) return examine_row(row, examination);
  }
  return std::nullopt;
}

std::vector<std::string> tool_names() {
  std::vector<std::string> names;
  for (const ToolRow& row : tool_rows()) names.emplace_back(row.name);
  return names;
}

const char* tool_state_name(ToolState state) {
  switch (state) {
    case ToolState::Found:
      return "found";
    case ToolState::Limited:
      return "limited";
    case ToolState::Missing:
      return "missing";
  }
  return "missing";
}

}  // namespace kw::machine
