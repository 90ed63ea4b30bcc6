// Every compiler prints diagnostics in its own form, and some of them concern code that is not the
// author's: lines we added, headers, PTX. The author of a kernel needs the line of the module. So a
// log is split at lines that begin a diagnostic, in the forms of NVRTC, nvcc, clang and ptxas. Each
// message is mapped to the module's line if possible. Common mistakes get a hint: a missing header,
// a name that nvcc provides by itself. Structured output (clang has it, NVRTC has not) would be
// safer. The cost: texts of compilers may change; an unknown form is dropped here but stays in the
// log.
#include "compile/compiler_messages.h"

#include <cxxabi.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "compile/entries.h"
#include "core/ascii.h"
#include "core/contains.h"
#include "core/text.h"
#include "core/utf8.h"

namespace kw::compile {
namespace {

using ports::CompileMessage;
using Severity = CompileMessage::Severity;

/// The first line of a message, parsed.
struct Head {
  std::string file;
  int line = 0, column = 0;
  Severity severity = Severity::Error;
  std::string text;
};

/// "error", "catastrophic error", "warning #177-D" … in front of ": text".
std::optional<Severity> severity_of(std::string_view word) {
  word = trim(word.substr(0, word.find('#')));
  if (word == "error" || word == "catastrophic error" || word == "fatal error" || word == "fatal" ||
      word == "internal error") {
    return Severity::Error;
  }
  if (word == "warning") return Severity::Warning;
  if (word == "note" || word == "info") return Severity::Note;
  return std::nullopt;
}

/// Splits "severity: text".
bool split_severity(std::string_view rest, Head* head) {
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return false;
  const auto severity = severity_of(rest.substr(0, colon));
  if (!severity) return false;
  head->severity = *severity;
  head->text = std::string(trim(rest.substr(colon + 1)));
  return true;
}

/// "m.cu(5): error: text", the form of NVRTC and nvcc.
std::optional<Head> edg_head(std::string_view line) {
  const size_t close = line.find("): ");
  const size_t open = close == std::string_view::npos ? close : line.rfind('(', close);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  const auto number = parse_int(line.substr(open + 1, close - open - 1));
  Head head;
  if (!number || !split_severity(line.substr(close + 3), &head)) return std::nullopt;
  head.file = std::string(line.substr(0, open));
  head.line = static_cast<int>(std::clamp<int64_t>(*number, 0, INT32_MAX));
  return head;
}

/// "m.cu:5:12: error: text", the form of clang.
std::optional<Head> clang_head(std::string_view line) {
  const std::vector<std::string> parts = split(line, ':');
  for (size_t i = 1; i + 2 < parts.size() && i < 4; ++i) {
    const auto row = parse_int(parts[i]);
    const auto column = parse_int(parts[i + 1]);
    if (!row || !column) continue;
    size_t prefix = 0;
    for (size_t j = 0; j <= i + 1; ++j) prefix += parts[j].size() + 1;
    Head head;
    if (!split_severity(line.substr(prefix), &head)) return std::nullopt;
    head.line = static_cast<int>(std::clamp<int64_t>(*row, 0, INT32_MAX));
    head.column = static_cast<int>(std::clamp<int64_t>(*column, 0, INT32_MAX));
    for (size_t j = 0; j < i; ++j) head.file += (j != 0 ? ":" : "") + parts[j];
    return head;
  }
  return std::nullopt;
}

/// "ptxas application ptx input, line 23; error   : text", "ptxas fatal   : text", "nvrtc: error:
/// text".
std::optional<Head> tool_head(std::string_view line) {
  for (std::string_view tool : {"ptxas ", "nvcc ", "nvrtc: ", "clang: ", "cicc "}) {
    if (!line.starts_with(tool)) continue;
    std::string_view rest = line.substr(tool.size());
    Head head;
    head.file = tool == "ptxas " ? "ptxas" : "";
    if (const size_t at = rest.find("; "); at != std::string_view::npos) {
      const size_t number = rest.rfind("line ", at);
      if (number != std::string_view::npos) {
        head.line =
            static_cast<int>(parse_int(rest.substr(number + 5, at - number - 5)).value_or(0));
      }
      rest = rest.substr(at + 2);
    }
    if (!split_severity(rest, &head)) return std::nullopt;
    return head;
  }
  return std::nullopt;
}

std::optional<Head> head_of(std::string_view line) {
  if (line.empty() || line[0] == ' ' || line[0] == '\t') return std::nullopt;
  if (auto head = tool_head(line)) return head;
  if (auto head = edg_head(line)) return head;
  return clang_head(line);
}

bool is_noise(const Head& head) {
  if (head.file == "ptxas" && head.severity == Severity::Note) {
    // parse_ptxas_report() reads the resource lines. Only advice such as "(C7508) Potential
    // Performance Loss" is a message.
    return !head.text.starts_with("(C");
  }
  // Our <math.h> before libcu++'s <cmath>: the same values, written differently.
  if (head.text.starts_with("incompatible redefinition of macro") &&
      head.text.find("/nvrtc-") != std::string::npos) {
    return true;
  }
  for (std::string_view noise :
       {"PCH creation disabled", "could not create PCH", "precompiled header file",
        "Error in parsing name expression", "Ptx assembly aborted"}) {
    if (head.text.find(noise) != std::string::npos) return true;
  }
  return false;
}

/// The last N of "at line N of m.cu" in the lines after a message about a header.
int line_that_led_there(const std::vector<std::string_view>& tail, std::string_view file_name) {
  int line = 0;
  for (std::string_view text : tail) {
    const size_t at = text.find("at line ");
    if (at == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + 8);
    const size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (rest.substr(end).find(file_name) == std::string_view::npos) continue;
    line = static_cast<int>(parse_int(rest.substr(0, end)).value_or(0));
  }
  return line;
}

std::string base_name(std::string_view path) {
  return std::string(
      path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1));
}

bool same_file(std::string_view shown, std::string_view file_name) {
  return shown == file_name || base_name(shown) == base_name(file_name);
}

// The header of a name that nvcc provides by default; "" for any other name.
std::string_view header_of(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kHeaders[] = {
      {"INFINITY", "cmath"},
      {"NAN", "cmath"},
      {"M_PI", "cmath"},
      {"HUGE_VALF", "cmath"},
      {"FLT_MAX", "cfloat"},
      {"FLT_MIN", "cfloat"},
      {"FLT_EPSILON", "cfloat"},
      {"DBL_MAX", "cfloat"},
      {"DBL_EPSILON", "cfloat"},
      {"INT_MAX", "climits"},
      {"INT_MIN", "climits"},
      {"UINT_MAX", "climits"},
      {"LLONG_MAX", "climits"},
      {"CHAR_BIT", "climits"},
      {"int8_t", "cstdint"},
      {"int16_t", "cstdint"},
      {"int32_t", "cstdint"},
      {"int64_t", "cstdint"},
      {"uint8_t", "cstdint"},
      {"uint16_t", "cstdint"},
      {"uint32_t", "cstdint"},
      {"uint64_t", "cstdint"},
      {"uintptr_t", "cstdint"},
      {"half", "cuda_fp16.h"},
      {"__half", "cuda_fp16.h"},
      {"half2", "cuda_fp16.h"},
      {"__half2", "cuda_fp16.h"},
      {"__float2half", "cuda_fp16.h"},
      {"__half2float", "cuda_fp16.h"},
      {"__nv_bfloat16", "cuda_bf16.h"},
      {"__nv_bfloat162", "cuda_bf16.h"},
      {"__nv_fp8_e4m3", "cuda_fp8.h"},
      {"__nv_fp8_e5m2", "cuda_fp8.h"},
      {"CUDART_INF_F", "math_constants.h"},
      {"CUDART_PI_F", "math_constants.h"},
      {"cooperative_groups", "cooperative_groups.h"},
      {"nvcuda", "mma.h"},
      {"cub", "cub/cub.cuh"},
  };
  for (const auto& [known, header] : kHeaders) {
    if (name == known) return header;
  }
  return "";
}

// The text between the first two quotes.
std::string_view first_quoted(std::string_view text) {
  const size_t begin = text.find_first_of("\"'");
  if (begin == std::string_view::npos) return {};
  const size_t end = text.find(text[begin], begin + 1);
  return end == std::string_view::npos ? std::string_view()
                                       : text.substr(begin + 1, end - begin - 1);
}

std::string with_hint(std::string text) {
  const size_t open = text.find("open source file \"");
  const size_t missing = text.find("' file not found");
  if (open != std::string::npos) {
    const size_t begin = open + 18;
    text += header_hint(std::string_view(text).substr(begin, text.find('"', begin) - begin));
  } else if (missing != std::string::npos) {  // clang's words
    text +=
        " (clang compiles with kernelwright's own headers, which lack this one; NVRTC or nvcc may "
        "have it)";
  } else if (text.find("cannot use 'throw'") != std::string::npos ||
             text.find("cannot use 'try'") != std::string::npos) {  // clang's words
    text += " (a module is device code, which has no exceptions)";
  } else if (text.find("annotation on lambda requires") != std::string::npos) {
    text += " (lambdas of a kernel module are device code as they are: leave the annotation out)";
  } else if (text.find("undefined") != std::string::npos ||
             text.find("undeclared identifier") != std::string::npos ||
             text.find("unknown type name") != std::string::npos ||
             text.find("must be a class or namespace") != std::string::npos) {
    const std::string_view header = header_of(first_quoted(text));
    if (!header.empty()) text += fmt::format(" (it comes with #include <{}>)", header);
  }
  return text;
}

// The messages name our own variable or pragma, and each compiler words them differently.
std::string name_problem(std::string_view text) {
  constexpr std::string_view kSeveral[] = {"overloaded function type", "deduce \"auto\" type",
                                           "which instance of"};
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (std::ranges::any_of(kSeveral, has))
    return "it is a template or overloaded; launch one of them, with its template arguments";
  return has("non-__global__") ? "it is not a __global__ function" : std::string(text);
}

/// A problem with a launched name, which NVRTC reports against a file of its own.
std::string name_map_text(const Head& head, const std::vector<std::string_view>& tail) {
  constexpr std::string_view kPragma = "nv_mangled_name ";
  std::string expression;
  for (std::string_view text : tail) {
    const size_t at = text.find(kPragma);
    if (at != std::string_view::npos) expression = trim(text.substr(at + kPragma.size()));
  }
  return fmt::format("launched kernel '{}': {}", expression, name_problem(head.text));
}

/// The same problem as nvcc and clang report it.
std::string entry_text(const Head& head, const std::vector<std::string>& kernels) {
  const auto index = static_cast<size_t>(head.line) - 1;
  const std::string& name = index < kernels.size() ? kernels[index] : head.file;
  return fmt::format("launched kernel '{}': {}", name, name_problem(head.text));
}

CompileMessage message_from(const Head& head, const std::vector<std::string_view>& tail,
                            std::string_view file_name, const std::vector<std::string>& kernels) {
  CompileMessage message{head.severity, 0, 0, with_hint(head.text)};
  if (head.file == "__nv_name_map") {
    message.text = name_map_text(head, tail);
  } else if (base_name(head.file) == kEntriesFile) {
    message.text = entry_text(head, kernels);
  } else if (head.file == "ptxas") {
    message.text = demangle_all(message.text);
    if (head.line != 0) message.text += fmt::format(" (PTX line {})", head.line);
  } else if (same_file(head.file, file_name)) {
    message.line = head.line;
    message.column = head.column;
    // The caret is below the source line, which is printed two columns to the right.
    if (message.column == 0 && tail.size() >= 2) {
      const size_t caret = tail[1].find_first_not_of(" \t");
      if (caret != std::string_view::npos && tail[1][caret] == '^' && caret >= 2) {
        message.column = static_cast<int>(caret) - 1;
      }
    }
  } else if (!head.file.empty()) {
    message.text = fmt::format("{}:{}: {}", base_name(head.file), head.line, message.text);
    message.line = line_that_led_there(tail, file_name);
  }
  return message;
}

bool same(const CompileMessage& a, const CompileMessage& b) {
  return a.severity == b.severity && a.line == b.line && a.column == b.column && a.text == b.text;
}

}  // namespace

std::vector<CompileMessage> parse_log(std::string_view log, std::string_view file_name,
                                      const std::vector<std::string>& kernels) {
  constexpr size_t kMaxMessages = 200;
  const std::vector<std::string_view> lines = split_lines(log);
  std::vector<CompileMessage> messages;
  for (size_t i = 0; i < lines.size() && messages.size() < kMaxMessages; ++i) {
    const auto head = head_of(lines[i]);
    if (!head || is_noise(*head)) continue;
    std::vector<std::string_view> tail;
    for (size_t j = i + 1; j < lines.size() && !lines[j].empty() && !head_of(lines[j]); ++j) {
      tail.push_back(lines[j]);
    }
    CompileMessage message = message_from(*head, tail, file_name, kernels);
    const bool repeated = std::ranges::any_of(
        messages, [&](const CompileMessage& other) { return same(message, other); });
    if (!repeated) messages.push_back(std::move(message));
  }
  return messages;
}

std::string quotable(std::string file_name) {
  for (size_t at = 0; at < file_name.size();) {
    char& c = file_name[at];
    const size_t length = utf8_length(std::string_view(file_name).substr(at));
    const bool option = at == 0 && c == '-';  // NVRTC would read it as one
    if (length == 0 || option || static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' ||
        c == 0x7f)
      c = '_';
    at += std::max<size_t>(length, 1);
  }
  return file_name.empty() ? "module.cu" : file_name;
}

std::string header_hint(std::string_view header) {
  const auto wheel = [&](std::string_view name) {
    return fmt::format(" (this header comes with the CUDA toolkit, or: pip install {})", name);
  };
  for (std::string_view prefix : {"cub/", "thrust/", "cuda/", "nv/"}) {
    if (header.starts_with(prefix)) return wheel("nvidia-cuda-cccl");
  }
  if (header.starts_with("curand")) return wheel("nvidia-curand");
  if (header.starts_with("crt/")) return wheel("nvidia-cuda-crt");
  if (header.starts_with("cuda") || header.starts_with("cooperative_groups") || header == "mma.h" ||
      header.starts_with("vector_") || header.starts_with("device_") || header.starts_with("sm_") ||
      header.starts_with("builtin_types") || header.starts_with("driver_types")) {
    return wheel("nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl");
  }
  return "";
}

std::string demangle(const std::string& symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (status != 0 || text == nullptr) return symbol;
  std::string result = text;
  std::free(text);
  return result;
}

std::string demangle_all(std::string_view text) {
  std::string result;
  const auto in_name = [](char c) {
    return is_name_char(c) || c == '$';
  };
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && in_name(text[end])) ++end;
    const std::string word(text.substr(i, end - i));
    result += word.starts_with("_Z") ? demangle(word) : word;
    if (end == i) result += text[end++];
    i = end;
  }
  return result;
}

int module_line(std::string_view ptx, int ptx_line, std::string_view file_name) {
  const std::vector<std::string_view> lines = split_lines(ptx);
  const auto words_of = [](std::string_view line) {
    std::vector<std::string> words;
    for (std::string& word : split(replace_all(std::string(line), "\t", " "), ' ')) {
      if (!word.empty()) words.push_back(std::move(word));
    }
    return words;
  };
  std::vector<std::string> own;  // numbers of the .file entries that name the module
  for (std::string_view line : lines) {
    if (trim(line).starts_with(".file")) {
      const auto words = words_of(line);
      if (words.size() >= 3 && same_file(replace_all(words[2], "\"", ""), file_name))
        own.push_back(words[1]);
    }
  }
  for (int i = std::min(ptx_line, static_cast<int>(lines.size())) - 1; i >= 0; --i) {
    const std::string_view line = trim(lines[static_cast<size_t>(i)]);
    if (line.starts_with(".entry") || line.starts_with(".visible .entry")) break;
    if (!line.starts_with(".loc")) continue;
    const auto words = words_of(line);
    if (words.size() >= 3 && contains(own, words[1])) {
      return static_cast<int>(parse_int(words[2]).value_or(0));
    }
  }
  return 0;
}

}  // namespace kw::compile
