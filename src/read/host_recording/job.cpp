#include "host_recording/job.h"

#include <algorithm>
#include <string_view>

#include "core/text.h"

namespace kw::host_recording {
namespace {

template <typename T>
Json list(const std::vector<T>& values) {
  Json out = Json::array();
  for (const T& value : values) out.push(Json(static_cast<int64_t>(value)));
  return out;
}

template <typename T>
std::vector<T> numbers(const Json& json) {
  std::vector<T> out;
  for (const Json& one : json.items()) out.push_back(static_cast<T>(one.as_int()));
  return out;
}

int64_t type_bytes(std::string_view type) {
  static constexpr std::pair<std::string_view, int64_t> kTypes[] = {
      {"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}, {"128", 16}};
  const size_t digits = type.find_first_of("0123456789");
  if (digits == std::string_view::npos) return 0;
  for (const auto& [bits, bytes] : kTypes) {
    if (type.substr(digits) == bits) return bytes;
  }
  return 0;
}

/// ".param .align 8 .b8 name[24]" or ".param .u64 .ptr .global .align 1 name".
int64_t param_bytes(std::string_view declaration) {
  int64_t element = 0;
  for (const std::string& piece : split(std::string(declaration), ' ')) {
    const std::string_view word = trim(piece);
    if (word.size() < 3 || word[0] != '.' || element != 0) continue;
    if (std::string_view("bsuf").find(word[1]) != std::string_view::npos && word[2] >= '0' &&
        word[2] <= '9')
      element = type_bytes(word);
  }
  const size_t open = declaration.find('[');
  if (open == std::string_view::npos) return element;
  const auto count =
      parse_int(declaration.substr(open + 1, declaration.find(']', open) - open - 1));
  return count ? element * *count : 0;
}

}  // namespace

Json to_json(const CaptiveJob& job) {
  Json kernels = Json::object(), attributes = Json::object(), cases = Json::array(),
       readable = Json::array();
  for (const auto& [entry, kernel] : job.kernels) {
    std::vector<int64_t> row = {kernel.registers, kernel.static_shared, kernel.local_bytes,
                                kernel.max_threads};
    row.insert(row.end(), kernel.params.begin(), kernel.params.end());
    kernels.set(entry, list(row));
  }
  for (const auto& [which, value] : job.attributes) attributes.set(std::to_string(which), value);
  for (const std::string& path : job.readable) readable.push(path);
  for (const Case& one : job.cases) {
    Json arguments = Json::array();
    for (const Argument& argument : one.arguments)
      arguments.push(
          Json::object().set("tensor", argument.tensor).set("bytes", list(argument.bytes)));
    cases.push(Json::object()
                   .set("tensor_bytes", list(one.tensor_bytes))
                   .set("arguments", std::move(arguments)));
  }
  return Json::object()
      .set("runtime", job.runtime)
      .set("library", job.library)
      .set("readable", std::move(readable))
      .set("kernels", std::move(kernels))
      .set("attributes", std::move(attributes))
      .set("memory_bytes", job.memory_bytes)
      .set("base", job.base)
      .set("seed", job.seed)
      .set("cases", std::move(cases));
}

Result<CaptiveJob> job_from_json(const Json& json) {
  CaptiveJob job;
  job.runtime = json["runtime"].as_string();
  job.library = json["library"].as_string();
  for (const Json& path : json["readable"].items()) job.readable.push_back(path.as_string());
  for (const auto& [entry, row] : json["kernels"].members()) {
    std::vector<int64_t> values = numbers<int64_t>(row);
    if (values.size() < 4) return input_error("the job's kernels are damaged");
    job.kernels[entry] = {
        {values.begin() + 4, values.end()}, values[0], values[1], values[2], values[3]};
  }
  for (const auto& [which, value] : json["attributes"].members()) {
    if (const auto number = parse_int(which))
      job.attributes[static_cast<int>(*number)] = value.as_int();
  }
  job.memory_bytes = static_cast<uint64_t>(json["memory_bytes"].as_int());
  job.base = static_cast<uint64_t>(json["base"].as_int());
  job.seed = static_cast<uint64_t>(json["seed"].as_int());
  for (const Json& one : json["cases"].items()) {
    Case made;
    made.tensor_bytes = numbers<uint64_t>(one["tensor_bytes"]);
    for (const Json& argument : one["arguments"].items())
      made.arguments.push_back(
          {static_cast<int>(argument["tensor"].as_int()), numbers<uint8_t>(argument["bytes"])});
    job.cases.push_back(std::move(made));
  }
  if (job.runtime.empty() || job.library.empty()) return input_error("the job names no library");
  return job;
}

std::map<std::string, std::vector<int64_t>> entry_params(const std::string& ptx) {
  std::map<std::string, std::vector<int64_t>> out;
  for (size_t at = ptx.find(".entry "); at != std::string::npos; at = ptx.find(".entry ", at + 1)) {
    const size_t open = ptx.find_first_of("({\n", at);
    if (open == std::string::npos) break;
    const std::string name(trim(std::string_view(ptx).substr(at + 7, open - at - 7)));
    std::vector<int64_t>& params = out[name];
    if (ptx[open] != '(') continue;
    const size_t close = std::min(ptx.find(')', open), ptx.size());
    const std::string inside =
        replace_all(replace_all(ptx.substr(open + 1, close - open - 1), "\n", " "), "\t", " ");
    for (const std::string& declaration : split(inside, ',')) {
      if (!trim(declaration).empty()) params.push_back(param_bytes(declaration));
    }
  }
  return out;
}

}  // namespace kw::host_recording
