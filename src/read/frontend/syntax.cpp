// References are parsed by Python's own parser, in a python3 process with limits on time and
// memory; the file is never run. A parser of our own would need no Python, but would have to follow
// each version of the language. The tree comes back as JSON from python/ast_dump.py. The cost is
// starting a process, so trees of recent files are kept (up to kKeptText bytes of text). Programs
// such as pyenv's python3 start slowly; the path of the real interpreter is remembered, and
// forgotten if it fails.
#include "frontend/syntax.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>

#include "core/text.h"
#include "core/utf8.h"
#include "cuda_source/diagnostics.h"
#include "kAstDumpText.inc"
#include "os/files.h"
#include "os/process.h"
#include "sandbox/sandbox.h"
#include "sandbox/trusted.h"

namespace kw::frontend {
namespace {

constexpr double kParseSeconds = 20;
constexpr uint64_t kParseMemory = uint64_t{1} << 30;
constexpr uint64_t kTreeBytes = uint64_t{256} << 20;
constexpr size_t kShownText = 60;
constexpr size_t kKeptText = 256 << 10;  // bytes of the files whose trees are kept

Error located(const Source& source, int line, int column, int length, const std::string& message) {
  const size_t end = message.find('\n');
  cuda_source::Diagnostic diagnostic{line, column, length, message.substr(0, end), ""};
  if (end != std::string::npos) diagnostic.hint = message.substr(end + 1);
  return input_error(
      std::string(trim(cuda_source::render_diagnostics({diagnostic}, source.text, source.name))));
}

Error parser_failed(const Source& source, const os::ProcessResult& result) {
  if (result.timed_out)
    return environment_error(
        "{}: parsing took more than {} s; the machine may be busy, so try again", source.name,
        kParseSeconds);
  const auto lines = split_lines(trim(result.err));
  const std::string last = lines.empty() ? "no message" : std::string(lines.back());
  return environment_error("parsing {}: python3 ended with {} {}: {}; python3 must be 3.9 or later",
                           source.name, result.signal ? "signal" : "exit code",
                           result.signal ? result.signal : result.exit_code, last);
}

int place(const Json& node, size_t which) {
  const Json::Array& at = node["at"].items();
  return which < at.size() ? static_cast<int>(at[which].as_int()) : 0;
}

/// The real interpreter of each program named python3, as the program reported it. A program such
/// as pyenv's searches for its interpreter every time, which takes longer than parsing.
class Interpreters {
 public:
  std::string behind(const std::string& program) {
    const std::lock_guard lock(mutex_);
    const auto found = paths_.find(program);
    return found == paths_.end() ? program : found->second;
  }
  void learn(const std::string& program, const std::string& path) {
    const std::lock_guard lock(mutex_);
    paths_[program] = os::find_program(path).empty() ? program : path;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> paths_;
};

Interpreters& interpreters() {
  static Interpreters all;
  return all;
}

/// Trees of the files parsed last: one file is often read several times.
class Trees {
 public:
  /// The tree of this text; null if it is not kept.
  std::shared_ptr<const Json> of(const std::string& program, const std::string& text) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(
        kept_, [&](const Kept& one) { return one.text == text && one.program == program; });
    return found == kept_.end() ? nullptr : found->tree;
  }
  void keep(const std::string& program, const std::string& text, std::shared_ptr<const Json> tree) {
    const std::lock_guard lock(mutex_);
    kept_.push_back({program, text, std::move(tree)});
    bytes_ += text.size();
    for (; bytes_ > kKeptText; kept_.pop_front()) bytes_ -= kept_.front().text.size();
  }

 private:
  struct Kept {
    std::string program, text;
    std::shared_ptr<const Json> tree;
  };
  std::mutex mutex_;
  std::deque<Kept> kept_;
  size_t bytes_ = 0;
};

/// The interpreter's own files, besides the system's: those of its installation.
os::Allowed parser_files(const std::string& python) {
  os::Allowed allowed = sandbox::worker_files(python);
  std::error_code missing;
  for (const std::filesystem::path& one :
       {std::filesystem::path(python), std::filesystem::canonical(python, missing)}) {
    const std::filesystem::path root = one.parent_path().parent_path();
    if (root.has_relative_path() && root != os::env_path("HOME"))
      allowed.running.push_back(root.string());
  }
  return allowed;
}

/// Asks a program such as pyenv's which interpreter it starts; "" if it does not say. It runs
/// nothing but our question, so it needs no walls.
std::string real_interpreter(const std::string& program) {
  os::ProcessLimits limits;
  limits.timeout_seconds = kParseSeconds;
  const auto said =
      os::run_process({program, "-I", "-S", "-c", "import sys; print(sys.executable)"}, {}, limits);
  if (!said || said->exit_code != 0 || said->signal != 0 || said->timed_out) return "";
  const std::string path(trim(said->out));
  return path.starts_with("/") && path != program ? path : "";
}

bool failed(const os::ProcessResult& result) {
  return result.timed_out || result.signal || result.exit_code;
}

Result<os::ProcessResult> run_parser(const std::string& program, const std::string& text) {
  os::ProcessLimits limits;
  limits.timeout_seconds = kParseSeconds;
  limits.output_bytes = kTreeBytes;
  const auto run = [&](const std::string& python) {
    const sandbox::ForeignProcess job{
        sandbox::Kind::Parser, parser_files(python), {}, kParseMemory};
    return sandbox::run(job, {python, "-I", "-S", "-B", "-c", kAstDumpText}, text, limits);
  };
  const std::string python = interpreters().behind(program);
  auto result = run(python);
  if (result && (result->timed_out || !failed(*result))) return result;
  // A program such as pyenv's starts the interpreter, which the walls forbid; or the interpreter
  // that it started before was removed.
  const std::string real = real_interpreter(program);
  if (real.empty() || real == python) return result;
  interpreters().learn(program, real);
  return run(real);
}

}  // namespace

Result<std::shared_ptr<const Source>> parse_python(std::string text, const std::string& path) {
  auto source = std::make_shared<Source>();
  source->path = path;
  source->name = path.substr(path.rfind('/') + 1);
  source->text = std::move(text);
  if (source->text.starts_with(kByteOrderMark)) source->text.erase(0, kByteOrderMark.size());
  if (source->text.size() > kMaxSourceBytes)
    return input_error("{} has {}; a reference has at most {}", source->name,
                       human_bytes(source->text.size()), human_bytes(kMaxSourceBytes));
  if (source->text.find('\0') != std::string::npos)
    return input_error("{} is not Python source: it holds zero bytes", source->name);
  if (const auto bad = find_bad_byte(source->text))
    return located(*source, bad->line, bad->column, 1,
                   fmt::format("the byte 0x{:02X} is not UTF-8\nsave the file as UTF-8, without a "
                               "coding line for another encoding",
                               bad->value));
  const std::string python = os::find_program("python3");
  if (python.empty())
    return environment_error(
        "python3 is not on PATH: references are parsed by Python's own parser (never run); install "
        "Python 3.9 or later");
  KW_TRY(sandbox::check_trusted(python));
  static Trees trees;
  if (const auto kept = trees.of(python, source->text)) {
    source->tree = *kept;
    return std::shared_ptr<const Source>(std::move(source));
  }
  const os::ProcessResult result = KW_TRY(run_parser(python, source->text));
  if (failed(result)) return parser_failed(*source, result);
  auto parsed = Json::parse(result.out);
  if (!parsed)
    return std::move(parsed).error().context("reading the syntax tree of " + source->name);
  interpreters().learn(python, (*parsed)["python"].as_string());
  const Json& error = (*parsed)["error"];
  if (!error.is_null())
    return located(*source, static_cast<int>(error["line"].as_int(1)),
                   static_cast<int>(error["column"].as_int(1)), 1,
                   kSyntaxMark + error["message"].as_string());
  source->tree = (*parsed)["tree"];
  trees.keep(python, source->text, std::make_shared<const Json>(source->tree));
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
