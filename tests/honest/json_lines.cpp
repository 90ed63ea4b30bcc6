#include "json_lines.h"

#include "core/text.h"
#include "os/files.h"

namespace kw::honest {

Result<std::vector<Json>> read_json_lines(const std::string& path) {
  std::vector<Json> lines;
  if (!os::exists(path)) return lines;
  const std::string text = KW_TRY(os::read_file(path));
  for (const std::string& line : split(text, '\n')) {
    auto parsed = Json::parse(line);
    if (parsed) lines.push_back(std::move(parsed).value());
  }
  return lines;
}

}  // namespace kw::honest
