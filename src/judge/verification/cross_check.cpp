// If we read a reference differently from PyTorch, every verdict is worthless. So both evaluate it
// once at up to three small shapes with every input family, and a difference stops the judge.
// PyTorch runs on the CPU first; a GPU is used only when the CPU disagrees or cannot run it.
// Trusting our reader alone was the alternative; it would hide our own bugs. The cost is seconds to
// start torch, so agreement is cached by task, program, torch version and graphs. What torch cannot
// evaluate is a note, not a failure.
#include "verification/cross_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/contains.h"
#include "core/hash.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "graph/cost.h"
#include "inputs/families.h"
#include "os/files.h"
#include "os/own_files.h"
#include "shapes/shapes.h"
#include "single_run/json.h"

namespace kw::verification {
namespace {

using shapes::ShapeCase;
using torch_worker::TorchKind;

constexpr const char* kFormat = "cross-check 1";
constexpr size_t kOtherShapes = 2;  // in addition to one of the task's own
constexpr double kSeconds = 30;     // for one evaluation in torch; shapes are small
constexpr uint64_t kSeed = 1;       // fixed, so that the result can be repeated

bool has_elements(const ShapeCase& shape) {
  for (const auto* list : {&shape.graph.inputs, &shape.graph.outputs}) {
    for (const graph::NamedNode& one : *list) {
      if (graph::count_of(shape.graph[one.node].shape).value() == 0) return false;
    }
  }
  return true;
}

Error too_large(const task::Task& task, const shapes::ShapePlan& plan) {
  std::string smallest;
  double least = std::numeric_limits<double>::infinity();
  for (const task::Dims& dims : plan.demanded) {
    const Result<graph::Graph> graph = task.graph_at(dims);
    const double bytes = graph ? graph::cost_of(*graph).read_bytes : least;
    if (bytes >= least) continue;
    least = bytes;
    smallest = fmt::format(": the smallest is {} ({} of inputs)", task::dims_text(dims),
                           human_bytes(static_cast<uint64_t>(bytes)));
  }
  return input_error("every shape of the task is too large for the cross-check here{}", smallest);
}

/// The smallest of the task's own shapes, and the smallest derived ones.
Result<std::vector<ShapeCase>> small_shapes(const task::Task& task) {
  shapes::ShapePlan plan = KW_TRY(shapes::plan_shapes(task, shapes::virtual_limits()));
  std::stable_sort(plan.cases.begin(), plan.cases.end(), [](const auto& a, const auto& b) {
    return a.demanded != b.demanded ? a.demanded : a.work < b.work;
  });
  std::vector<ShapeCase> chosen;
  for (ShapeCase& shape : plan.cases) {
    const bool wanted = chosen.empty() || !shape.demanded;
    if (wanted && has_elements(shape)) chosen.push_back(std::move(shape));
    if (chosen.size() > kOtherShapes) break;
  }
  if (chosen.empty() && plan.cases.empty() && !plan.demanded.empty()) return too_large(task, plan);
  if (chosen.empty()) return input_error("no shape of the task has elements to compare");
  return chosen;
}

/// An operation that PyTorch lacks on this device says nothing about the reference.
bool is_about_the_device(const torch_worker::TorchOutcome& outcome) {
  if (outcome.kind != TorchKind::Raised) return false;
  constexpr const char* kWords[] = {
      "not implemented for", "NotImplementedError", "CUDA", "cuda", "same device", "NVIDIA"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](const char* word) {
    return outcome.message.find(word) != std::string::npos;
  });
}

bool is_the_references_fault(const torch_worker::TorchOutcome& outcome) {
  return outcome.kind == TorchKind::Raised || outcome.kind == TorchKind::BadReturn ||
         outcome.kind == TorchKind::BadSource;
}

class Checker {
 public:
  Checker(const task::Task& task, const CrossCheckOptions& options, const CrossCheckTorch& torch)
      : task_(task), options_(options), torch_(torch) {}

  Result<CrossCheckReport> run();

 private:
  std::string path_for(const torch_worker::FoundPython& python,
                       const std::vector<ShapeCase>& shapes) const;
  bool remembered(const std::string& path);
  void remember(const std::string& path) const;
  Result<torch_worker::CrossChecked> evaluate(const ShapeCase& shape,
                                              const std::vector<tensor::HostTensor>& inputs,
                                              bool edge);
  Result<bool> compare(const ShapeCase& shape, const std::string& family, bool own);
  Result<bool> compare_all(const std::vector<ShapeCase>& shapes);
  bool is_cpu_rounding(const ShapeCase& shape, const std::string& family,
                       const std::vector<torch_worker::Mismatch>& mismatches) const;
  void note_missed(const ShapeCase& shape, const std::string& family, const std::string& missed);
  Error parted(const ShapeCase& shape, const std::string& family,
               const torch_worker::Mismatch& mismatch) const;
  Result<CrossCheckReport> not_checked(const std::string& why);

  const task::Task& task_;
  const CrossCheckOptions& options_;
  const CrossCheckTorch& torch_;
  CrossCheckReport report_;
  bool refused_ = false;  // the cache, because other users can change it
  bool on_cpu_ = true;    // the last evaluation was on the CPU
};

/// The cache file. Its name hashes everything the agreement depends on: the reference, our reading
/// of it, this program and torch.
std::string Checker::path_for(const torch_worker::FoundPython& python,
                              const std::vector<ShapeCase>& shapes) const {
  if (options_.folder.empty()) return "";
  std::string key =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", kFormat, task::task_hash(task_), options_.version,
                  os::file_size(os::self_path()), python.path, python.version);
  for (const ShapeCase& shape : shapes) key += graph::print(shape.graph) + "\n";
  return fmt::format("{}/cross-check/{}.json", options_.folder, hash_hex(key));
}

bool Checker::remembered(const std::string& path) {
  if (path.empty() || options_.mode == CrossCheckMode::Always || !os::exists(path)) return false;
  const Result<std::string> text = os::read_own_file(path, uint64_t{1} << 20);
  if (!text) {
    if (text.error().blame == Blame::Environment)
      report_.notes.push_back("agreement is not cached: " + text.error().message);
    refused_ = text.error().blame == Blame::Environment;
    return false;
  }
  const Result<Json> json = Json::parse(*text);
  if (!json || (*json)["format"].as_string() != kFormat) return false;
  report_.state = CrossCheckState::Remembered;
  report_.torch = (*json)["torch"].as_string();
  for (const Json& shape : (*json)["shapes"].items()) report_.shapes.push_back(shape.as_string());
  for (const Json& one : (*json)["families"].items()) report_.families.push_back(one.as_string());
  for (const Json& note : (*json)["notes"].items()) report_.notes.push_back(note.as_string());
  report_.beyond_tolerance = (*json)["beyond_tolerance"].as_string();
  return true;
}

// If the cache cannot be written, the check repeats each time; the result is the same.
void Checker::remember(const std::string& path) const {
  if (path.empty() || refused_) return;
  Json json = to_json(report_);
  json.set("format", kFormat);
  if (os::make_directories(path.substr(0, path.rfind('/'))))
    static_cast<void>(os::write_file(path, json.dump(true), os::Sync::No).has_value());
}

Result<torch_worker::CrossChecked> Checker::evaluate(const ShapeCase& shape,
                                                     const std::vector<tensor::HostTensor>& inputs,
                                                     bool edge) {
  CallOptions options{"cpu", kSeconds, edge};
  on_cpu_ = true;
  torch_worker::CrossChecked checked = KW_TRY(torch_.evaluate(task_, shape.dims, inputs, options));
  // A reference may depend on the device of its tensors. Candidates run on a GPU, so a GPU decides.
  const bool parted = checked.outcome.kind == TorchKind::Ok && !checked.agree();
  if (!parted && !is_about_the_device(checked.outcome)) return checked;
  options.device = "cuda";
  torch_worker::CrossChecked again = KW_TRY(torch_.evaluate(task_, shape.dims, inputs, options));
  on_cpu_ = again.outcome.kind == TorchKind::NoCuda;
  return on_cpu_ ? checked : again;
}

/// PyTorch's CPU kernels keep statistics of half types in half; its CUDA kernels use fp32. Inputs
/// that cancel make this difference large. Other families still show a difference of meaning.
bool Checker::is_cpu_rounding(const ShapeCase& shape, const std::string& family,
                              const std::vector<torch_worker::Mismatch>& mismatches) const {
  constexpr std::string_view kCancelling[] = {"offset", "sorted", "equal",      "denormal",
                                              "ties",   "mix",    "magnitudes", "structured"};
  if (!on_cpu_ || !contains(kCancelling, family)) return false;
  return std::ranges::all_of(mismatches, [&](const torch_worker::Mismatch& mismatch) {
    return std::ranges::any_of(shape.graph.outputs, [&](const graph::NamedNode& output) {
      const tensor::DType dtype = shape.graph[output.node].dtype;
      return output.name == mismatch.output &&
             (dtype == tensor::DType::Fp16 || dtype == tensor::DType::Bf16);
    });
  });
}

Error Checker::parted(const ShapeCase& shape, const std::string& family,
                      const torch_worker::Mismatch& mismatch) const {
  const std::string at = shape.dims.empty() ? "" : " at " + task::dims_text(shape.dims);
  return input_error(
      "{}: PyTorch and kernelwright read this reference differently, so it cannot be used to "
      "judge{}, {} inputs: {}",
      task_.source_path, at, family, torch_worker::mismatch_text(mismatch));
}

/// One place is enough.
void Checker::note_missed(const ShapeCase& shape, const std::string& family,
                          const std::string& missed) {
  if (!report_.beyond_tolerance.empty()) return;
  const std::string at = shape.dims.empty() ? "" : task::dims_text(shape.dims) + ", ";
  report_.beyond_tolerance =
      fmt::format("PyTorch itself misses the task's atol/rtol at {}{}: {}", at, family, missed);
}

/// Whether PyTorch could evaluate the reference. `own`: the shape is one of the task's own.
Result<bool> Checker::compare(const ShapeCase& shape, const std::string& family, bool own) {
  const std::vector<tensor::HostTensor> inputs =
      KW_TRY(inputs::draw_inputs(task_, shape.graph, shape.dims, family, kSeed));
  const torch_worker::CrossChecked checked = KW_TRY(evaluate(shape, inputs, family != "normal"));
  if (!checked.mismatches.empty() && checked.outcome.kind == TorchKind::Ok) {
    if (!is_cpu_rounding(shape, family, checked.mismatches))
      return parted(shape, family, checked.mismatches.front());
    report_.notes.push_back(fmt::format("{}, {} inputs: PyTorch rounds differently on the CPU",
                                        task::dims_text(shape.dims), family));
    return true;
  }
  if (checked.agree()) {
    if (!checked.missed.empty()) note_missed(shape, family, checked.missed);
    return true;
  }
  const std::string what = torch_worker::outcome_text(checked.outcome);
  if (own && is_the_references_fault(checked.outcome) && !is_about_the_device(checked.outcome)) {
    std::string message = fmt::format(
        "{}: PyTorch cannot evaluate this reference at its own "
        "inputs: {}",
        task_.source_path, what);
    if (!checked.outcome.traceback.empty()) message += "\n" + checked.outcome.traceback;
    return input_error(std::move(message));
  }
  report_.notes.push_back(
      shape.dims.empty() ? what : fmt::format("{}: {}", task::dims_text(shape.dims), what));
  return false;
}

/// Whether at least the task's own shape could be compared.
Result<bool> Checker::compare_all(const std::vector<ShapeCase>& shapes) {
  report_.families = inputs::families_for(task_);
  for (size_t i = 0; i < shapes.size(); ++i) {
    bool all = true;
    for (const std::string& family : report_.families) {
      all = all && KW_TRY(compare(shapes[i], family, i == 0));
      if (!all) break;
    }
    if (!all && i == 0) return false;
    if (all) report_.shapes.push_back(task::dims_text(shapes[i].dims));
  }
  return true;
}

Result<CrossCheckReport> Checker::not_checked(const std::string& why) {
  report_.state = CrossCheckState::NotChecked;
  if (options_.mode == CrossCheckMode::Always)
    return environment_error("--cross-check always: " + why);
  report_.families.clear();
  report_.notes = {why};
  return report_;
}

Result<CrossCheckReport> Checker::run() {
  if (options_.mode == CrossCheckMode::Never) return not_checked("--cross-check never");
  const auto start = std::chrono::steady_clock::now();
  const torch_worker::FoundPython python = torch_.find();
  if (python.path.empty()) {
    const bool known = options_.mode == CrossCheckMode::Always || !python.forbidden.empty();
    return not_checked(known ? torch_worker::no_torch(python).message
                             : std::string("no PyTorch here"));
  }
  const std::vector<ShapeCase> shapes = KW_TRY(small_shapes(task_));
  const std::string path = path_for(python, shapes);
  if (!remembered(path)) {
    report_.torch = python.version;
    if (!KW_TRY(compare_all(shapes))) return not_checked(join(report_.notes, "; "));
    report_.state = CrossCheckState::Agrees;
    remember(path);
  }
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report_;
}

const char* state_name(CrossCheckState state) {
  constexpr const char* kNames[] = {"agrees", "remembered", "not checked"};
  return kNames[static_cast<size_t>(state)];
}

}  // namespace

Result<CrossCheckMode> cross_check_mode(const std::string& name) {
  if (name == "auto") return CrossCheckMode::Auto;
  if (name == "always") return CrossCheckMode::Always;
  if (name == "never") return CrossCheckMode::Never;
  return input_error("--cross-check: '{}' is not one of auto, always, never", name);
}

std::string CrossCheckReport::text() const {
  if (state == CrossCheckState::NotChecked) return "not cross-checked: " + join(notes, "; ");
  std::string line = "PyTorch";
  if (!torch.empty()) line += " " + torch;
  line += state == CrossCheckState::Agrees
              ? " reads the reference as kernelwright does"
              : " reads the reference as kernelwright does (remembered)";
  std::vector<std::string> at;
  for (const std::string& shape : shapes) {
    if (!shape.empty()) at.push_back(shape);
  }
  if (!at.empty()) line += ", at " + join(at, "; ");
  if (!beyond_tolerance.empty()) line += "; " + beyond_tolerance;
  return line;
}

void fields(auto& v, CrossCheckReport& r) {
  v("state", computed(state_name(r.state)))("torch", r.torch)("shapes", r.shapes);
  v("families", r.families)("notes", r.notes)("seconds", r.seconds);
  v("beyond_tolerance", r.beyond_tolerance, Zero::Omit);
}

Json to_json(const CrossCheckReport& report) { return record_json(report); }

CrossCheckTorch cross_check_torch(ports::Oracle& oracle, torch_worker::TorchProcess& torch) {
  return {
      torch_worker::find_torch_python,
      [&oracle, &torch](const task::Task& task, const task::Dims& dims,
                        const std::vector<tensor::HostTensor>& inputs, const CallOptions& options) {
        return cross_check_task(task, dims, inputs, oracle, torch, options);
      }};
}

Result<CrossCheckReport> cross_check_reference(const task::Task& task,
                                               const CrossCheckOptions& options,
                                               const CrossCheckTorch& torch) {
  return Checker(task, options, torch).run();
}

}  // namespace kw::verification
