#include "stages/spec.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/hash.h"
#include "core/text.h"

namespace kw::stages {
namespace {

constexpr std::array kDtypes = {"fp64",   "fp32",  "fp16",  "bf16",      "fp8e4m3", "fp8e5m2",
                                "int64",  "int32", "int16", "int8",      "uint64",  "uint32",
                                "uint16", "uint8", "bool",  "fp4e2m1x2", "e8m0"};
constexpr std::array kPriorities = {"latency", "throughput", "balanced"};

Json args_json(const std::vector<TensorArg>& list) {
  Json json = Json::array();
  for (const TensorArg& arg : list) {
    Json shape = Json::array();
    for (const std::string& extent : arg.shape) shape.push(extent);
    Json row = Json::object();
    row.set("name", arg.name).set("dtype", arg.dtype).set("shape", std::move(shape));
    json.push(row.set("layout_hint", arg.layout_hint));
  }
  return json;
}

Json content_json(const KernelSpec& spec) {
  Json tolerance = Json::object();
  tolerance.set("rtol", spec.rtol ? Json(*spec.rtol) : Json());
  tolerance.set("atol", spec.atol ? Json(*spec.atol) : Json());
  Json json = Json::object();
  json.set("schema", kSpecSchema).set("name", spec.name).set("target_arch", spec.target_arch);
  json.set("inputs", args_json(spec.inputs)).set("outputs", args_json(spec.outputs));
  json.set("precision_tolerance", std::move(tolerance));
  json.set("optimization_priority", spec.optimization_priority);
  return json.set("notes", spec.notes);
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return replace_all(std::move(text), "-", "_");
}

Result<std::string> layout(const std::string& word) {
  const std::string name = lower_case(word);
  for (const char* row : {"row_major", "contiguous", "c_contiguous", "strided_contiguous"}) {
    if (name == row) return std::string("row_major");
  }
  if (name == "col_major" || name == "column_major") return std::string("col_major");
  if (name.empty() || name == "any") return std::string("any");
  return input_error(fmt::format("layout_hint '{}' is not one of row_major, col_major, any", word));
}

Result<TensorArg> read_arg(const Json& json) {
  TensorArg arg;
  arg.name = json["name"].as_string();
  if (arg.name.empty()) return input_error("a tensor of the spec has no name");
  arg.dtype = json["dtype"].as_string();
  if (std::ranges::find(kDtypes, arg.dtype) == kDtypes.end())
    return input_error(fmt::format("'{}': unknown dtype '{}'", arg.name, arg.dtype));
  if (!json["shape"].is_array())
    return input_error(fmt::format("'{}' has no shape: a list of texts", arg.name));
  for (const Json& extent : json["shape"].items())
    arg.shape.push_back(extent.is_int() ? std::to_string(extent.as_int()) : extent.as_string());
  arg.layout_hint = KW_TRY(layout(json["layout_hint"].as_string()));
  return arg;
}

std::optional<double> optional_number(const Json& json) {
  return json.is_number() ? std::optional(json.as_double()) : std::nullopt;
}

}  // namespace

std::optional<std::string> priority_word(const std::string& word) {
  const std::string name = lower_case(word);
  const auto* const at = std::ranges::find(kPriorities, name);
  return at == kPriorities.end() ? std::nullopt : std::optional(name);
}

std::string spec_hash(const KernelSpec& spec) { return hash_hex(content_json(spec).dump()); }

Json to_json(const KernelSpec& spec) { return content_json(spec).set("hash", spec_hash(spec)); }

Result<KernelSpec> spec_from_json(const Json& json) {
  if (!json.is_object()) return input_error("a kernel spec is a JSON object");
  KernelSpec spec;
  spec.name = json["name"].as_string();
  if (spec.name.empty()) return input_error("the spec has no name");
  spec.target_arch = json["target_arch"].as_string();
  for (const Json& arg : json["inputs"].items()) spec.inputs.push_back(KW_TRY(read_arg(arg)));
  for (const Json& arg : json["outputs"].items()) spec.outputs.push_back(KW_TRY(read_arg(arg)));
  spec.rtol = optional_number(json["precision_tolerance"]["rtol"]);
  spec.atol = optional_number(json["precision_tolerance"]["atol"]);
  if (const Json& priority = json["optimization_priority"]; !priority.is_null()) {
    const auto word = priority_word(priority.as_string());
    if (!word)
      return input_error(fmt::format("optimization_priority '{}' is not one of {}",
                                     priority.as_string(), "latency, throughput, balanced"));
    spec.optimization_priority = *word;
  }
  spec.notes = json["notes"].as_string();
  if (const std::string& hash = json["hash"].as_string(); !hash.empty() && hash != spec_hash(spec))
    return input_error("the spec is not what its hash says: it was changed after it was frozen");
  return spec;
}

}  // namespace kw::stages
