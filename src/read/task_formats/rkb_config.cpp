#include "task_formats/rkb_config.h"

#include <fmt/core.h>

#include <array>
#include <map>
#include <set>

#include "core/contains.h"
#include "core/text.h"

namespace kw::task_formats {
namespace {

constexpr size_t kMostConfigs = 4096;
constexpr std::array kParts = {"init", "input", "shared"};

std::string list_name(const char* kind, const char* part) {
  return fmt::format("{}_{}_configs", kind, part);
}

/// One of the six lists. A missing list is the same as one empty config: defaults only.
Result<std::vector<Json>> read_list(const Json& root, const char* kind, const char* part,
                                    const std::string& file, std::vector<FolderProblem>* problems) {
  const std::string name = list_name(kind, part);
  const std::vector<Json> defaults = {Json::object()};
  if (!root.contains(name)) {
    problems->push_back({"config-missing", fmt::format("{} has no '{}'", file, name), false});
    return defaults;
  }
  const Json& list = root[name];
  if (!list.is_array()) return input_error("{}: '{}' is not a list", file, name);
  for (size_t i = 0; i < list.items().size(); ++i) {
    if (!list.items()[i].is_object())
      return input_error("{}: {}[{}] is not an object of keyword arguments", file, name, i);
  }
  if (list.items().empty()) {
    problems->push_back(
        {"config-missing",
         fmt::format("{}: '{}' is empty, so nothing of '{}_*' is ever run", file, name, kind),
         true});
    return defaults;
  }
  return list.items();
}

Json merged(const Json& first, const Json& last) {
  Json all = Json::object();
  for (const auto& [key, value] : first.members()) all.set(key, value);
  for (const auto& [key, value] : last.members()) all.set(key, value);
  return all;
}

/// A key that does not depend on the order of the object's keys.
std::string key_of(const Json& object) {
  std::map<std::string, std::string> sorted;
  for (const auto& [key, value] : object.members()) sorted[key] = value.dump();
  std::string text;
  for (const auto& [key, value] : sorted) text += fmt::format("{}={};", key, value);
  return text;
}

/// Reports values that the shared config replaces with different ones: possibly not the author's
/// intention.
void report_overridden(const Json& own, const Json& shared, const std::string& where,
                       const std::string& file, std::set<std::string>* said,
                       std::vector<FolderProblem>* problems) {
  for (const auto& [key, value] : own.members()) {
    if (!shared.contains(key) || shared[key].dump() == value.dump()) continue;
    const std::string message =
        fmt::format("{}: '{}' is {}, but the shared config makes it {} ({})", file, key,
                    value.dump(), shared[key].dump(), where);
    if (said->insert(key).second) problems->push_back({"config-contradiction", message, false});
  }
}

struct Multiplied {
  std::vector<RkbConfig> configs;
  size_t all = 0;
};

Result<Multiplied> multiply(const Json& root, const char* kind, const std::string& file,
                            std::vector<FolderProblem>* problems) {
  std::array<std::vector<Json>, kParts.size()> lists;
  for (size_t i = 0; i < kParts.size(); ++i)
    lists[i] = KW_TRY(read_list(root, kind, kParts[i], file, problems));
  if (lists[0].size() * lists[1].size() * lists[2].size() > kMostConfigs)
    return input_error("{}: {}_* multiply to more than {} configurations", file, kind,
                       kMostConfigs);
  Multiplied result;
  std::set<std::string> seen, said;
  for (size_t i = 0; i < lists[0].size(); ++i) {
    for (size_t j = 0; j < lists[1].size(); ++j) {
      for (size_t k = 0; k < lists[2].size(); ++k) {
        const Json& shared = lists[2][k];
        RkbConfig config{merged(lists[0][i], shared), merged(lists[1][j], shared),
                         fmt::format("{} init {}, input {}, shared {}", kind, i, j, k)};
        report_overridden(lists[0][i], shared, config.where, file, &said, problems);
        report_overridden(lists[1][j], shared, config.where, file, &said, problems);
        ++result.all;
        if (seen.insert(key_of(config.init) + "|" + key_of(config.input)).second)
          result.configs.push_back(std::move(config));
      }
    }
  }
  if (result.configs.size() < result.all) {
    problems->push_back(
        {"config-duplicate",
         fmt::format("{}: of {} configurations in '{}_*' only {} {}", file, result.all, kind,
                     result.configs.size(), result.configs.size() == 1 ? "differs" : "differ"),
         false});
  }
  return result;
}

}  // namespace

Result<RkbConfigs> parse_rkb_configs(const std::string& text, const std::string& file,
                                     std::vector<FolderProblem>* problems) {
  Result<Json> root = Json::parse(text);
  if (!root) return std::move(root).error().context(file);
  if (!root->is_object()) return input_error("{} holds no object", file);
  std::vector<std::string> known;
  for (const char* kind : {"single", "multi"}) {
    for (const char* part : kParts) known.push_back(list_name(kind, part));
  }
  for (const auto& [key, value] : root->members()) {
    if (contains(known, key)) continue;
    problems->push_back(
        {"config-missing",
         fmt::format("{}: unknown list '{}'{}", file, key, did_you_mean(key, known)), false});
  }
  RkbConfigs configs;
  configs.timed = KW_TRY(multiply(*root, "single", file, problems)).configs;
  configs.tested = KW_TRY(multiply(*root, "multi", file, problems)).configs;
  return configs;
}

}  // namespace kw::task_formats
