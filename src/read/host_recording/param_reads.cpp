#include "host_recording/param_reads.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/text.h"
#include "host_recording/recording_job.h"

namespace kw::host_recording {
namespace {

/// The bytes of "ld.param.v2.f32"; 0 if the line does not load a parameter.
size_t loaded_bytes(std::string_view line) {
  const size_t at = line.find("ld.param");
  if (at == std::string_view::npos) return 0;
  const std::string_view word = line.substr(at, line.find_first_of(" \t", at) - at);
  const size_t lanes = word.find(".v4") != std::string_view::npos   ? 4
                       : word.find(".v2") != std::string_view::npos ? 2
                                                                    : 1;
  const std::string_view type = word.substr(word.rfind('.') + 1);
  const auto bits = type.size() > 1 ? parse_int(type.substr(1)) : std::optional<int64_t>();
  return bits && *bits >= 8 && *bits <= 128 ? lanes * static_cast<size_t>(*bits) / 8 : 0;
}

class Marker {
 public:
  Marker(const std::string& entry, const std::vector<int64_t>& sizes) : prefix_(entry + "_param_") {
    for (const int64_t size : sizes)
      reads_.emplace_back(static_cast<size_t>(std::max<int64_t>(0, size)), false);
  }

  void line(std::string_view line) {
    for (size_t at = line.find(prefix_); at != std::string_view::npos;
         at = line.find(prefix_, at + 1)) {
      size_t end = at + prefix_.size(), index = 0;
      while (end < line.size() && line[end] >= '0' && line[end] <= '9' && index < 100000)
        index = index * 10 + static_cast<size_t>(line[end++] - '0');
      if (index < reads_.size()) mark(line, end, reads_[index]);
    }
  }
  std::vector<std::vector<bool>> take() { return std::move(reads_); }

 private:
  static void mark(std::string_view line, size_t end, std::vector<bool>& reads) {
    size_t first = 0, count = loaded_bytes(line);
    if (end < line.size() && line[end] == '+') {
      const auto offset = parse_int(line.substr(end + 1, line.find(']', end) - end - 1));
      if (offset && *offset >= 0)
        first = static_cast<size_t>(*offset);
      else
        count = 0;
    }
    if (count == 0) {  // its address is used
      first = 0;
      count = reads.size();
    }
    for (size_t i = first; i < std::min(first + count, reads.size()); ++i) reads[i] = true;
  }

  std::string prefix_;
  std::vector<std::vector<bool>> reads_;
};

}  // namespace

ParamReads param_reads(const std::string& ptx) {
  ParamReads out;
  const auto sizes = entry_params(ptx);
  std::optional<Marker> marker;
  std::string entry;
  bool body = false;
  for (const std::string_view line : split_lines(ptx)) {
    if (const size_t at = line.find(".entry "); at != std::string_view::npos) {
      if (marker) out[entry] = marker->take();
      const std::string_view rest = line.substr(at + 7);
      entry = std::string(trim(rest.substr(0, rest.find_first_of("( \t"))));
      const auto found = sizes.find(entry);
      marker.emplace(entry, found == sizes.end() ? std::vector<int64_t>() : found->second);
      body = false;
    }
    // Lines before the brace are declarations.
    if (body && marker) marker->line(line);
    if (line.find('{') != std::string_view::npos) body = true;
  }
  if (marker) out[entry] = marker->take();
  return out;
}

}  // namespace kw::host_recording
