// The problem: a launcher's parameters are only a list of C types and names. The choice: match
// pointers with the task's tensors by name, then by order; integers with dims; the rest with
// scalars or values from the user. A match without a name is noted, so that the user can check it.
// The alternative, requiring annotations in the foreign file, would not work with files as they
// are. The cost: an integer such as n = B * D needs a value from the user if the tensors have
// different shapes.
#include "host_recording/launcher_abi.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <map>

#include "core/text.h"
#include "kernel/signature.h"
#include "tensor/dtype.h"

namespace kw::host_recording {
namespace {

Result<std::vector<uint8_t>> encode(const cuda_import::CType& type, double real, int64_t integer) {
  const auto types = KW_TRY(kernel::parse_signature(fmt::format("void f({})", type.base)));
  if (type.dtype && tensor::is_float(*type.dtype)) {
    kernel::ScalarDecl scalar;
    scalar.dtype = *type.dtype;
    return kernel::encode_scalar(types.at(0), scalar, real, 0);
  }
  return kernel::encode_integer(types.at(0), integer);
}

class Matcher {
 public:
  Matcher(const std::vector<cuda_import::CParameter>& parameters, const task::Task& task,
          const graph::Graph& graph, const std::map<std::string, std::string>& numbers)
      : parameters_(parameters), task_(task), graph_(graph), numbers_(numbers) {}

  Result<LauncherAbi> run() {
    abi_.tensors = task_tensors(task_, graph_);
    taken_.resize(abi_.tensors.size());
    abi_.slots.resize(parameters_.size());
    for (size_t i = 0; i < parameters_.size(); ++i) {
      abi_.slots[i].type = parameters_[i].type;
      abi_.slots[i].torch = is_torch(parameters_[i].type);
      returns_ = returns_ || abi_.slots[i].torch;
      if (is_tensor(i)) by_name(i);
    }
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (is_tensor(i) && abi_.slots[i].tensor < 0) KW_TRY(by_order(i));
    }
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!is_tensor(i)) KW_TRY(number(i));
    }
    for (size_t i = 0; i < abi_.tensors.size(); ++i) {
      if (!taken_[i] && !returns_ && abi_.tensors[i].role != kernel::Role::Input)
        return input_error("no parameter of the launcher is the output '{}'", abi_.tensors[i].name);
    }
    return std::move(abi_);
  }

 private:
  static bool is_torch(const cuda_import::CType& type) {
    return type.pointers == 0 && type.base.find("Tensor") != std::string::npos;
  }
  bool is_tensor(size_t i) const {
    return parameters_[i].type.pointers == 1 || abi_.slots[i].torch;
  }

  void take(size_t parameter, size_t tensor) {
    abi_.slots[parameter].tensor = static_cast<int>(tensor);
    taken_[tensor] = true;
  }

  void by_name(size_t parameter) {
    for (const bool exact : {true, false}) {
      for (size_t i = 0; i < abi_.tensors.size(); ++i) {
        const std::string &own = parameters_[parameter].name, &its = abi_.tensors[i].name;
        if (!taken_[i] && (exact ? own == its : lower_case(own) == lower_case(its)))
          return take(parameter, i);
      }
    }
  }

  Status by_order(size_t parameter) {
    const cuda_import::CParameter& one = parameters_[parameter];
    const auto next = [&](bool input) -> std::optional<size_t> {
      for (size_t i = 0; i < abi_.tensors.size(); ++i) {
        if (!taken_[i] && (abi_.tensors[i].role == kernel::Role::Input) == input) return i;
      }
      return std::nullopt;
    };
    std::optional<size_t> found = next(one.type.pointee_const || returns_);
    // Launchers often omit const; outputs follow inputs.
    const size_t pointers_left = static_cast<size_t>(
        std::count_if(parameters_.begin() + static_cast<std::ptrdiff_t>(parameter),
                      parameters_.end(), [](const auto& p) { return p.type.pointers == 1; }));
    const auto outputs_left = static_cast<size_t>(
        std::ranges::count_if(abi_.tensors, [&, i = size_t{0}](const TensorLine& line) mutable {
          return !taken_[i++] && line.role != kernel::Role::Input;
        }));
    if (!one.type.pointee_const && next(true) && pointers_left > outputs_left) found = next(true);
    if (!found)
      return input_error("parameter '{}' of the launcher is not one of the task's tensors",
                         one.name);
    take(parameter, *found);
    abi_.notes.push_back(fmt::format("'{}' is matched with the task's '{}' (by position)", one.name,
                                     abi_.tensors[*found].name));
    return Done{};
  }

  const std::string* dim_named(const std::string& name) const {
    const task::Dims& dims = task_.benchmark_shapes.front();
    for (const auto& [dim, value] : dims) {
      if (dim == name) return &dim;
    }
    for (const auto& [dim, value] : dims) {
      if (lower_case(dim) == lower_case(name)) return &dim;
    }
    return nullptr;
  }

  Status number(size_t parameter) {
    const cuda_import::CParameter& one = parameters_[parameter];
    LauncherAbi::Slot& slot = abi_.slots[parameter];
    if (one.type.pointers == 0 && one.type.base.starts_with("cudaStream")) {
      slot.bytes.assign(8, 0);
      return Done{};
    }
    if (one.type.pointers > 1 || !one.type.dtype)
      return input_error(
          "parameter '{}' of the launcher is '{}': pointers to numbers and numbers can be passed",
          one.name, one.type.text());
    const auto given = numbers_.find(one.name);
    const std::string text = given == numbers_.end() ? "" : given->second;
    const bool real = tensor::is_float(*one.type.dtype);
    const std::string* const dim = real ? nullptr : dim_named(text.empty() ? one.name : text);
    if (dim != nullptr) {
      slot.factors = {*dim};
      return Done{};
    }
    if (!real && text.find('*') != std::string::npos) {
      slot.factors = product(text);
      if (!slot.factors.empty()) return Done{};
    }
    if (const auto typed = parse_double(text)) {
      slot.bytes = KW_TRY(encode(one.type, *typed, static_cast<int64_t>(*typed)));
      return Done{};
    }
    for (const task::ScalarSpec& scalar : task_.scalars) {
      if (lower_case(scalar.name) != lower_case(text.empty() ? one.name : text)) continue;
      const bool is_real = tensor::is_float(scalar.dtype);
      const double value = is_real ? scalar.number : static_cast<double>(scalar.integer);
      slot.bytes = KW_TRY(
          encode(one.type, value, is_real ? static_cast<int64_t>(scalar.number) : scalar.integer));
      return Done{};
    }
    if (!real && text.empty() && counts_elements(one.name) && all_alike()) {
      slot.factors = abi_.tensors.front().shape;
      abi_.notes.push_back(fmt::format("'{}' is matched with the number of elements, {}", one.name,
                                       join(slot.factors, "*")));
      return Done{};
    }
    return input_error(
        "the value of '{0}' of the launcher is not known; pass --input {0}=…, with a dim of the "
        "task, a product of dims (B*D) or a number",
        one.name);
  }

  bool is_factor(const std::string& word) const {
    return dim_named(word) != nullptr || parse_int(word).has_value();
  }

  /// The dims and numbers of a product such as "B*D"; empty for any other text.
  std::vector<std::string> product(const std::string& text) const {
    std::vector<std::string> factors;
    for (const std::string& word : split(text, '*')) {
      factors.emplace_back(trim(word));
      if (!is_factor(factors.back())) return {};
      if (const std::string* const dim = dim_named(factors.back())) factors.back() = *dim;
    }
    return factors;
  }

  static bool counts_elements(const std::string& name) {
    static constexpr const char* kNames[] = {
        "n",        "size",       "numel",       "total",        "count", "num",
        "elements", "n_elements", "numelements", "num_elements", "length"};
    return std::ranges::any_of(kNames, [&](const char* one) { return lower_case(name) == one; });
  }

  /// Whether all tensors have the same shape, made of dims and numbers.
  bool all_alike() const {
    const std::vector<std::string>& shape = abi_.tensors.front().shape;
    return !shape.empty() &&
           std::ranges::all_of(shape, [&](const std::string& word) { return is_factor(word); }) &&
           std::ranges::all_of(abi_.tensors,
                               [&](const TensorLine& line) { return line.shape == shape; });
  }

  const std::vector<cuda_import::CParameter>& parameters_;
  const task::Task& task_;
  const graph::Graph& graph_;
  const std::map<std::string, std::string>& numbers_;
  LauncherAbi abi_;
  std::vector<bool> taken_;
  bool returns_ = false;  // the launcher returns its results
};

/// The values of a call as one list; tuples are replaced by their items.
void flatten(const std::vector<task::CallValue>& values, const task::Task& task,
             HarnessCall& made) {
  for (const task::CallValue& value : values) {
    const bool of_tensors = value.kind == task::CallValue::Kind::Tuple &&
                            std::ranges::find(value.items, task::CallValue::Kind::Tensor,
                                              &task::CallValue::kind) != value.items.end();
    if (of_tensors) {
      made.arguments += '(';
      flatten(value.items, task, made);
      made.arguments += ')';
      continue;
    }
    LauncherAbi::Slot& slot = made.abi.slots.emplace_back();
    if (value.kind != task::CallValue::Kind::Tensor) {
      made.arguments += 'w';
      slot.value = value;
      continue;
    }
    const auto& spare = task.call->spare;
    const auto unused = std::ranges::find(spare, value.text, &task::TensorSpec::name);
    made.arguments += unused == spare.end() ? 't' : 's';
    if (unused != spare.end()) {
      slot.spare = *unused;
      continue;
    }
    const auto& tensors = made.abi.tensors;
    slot.torch = true;
    slot.tensor = static_cast<int>(std::ranges::find(tensors, value.text, &TensorLine::name) -
                                   tensors.begin());
  }
}

/// In the format of kw_bindings.cuh: the kind, then the value.
Status append_words(const task::CallValue& value, const task::Dims& dims,
                    std::vector<int64_t>& words) {
  using Kind = task::CallValue::Kind;
  constexpr int64_t kNone = 0, kBool = 1, kInt = 2, kReal = 3, kList = 5;
  switch (value.kind) {
    case Kind::Bool:
      words.insert(words.end(), {kBool, value.number != 0 ? 1 : 0});
      break;
    case Kind::Int:
      words.push_back(kInt);
      words.push_back(KW_TRY(task::extent_at(value.text, dims)));
      break;
    case Kind::Float:
      words.insert(words.end(), {kReal, std::bit_cast<int64_t>(value.number)});
      break;
    case Kind::Tuple:
      words.insert(words.end(), {kList, static_cast<int64_t>(value.items.size())});
      for (const task::CallValue& item : value.items) KW_TRY(append_words(item, dims, words));
      break;
    default:
      words.push_back(kNone);
  }
  return Done{};
}

std::vector<uint8_t> bytes_of(const std::vector<int64_t>& words) {
  std::vector<uint8_t> bytes;
  for (const int64_t word : words) {
    for (int i = 0; i < 8; ++i)
      bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(word) >> (8 * i)));
  }
  return bytes;
}

/// The bytes after a tensor's address: type, rank and sizes, as in the shim's KwTensorArgument.
Result<std::vector<uint8_t>> shape_bytes(tensor::DType type, const std::vector<int64_t>& shape) {
  static const std::map<tensor::DType, int64_t> kNumbers = {
      {tensor::DType::Uint8, 0}, {tensor::DType::Int8, 1},  {tensor::DType::Int16, 2},
      {tensor::DType::Int32, 3}, {tensor::DType::Int64, 4}, {tensor::DType::Fp16, 5},
      {tensor::DType::Fp32, 6},  {tensor::DType::Fp64, 7},  {tensor::DType::Bool, 11},
      {tensor::DType::Bf16, 15}};
  const auto number = kNumbers.find(type);
  if (number == kNumbers.end() || shape.size() > 8)
    return input_error("a tensor that PyTorch's extensions cannot be given here");
  std::vector<int64_t> words = {number->second, static_cast<int64_t>(shape.size())};
  words.insert(words.end(), shape.begin(), shape.end());
  words.resize(10, 0);
  return bytes_of(words);
}

/// A value that is not a tensor of the task: the number of its words and the words, or a tensor
/// without its address.
Result<std::vector<uint8_t>> value_bytes(const LauncherAbi::Slot& slot, const task::Task& task,
                                         const task::Dims& dims) {
  if (slot.spare) {
    const std::vector<int64_t> shape = KW_TRY(task.shape_of(*slot.spare, dims));
    std::vector<uint8_t> bytes(8, 0);
    const std::vector<uint8_t> behind = KW_TRY(shape_bytes(slot.spare->dtype, shape));
    bytes.insert(bytes.end(), behind.begin(), behind.end());
    return bytes;
  }
  std::vector<int64_t> words = {0};
  KW_TRY(append_words(*slot.value, dims, words));
  words[0] = static_cast<int64_t>(words.size()) - 1;
  return bytes_of(words);
}

uint64_t bytes_for(const std::vector<int64_t>& shape, tensor::DType type) {
  int64_t count = tensor::dtype_size(type);
  for (const int64_t extent : shape) count *= extent;
  return static_cast<uint64_t>(count);
}

}  // namespace

std::vector<TensorLine> task_tensors(const task::Task& task, const graph::Graph& graph) {
  std::vector<TensorLine> tensors;
  for (const task::TensorSpec& one : task.inputs)
    tensors.push_back({one.name, kernel::Role::Input, one.dtype, one.shape});
  for (const graph::NamedNode& one : graph.outputs) {
    const auto same = std::ranges::find(tensors, one.name, &TensorLine::name);
    if (same != tensors.end()) {
      same->role = kernel::Role::Inout;
      continue;
    }
    const graph::Node& node = graph[one.node];
    TensorLine line{one.name, kernel::Role::Output, node.dtype, {}};
    for (const graph::Dim& dim : node.shape) line.shape.push_back(dim.text());
    tensors.push_back(std::move(line));
  }
  return tensors;
}

Result<LauncherAbi> match_launcher(const std::vector<cuda_import::CParameter>& parameters,
                                   const task::Task& task, const graph::Graph& graph,
                                   const std::map<std::string, std::string>& numbers) {
  return Matcher(parameters, task, graph, numbers).run();
}

HarnessCall match_harness(const task::Task& task, const graph::Graph& graph) {
  HarnessCall made;
  std::vector<TensorLine>& tensors = made.abi.tensors;
  tensors = task_tensors(task, graph);
  // The first returned value becomes the first output.
  const std::vector<std::string>& results = task.call->results;
  const auto place = [&](const TensorLine& line) {
    return line.role == kernel::Role::Input
               ? -1
               : std::ranges::find(results, line.name) - results.begin();
  };
  std::ranges::stable_sort(tensors, {}, place);
  flatten(task.call->arguments, task, made);
  return made;
}

Result<Case> call_at(const LauncherAbi& abi, const task::Task& task, const graph::Graph& graph,
                     const task::Dims& dims) {
  Case made;
  for (const TensorLine& line : abi.tensors) {
    if (const task::TensorSpec* spec = task.find_input(line.name)) {
      made.tensor_bytes.push_back(bytes_for(KW_TRY(task.shape_of(*spec, dims)), spec->dtype));
      continue;
    }
    for (const graph::NamedNode& one : graph.outputs) {
      if (one.name != line.name) continue;
      std::vector<int64_t> shape;
      for (const graph::Dim& dim : graph[one.node].shape) shape.push_back(dim.value());
      made.tensor_bytes.push_back(bytes_for(shape, graph[one.node].dtype));
    }
  }
  for (const LauncherAbi::Slot& slot : abi.slots) {
    Argument argument{slot.tensor, slot.bytes};
    if (slot.torch) {
      const TensorLine& line = abi.tensors.at(static_cast<size_t>(slot.tensor));
      const task::TensorSpec* spec = task.find_input(line.name);
      if (spec == nullptr) return input_error("a torch extension that is given its output");
      const std::vector<int64_t> shape = KW_TRY(task.shape_of(*spec, dims));
      argument.bytes = KW_TRY(shape_bytes(spec->dtype, shape));
    }
    if (slot.value || slot.spare) argument.bytes = KW_TRY(value_bytes(slot, task, dims));
    if (!slot.factors.empty()) {
      int64_t value = 1;
      for (const std::string& factor : slot.factors) {
        const auto dim = dims.find(factor);
        const std::optional<int64_t> number = parse_int(factor);
        if (dim == dims.end() && !number) return input_error("a shape without dim " + factor);
        value *= dim == dims.end() ? *number : dim->second;
      }
      argument.bytes = KW_TRY(encode(slot.type, 0, value));
    }
    made.arguments.push_back(std::move(argument));
  }
  return made;
}

}  // namespace kw::host_recording
