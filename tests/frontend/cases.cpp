#include "cases.h"

#include "core/text.h"
#include "os/files.h"

namespace kw::task_formats {

std::string case_path(const std::string& folder, const std::string& file) {
  return std::string(KW_REFERENCES_DIR) + "/" + folder + "/" + file;
}

std::vector<std::string> cases_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::string& name : os::list_directory(case_path(folder, ""))) {
    if (name.ends_with(".py")) names.push_back(name.substr(0, name.size() - 3));
  }
  return names;
}

LoadOptions options_of(const std::string& text) {
  LoadOptions options;
  const auto lines = split_lines(text);
  constexpr std::string_view kMark = "# options: ";
  if (lines.empty() || !lines[0].starts_with(kMark)) return options;
  const std::vector<std::string> words = split(lines[0].substr(kMark.size()), ' ');
  for (size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--input") options.inputs.push_back(value);
    if (words[i] == "--function") options.function = value;
    if (words[i] == "--mode") options.evaluation = value == "eval";
    if (words[i] == "--dims") {
      const size_t equals = value.find('=');
      options.dims[value.substr(0, equals)] = *parse_int(value.substr(equals + 1));
    }
  }
  return options;
}

}  // namespace kw::task_formats
