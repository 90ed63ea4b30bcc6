// The problem: a robust-kbench folder multiplies out lists of configurations, and one folder may
// hold several computations. The choice: a configuration with the same constants and inputs becomes
// a shape of one task. Otherwise it becomes a variant, a task of its own. The alternative, a task
// per configuration, would make dozens of nearly equal tasks. The cost: every configuration is
// traced, so at most kMostVariants variants are read. Problems of the folder are reported and do
// not stop the reading.
#include "task_formats/load_rkb.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "core/contains.h"
#include "core/text.h"
#include "frontend/backward.h"
#include "graph/graph.h"
#include "os/file_error.h"
#include "os/files.h"
#include "os/inside.h"
#include "task_formats/load_source.h"
#include "task_formats/rkb_call.h"
#include "task_formats/rkb_source.h"

namespace kw::task_formats {
namespace {

constexpr uint64_t kMostConfigBytes = 1 << 20;
/// The loader traces every variant, so their number is limited.
constexpr size_t kMostVariants = 32;
constexpr const char* kTooLarge = "and integers have 64 bits";

struct RkbPlace {
  std::string folder;
  bool backward = false;

  std::string file(const char* kind, const char* ending) const {
    return fmt::format("{}/{}_{}.{}", folder, kind, backward ? "backward" : "forward", ending);
  }
};

/// The folder and direction that a path names; empty if it is not a robust-kbench path.
std::optional<RkbPlace> place_of(const std::string& path) {
  std::string bare = path;
  while (bare.size() > 1 && bare.ends_with("/")) bare.pop_back();
  const size_t slash = bare.rfind('/');
  const std::string last = bare.substr(slash + 1);
  if (last == "func_forward.py" || last == "func_backward.py") {
    const RkbPlace place{slash == std::string::npos ? "." : bare.substr(0, slash),
                         last == "func_backward.py"};
    return os::exists(bare) ? std::optional(place) : std::nullopt;
  }
  if (!os::is_directory(bare) || os::exists(bare + "/task.toml")) return std::nullopt;
  for (const bool backward : {false, true}) {
    const RkbPlace place{bare, backward};
    if (os::exists(place.file("func", "py"))) return place;
  }
  return std::nullopt;
}

std::string folder_name(const RkbPlace& place) {
  return place.folder.substr(place.folder.rfind('/') + 1);
}

/// An integer that the JSON reader stored as a float because 64 bits cannot hold it.
bool too_large(const Json& value) {
  return value.is_number() && !value.is_int() && std::fabs(value.as_double()) >= 0x1p63;
}

/// The keyword arguments of the call: given values, then the signature's defaults; unknown keys are
/// left out.
Json settled(const Json& given, const Signature& signature, const std::string& callee,
             const std::string& where, std::vector<FolderProblem>* problems) {
  Json all = Json::object();
  for (const std::string& name : signature.names) {
    const auto fallback = signature.defaults.find(name);
    if (given.contains(name) && too_large(given[name]))
      problems->push_back(
          {"config-contradiction",
           fmt::format("'{}' of {} is {:.4g}, {}", name, where, given[name].as_double(), kTooLarge),
           true});
    if (given.contains(name))
      all.set(name, given[name]);
    else if (fallback != signature.defaults.end())
      all.set(name, fallback->second);
  }
  for (const auto& [key, value] : given.members()) {
    if (all.contains(key)) continue;
    if (signature.any_keyword) {
      all.set(key, value);
      continue;
    }
    problems->push_back({"config-contradiction",
                         fmt::format("{} takes no '{}', which {} gives it{}", callee, key, where,
                                     did_you_mean(key, signature.names)),
                         true});
  }
  for (const std::string& name : signature.required) {
    if (!all.contains(name))
      problems->push_back(
          {"config-contradiction",
           fmt::format("{} needs '{}', and {} does not give it", callee, name, where), true});
  }
  return all;
}

/// One message per subject: a problem of one configuration is usually a problem of most.
void add_once(std::vector<FolderProblem> found, std::vector<FolderProblem>* problems) {
  for (FolderProblem& one : found) {
    const auto same = [&](const FolderProblem& other) {
      const std::string head = one.message.substr(0, one.message.find(", "));
      return other.rule == one.rule && other.message.starts_with(head);
    };
    if (std::ranges::none_of(*problems, same)) problems->push_back(std::move(one));
  }
}

/// All facts about a folder that do not depend on a single configuration.
struct Reading {
  RkbPlace place;
  RkbFile file;
  RkbConfigs configs;
  std::vector<FolderProblem> problems;
};

Result<RkbConfigs> read_configs(const RkbPlace& place, std::vector<FolderProblem>* problems) {
  const std::string path = place.file("config", "json");
  const std::string name = path.substr(path.rfind('/') + 1);
  if (!os::exists(path)) {
    problems->push_back(
        {"config-missing", fmt::format("there is no {}: only defaults are known", name), true});
    const RkbConfig defaults{Json::object(), Json::object(), "the defaults"};
    return RkbConfigs{{defaults}, {defaults}};
  }
  const std::string text = KW_TRY(os::read_inside(place.folder, name, kMostConfigBytes));
  return parse_rkb_configs(text, name, problems);
}

Result<Reading> open_folder(const RkbPlace& place) {
  Reading reading{place, {}, {}, {}};
  reading.file = KW_TRY(read_rkb_file(place.file("func", "py"), &reading.problems));
  reading.configs = KW_TRY(read_configs(place, &reading.problems));
  for (auto* list : {&reading.configs.timed, &reading.configs.tested}) {
    for (RkbConfig& config : *list) {
      std::vector<FolderProblem> found;
      config.init = settled(config.init, reading.file.init, "Model()", config.where, &found);
      config.input =
          settled(config.input, reading.file.get_inputs, "get_inputs()", config.where, &found);
      add_once(std::move(found), &reading.problems);
    }
  }
  return reading;
}

bool same_inputs(const graph::Graph& graph, const task::Task& task) {
  return std::ranges::equal(graph.inputs, task.inputs,
                            [](const auto& a, const auto& b) { return a.name == b.name; });
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Makes tasks from the configurations, one after another.
class Variants {
 public:
  Variants(Reading& reading, const LoadOptions& options)
      : reading_(reading), options_(options), names_(reading.file, all_configs()) {}

  Result<RkbFolder> run();

 private:
  struct Variant {
    task::Task task;
    std::string name;
    std::set<std::string> fixed;  // fixed parts of its configurations
    std::vector<task::Dims> timed, tested;
  };

  std::vector<const RkbConfig*> all_configs() const {
    std::vector<const RkbConfig*> all;
    for (const RkbConfig& config : reading_.configs.timed) all.push_back(&config);
    for (const RkbConfig& config : reading_.configs.tested) all.push_back(&config);
    return all;
  }
  Status place(const RkbConfig& config, bool timed);
  Result<task::Task> load(const RkbConfig& config);
  std::string fixed_part(const RkbConfig& config, const task::Task& task) const;
  static task::Dims dims_of(const RkbInts& ints, const task::Task& task);
  bool same_graph(const task::Task& one, const task::Task& other, const task::Dims& at) const;
  bool fits(const Variant& variant, const RkbConfig& config) const;
  std::string variant_name(const RkbConfig& config) const;
  void add_shape(Variant& variant, const RkbConfig& config, bool timed);
  void finish(Variant& variant) const;
  Error why_not() const;

  Reading& reading_;
  const LoadOptions& options_;
  RkbNames names_;
  std::vector<Variant> variants_;
  std::optional<Error> refused_;
  std::string refused_where_;
};

Result<task::Task> Variants::load(const RkbConfig& config) {
  LoadRequest request;
  request.function = "Model";
  request.dims = options_.dims;
  request.inputs = KW_TRY(parse_input_options(options_.inputs));
  request.other_reader = options_.other_reader;
  request.evaluation = options_.evaluation;
  request.spare_inputs = options_.spare_inputs;
  return load_source(names_.text(reading_.file, config), reading_.file.source->path, request);
}

/// The part that configurations of one task share: everything except its dims.
std::string Variants::fixed_part(const RkbConfig& config, const task::Task& task) const {
  std::string text;
  for (const auto& [name, value] : names_.ints(config)) {
    if (!task.dims.count(name)) text += fmt::format("{}={};", name, value);
  }
  for (const Json* side : {&config.init, &config.input}) {
    for (const auto& [key, value] : side->members()) {
      if (value.is_int()) continue;
      text += fmt::format("{}=", key);
      if (!value.is_array()) text += value.dump();
      for (const Json& item : value.items()) text += item.is_int() ? "#" : item.dump();
      text += ";";
    }
  }
  return text;
}

task::Dims Variants::dims_of(const RkbInts& ints, const task::Task& task) {
  task::Dims dims = task.benchmark_shapes.front();
  for (auto& [name, value] : dims) {
    const auto given = ints.find(name);
    if (given != ints.end()) value = given->second;
  }
  return dims;
}

bool Variants::same_graph(const task::Task& one, const task::Task& other,
                          const task::Dims& at) const {
  const bool alike = std::ranges::equal(one.inputs, other.inputs, {}, &task::TensorSpec::name,
                                        &task::TensorSpec::name);
  if (!alike || one.dims.size() != other.dims.size()) return false;
  const auto first = one.graph_at(at), second = other.graph_at(at);
  return first && second && graph::print(*first) == graph::print(*second);
}

/// Names the difference from the first variant: constants, or dims if only those differ:
/// "stride=2".
std::string Variants::variant_name(const RkbConfig& config) const {
  if (variants_.empty()) return "";
  const RkbConfig& first = *all_configs().front();
  const task::Task& task = variants_.front().task;
  std::vector<std::string> constants, dims;
  const auto compare = [&](const Json& mine, const Json& theirs) {
    for (const auto& [key, value] : mine.members()) {
      if (theirs[key].dump() == value.dump()) continue;
      std::vector<std::string>& parts = value.is_int() && task.dims.count(key) ? dims : constants;
      std::string part = key + "=" + (value.is_string() ? value.as_string() : value.dump());
      if (!contains(parts, part)) parts.push_back(std::move(part));
    }
  };
  compare(config.init, first.init);
  compare(config.input, first.input);
  return join(constants.empty() ? dims : constants, ",");
}

void Variants::add_shape(Variant& variant, const RkbConfig& config, bool timed) {
  const task::Dims dims = dims_of(names_.ints(config), variant.task);
  std::vector<task::Dims>& list = timed ? variant.timed : variant.tested;
  if (contains(list, dims)) return;
  const auto traced = variant.task.graph_at(dims);
  if (traced) {
    list.push_back(dims);
    return;
  }
  add_once({{"config-contradiction",
             fmt::format("the reference refuses a configuration: {}, at {} ({})",
                         first_line(traced.error().message), task::dims_text(dims), config.where),
             true}},
           &reading_.problems);
}

/// True for the same constants and the same inputs at the configuration's shape. The inputs matter
/// because a model may omit weights when its extents are equal. A configuration that the reference
/// refuses also fits: it cannot become a task of its own.
bool Variants::fits(const Variant& variant, const RkbConfig& config) const {
  if (!variant.fixed.count(fixed_part(config, variant.task))) return false;
  const auto traced = variant.task.reference->trace(dims_of(names_.ints(config), variant.task));
  return !traced || same_inputs(*traced, variant.task);
}

Status Variants::place(const RkbConfig& config, bool timed) {
  for (Variant& variant : variants_) {
    if (!fits(variant, config)) continue;
    add_shape(variant, config, timed);
    return Done{};
  }
  if (variants_.size() >= kMostVariants) {
    add_once({{"config-missing",
               fmt::format("more than {} of the configurations compute something else, the others "
                           "are left out",
                           kMostVariants),
               false}},
             &reading_.problems);
    return Done{};
  }
  Result<task::Task> task = load(config);
  if (!task) {
    if (task.error().blame != Blame::Input) return std::move(task).error();
    add_once({{"config-contradiction",
               fmt::format("the reference refuses a configuration: {}, at {}",
                           first_line(task.error().message), config.where),
               true}},
             &reading_.problems);
    if (!refused_) refused_where_ = config.where;
    if (!refused_) refused_ = std::move(task).error();
    return Done{};
  }
  const std::string fixed = fixed_part(config, *task);
  const task::Dims dims = dims_of(names_.ints(config), *task);
  for (Variant& variant : variants_) {
    if (!same_graph(variant.task, *task, dims)) continue;
    variant.fixed.insert(fixed);  // another initialisation, the same computation
    add_shape(variant, config, timed);
    return Done{};
  }
  const std::string name = variant_name(config);
  variants_.push_back({std::move(*task), name, {fixed}, {}, {}});
  add_shape(variants_.back(), config, timed);
  return Done{};
}

void Variants::finish(Variant& variant) const {
  task::Task& task = variant.task;
  task.format = "robust-kbench";
  task.name = os::without_controls(folder_name(reading_.place));
  if (!variant.name.empty()) task.name += "[" + variant.name + "]";
  task.prompt = reading_.file.description;
  if (options_.dims.empty()) {
    if (variant.timed.empty()) variant.timed = {variant.tested.front()};
    task.benchmark_shapes = variant.timed;
  }
  for (const task::Dims& dims : variant.tested) {
    if (!contains(task.correctness_shapes, dims)) task.correctness_shapes.push_back(dims);
  }
}

/// The reason for the first configuration. A missing argument explains more than the reference's
/// own error.
Error Variants::why_not() const {
  const std::string config = reading_.place.file("config", "json");
  for (const FolderProblem& problem : reading_.problems) {
    const bool decides = problem.message.find(" needs '") != std::string::npos ||
                         problem.message.ends_with(kTooLarge);
    if (problem.rule == "config-contradiction" && decides &&
        problem.message.find(refused_where_) != std::string::npos)
      return input_error("{}: no configuration can be used: {}", config, problem.message);
  }
  Error error = *refused_;
  error.message += fmt::format("\n  with {} of {}", refused_where_, config);
  return error;
}

Result<RkbFolder> Variants::run() {
  for (const RkbConfig& config : reading_.configs.timed) KW_TRY(place(config, true));
  for (const RkbConfig& config : reading_.configs.tested) KW_TRY(place(config, false));
  if (variants_.empty()) return why_not();
  const bool timed =
      std::ranges::any_of(variants_, [](const auto& one) { return !one.timed.empty(); });
  if (!timed)
    reading_.problems.push_back(
        {"config-contradiction",
         "none of the 'single_*' configurations can be used: those of 'multi_*' are timed instead",
         true});
  RkbFolder folder;
  for (Variant& variant : variants_) {
    const bool none = variant.timed.empty() && variant.tested.empty();
    if (none && options_.dims.empty()) continue;  // the reference refuses its own shape
    finish(variant);
    folder.tasks.push_back(std::move(variant.task));
  }
  folder.problems = std::move(reading_.problems);
  return folder;
}

/// Reports when the forward file of the folder has tensors of other ranks.
void compare_ranks(const RkbPlace& backward, const std::vector<task::Task>& tasks,
                   std::vector<FolderProblem>* problems) {
  const RkbPlace place{backward.folder, false};
  if (!os::exists(place.file("func", "py"))) return;
  Result<Reading> reading = open_folder(place);
  if (!reading) return;  // reading that file reports it
  reading->configs.timed.resize(1);
  reading->configs.tested.clear();
  const Result<RkbFolder> forward = Variants(*reading, {}).run();
  if (!forward || forward->tasks.empty()) return;
  for (const task::TensorSpec& input : forward->tasks[0].inputs) {
    const task::TensorSpec* other = tasks[0].find_input(input.name);
    if (other == nullptr || other->shape.size() == input.shape.size()) continue;
    problems->push_back(
        {"directions-differ",
         fmt::format("'{}' has {} dims in func_forward.py and {} in func_backward.py", input.name,
                     input.shape.size(), other->shape.size()),
         false});
  }
}

Status derive_tasks(const Reading& reading, const std::string& called, RkbFolder* folder) {
  for (task::Task& task : folder->tasks) {
    const task::Task forward = std::move(task);
    task = KW_TRY(frontend::backward_task(forward));
    task.call = backward_call(forward, task);
    if (!called.empty()) task.notes.push_back("the folder's own harness calls " + called);
  }
  compare_ranks(reading.place, folder->tasks, &folder->problems);
  return Done{};
}

Result<RkbFolder> read_direction(const RkbPlace& place, const LoadOptions& options) {
  Reading reading = KW_TRY(open_folder(place));
  std::string called;
  if (place.backward) {
    const BackwardCall call = read_backward_call(reading.file, &reading.problems);
    if (call.found) called = fmt::format("backward_fn({})", join(call.arguments, ", "));
  }
  RkbFolder folder = KW_TRY(Variants(reading, options).run());
  if (folder.tasks.empty())
    return input_error("{}: the reference refuses every configuration", place.file("func", "py"));
  if (place.backward) {
    KW_TRY(derive_tasks(reading, called, &folder));
  } else {
    for (task::Task& task : folder.tasks) task.call = forward_call(task);
  }
  return folder;
}

}  // namespace

bool is_rkb(const std::string& path) { return place_of(path).has_value(); }

bool has_rkb_backward(const std::string& path) {
  const std::optional<RkbPlace> place = place_of(path);
  return place && os::exists(RkbPlace{place->folder, true}.file("func", "py"));
}

Result<RkbFolder> read_rkb(const std::string& path, const LoadOptions& options) {
  const std::optional<RkbPlace> place = place_of(path);
  if (!place) return input_error("{} is not a folder of robust-kbench", path);
  return read_direction(*place, options);
}

Result<task::Task> load_rkb(const std::string& path, const LoadOptions& options) {
  std::optional<RkbPlace> place = place_of(path);
  if (!place) return input_error("{} is not a folder of robust-kbench", path);
  std::string wanted = options.function;
  // A folder's own backward file takes precedence over the gradients of its forward file.
  const RkbPlace other{place->folder, true};
  if (wanted == "backward" && os::exists(other.file("func", "py"))) {
    place = other;
    wanted.clear();
  }
  RkbFolder folder = KW_TRY(read_direction(*place, options));
  std::vector<std::string> names;
  for (const task::Task& task : folder.tasks) names.push_back(task.name);
  const auto fits = [&](const std::string& name) {
    return wanted.empty() || name == wanted || name.find("[" + wanted + "]") != std::string::npos;
  };
  const auto chosen = std::ranges::find_if(names, fits);
  if (chosen == names.end())
    return input_error("{} has no variant '{}'; it has: {}", path, wanted, join(names, ", "));
  task::Task task = std::move(folder.tasks[static_cast<size_t>(chosen - names.begin())]);
  for (const FolderProblem& problem : folder.problems) task.notes.push_back(problem.message);
  names.erase(chosen);
  if (!names.empty())
    task.notes.push_back("further variants, chosen with --function: " + join(names, ", "));
  return task;
}

}  // namespace kw::task_formats
