// The problem: a Python candidate decides its launches in Python, with PyTorch, extensions, Triton
// or CuTe. The choice: run it in a Python process without a GPU, in which tensors are only
// addresses, and record. Extensions it asks for are compiled here and loaded in the next run;
// several processes at different addresses must agree. The alternative, running it on a GPU, would
// let foreign code act inside the timed process. The cost: each round runs the candidate again; a
// process with PyTorch already imported is kept for that.
#include "host_recording/stand_in.h"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <future>
#include <set>

#include "compile/compiler_messages.h"
#include "core/contains.h"
#include "core/json_writer.h"
#include "core/one_line.h"
#include "core/text.h"
#include "host_recording/helpers.h"
#include "host_recording/merge.h"
#include "host_recording/recording_source.h"
#include "host_recording/weak_references.h"
#include "os/files.h"
#include "os/interrupt.h"
#include "sandbox/sandbox.h"
#include "torch_worker/torch_confinement.h"
#include "torch_worker/torch_python.h"

namespace kw::host_recording {
namespace {

constexpr size_t kMostExtensions = 16, kMostRounds = 4, kMostBeside = 256;
constexpr uint64_t kFarCalls = 640;
constexpr const char* kOtherExtensions =
    "the candidate requests different extensions in each process";
constexpr uint64_t kMostHeaderBytes = 1 << 20;
constexpr double kImportSeconds = 60;
const std::vector<std::string> kFiles = {"common",        "device",      "extension", "ptx",
                                         "triton_device", "cute_device", "world",     "stand_in"};
#ifndef __SANITIZE_ADDRESS__
constexpr uint64_t kPythonMemory = uint64_t{16} << 30;
#else
constexpr uint64_t kPythonMemory = 0;  // unlimited
#endif

/// Flags that change what is compiled. The candidate does not choose the others (targets, warnings,
/// paths).
bool takes_flag(const std::string& flag) {
  static constexpr const char* kWhole[] = {"--use_fast_math",
                                           "-use_fast_math",
                                           "-O0",
                                           "-O1",
                                           "-O2",
                                           "-O3",
                                           "--restrict",
                                           "--extra-device-vectorization"};
  static constexpr const char* kBegin[] = {
      "-D",           "-U",          "--fmad=",         "-fmad=",
      "--ftz=",       "-ftz=",       "--prec-div=",     "-prec-div=",
      "--prec-sqrt=", "-prec-sqrt=", "--maxrregcount=", "-maxrregcount="};
  if (std::ranges::any_of(kWhole, [&](const char* one) { return flag == one; })) return true;
  return std::ranges::any_of(kBegin,
                             [&](const char* one) {
                               return flag.starts_with(one) &&
                                      flag.size() > std::string_view(one).size();
                             }) &&
         flag.find_first_of("\n\"'`$;&|<>\\") == std::string::npos;
}

/// Flags that are ignored without a note: we set the same, or they change no instruction. Words
/// without a dash belong to the flag before them.
bool is_idle_flag(const std::string& flag) {
  static constexpr const char* kWhole[] = {"-g",   "-v",    "-w",    "-t",
                                           "-m64", "-fPIC", "-arch", "-Ofast"};
  static constexpr const char* kBegin[] = {"-std=",      "--std=",     "--expt-",
                                           "-expt-",     "-W",         "-lineinfo",
                                           "-Xptxas",    "-Xcompiler", "--ptxas-options",
                                           "-gencode",   "-arch=",     "--gpu-architecture",
                                           "--threads",  "-march=",    "--extended-",
                                           "-extended-", "-funroll",   "--generate-line-info",
                                           "-ffast-math"};
  return !flag.starts_with("-") ||
         std::ranges::any_of(kWhole, [&](const char* one) { return flag == one; }) ||
         std::ranges::any_of(kBegin, [&](const char* one) { return flag.starts_with(one); });
}

/// Sources and headers beside the candidate, by their paths relative to its folder.
std::vector<std::string> beside(const std::string& path) {
  static const std::set<std::string> kEndings = {".cu", ".cuh", ".cpp", ".cc",
                                                 ".h",  ".hpp", ".inl", ".py"};
  std::vector<std::string> found;
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  std::filesystem::recursive_directory_iterator at(
      folder, std::filesystem::directory_options::skip_permission_denied, failed);
  for (; !failed && at != std::filesystem::recursive_directory_iterator(); at.increment(failed)) {
    if (at.depth() > 2) at.disable_recursion_pending();
    // A link may point outside the folder.
    if (kEndings.count(at->path().extension().string()) == 0 || at->is_symlink(failed) ||
        !at->is_regular_file(failed))
      continue;
    found.push_back(at->path().lexically_relative(folder).string());
    if (found.size() >= kMostBeside) break;
  }
  return found;
}

/// The folders of the interpreter and its packages.
std::vector<std::string> python_folders(const std::string& python) {
  std::vector<std::string> folders;
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(python, failed);
  for (const std::filesystem::path& one : {std::filesystem::absolute(python), real}) {
    const std::filesystem::path root = one.parent_path().parent_path();
    if (!failed && root.has_relative_path()) folders.push_back(root.string());
  }
  return folders;
}

/// Whether all processes that ask for extensions ask for the same ones.
bool want_the_same(const std::vector<PythonAnswer>& answers) {
  std::set<std::set<std::string>> asked;
  for (const PythonAnswer& answer : answers) {
    if (!answer.json.contains("wants")) continue;
    std::set<std::string> keys;
    for (const Json& want : answer.json["wants"].items()) keys.insert(want["key"].as_string());
    asked.insert(std::move(keys));
  }
  return asked.size() < 2;
}

std::string ended_by(const os::ProcessResult& process, double timeout_seconds) {
  if (process.timed_out || process.signal == SIGXCPU)
    return fmt::format("its host code did not finish within {:.0f} s", timeout_seconds);
  if (process.signal == SIGSYS) {
    const std::string which = last_output(process);
    return "it started a process or a thread, or used the network or another process" +
           (which.starts_with("system call ") ? " (" + one_line(which) + ")" : "");
  }
  if (process.signal == SIGSEGV || process.signal == SIGBUS)
    return "it accessed memory that does not exist; tensors are device pointers";
  if (process.signal != 0) return fmt::format("its host code ended by signal {}", process.signal);
  const std::string said = last_output(process);
  return said.empty() ? "its host code ended the process"
                      : "its host code ended the process: " + one_line(said);
}

}  // namespace

bool imports(const std::string& text, std::string_view package) {
  for (const std::string_view line : split_lines(text)) {
    const std::string_view words = trim(line);
    if ((words.starts_with("import ") || words.starts_with("from ")) &&
        words.find(package) != std::string_view::npos)
      return true;
  }
  return false;
}

bool wants_tuning(const std::string& text) {
  return imports(text, "triton") && text.find("autotune") != std::string::npos;
}

ExtensionFlags choose_flags(const std::vector<std::string>& flags) {
  ExtensionFlags chosen;
  for (const std::string& flag : flags) {
    if (takes_flag(flag))
      chosen.taken.push_back(flag);
    else if (!is_idle_flag(flag))
      chosen.left_out.push_back(flag);
  }
  return chosen;
}

void StandIn::note(const std::string& text) {
  if (!contains(notes_, text)) notes_.push_back(text);
}

/// Extensions are requested in one run and called in the next; both runs are forks of one kept
/// process.
bool StandIn::keeps_process() const {
  const std::string& text = request_.python.text;
  return imports(text, "cpp_extension") && !imports(text, "triton") && !imports(text, "cutlass");
}

/// Asks in a fork of the kept process, and starts that process if there is none.
Result<StandIn::Answer> StandIn::ask_kept(const std::vector<std::string>& command, const Json& job,
                                          const sandbox::ForeignProcess& walls, Kept& kept) const {
  os::ChannelState state = os::ChannelState::Open;
  os::ProcessResult process;
  std::string frame;
  const double seconds = request_.python.timeout_seconds;
  if (kept == nullptr) {
    kept = KW_TRY(sandbox::start(walls, command));
    state = kept->send(worker_files(kFiles).dump());
    // The time to import PyTorch does not count against the candidate.
    if (state == os::ChannelState::Open)
      state = kept->receive(&frame, std::max(seconds, kImportSeconds));
    if (state != os::ChannelState::Open) process.err = kept->stderr_tail();
  }
  if (state == os::ChannelState::Open) state = kept->send(job.dump());
  if (state == os::ChannelState::Open) state = kept->receive(&frame, seconds);
  KW_TRY(os::check_interrupted());
  if (state == os::ChannelState::Open) {
    const size_t line = std::min(frame.find('\n'), frame.size());
    const Result<Json> ended = Json::parse(std::string_view(frame).substr(0, line));
    if (ended) {
      process.exit_code = static_cast<int>((*ended)["exit"].as_int());
      process.signal = static_cast<int>((*ended)["signal"].as_int());
      process.err = (*ended)["said"].as_string();
    }
    process.out = frame.substr(std::min(line + 1, frame.size()));
  } else {
    process.timed_out = state == os::ChannelState::TimedOut;
    process.exit_code = 1;
    kept.reset();
  }
  return read_answer(std::move(process));
}

Result<Json> StandIn::job_at(const PythonPlace& place) const {
  Json job = KW_TRY(python_job(request_.python, "stand_in"));
  Json attributes = Json::object(), extensions = Json::object();
  for (const auto& [which, value] : request_.attributes)
    attributes.set(std::to_string(which), value);
  for (const auto& [key, build] : builds_) {
    extensions.set(
        key, Json::object().set("library", build.library).set("kernels", json_of(build.kernels)));
  }
  const std::string runtime = folder_->path() + "/libkwrecord.so";
  job.set("runtime", runtime)
      .set("attributes", std::move(attributes))
      .set("extensions", std::move(extensions))
      .set("triton", imports(request_.python.text, "triton"))
      .set("cute", Json())
      .set("memory_bytes", request_.attributes.at(-2))
      .set("memory_limit", kPythonMemory)
      .set("base", place.base)
      .set("seed", place.seed >> 1)
      .set("far_calls", place.far ? kFarCalls + place.seed % (kFarCalls / 4) : 0)
      .set("module", place.far ? "model_new" : "candidate")
      .set("variables", place.far ? Json("1") : Json());
  return job;
}

// The candidate may read its interpreter, the system's libraries and the sources beside it.
os::Allowed StandIn::readable_by(const std::string& python) const {
  os::Allowed allowed = sandbox::system_files();
  for (const std::string& folder : python_folders(python)) allowed.running.push_back(folder);
  allowed.reading.push_back(folder_->path());  // also the built libraries
  const std::filesystem::path folder =
      std::filesystem::absolute(request_.python.path).parent_path();
  for (const std::string& file : beside(request_.python.path))
    allowed.reading.push_back((folder / file).string());
  return allowed;
}

Result<StandIn::Answer> StandIn::ask(const std::string& python, const PythonPlace& place,
                                     Kept& kept) const {
  Json job = KW_TRY(job_at(place));
  sandbox::ForeignProcess process{sandbox::Kind::PythonRecorder, readable_by(python)};
  // The compiler of CuTe DSL delivers PTX as a file, so its folder alone may be written.
  std::optional<os::ScratchFolder> written;
  if (imports(request_.python.text, "cutlass")) {
    written.emplace(KW_TRY(os::ScratchFolder::make("cute")));
    process.allowed.writing.push_back(written->path());
    const bool own = request_.target.size() == 5 && request_.target >= "sm_90";
    job.set("cute", Json::object()
                        .set("folder", written->path())
                        .set("target", request_.target + (own ? "a" : "")));
  }
  process.environment = {
      "HOME=/nowhere",          "USER=nobody",
      "LOGNAME=nobody",         "TMPDIR=" + (written ? written->path() : "/nowhere"),
      "OMP_NUM_THREADS=1",      "MKL_NUM_THREADS=1",
      "OPENBLAS_NUM_THREADS=1", "CUDA_VISIBLE_DEVICES=",
      "PYTHONWARNINGS=ignore"};
  if (keeps_process())
    return ask_kept({python, "-I", "-B", "-c", python_keep()}, job, process, kept);
  os::ProcessLimits limits;
  limits.timeout_seconds = request_.python.timeout_seconds;
  process.memory_bytes = kPythonMemory;
  limits.output_bytes = 256 << 20;
  job.set("files", worker_files(kFiles));
  return read_answer(
      KW_TRY(sandbox::run(process, {python, "-I", "-B", "-c", python_boot()}, job.dump(), limits)));
}

/// Combines the texts as torch.utils.cpp_extension does: functions for Python in C++, kernels in
/// CUDA.
ForeignBuildRequest StandIn::build_request(const Json& want) {
  ForeignBuildRequest made;
  made.file_name = std::filesystem::path(request_.python.path).filename().string();
  made.target = request_.target;
  made.torch = true;
  made.include_folders = request_.include_folders;
  made.timeout_seconds = request_.python.timeout_seconds;
  std::string bindings;
  for (const Json& function : want["functions"].items())
    bindings += fmt::format("  m.def(\"{0}\", &{0});\n", function.as_string());
  if (!bindings.empty())
    bindings = "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {\n" + bindings + "}\n";
  bool tail = false;
  for (const Json& source : want["sources"].items()) {
    if (source.items().size() != 2) continue;
    const std::string kind = source.items()[0].as_string();
    std::string text = source.items()[1].as_string();
    const bool cuda = kind.starts_with("cuda");
    const std::string name = fmt::format("{}{}", cuda ? "cuda" : "main", made.sources.size());
    const std::string shown = kind.ends_with("file") ? made.file_name : want["name"].as_string();
    if (kind == "cpp") text = "#include <torch/extension.h>\n#line 1\n" + text + "\n" + bindings;
    if (kind == "cuda")
      text = "#include <torch/types.h>\n#include <cuda.h>\n#include <cuda_runtime.h>\n#line 1\n" +
             text;
    if (cuda && !tail) {
      text = with_functions(text, compile::quotable(shown), builds_.empty());
      tail = true;
    }
    made.sources.push_back({name + (cuda ? ".cu" : ".cpp"), std::move(text)});
  }
  if (!tail)  // only C++ sources
    made.sources.push_back({"tail.cu", with_functions("", "tail", builds_.empty())});
  std::vector<std::string> flags;
  for (const Json& flag : want["flags"].items()) flags.push_back(flag.as_string());
  ExtensionFlags chosen = choose_flags(flags);
  made.flags = std::move(chosen.taken);
  for (const std::string& flag : chosen.left_out)
    note(
        fmt::format("kernelwright ignores the compiler flag {} of its extension", printable(flag)));
  const std::filesystem::path folder =
      std::filesystem::absolute(request_.python.path).parent_path();
  for (const std::string& file : beside(request_.python.path)) {
    if (file.ends_with(".py")) continue;
    if (Result<std::string> text = os::read_file((folder / file).string(), kMostHeaderBytes))
      made.headers.push_back({file, std::move(text).value()});
  }
  return made;
}

Status StandIn::build(const Json& want) {
  const std::string key = want["key"].as_string();
  if (builds_.count(key) != 0) return Done{};
  ForeignBuild made = KW_TRY(build_foreign(build_request(want)));
  failed_ = made.failed;
  for (const std::string& name : made.weak) weak_.push_back(name);
  if (!failed_) {  // move it to where a running process may read it
    const std::string path = fmt::format("{}/{}.so", folder_->path(), builds_.size());
    std::error_code lost;
    std::filesystem::rename(made.library, path, lost);
    if (lost) return environment_error("moving a library: " + lost.message());
    made.library = path;
  }
  builds_.emplace(key, std::move(made));
  order_.push_back(key);
  return Done{};
}

/// Runs the processes in parallel: most of their time is the import of PyTorch.
Result<std::vector<StandIn::Answer>> StandIn::ask_all(const std::string& python,
                                                      const std::vector<PythonPlace>& places) {
  kept_.resize(places.size());
  std::vector<std::future<Result<Answer>>> running;
  for (size_t i = 0; i < places.size(); ++i)
    running.push_back(
        std::async([&, i] { return ask(python, places[i], kept_[i]); }));
  std::vector<Result<Answer>> said;
  for (std::future<Result<Answer>>& one : running) said.push_back(one.get());
  std::vector<Answer> answers;
  for (Result<Answer>& one : said) answers.push_back(KW_TRY(std::move(one)));
  return answers;
}

PythonCapture StandIn::read(const Answer& answer) {
  PythonCapture captured;
  captured.refused = one_line(answer.json["refused"].as_string());
  if (!weak_.empty()) captured.refused = asks_whether(weak_.front());
  if (!answer.json.contains("recording"))
    captured.refused = ended_by(answer.process, request_.python.timeout_seconds);
  for (const auto& [number, why] : answer.json["ended"].members()) {
    if (const auto index = parse_int(number))
      ended_[static_cast<size_t>(*index)] = one_line(why.as_string());
  }
  for (const auto& [entry, text] : answer.json["images"].members())
    images_.emplace(entry, text.as_string());
  for (const Json& text : answer.json["notes"].items()) note(one_line(text.as_string()));
  ParamReads reads;
  for (const auto& [entry, text] : images_) reads.merge(param_reads(text));
  for (const auto& [key, build] : builds_) reads.merge(param_reads(build.ptx));
  Result<std::vector<CaseRecord>> cases =
      read_recording(answer.json["recording"].as_string(), reads);
  if (!cases && captured.refused.empty()) captured.refused = cases.error().message;
  if (cases) captured.cases = std::move(cases).value();
  for (const CaseRecord& one : captured.cases) {
    for (const RecordedCall& call : one.calls)
      wants_helpers_ |= std::ranges::any_of(call.steps, needs_helper);
  }
  return captured;
}

Result<std::vector<PythonCapture>> StandIn::capture(const std::vector<PythonPlace>& places) {
  const auto python = torch_worker::find_torch_python();
  if (python.path.empty())
    return environment_error("recording a Python candidate: " +
                             torch_worker::no_torch(python).message);
  torch_worker::announce_execution(request_.python.path, request_.python.text);
  folder_.emplace(KW_TRY(os::ScratchFolder::make("foreign")));
  KW_TRY(os::write_file(folder_->path() + "/libkwrecord.so", recorder_library()));
  std::vector<Answer> answers = KW_TRY(ask_all(python.path, places));
  // A process asks for all extensions it knows when it first calls one. All processes must ask for
  // the same.
  for (size_t round = 0; answers[0].json.contains("wants"); ++round) {
    if (round == kMostRounds || builds_.size() > kMostExtensions || !want_the_same(answers))
      return std::vector<PythonCapture>{{{}, kOtherExtensions}};
    for (const Json& want : answers[0].json["wants"].items()) {
      if (builds_.size() <= kMostExtensions) KW_TRY(build(want));
      if (failed_) return std::vector<PythonCapture>{};
    }
    answers = KW_TRY(ask_all(python.path, places));
  }
  std::vector<PythonCapture> captured;
  for (const Answer& answer : answers) {
    if (const std::string& error = answer.json["error"].as_string();
        !error.empty() && !answer.ready)
      return environment_error("recording a Python candidate: " + one_line(error));
    captured.push_back(answer.json.contains("wants") ? PythonCapture{{}, kOtherExtensions}
                                                     : read(answer));
  }
  return captured;
}

std::string StandIn::compiler() const {
  std::vector<std::string> names;
  if (!builds_.empty()) names.push_back(builds_.begin()->second.compiler);
  for (const auto& [package, name] : {std::pair("triton", "Triton"), std::pair("cutlass", "CuTe")})
    if (!images_.empty() && imports(request_.python.text, package)) names.emplace_back(name);
  return join(names, ", ");
}

Result<std::string> StandIn::ptx() const {
  std::vector<std::string> texts;
  for (const std::string& key : order_) texts.push_back(builds_.at(key).ptx);
  for (const auto& [entry, text] : images_) texts.push_back(text);
  // The first extension already contains the helper kernels.
  if (wants_helpers_ && builds_.empty()) texts.push_back(KW_TRY(build_helpers(request_.target)));
  if (texts.size() == 1) return texts.front();
  return merge_ptx(texts);
}

}  // namespace kw::host_recording
