#include "catalog/catalog.h"

#include <algorithm>

#include "catalog/metric.h"
#include "catalog/reader.h"
#include "core/check.h"
#include "core/json_writer.h"
#include "kCatalogFiles.inc"

namespace kw::catalog {
namespace {

const Tables& built_in() {
  static const Tables tables = [] {
    std::vector<File> files;
    for (const auto* row = kCatalogFiles; row->name != nullptr; ++row) {
      if (std::string_view(row->name).ends_with(".toml")) files.push_back({row->name, row->text});
    }
    Result<Tables> read = read_tables(files);
    KW_CHECK(read, "the built-in catalogue must be readable: " + read.error().message);
    return std::move(read).value();
  }();
  return tables;
}

template <typename T>
const T* find_row(const std::vector<T>& rows, std::string_view id) {
  const auto at = std::ranges::find(rows, id, &T::id);
  return at == rows.end() ? nullptr : &*at;
}

Json sass_json(const Method& method) {
  Json list = Json::array();
  for (const SassCheck& check : method.sass) {
    Json patterns = Json::object();
    const Opcodes* known = find_opcodes(check.opcodes);
    for (const std::string& target : arch::targets_with(method.features)) {
      const auto pattern = known->pattern(target);
      patterns.set(target, json_of(pattern));
    }
    list.push(Json::object()
                  .set("check", sass_check_name(check.kind))
                  .set("opcodes", check.opcodes)
                  .set("patterns", std::move(patterns)));
  }
  return list;
}

}  // namespace

const char* effect_name(Effect effect) { return kEffectNames[static_cast<size_t>(effect)]; }

const char* expressible_name(Expressible expressible) {
  return kExpressibleNames[static_cast<size_t>(expressible)];
}

const char* sass_check_name(SassCheck::Kind kind) {
  return kSassCheckNames[static_cast<size_t>(kind)];
}

std::optional<std::string> Opcodes::pattern(std::string_view target) const {
  for (const Row& row : rows) {
    const bool here = std::ranges::any_of(
        row.targets, [&](const std::string& name) { return name == target || name == "all"; });
    if (here) return row.pattern;
  }
  return std::nullopt;
}

std::span<const Method> methods() { return built_in().methods; }
const Method* find(std::string_view id) { return find_row(built_in().methods, id); }
std::span<const Opcodes> opcodes() { return built_in().opcodes; }
const Opcodes* find_opcodes(std::string_view id) { return find_row(built_in().opcodes, id); }
std::span<const Metric> metrics() { return built_in().metrics; }
const Metric* find_metric(std::string_view id) { return find_row(built_in().metrics, id); }

std::vector<std::string> ids() {
  std::vector<std::string> out;
  for (const Method& method : methods()) out.push_back(method.id);
  return out;
}

Json to_json(const Method& method) {
  std::vector<std::string> features;
  for (const arch::Feature feature : method.features)
    features.emplace_back(arch::feature_name(feature));
  Json json = Json::object();
  json.set("id", method.id).set("axis", method.axis).set("priority", method.priority);
  json.set("title", method.title).set("features", json_of(features));
  json.set("targets", json_of(arch::targets_with(method.features)));
  json.set("gain", Json::array().push(method.gain_low).push(method.gain_high));
  json.set("trigger", method.trigger ? Json(to_text(*method.trigger)) : Json());
  json.set("skip", method.skip ? Json(to_text(*method.skip)) : Json());
  json.set("needs", json_of(method.needs)).set("conflicts", json_of(method.conflicts));
  json.set("supersedes", json_of(method.supersedes));
  json.set("effect", effect_name(method.effect)).set("sass", sass_json(method));
  json.set("sanitizer", json_of(method.sanitizer)).set("knobs", json_of(method.knobs));
  json.set("expressible", expressible_name(method.expressible));
  json.set("experimental", method.experimental).set("guidance", method.guidance);
  return json;
}

}  // namespace kw::catalog
