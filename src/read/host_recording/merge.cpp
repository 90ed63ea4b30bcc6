#include "host_recording/merge.h"

#include <fmt/core.h>

#include <map>
#include <utility>

#include "core/text.h"

namespace kw::host_recording {
namespace {

/// The name in a one-line declaration: "global_smem" in ".extern .shared … global_smem[];".
std::string declared_name(std::string_view line) {
  const size_t end = line.find_first_of("[;=");
  std::string_view head = trim(line.substr(0, end));
  const size_t blank = head.find_last_of(" \t");
  return std::string(blank == std::string_view::npos ? head : head.substr(blank + 1));
}

bool begins_function(std::string_view words) {
  return words.find(".entry ") != std::string_view::npos ||
         words.find(".func ") != std::string_view::npos ||
         words.find(".func(") != std::string_view::npos;
}

/// "k" in ".visible .entry k(" and in ".func  (.param .b32 r) k(".
std::string function_name(const std::string& text) {
  size_t at = text.find(".entry ");
  at = at == std::string::npos ? text.find(".func") + 5 : at + 7;
  at = text.find_first_not_of(" \t", at);
  if (at != std::string::npos && text[at] == '(')
    at = text.find_first_not_of(" \t", text.find(')', at) + 1);
  return at == std::string::npos ? "" : text.substr(at, text.find_first_of(" \t(\n;{", at) - at);
}

/// Labels are numbered by the function's position in its file, so these numbers are removed.
std::string without_numbers_of_labels(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t label = text.find("$L__BB", at);
    out += text.substr(at, label - at);
    if (label == std::string::npos) break;
    out += "$L__BB";
    at = std::min(text.find_first_not_of("0123456789", label + 6), text.size());
  }
  return out;
}

bool is_about_lines(std::string_view words) {
  return words.starts_with(".loc") || words.starts_with(".file");
}

/// Merges the PTX of several files. A template instantiated in more than one of them appears once.
class Merger {
 public:
  Status add(const std::string& text) {
    depth_ = 0;
    for (const std::string_view line : split_lines(text)) {
      const std::string_view words = trim(line);
      const bool outside = depth_ == 0 && function_.empty();
      for (const char c : words) depth_ += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (is_about_lines(words)) continue;
      if (section_ || (outside && words.starts_with(".section"))) {
        section_ = depth_ > 0 || words.find('}') == std::string_view::npos;
      } else if (!outside || begins_function(words)) {
        function_.append(line).append("\n");
        if (depth_ == 0 && (words.ends_with("}") || words.ends_with(";"))) KW_TRY(end_function());
      } else {
        KW_TRY(declaration(line, words));
      }
    }
    return Done{};
  }

  Result<std::string> result() const {
    if (target_.empty()) return input_error("there is no PTX");
    return fmt::format("{}\n{}\n.address_size 64\n{}", version_, target_, body_);
  }

 private:
  Status end_function() {
    const std::string name = function_name(function_), text = std::exchange(function_, "");
    const bool prototype = text.find('{') == std::string::npos;
    const auto [at, fresh] = functions_[prototype].emplace(name, without_numbers_of_labels(text));
    if (!fresh && at->second != without_numbers_of_labels(text))
      return input_error("two different functions '{}'", name);
    if (fresh) body_ += text;
    return Done{};
  }

  Status declaration(std::string_view line, std::string_view words) {
    if (words.starts_with(".version")) {
      version_ = std::max(version_, std::string(words));
      return Done{};
    }
    if (words.starts_with(".target")) {
      // Code for an architecture's own features ("sm_90a") can be merged with code without them.
      if (target_.empty() || words == target_ + "a") target_ = words;
      if (target_ != words && target_ != std::string(words) + "a")
        return input_error("kernels for '{}' and '{}'", target_, words);
      return Done{};
    }
    if (words.starts_with(".address_size")) return Done{};
    const bool variable =
        words.ends_with(";") && (words.find(".shared") != std::string_view::npos ||
                                 words.find(".global") != std::string_view::npos ||
                                 words.find(".const") != std::string_view::npos);
    if (variable) {
      const auto [at, fresh] = declared_.emplace(declared_name(words), std::string(words));
      if (!fresh && at->second != words)
        return input_error("two different variables '{}'", at->first);
      if (!fresh) return Done{};
    }
    body_.append(line).append("\n");
    return Done{};
  }

  std::string version_, target_, body_, function_;
  std::map<std::string, std::string> declared_, functions_[2];
  int depth_ = 0;
  bool section_ = false;
};

}  // namespace

Result<std::string> merge_ptx(const std::vector<std::string>& texts) {
  Merger merger;
  for (const std::string& text : texts) KW_TRY(merger.add(text));
  return merger.result();
}

}  // namespace kw::host_recording
