#include "stages/spec.h"

#include <algorithm>
#include <array>

#include "core/contains.h"
#include "core/hash.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/text.h"

namespace kw::stages {
namespace {

constexpr std::array kDtypes = {"fp64",   "fp32",  "fp16",  "bf16",      "fp8e4m3", "fp8e5m2",
                                "int64",  "int32", "int16", "int8",      "uint64",  "uint32",
                                "uint16", "uint8", "bool",  "fp4e2m1x2", "e8m0"};
constexpr std::array kPriorities = {"latency", "throughput", "balanced"};

Result<std::string> layout(const std::string& word) {
  const std::string name = replace_all(lower_case(word), "-", "_");
  for (const char* row : {"row_major", "contiguous", "c_contiguous", "strided_contiguous"}) {
    if (name == row) return std::string("row_major");
  }
  if (name == "col_major" || name == "column_major") return std::string("col_major");
  if (name.empty() || name == "any") return std::string("any");
  return input_error("layout_hint '{}' is not one of row_major, col_major, any", word);
}

Status check_arg(const Json& json, TensorArg& arg) {
  if (arg.name.empty()) return input_error("a tensor of the spec has no name");
  if (!contains(kDtypes, arg.dtype))
    return input_error("'{}': unknown dtype '{}'", arg.name, arg.dtype);
  if (!json["shape"].is_array()) return input_error("'{}' has no shape: a list of texts", arg.name);
  for (size_t i = 0; i < arg.shape.size(); ++i) {
    const Json& extent = json["shape"].items()[i];
    if (extent.is_int()) arg.shape[i] = std::to_string(extent.as_int());
  }
  arg.layout_hint = KW_TRY(layout(json["layout_hint"].as_string()));
  return Done{};
}

Status check_args(const Json& json, std::vector<TensorArg>& args) {
  for (size_t i = 0; i < args.size(); ++i) KW_TRY(check_arg(json.items()[i], args[i]));
  return Done{};
}

}  // namespace

std::optional<std::string> priority_word(const std::string& word) {
  const std::string name = replace_all(lower_case(word), "-", "_");
  const auto* const at = std::ranges::find(kPriorities, name);
  return at == kPriorities.end() ? std::nullopt : std::optional(name);
}

void fields(auto& v, TensorArg& a) {
  v("name", a.name)("dtype", a.dtype)("shape", a.shape)("layout_hint", a.layout_hint);
}

void fields(auto& v, KernelSpec& s) {
  v("schema", computed(kSpecSchema))("name", s.name)("target_arch", s.target_arch);
  v("inputs", s.inputs)("outputs", s.outputs);
  v.group("precision_tolerance", [&](auto& g) { g("rtol", s.rtol)("atol", s.atol); });
  v("optimization_priority", s.optimization_priority)("notes", s.notes);
}

std::string spec_hash(const KernelSpec& spec) { return hash_hex(record_json(spec).dump()); }

Json to_json(const KernelSpec& spec) { return record_json(spec).set("hash", spec_hash(spec)); }

Result<KernelSpec> spec_from_json(const Json& json) {
  if (!json.is_object()) return input_error("a kernel spec is a JSON object");
  auto spec = read_record<KernelSpec>(json);
  if (spec.name.empty()) return input_error("the spec has no name");
  KW_TRY(check_args(json["inputs"], spec.inputs));
  KW_TRY(check_args(json["outputs"], spec.outputs));
  if (const Json& priority = json["optimization_priority"]; !priority.is_null()) {
    const auto word = priority_word(priority.as_string());
    if (!word)
      return input_error("optimization_priority '{}' is not one of {}", priority.as_string(),
                         "latency, throughput, balanced");
    spec.optimization_priority = *word;
  }
  if (const std::string& hash = json["hash"].as_string(); !hash.empty() && hash != spec_hash(spec))
    return input_error("the spec is not what its hash says: it was changed after it was frozen");
  return spec;
}

}  // namespace kw::stages
