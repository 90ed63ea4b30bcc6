// The host code of a CUDA or Python file cannot be trusted: it could compute the result itself. So
// it runs only in a confined process without a GPU, with a recording CUDA runtime, at every shape
// the judge may use. The recorded launches become a module with the file's own kernels. Every shape
// is recorded in two processes with different device addresses: a value that changes with them is a
// pointer. Running the file on the GPU was the alternative; then its host code could cheat the
// clock. The cost: host code that reads tensors or makes a call that cannot be recorded is refused.
#include "verification/foreign_tier.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <numeric>
#include <set>

#include "arch/arch.h"
#include "binding/inputs.h"
#include "core/contains.h"
#include "core/text.h"
#include "host_recording/captive_worker.h"
#include "host_recording/foreign_build.h"
#include "host_recording/launcher_abi.h"
#include "host_recording/merge.h"
#include "host_recording/python_request.h"
#include "host_recording/recording_source.h"
#include "host_recording/stand_in.h"
#include "host_recording/weak_references.h"
#include "kernel/recorded.h"
#include "os/files.h"
#include "os/permissions.h"
#include "shapes/shapes.h"

namespace kw::verification {
namespace {

constexpr size_t kMostShapes = 64, kMostRestarts = 6, kPlaces = 2;
constexpr size_t kFarCalls = 2400, kFarShapes = 5, kFreshProcesses = 4;

struct Shape {
  task::Dims dims;
  bool demanded = false;
  graph::Graph graph;
};

/// Device attributes by CUDA's attribute numbers, for launchers that query them.
std::map<int, int64_t> attributes_of(const ports::DeviceInfo& device, const arch::Target& target) {
  const int64_t sms = device.sms > 0 ? device.sms : target.default_sms;
  const int64_t l2 = device.l2_bytes > 0 ? device.l2_bytes : target.default_l2_bytes;
  const int64_t memory = device.memory_bytes > 0 ? device.memory_bytes : int64_t{80} << 30;
  return {{-2, memory},
          {-1, 13000},
          {1, arch::kMaxThreadsPerBlock},
          {2, 1024},
          {3, 1024},
          {4, 64},
          {5, arch::kMaxGridX},
          {6, arch::kMaxGridYZ},
          {7, arch::kMaxGridYZ},
          {8, target.shared_per_block},
          {9, 65536},
          {10, arch::kWarpSize},
          {12, 65536},
          {13, int64_t{device.sm_clock_mhz} * 1000},
          {16, sms},
          {31, 1},
          {38, l2},
          {39, target.threads_per_sm},
          {41, 1},
          {75, target.major},
          {76, target.minor},
          {81, target.shared_per_sm},
          {82, target.registers_per_sm},
          {95, 1},
          {97, target.shared_per_block_optin},
          {106, target.blocks_per_sm},
          {111, 1024},
          {115, 1}};
}

std::string ended_text(const std::string& ended) {
  if (ended.find("SIGSYS") != std::string::npos)
    return "it started a process or a thread, or used the network or another process";
  if (ended.find("SIGSEGV") != std::string::npos || ended.find("SIGBUS") != std::string::npos)
    return "it accessed memory that does not exist; tensors are device pointers";
  if (ended.find("SIGXCPU") != std::string::npos || ended.find("did not finish") == 0)
    return "its host code did not finish";
  if (const size_t at = ended.find("undefined symbol: "); at != std::string::npos)
    return fmt::format("it calls {}, which is not a part of CUDA's runtime that can be recorded",
                       ended.substr(at + 18));
  return "its host code ended the process: " + ended;
}

/// Whether the process ended because of one shape, for example by a failed check.
bool about_the_shape(const std::string& ended) {
  return ended.find("exited") == 0 || ended.find("SIGABRT") != std::string::npos ||
         ended.find("SIGSEGV") != std::string::npos || ended.find("SIGFPE") != std::string::npos;
}

bool is_python(const std::string& path) { return path.ends_with(".py"); }

class Recorder {
 public:
  Recorder(const ForeignRequest& request, std::string text)
      : request_(request), text_(std::move(text)) {
    name_ = printable(std::filesystem::path(request.path).filename().string());
  }

  Result<CandidateText> run() { return is_python(request_.path) ? run_python() : run_cuda(); }

 private:
  Result<host_recording::PythonRequest> python_request() {
    KW_TRY(plan());
    host_recording::PythonRequest python;
    python.path = request_.path;
    python.text = text_;
    python.function = request_.import.function;
    python.reference_text = reference_text();
    python.task = request_.task;
    python.timeout_seconds = request_.timeout_seconds;
    python.tensors = abi_.tensors =
        host_recording::task_tensors(*request_.task, shapes_.front().graph);
    for (const Shape& shape : shapes_) {
      const bool timed = std::ranges::count(request_.task->benchmark_shapes, shape.dims) > 0;
      python.shapes.push_back({shape.dims, timed || &shape == &shapes_.front(), &shape.graph});
    }
    return python;
  }

  /// The reference's Python text, which says how a network is constructed.
  std::string reference_text() const {
    std::string path = request_.import.reference;
    if (const size_t named = path.find(".py:"); named != std::string::npos) path.resize(named + 3);
    if (os::is_directory(path)) path += "/reference.py";
    Result<std::string> text = os::read_file(path, cuda_import::kMaxForeignBytes);
    return is_python(path) && text ? std::move(text).value() : "";
  }

  /// The base addresses of device memory, one per process. A value that moves with the base is a
  /// pointer. One is where no host memory can be, the other where a real device's could be.
  static Result<std::array<uint64_t, kPlaces>> two_places() {
    const uint64_t first = KW_TRY(binding::secret_seed()) % 1000;
    return std::array{kDeviceMemory + first * kRegion, uint64_t{0}};
  }

  /// Finds the fastest configurations of Triton kernels on the GPU that will judge.
  Status tune(host_recording::PythonRequest& python) {
    if (!host_recording::wants_tuning(python.text) || request_.device.is_virtual) return Done{};
    host_recording::Tuned tuned = KW_TRY(host_recording::tune_python(python));
    if (!tuned.failed.empty())
      out_.notes.push_back("tuning on the GPU: " + printable(tuned.failed));
    python.tuned = std::move(tuned.choices);
    return Done{};
  }

  Result<CandidateText> run_python() {
    host_recording::StandInRequest request;
    request.python = KW_TRY(python_request());
    KW_TRY(tune(request.python));
    request.target = request_.target.empty() ? request_.device.target : request_.target;
    target_ = KW_TRY(arch::find_target(request.target));
    request.include_folders = request_.include_folders;
    request.attributes = attributes_of(request_.device, target_);
    request.attributes[-3] = first_output();
    host_recording::StandIn stand_in(std::move(request));
    std::vector<host_recording::PythonPlace> places;
    for (const uint64_t base : KW_TRY(two_places()))
      places.push_back({base, KW_TRY(binding::secret_seed()), base == 0});
    std::vector<host_recording::PythonCapture> captures = KW_TRY(stand_in.capture(places));
    if (stand_in.failed()) return compile_failed(*stand_in.failed());
    for (host_recording::PythonCapture& captured : captures) {
      if (!captured.refused.empty()) refuse(captured.refused);
      runs_.push_back(std::move(captured.cases));
    }
    ended_ = stand_in.ended();
    out_.notes.insert(out_.notes.end(), stand_in.notes().begin(), stand_in.notes().end());
    if (!out_.refused)
      transplant(fmt::format("{}, {}", name_, stand_in.compiler()), stand_in.ptx());
    return std::move(out_);
  }

  /// The function that the task's own harness calls: the name of the direction in the file's
  /// bindings.
  std::string bound_function() const {
    if (!request_.task->call || !host_recording::wants_torch(text_)) return "";
    std::string name = request_.import.launcher;
    if (name.empty()) name = request_.task->call->results.empty() ? "forward" : "backward";
    return text_.find("\"" + name + "\"") != std::string::npos ? name : "";
  }

  Result<host_recording::ForeignBuildRequest> matched(std::string& launcher) {
    launcher = bound_function();
    if (!launcher.empty()) {
      host_recording::HarnessCall call =
          host_recording::match_harness(*request_.task, shapes_.front().graph);
      abi_ = std::move(call.abi);
      out_.notes.push_back(fmt::format("'{}' is called as the task's folder calls it", launcher));
      return host_recording::binding_build(text_, name_, launcher, call.arguments);
    }
    const cuda_import::LauncherHead head = this->launcher();
    if (!head.problems.empty()) return input_error("{}: {}", name_, head.problems.front().message);
    launcher = head.name;
    abi_ = KW_TRY(host_recording::match_launcher(head.parameters, *request_.task,
                                                 shapes_.front().graph, numbers()));
    out_.notes.insert(out_.notes.end(), abi_.notes.begin(), abi_.notes.end());
    return host_recording::launcher_build(text_, name_, launcher);
  }

  Result<CandidateText> run_cuda() {
    KW_TRY(plan());
    std::string launcher;
    host_recording::ForeignBuildRequest build = KW_TRY(matched(launcher));
    const std::string target = request_.target.empty() ? request_.device.target : request_.target;
    target_ = KW_TRY(arch::find_target(target));
    build.target = target;
    build.include_folders = request_.include_folders;
    build.timeout_seconds = request_.timeout_seconds;
    build_.emplace(KW_TRY(host_recording::build_foreign(build)));
    if (build_->failed) return compile_failed(*build_->failed);
    if (!build_->weak.empty()) refuse(host_recording::asks_whether(build_->weak.front()));
    if (!out_.refused) KW_TRY(record());
    if (!out_.refused)
      transplant(fmt::format("{}, launcher {}, {}", name_, launcher, build_->compiler),
                 build_->ptx);
    return std::move(out_);
  }

  void refuse(std::string why, record::Stage stage = record::Stage::Static) {
    if (!out_.refused) out_.refused = record::Rejected{stage, std::move(why), std::nullopt, ""};
  }

  /// The launcher that the user named, the only one, or one with a usual name.
  cuda_import::LauncherHead launcher() const {
    cuda_import::LauncherHead head = cuda_import::find_launcher(text_, request_.import.launcher);
    if (head.problems.empty() || !request_.import.launcher.empty()) return head;
    for (const char* name : {"solve", "forward", "backward", "launch", "run"}) {
      cuda_import::LauncherHead named = cuda_import::find_launcher(text_, name);
      if (named.problems.empty()) return named;
    }
    return head;
  }

  std::map<std::string, std::string> numbers() const {
    std::map<std::string, std::string> out;
    for (const std::string& text : request_.import.inputs) {
      const size_t equals = text.find('=');
      if (equals != std::string::npos && text.find(':') > equals)
        out[std::string(trim(text.substr(0, equals)))] = trim(text.substr(equals + 1));
    }
    return out;
  }

  Status add_shape(const task::Dims& dims, bool demanded) {
    if (std::ranges::any_of(shapes_, [&](const Shape& one) { return one.dims == dims; }))
      return Done{};
    Result<graph::Graph> graph = request_.task->graph_at(dims);
    if (!graph) return demanded ? Status(std::move(graph).error()) : Status(Done{});
    shapes_.push_back({dims, demanded, std::move(graph).value()});
    return Done{};
  }

  /// Every shape that the judge may run, the task's own first.
  Status plan() {
    const task::Task& task = *request_.task;
    if (!request_.dims.empty()) {
      task::Dims one = task.benchmark_shapes.front();
      for (const auto& [name, value] : request_.dims) one[name] = value;
      KW_TRY(add_shape(one, true));
    }
    std::vector<shapes::ShapeLimits> limits = {shapes::virtual_limits()};
    if (!request_.device.is_virtual) limits.push_back(shapes::device_limits());
    for (const shapes::ShapeLimits& limit : limits) {
      const shapes::ShapePlan plan = KW_TRY(shapes::plan_shapes(task, limit));
      for (const task::Dims& dims : plan.demanded) KW_TRY(add_shape(dims, true));
      for (const shapes::ShapeCase& one : plan.cases) KW_TRY(add_shape(one.dims, one.demanded));
    }
    if (shapes_.size() > kMostShapes) shapes_.resize(kMostShapes);
    return Done{};
  }

  Result<CandidateText> compile_failed(const ports::CompileFailed& failed) {
    refuse(ports::first_error(failed), record::Stage::Compile);
    out_.compile_failed = failed;
    return std::move(out_);
  }

  /// The tensor that receives the first returned value.
  int64_t first_output() const {
    return std::ranges::find(abi_.tensors, kernel::Role::Output,
                             &host_recording::TensorLine::role) -
           abi_.tensors.begin();
  }

  Result<host_recording::CaptiveJob> job() {
    host_recording::CaptiveJob job;
    job.runtime = build_->folder.path() + "/libkwrecord.so";
    job.library = build_->library;
    job.entry = host_recording::entry_name(text_);
    job.readable = {build_->folder.path()};
    job.kernels = build_->kernels;
    job.attributes = attributes_of(request_.device, target_);
    job.memory_bytes = static_cast<uint64_t>(job.attributes.at(-2));
    job.attributes[-3] = first_output();
    for (const Shape& shape : shapes_)
      job.cases.push_back(
          KW_TRY(host_recording::call_at(abi_, *request_.task, shape.graph, shape.dims)));
    return job;
  }

  /// Records these shapes in one process, in this order. If it ends at one shape, a new process
  /// continues after that shape.
  Result<std::vector<host_recording::CaseRecord>> capture(host_recording::CaptiveJob job,
                                                          const std::vector<size_t>& order) {
    std::vector<host_recording::CaseRecord> all;
    const std::vector<host_recording::Case> cases = std::move(job.cases);
    const host_recording::ParamReads reads = host_recording::param_reads(build_->ptx);
    size_t done = 0;
    for (size_t start = 0; start < kMostRestarts && done < order.size(); ++start) {
      job.cases.clear();
      for (size_t i = done; i < order.size(); ++i) job.cases.push_back(cases[order[i]]);
      job.seed = KW_TRY(binding::secret_seed());
      const host_recording::Captured got =
          KW_TRY(host_recording::run_captive(job, request_.timeout_seconds));
      Result<std::vector<host_recording::CaseRecord>> read =
          host_recording::read_recording(got.text, reads);
      if (!read && got.ended.empty()) {
        refuse(read.error().message);
        return all;
      }
      const size_t begun = read ? std::min(read->size(), order.size() - done) : 0;
      for (size_t i = 0; i < begun; ++i) {
        (*read)[i].number = static_cast<int64_t>(order[done + i]);
        all.push_back(std::move((*read)[i]));
      }
      if (got.finished) break;
      const bool too_much =
          begun > 0 && !all.back().calls.empty() && !all.back().calls.back().refusals.empty();
      if (begun == 0 || !about_the_shape(got.ended)) {
        if (!too_much) refuse(ended_text(got.ended));
        return all;
      }
      ended_[order[done + begun - 1]] = ended_text(got.ended);
      done += begun;
    }
    return all;
  }

  /// Every shape is recorded by two processes, in the task's order and in another one.
  Status record() {
    host_recording::CaptiveJob made = KW_TRY(job());
    KW_TRY(os::write_file(made.runtime, host_recording::recorder_library()));
    std::vector<size_t> order(shapes_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (const uint64_t where : KW_TRY(two_places())) {
      if (out_.refused) return Done{};
      made.base = where;
      runs_.push_back(KW_TRY(capture(made, order)));
      KW_TRY(shuffle(order));
      // A shape that it gives up costs a process; those come last.
      std::ranges::stable_partition(order, [&](size_t i) { return is_served(i); });
    }
    return record_far(std::move(made));
  }

  /// Whether every process so far returned from its calls at this shape.
  bool is_served(size_t index) const {
    return std::ranges::all_of(runs_, [&](const std::vector<host_recording::CaseRecord>& run) {
      return std::ranges::any_of(run, [&](const host_recording::CaseRecord& one) {
        return one.number == static_cast<int64_t>(index) && !one.calls.empty() &&
               one.calls.back().finished;
      });
    });
  }

  static Status shuffle(std::vector<size_t>& order) {
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[KW_TRY(binding::secret_seed()) % i]);
    return Done{};
  }

  /// A third process makes many calls, with the smallest shapes and those the task asks for in any
  /// order: for launchers that count.
  Status record_far(host_recording::CaptiveJob job) {
    std::vector<std::pair<uint64_t, size_t>> sizes;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      uint64_t bytes = 0;
      for (const uint64_t one : job.cases[i].tensor_bytes) bytes += one;
      if (is_served(i)) sizes.emplace_back(shapes_[i].demanded ? 0 : bytes, i);
    }
    if (out_.refused || sizes.empty()) return Done{};
    std::ranges::sort(sizes);
    std::vector<size_t> order;
    for (const auto& [bytes, index] : sizes) order.push_back(index);
    if (order.size() > kFarShapes) order.resize(kFarShapes);
    job.far_calls = kFarCalls + KW_TRY(binding::secret_seed()) % (kFarCalls / 4);
    runs_.push_back(KW_TRY(capture(job, order)));
    // Variables that are set once, in the first call, see few worlds in these.
    job.far_calls = 0;
    for (size_t i = 0; i < kFreshProcesses && !out_.refused; ++i)
      runs_.push_back(KW_TRY(capture(job, {order.front()})));
    return Done{};
  }

  void settle_shape(size_t index, std::vector<host_recording::ShapeRecord>& served) {
    std::vector<host_recording::CaseRecord*> records;
    for (std::vector<host_recording::CaseRecord>& run : runs_) {
      for (host_recording::CaseRecord& one : run) {
        if (one.number == static_cast<int64_t>(index)) records.push_back(&one);
      }
    }
    const auto ended = ended_.find(index);
    if (records.size() < kPlaces)
      return skip(index, ended == ended_.end() ? "it was not recorded" : ended->second);
    host_recording::AgreedCall settled =
        host_recording::agree_on_call(records, host_recording::kCallsPerCase);
    const std::string at = task::dims_text(shapes_[index].dims);
    if (!settled.refused.empty())
      return refuse(at.empty() ? settled.refused : fmt::format("at {}: {}", at, settled.refused));
    if (settled.call == nullptr) {
      return skip(index, ended == ended_.end() ? settled.not_served : ended->second);
    }
    name_variants(index, *settled.call);
    served.push_back({shapes_[index].dims, settled.call});
  }

  /// What the candidate launches in other modes is not judged; the report says so.
  void name_variants(size_t index, const host_recording::RecordedCall& judged) {
    static constexpr std::array kModes = {"evaluation mode", "inference mode", "gradient mode"};
    for (const std::vector<host_recording::CaseRecord>& run : runs_) {
      for (const host_recording::CaseRecord& one : run) {
        const int64_t variant = one.number / host_recording::kVariantCases;
        if (variant < 1 || variant > static_cast<int64_t>(kModes.size()) || one.calls.empty() ||
            one.number % host_recording::kVariantCases != static_cast<int64_t>(index))
          continue;
        const host_recording::RecordedCall& call = one.calls.front();
        const bool same = call.finished && call.refusals.empty() &&
                          host_recording::difference_in_pieces(judged, call).empty();
        const char* const mode = kModes[static_cast<size_t>(variant - 1)];
        const std::string text =
            fmt::format("in {} it launches something else, which is not certified", mode);
        if (!same && !contains(variants_, text)) variants_.push_back(text);
      }
    }
  }

  void skip(size_t index, const std::string& why) {
    const std::string at = task::dims_text(shapes_[index].dims);
    if (shapes_[index].demanded)
      return refuse(at.empty() ? why : fmt::format("at {}: {}", at, why));
    out_.notes.push_back(fmt::format("not recorded at {}: {}", at, why));
  }

  void transplant(const std::string& origin, const Result<std::string>& ptx) {
    host_recording::TransplantRequest request;
    for (size_t i = 0; i < shapes_.size(); ++i) settle_shape(i, request.shapes);
    if (out_.refused) return;
    request.task = request_.task->name;
    request.origin = origin;
    if (is_python(request_.path)) request.origin += ", as made and without gradients";
    for (const std::string& variant : variants_) request.origin += "; " + variant;
    request.tensors = abi_.tensors;
    if (!ptx) return refuse("its kernels cannot be played back: " + ptx.error().message);
    request.ptx = *ptx;
    host_recording::Transplanted made = host_recording::transplant(request);
    out_.notes.insert(out_.notes.end(), made.notes.begin(), made.notes.end());
    if (!made.refused.empty()) return refuse(made.refused);
    out_.text = std::move(made.module);
  }

  // Bit 47 is set: host memory is never there, and a program's ordinary numbers are smaller.
  static constexpr uint64_t kDeviceMemory = uint64_t{1} << 47, kRegion = uint64_t{1} << 36;

  const ForeignRequest& request_;
  std::string text_, name_;
  std::vector<Shape> shapes_;
  host_recording::LauncherAbi abi_;
  arch::Target target_{};
  std::optional<host_recording::ForeignBuild> build_;
  std::vector<std::vector<host_recording::CaseRecord>> runs_;
  std::map<size_t, std::string> ended_;
  std::vector<std::string> variants_;  // modes in which a Python model launches something else
  CandidateText out_;
};

bool is_module_text(const std::string& text) {
  return text.find("//! kernelwright") != std::string::npos;
}

}  // namespace

bool is_foreign(const std::string& path, const std::string& text) {
  if (is_python(path)) return true;
  return path.ends_with(".cu") && !is_module_text(text) &&
         (text.find("<<<") != std::string::npos || text.find("cudaLaunch") != std::string::npos ||
          text.find("extern \"C\"") != std::string::npos || host_recording::wants_torch(text));
}

Result<CandidateText> read_candidate(const ForeignRequest& request) {
  CandidateText out;
  out.text = KW_TRY(os::read_file(request.path, cuda_import::kMaxForeignBytes));
  if (!is_foreign(request.path, out.text)) return out;
  if (is_python(request.path)) {
    CandidateText recorded = KW_TRY(Recorder(request, out.text).run());
    recorded.notes.insert(recorded.notes.begin(), "recorded; trust: foreign");
    return recorded;
  }
  const Result<reference::ImportReport> imported =
      reference::import_module(request.path, request.import);
  if (imported && imported->result.problems.empty()) {
    out.text = imported->result.module;
    out.notes = imported->result.notes;
    out.notes.insert(out.notes.begin(),
                     fmt::format("{} was imported: its launcher '{}' became a plan", imported->file,
                                 imported->result.launcher));
    return out;
  }
  const std::string why =
      imported ? imported->result.problems.front().message : imported.error().message;
  if (const std::string forbidden = os::why_forbidden(os::Runs::HostCode); !forbidden.empty())
    return input_error("{}: {}\n  Recording its launches means running it, but {}", request.path,
                       why, forbidden);
  CandidateText recorded = KW_TRY(Recorder(request, out.text).run());
  recorded.notes.insert(recorded.notes.begin(),
                        fmt::format("recorded, not imported ({}); trust: foreign", why));
  return recorded;
}

VerifyReport refused_report(const CandidateText& candidate, const task::Task& task,
                            const VerifyRequest& request) {
  VerifyReport report;
  report.module_name = printable(request.module_path.substr(request.module_path.rfind('/') + 1));
  report.trust = "foreign";
  report.task_name = task.name;
  report.task_hash = task::task_hash(task);
  report.task_notes = task.notes;
  record::Rejected verdict = *candidate.refused;
  gate::Repro repro{request.module_path, request.reference_path, request.task_options};
  verdict.repro = repro.line();
  report.gate.stages.push_back({verdict.stage, "rejected", {verdict.reason}, 0});
  report.gate.compile_failed = candidate.compile_failed;
  report.gate.verdict = std::move(verdict);
  return report;
}

}  // namespace kw::verification
