#include "optimize/branches.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

#include "core/hash.h"
#include "core/text.h"
#include "os/files.h"

namespace kw::optimize {
namespace {

constexpr int64_t kMostBranches = 32;

std::string without_kernel(const std::string& folder) {
  for (const std::string& name : os::list_directory(folder)) {
    if (name.starts_with("kernel.") && name != "kernel.cu")
      return fmt::format("{}/{} is not a kernel module; branches are kernel.cu", folder, name);
  }
  return "";
}

/// The speed; larger is better. Any measured time counts more than every estimate.
std::pair<int, double> speed(const ports::Outcome& raced) {
  if (raced.ratio) return {2, raced.ratio->value};
  if (raced.us <= 0) return {0, 0};
  return {1, 1 / raced.us};
}

}  // namespace

Result<std::vector<BranchFile>> read_branches(const Folder& folder, int iteration) {
  const std::string place = folder.at(Folder::in_iteration(iteration, "branches"));
  std::vector<BranchFile> branches;
  std::string hint;
  for (const std::string& name : os::list_directory(place)) {
    const auto number = name.starts_with("b") ? parse_int(name.substr(1)) : std::nullopt;
    if (!number || *number < 0 || *number > 9999) continue;
    BranchFile branch;
    branch.name = name;
    branch.index = static_cast<int>(*number);
    branch.file = Folder::in_iteration(iteration, fmt::format("branches/{}/kernel.cu", name));
    if (!folder.has(branch.file)) {
      if (hint.empty()) hint = without_kernel(place + "/" + name);
      continue;
    }
    Result<std::string> text = folder.read(branch.file, kMostKernelBytes);
    if (text)
      branch.text = std::move(text).value();
    else
      branch.problem = text.error().message;
    branches.push_back(std::move(branch));
  }
  if (branches.empty())
    return input_error(
        "{} holds no kernel: write b1/kernel.cu and so on, each a kernel module that applies the "
        "methods to {}{}",
        place, folder.at(folder.state.best.file), hint.empty() ? "" : " (" + hint + ")");
  if (branches.size() > kMostBranches)
    return input_error("{} contains {} branches; at most {} are allowed", place, branches.size(),
                       kMostBranches);
  std::ranges::sort(branches, {}, &BranchFile::index);
  return branches;
}

Status check_raced(const Folder& folder) {
  const State& state = folder.state;
  const auto again = [&](const std::string& name) {
    return input_error(
        "{} was changed after the race: run 'kernelwright optimize branch --run-dir {} --iter {}' "
        "again",
        folder.at(name), shell_quote(folder.path()), state.iter);
  };
  const std::vector<BranchFile> branches = KW_TRY(read_branches(folder, state.iter));
  std::vector<std::pair<std::string, std::string>> now;
  for (const BranchFile& branch : branches) now.emplace_back(branch.file, branch.text);
  for (const char* name : {"methods.json", "kernel.cu"}) {
    const std::string file = Folder::in_iteration(state.iter, name);
    if (!folder.has(file)) return again(file);
    now.emplace_back(file, KW_TRY(folder.read(file)));
  }
  for (const auto& [file, text] : now) {
    const auto stamp = state.stamps.find(file);
    if (stamp == state.stamps.end() || stamp->second != hash_hex(text)) return again(file);
  }
  const std::string prefix = Folder::in_iteration(state.iter, "branches/");
  for (const auto& [file, hash] : state.stamps) {
    if (file.starts_with(prefix) && !folder.has(file)) return again(file);
  }
  return Done{};
}

std::optional<size_t> fastest(const std::vector<ports::Outcome>& raced) {
  std::optional<size_t> best;
  for (size_t i = 1; i < raced.size(); ++i) {
    if (!passed(raced[i])) continue;
    if (!best || speed(raced[i]) > speed(raced[*best])) best = i;
  }
  return best;
}

bool improves(const State& state, const BestKernel& champion,
              const std::optional<double>& parent_us) {
  if (champion.ratio)
    return champion.ratio->relation == "FASTER" &&
           100 * (champion.ratio->value - 1) > state.threshold_pct();
  // If there is a clock, a kernel that it could not time proves nothing.
  if (state.has_clock || !champion.us || !parent_us || *champion.us <= 0) return false;
  return 100 * (*parent_us / *champion.us - 1) > state.threshold_pct();
}

}  // namespace kw::optimize
