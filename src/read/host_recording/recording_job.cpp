#include "host_recording/recording_job.h"

#include <algorithm>
#include <string_view>

#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/text.h"

namespace kw::host_recording {
namespace {

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

void fields(auto& v, Argument& a) { v("tensor", a.tensor)("bytes", a.bytes); }

void fields(auto& v, Case& c) { v("tensor_bytes", c.tensor_bytes)("arguments", c.arguments); }

Json to_json(const KernelNumbers& k) {
  std::vector<int64_t> row = {k.registers, k.static_shared, k.local_bytes, k.max_threads};
  row.insert(row.end(), k.params.begin(), k.params.end());
  return json_of(row);
}

bool from_json(const Json& json, KernelNumbers& kernel) {
  const auto row = value_of<std::vector<int64_t>>(json);
  if (row.size() < 4) return false;
  kernel = {{row.begin() + 4, row.end()}, row[0], row[1], row[2], row[3]};
  return true;
}

void fields(auto& v, CaptiveJob& j) {
  v("runtime", j.runtime)("library", j.library)("entry", j.entry)("readable", j.readable)(
      "kernels", j.kernels, required);
  v("attributes", j.attributes)("memory_bytes", j.memory_bytes)("base", j.base)("seed", j.seed);
  v("far_calls", j.far_calls);
  v("cases", j.cases);
}

Json to_json(const CaptiveJob& job) { return record_json(job); }

Result<CaptiveJob> job_from_json(const Json& json) {
  CaptiveJob job = KW_TRY(check_record<CaptiveJob>(json));
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
