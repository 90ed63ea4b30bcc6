#include "frontend/syntax.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "kAstDumpText.inc"
#include "kernel/diagnostics.h"
#include "os/files.h"
#include "os/process.h"

namespace kw::frontend {
namespace {

constexpr double kParseSeconds = 20;
constexpr uint64_t kParseMemory = uint64_t{1} << 30;
constexpr uint64_t kTreeBytes = uint64_t{256} << 20;
constexpr size_t kShownText = 60;

Error located(const Source& source, int line, int column, int length, const std::string& message) {
  const size_t end = message.find('\n');
  kernel::Diagnostic diagnostic{line, column, length, message.substr(0, end), ""};
  if (end != std::string::npos) diagnostic.hint = message.substr(end + 1);
  return input_error(
      std::string(trim(kernel::render_diagnostics({diagnostic}, source.text, source.name))));
}

Error parser_failed(const Source& source, const os::ProcessResult& result) {
  if (result.timed_out)
    return input_error(fmt::format("{}: parsing took more than {} s", source.name, kParseSeconds));
  const auto lines = split_lines(trim(result.err));
  const std::string last = lines.empty() ? "no message" : std::string(lines.back());
  return environment_error(
      fmt::format("parsing {}: python3 ended with {} {}: {}; python3 must be 3.9 or later",
                  source.name, result.signal ? "signal" : "exit code",
                  result.signal ? result.signal : result.exit_code, last));
}

int place(const Json& node, size_t which) {
  const Json::Array& at = node["at"].items();
  return which < at.size() ? static_cast<int>(at[which].as_int()) : 0;
}

}  // namespace

Result<std::shared_ptr<const Source>> parse_python(std::string text, const std::string& path) {
  auto source = std::make_shared<Source>();
  source->path = path;
  source->name = path.substr(path.rfind('/') + 1);
  source->text = std::move(text);
  if (source->text.size() > kMaxSourceBytes)
    return input_error(fmt::format("{} has {}; a reference has at most {}", source->name,
                                   human_bytes(source->text.size()), human_bytes(kMaxSourceBytes)));
  if (source->text.find('\0') != std::string::npos)
    return input_error(fmt::format("{} is no Python source: it holds zero bytes", source->name));
  const std::string python = os::find_program("python3");
  if (python.empty())
    return environment_error(
        "python3 is not on PATH: references are parsed by Python's own parser (never run); install "
        "Python 3.9 or later");
  os::ProcessLimits limits;
  limits.timeout_seconds = kParseSeconds;
  limits.memory_bytes = kParseMemory;
  limits.output_bytes = kTreeBytes;
  const os::ProcessResult result =
      KW_TRY(os::run_process({python, "-I", "-S", "-B", "-c", kAstDumpText}, source->text, limits));
  if (result.timed_out || result.signal || result.exit_code) return parser_failed(*source, result);
  auto parsed = Json::parse(result.out);
  if (!parsed)
    return std::move(parsed).error().context("reading the syntax tree of " + source->name);
  const Json& error = (*parsed)["error"];
  if (!error.is_null())
    return located(*source, static_cast<int>(error["line"].as_int(1)),
                   static_cast<int>(error["column"].as_int(1)), 1,
                   kSyntaxMark + error["message"].as_string());
  source->tree = (*parsed)["tree"];
  return std::shared_ptr<const Source>(std::move(source));
}

int line_of(const Json& node) { return place(node, 0); }
int column_of(const Json& node) { return place(node, 1); }

Error error_at(const Source& source, const Json& node, const std::string& message) {
  const bool one_line = place(node, 0) == place(node, 2);
  const int length = one_line ? std::max(place(node, 3) - place(node, 1), 1) : 1;
  return located(source, place(node, 0), place(node, 1), length, message);
}

std::string text_of(const Source& source, const Json& node) {
  const auto lines = split_lines(source.text);
  std::string text;
  for (int number = place(node, 0); number >= 1 && number <= place(node, 2); ++number) {
    if (static_cast<size_t>(number) > lines.size()) break;
    std::string_view line = lines[static_cast<size_t>(number) - 1];
    if (number == place(node, 2))
      line = line.substr(0, static_cast<size_t>(std::max(place(node, 3) - 1, 0)));
    if (number == place(node, 0))
      line.remove_prefix(
          std::min(line.size(), static_cast<size_t>(std::max(place(node, 1) - 1, 0))));
    if (!text.empty()) text += ' ';
    text += trim(line);
    if (text.size() > kShownText) {
      size_t end = kShownText - 3;
      while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
      return text.substr(0, end) + "...";
    }
  }
  return text;
}

}  // namespace kw::frontend
