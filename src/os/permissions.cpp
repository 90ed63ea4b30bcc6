#include "os/permissions.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "os/files.h"

namespace kw::os {
namespace {

constexpr const char* kVariable = "KERNELWRIGHT_FORBID";

struct Row {
  Runs what;
  const char* word;  // in the variable
  const char* name;  // for people
  const char* option;
  bool Permissions::*allowed;
};
constexpr Row kRows[] = {
    {Runs::Python, "python", "Python code", "--allow-python", &Permissions::python},
    {Runs::HostCode, "host-code", "the host code of CUDA files", "--allow-host-code",
     &Permissions::host_code},
    {Runs::Commands, "commands", "programs named by a model id", "--allow-commands",
     &Permissions::commands},
};

bool is_forbidden(const Row& row) {
  const std::vector<std::string> words = split(env(kVariable), ',');
  return std::ranges::any_of(words,
                             [&](const std::string& word) { return trim(word) == row.word; });
}

}  // namespace

std::string why_forbidden(Runs what) {
  const Row& row = *std::ranges::find(kRows, what, &Row::what);
  if (!is_forbidden(row)) return "";
  return fmt::format(
      "this server does not run {} for its clients; 'kernelwright mcp {}' starts one that does",
      row.name, row.option);
}

std::string forbidding(const Permissions& allowed) {
  std::vector<std::string> words;
  for (const Row& row : kRows) {
    if (!(allowed.*row.allowed) || is_forbidden(row)) words.emplace_back(row.word);
  }
  return fmt::format("{}={}", kVariable, join(words, ","));
}

}  // namespace kw::os
