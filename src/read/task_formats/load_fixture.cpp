// The problem: a cuda-engine fixture lists shapes, but no dtypes and no names of dims. The choice:
// the dtype is the first one in the folder's name or in prompt.txt; the rank gives the dims their
// names. The alternative, a task.toml beside every fixture, would mean editing suites of others.
// The cost: the rules are guesses from names, and a parameter called "weight" always has one value
// per column. The reference can override them by describing its inputs.
#include "task_formats/load_fixture.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "core/ascii.h"
#include "core/contains.h"
#include "core/text.h"
#include "os/files.h"
#include "os/inside.h"
#include "task_formats/load_folder.h"
#include "task_formats/load_source.h"
#include "task_formats/shapes_yaml.h"

namespace kw::task_formats {
namespace {

constexpr uint64_t kMostFixtureBytes = 1 << 20;
constexpr std::array kFixtureFiles = {"prompt.txt", "reference.py", "shapes.yaml", "notes.md"};
/// Parameters that hold one value per column, not a matrix.
constexpr std::array kColumnNames = {"gamma", "beta", "weight", "bias", "scale", "shift", "w", "b"};

using Shapes = std::vector<std::vector<int64_t>>;

bool square(const Shapes& shapes) {
  return std::ranges::all_of(shapes, [](const std::vector<int64_t>& shape) {
    return shape.size() > 1 &&
           std::ranges::all_of(shape, [&](int64_t extent) { return extent == shape.front(); });
  });
}

/// Names for the extents of a shape, by its rank. If all extents are always equal they share one
/// name, because such matrices may be multiplied.
std::vector<std::string> extent_names(const Shapes& shapes) {
  const size_t rank = shapes.front().size();
  if (rank == 1) return {"N"};
  if (square(shapes)) return std::vector<std::string>(rank, "N");
  if (rank == 2) return {"B", "D"};
  std::vector<std::string> names;
  for (size_t i = 0; i < rank; ++i) names.push_back(fmt::format("d{}", i));
  return names;
}

/// The first word of a text that names a dtype.
std::optional<tensor::DType> dtype_in(const std::string& text) {
  std::string word;
  for (const char c : text + " ") {
    if (is_ascii_alnum(c)) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    const bool number = std::ranges::any_of(word, [](char d) { return d >= '0' && d <= '9'; });
    if (number || word == "half" || word == "bool") {
      if (const auto dtype = frontend::dtype_from_text(word)) return dtype;
    }
    word.clear();
  }
  return std::nullopt;
}

/// The extent at which equal extents have as many elements as cuda-engine times.
int64_t timed_extent(size_t rank) {
  constexpr double kTimedElements = 16'777'216;
  return std::llround(std::pow(kTimedElements, 1.0 / static_cast<double>(rank)));
}

task::Dims dims_of(const std::vector<std::string>& names, const std::vector<int64_t>& shape) {
  task::Dims dims;
  for (size_t i = 0; i < names.size(); ++i) dims[names[i]] = shape[i];
  return dims;
}

/// For a reference that describes its inputs: the extents' names come from its first input.
Result<std::vector<std::string>> names_of_first(const task::Task& task, size_t rank,
                                                const std::string& file) {
  std::vector<std::string> names;
  for (const std::string& text :
       task.inputs.empty() ? std::vector<std::string>() : task.inputs.front().shape) {
    if (task.dims.count(text) > 0) names.push_back(text);
  }
  if (names.size() == rank) return names;
  return input_error(
      "{}: shapes of rank {}, but the first input of the reference has {} named dims", file, rank,
      names.size());
}

}  // namespace

bool is_fixture(const std::string& folder) {
  return !os::exists(folder + "/task.toml") &&
         std::ranges::all_of(kFixtureFiles,
                             [&](const char* name) { return os::exists(folder + "/" + name); });
}

Result<task::Task> load_fixture(const std::string& path, const LoadOptions& options) {
  std::string folder = path;
  while (folder.size() > 1 && folder.ends_with("/")) folder.pop_back();
  const std::string name = folder.substr(folder.rfind('/') + 1);
  const std::string yaml = folder + "/shapes.yaml", reference = folder + "/reference.py";
  const std::string prompt = KW_TRY(os::read_inside(folder, "prompt.txt", kMostFixtureBytes));
  const std::string source =
      KW_TRY(os::read_inside(folder, "reference.py", frontend::kMaxSourceBytes));
  const std::string listed = KW_TRY(os::read_inside(folder, "shapes.yaml", kMostFixtureBytes));
  const Shapes shapes = KW_TRY(parse_shapes_yaml(listed, yaml));
  const std::vector<std::string> names = extent_names(shapes);
  auto dtype = dtype_in(name);
  if (!dtype) dtype = dtype_in(prompt);
  bool described = false;
  LoadRequest request;
  request.function = options.function;
  request.inputs = KW_TRY(parse_input_options(options.inputs));
  request.other_reader = options.other_reader;
  request.evaluation = options.evaluation;
  request.has_gpu = options.has_gpu;
  request.dims = options.dims;
  request.describe = [&](const std::string& parameter) {
    const bool column = names.size() > 1 && contains(kColumnNames, parameter);
    frontend::TensorText tensor;
    tensor.dtype = dtype.value_or(tensor::DType::Fp32);
    tensor.shape = column ? std::vector{names.back()} : names;
    described = true;
    return frontend::GivenInput{parameter, tensor, false};
  };
  // Only the loaded reference tells whether it names the dims itself.
  const Result<task::Task> first = load_source(source, reference, request);
  if (!first && !described) return first.error();
  const std::vector<std::string> own =
      described ? names : KW_TRY(names_of_first(*first, names.size(), yaml));
  for (const std::string& dim : own) request.dims.emplace(dim, timed_extent(own.size()));
  task::Task task = KW_TRY(load_source(source, reference, request));
  task.format = "fixture";
  task.name = name;
  task.prompt = std::string(trim(prompt));
  task.correctness_shapes.clear();
  for (const std::vector<int64_t>& shape : shapes) {
    task::Dims dims = task.benchmark_shapes.front();
    for (const auto& [dim, value] : dims_of(own, shape)) dims[dim] = value;
    KW_TRY(check_shape(task, dims, yaml));
    task.correctness_shapes.push_back(std::move(dims));
  }
  if (described)
    task.notes.push_back(fmt::format("inputs taken as {}[{}]: dtype from {}, rank from shapes.yaml",
                                     tensor::dtype_name(dtype.value_or(tensor::DType::Fp32)),
                                     join(names, ", "),
                                     dtype_in(name) ? "the folder's name"
                                     : dtype        ? "prompt.txt"
                                                    : "nowhere (fp32)"));
  return task;
}

}  // namespace kw::task_formats
