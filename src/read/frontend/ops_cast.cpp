// Conversions of dtype. The device of a tensor does not change its values, so devices are accepted
// and ignored.
#include <set>
#include <string>

#include "core/text.h"
#include "frontend/ops_formula.h"
#include "frontend/ops_tables.h"

namespace kw::frontend {
namespace {

using graph::NodeId;
using tensor::DType;

template <DType to>
Result<Value> cast_to(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  return tensor_value(call.graph().cast(x, to));
}

/// Also the layouts, which do not change values.
bool is_device(const std::string& text) {
  static const std::set<std::string> known = {"cpu",
                                              "cuda",
                                              "mps",
                                              "xpu",
                                              "hip",
                                              "npu",
                                              "meta",
                                              "contiguous_format",
                                              "preserve_format",
                                              "channels_last",
                                              "strided"};
  return known.count(text.substr(0, text.find(':'))) > 0;
}

// x.to(dtype), x.to(device), x.to(device, dtype), x.to(other), with any keywords.
Result<Value> to(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  std::optional<DType> type = KW_TRY(call.dtype("dtype"));
  const std::vector<Value>* what = items_of(call["what"]);
  if (call.given("other")) {
    NodeId other = KW_TRY(call.tensor("other"));
    type = call.graph()[other].dtype;
  }
  for (const Value& item : *what) {
    if (const auto* dtype = item.get<DTypeValue>()) type = dtype->dtype;
    if (const auto* other = item.get<Tensor>()) type = call.graph()[other->node].dtype;
    if (item.get<Float>()) {
      return input_error("to() received an invalid combination of arguments - got (float)");
    }
    if (const auto* library = item.get<Library>())
      return input_error("to(): {} is not a dtype that is known here", library->name);
    if (const auto* text = item.get<std::string>(); text && !is_device(*text))
      return input_error("to(): '{}' is neither a device nor a dtype", *text);
  }
  return tensor_value(type ? call.graph().cast(x, *type) : x);
}

struct TypeName {
  const char* name;
  DType type;
};

constexpr TypeName kTypeNames[] = {
    {"FloatTensor", DType::Fp32},    {"DoubleTensor", DType::Fp64}, {"HalfTensor", DType::Fp16},
    {"BFloat16Tensor", DType::Bf16}, {"LongTensor", DType::Int64},  {"IntTensor", DType::Int32},
    {"ShortTensor", DType::Int16},   {"CharTensor", DType::Int8},   {"ByteTensor", DType::Uint8},
    {"BoolTensor", DType::Bool},
};

std::optional<DType> dtype_of_type_name(std::string_view name) {
  const std::string last(name.substr(name.rfind('.') + 1));
  for (const TypeName& row : kTypeNames) {
    if (last == row.name) return row.type;
  }
  return std::nullopt;
}

Result<Value> type(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  if (!call.given("dtype")) {
    return input_error("type() without a dtype gives a string; use x.dtype instead");
  }
  std::string name;
  if (const auto* library = call["dtype"].get<Library>()) name = library->name;
  if (const auto* text = call["dtype"].get<std::string>()) name = *text;
  if (name.empty()) {
    std::optional<DType> type = KW_TRY(call.dtype("dtype"));
    return tensor_value(call.graph().cast(x, *type));
  }
  std::optional<DType> type = dtype_of_type_name(name);
  if (!type) return input_error("type(): invalid type: '{}'", name);
  return tensor_value(call.graph().cast(x, *type));
}

Result<Value> type_as(Call& call) {
  NodeId x = KW_TRY(call.tensor("input"));
  NodeId other = KW_TRY(call.tensor("other"));
  return tensor_value(call.graph().cast(x, call.graph()[other].dtype));
}

constexpr char kCast[] = "input, memory_format=None";

constexpr OpRow kCastRows[] = {
    {"Tensor.to", "input, *what, dtype=None, other=None, non_blocking=False, copy=False", to},
    {"Tensor.type", "input, dtype=None, non_blocking=False", type},
    {"Tensor.type_as", "input, other", type_as},
    {"Tensor.float", kCast, cast_to<DType::Fp32>},
    {"Tensor.double", kCast, cast_to<DType::Fp64>},
    {"Tensor.half", kCast, cast_to<DType::Fp16>},
    {"Tensor.bfloat16", kCast, cast_to<DType::Bf16>},
    {"Tensor.long", kCast, cast_to<DType::Int64>},
    {"Tensor.int", kCast, cast_to<DType::Int32>},
    {"Tensor.short", kCast, cast_to<DType::Int16>},
    {"Tensor.char", kCast, cast_to<DType::Int8>},
    {"Tensor.byte", kCast, cast_to<DType::Uint8>},
    {"Tensor.bool", kCast, cast_to<DType::Bool>},
};

}  // namespace

std::span<const OpRow> cast_rows() { return kCastRows; }

}  // namespace kw::frontend
