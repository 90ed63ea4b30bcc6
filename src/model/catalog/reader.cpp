// The catalog is TOML that people edit. They should see all problems in one run, not one per run.
// So each typed read of `Row` records a problem and returns a default instead of an Error. A row
// also records the keys that were read; finish() reports all other keys as unknown, which finds
// typos. Only text that is not TOML ends a file early. The cost: a bad row still exists in the
// tables while reading, so the tables are used only when no problem was found.
#include "catalog/reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "catalog/row_checks.h"
#include "core/contains.h"
#include "core/text.h"
#include "core/toml.h"

namespace kw::catalog {
namespace {

std::string place_of(const std::string& file, const toml::node& node) {
  const auto begin = node.source().begin;
  return fmt::format("{}:{}:{}", file, begin.line, begin.column);
}

/// The names of the values of an enum, up to and including `last`.
template <typename E>
std::vector<std::string> names_of(const char* (*name)(E), E last) {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(last); ++i) names.emplace_back(name(static_cast<E>(i)));
  return names;
}

/// One table of a file. Each typed read records problems and the key that was read.
class Row {
 public:
  Row(const std::string& file, const toml::table& table, std::vector<std::string>& problems)
      : file_(file), table_(table), problems_(problems) {}

  void problem(const char* key, const std::string& what) const {
    const toml::node* node = table_.get(key);
    problems_.push_back(place_of(file_, node != nullptr ? *node : table_) + ": " + what);
  }

  std::string text(const char* key, bool required = true) {
    const toml::node* node = get(key, required);
    if (node == nullptr) return "";
    const auto value = node->value_exact<std::string>();
    if (!value || trim(*value).empty()) {
      problem(key, fmt::format("'{}' must be a text", key));
      return "";
    }
    return std::string(trim(*value));
  }

  std::vector<std::string> texts(const char* key) {
    std::vector<std::string> found;
    const toml::node* node = get(key, false);
    if (node == nullptr) return found;
    const toml::array* list = node->as_array();
    if (list == nullptr) {
      problem(key, fmt::format("'{}' must be a list of texts", key));
      return found;
    }
    for (const toml::node& item : *list) {
      const auto value = item.value_exact<std::string>();
      if (!value || trim(*value).empty())
        problem(key, fmt::format("'{}' must hold nothing but texts", key));
      else if (contains(found, *value))
        problem(key, fmt::format("'{}' says '{}' twice", key, *value));
      else
        found.push_back(*value);
    }
    return found;
  }

  std::vector<double> numbers(const char* key, size_t how_many) {
    std::vector<double> found;
    const toml::node* node = get(key, true);
    const toml::array* list = node == nullptr ? nullptr : node->as_array();
    if (list != nullptr) {
      for (const toml::node& item : *list) {
        const auto value = item.value<double>();
        if (item.is_number() && value && *value > 0 && *value - *value == 0)
          found.push_back(*value);
      }
      if (list->size() != found.size()) found.clear();
    }
    if (node != nullptr && found.size() != how_many)
      problem(key, fmt::format("'{}' must be {} positive numbers", key, how_many));
    found.resize(how_many, 1.0);
    return found;
  }

  int whole(const char* key) {
    const toml::node* node = get(key, true);
    if (node == nullptr) return 0;
    const auto value = node->value_exact<int64_t>();
    if (value && *value >= 1 && *value <= 1000) return static_cast<int>(*value);
    problem(key, fmt::format("'{}' must be a whole number from 1 to 1000", key));
    return 0;
  }

  bool flag(const char* key, bool fallback) {
    const toml::node* node = get(key, false);
    if (node == nullptr) return fallback;
    const auto value = node->value_exact<bool>();
    if (!value) problem(key, fmt::format("'{}' must be true or false", key));
    return value.value_or(fallback);
  }

  /// The index of a word in a list. When the word is not in the list: 0, and a problem is recorded.
  size_t word(const char* key, const std::vector<std::string>& words, bool required) {
    const std::string found = text(key, required);
    const auto at = std::ranges::find(words, found);
    if (at != words.end()) return static_cast<size_t>(at - words.begin());
    if (!found.empty())
      problem(key, fmt::format("'{}' is not a known {}{}; one of: {}", found, key,
                               did_you_mean(found, words), join(words, ", ")));
    return 0;
  }

  std::optional<Expression> condition(const char* key) {
    const std::string found = text(key, false);
    if (found.empty()) return std::nullopt;
    Result<Expression> parsed = parse_expression(found);
    if (parsed) return std::move(parsed).value();
    problem(key, fmt::format("{}: {}", key, parsed.error().message));
    return std::nullopt;
  }

  const toml::array* tables(const char* key) {
    const toml::node* node = get(key, true);
    const toml::array* list = node == nullptr ? nullptr : node->as_array();
    if (node != nullptr && list == nullptr) problem(key, fmt::format("'{}' must be a list", key));
    return list;
  }

  /// Call it last: reports the keys that were not read.
  void finish() {
    const std::vector<std::string> known(asked_.begin(), asked_.end());
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (asked_.count(name) > 0) continue;
      problems_.push_back(fmt::format("{}: unknown key '{}'{}; known are: {}",
                                      place_of(file_, node), name, did_you_mean(name, known),
                                      join(known, ", ")));
    }
  }

  std::string place() const { return place_of(file_, table_); }

 private:
  const toml::node* get(const char* key, bool required) {
    asked_.insert(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr && required) problem(key, fmt::format("'{}' is missing", key));
    return node;
  }

  const std::string& file_;
  const toml::table& table_;
  std::vector<std::string>& problems_;
  std::set<std::string> asked_;
};

Metric read_metric(Row& row) {
  Metric metric;
  metric.id = row.text("id");
  metric.title = row.text("title");
  metric.unit = static_cast<Unit>(row.word("unit", names_of(unit_name, Unit::Flag), true));
  metric.better = static_cast<Metric::Better>(row.word("better", {"high", "low", "neither"}, true));
  metric.combine =
      static_cast<Metric::Combine>(row.word("combine", {"first", "max", "sum"}, false));
  metric.ncu = row.texts("ncu");
  metric.labels = row.texts("labels");
  metric.vgpu = row.texts("vgpu");
  metric.counted = row.flag("counted", true);
  return metric;
}

Opcodes read_opcodes(Row& row, const std::string& file, std::vector<std::string>& problems) {
  Opcodes found;
  found.id = row.text("id");
  found.title = row.text("title");
  const toml::array* rows = row.tables("rows");
  for (size_t i = 0; rows != nullptr && i < rows->size(); ++i) {
    const toml::table* table = rows->get(i)->as_table();
    if (table == nullptr) {
      row.problem("rows", "'rows' holds { targets = [...], pattern = '...' }");
      continue;
    }
    Row one(file, *table, problems);
    Opcodes::Row read;
    read.targets = one.texts("targets");
    read.pattern = one.text("pattern");
    one.finish();
    found.rows.push_back(std::move(read));
  }
  return found;
}

void read_features(Row& row, Method& method) {
  for (const std::string& name : row.texts("features")) {
    if (const auto feature = arch::feature_from_name(name))
      method.features.push_back(*feature);
    else
      row.problem("features", fmt::format("'{}' is not a feature{}", name,
                                          did_you_mean(name, arch::feature_names())));
  }
}

void read_sass(Row& row, Method& method) {
  const std::vector<std::string> words = names_of(sass_check_name, SassCheck::Kind::Unrolls);
  for (const std::string& text : row.texts("sass")) {
    const size_t blank = text.find(' ');
    const auto at = std::ranges::find(words, text.substr(0, blank));
    if (at == words.end() || blank == std::string::npos) {
      row.problem("sass",
                  fmt::format("'{}' is not 'present|absent|more|fewer|unrolls OPCODES'", text));
      continue;
    }
    method.sass.push_back({static_cast<SassCheck::Kind>(at - words.begin()),
                           std::string(trim(std::string_view(text).substr(blank)))});
  }
}

Method read_method(Row& row) {
  Method method;
  method.id = row.text("id");
  method.axis = method.id.substr(0, method.id.find('.'));
  method.title = row.text("title");
  method.priority = row.whole("priority");
  read_features(row, method);
  const std::vector<double> gain = row.numbers("gain", 2);
  method.gain_low = gain[0];
  method.gain_high = gain[1];
  if (method.gain_low > method.gain_high) row.problem("gain", "'gain' must be [least, most]");
  method.trigger = row.condition("trigger");
  method.skip = row.condition("skip");
  method.needs = row.texts("needs");
  method.conflicts = row.texts("conflicts");
  method.supersedes = row.texts("supersedes");
  method.effect =
      static_cast<Effect>(row.word("effect", names_of(effect_name, Effect::Precision), true));
  read_sass(row, method);
  method.sanitizer = row.texts("sanitizer");
  method.knobs = row.texts("knobs");
  method.expressible = static_cast<Expressible>(
      row.word("expressible", names_of(expressible_name, Expressible::No), true));
  method.experimental = row.flag("experimental", false);
  method.guidance = row.text("guidance");
  return method;
}

class FileReader {
 public:
  FileReader(const File& file, Tables& tables, Places& places, std::vector<std::string>& problems)
      : file_(file), tables_(tables), places_(places), problems_(problems) {}

  void read() {
    const toml::parse_result parsed = toml::parse(file_.text, file_.name);
    if (!parsed) {
      const auto& error = parsed.error();
      problems_.push_back(fmt::format("{}:{}:{}: {}", file_.name, error.source().begin.line,
                                      error.source().begin.column, error.description()));
      return;
    }
    for (const auto& [key, node] : parsed.table()) table(std::string(key.str()), node);
  }

 private:
  void table(const std::string& kind, const toml::node& node) {
    const toml::array* rows = node.as_array();
    const bool known = kind == "metric" || kind == "opcodes" || kind == "method";
    if (!known || rows == nullptr) {
      problems_.push_back(place_of(file_.name, node) + ": '" + kind +
                          "' is not one of [[metric]], [[opcodes]], [[method]]");
      return;
    }
    for (const toml::node& item : *rows) {
      if (const toml::table* found = item.as_table())
        one(kind, *found);
      else
        problems_.push_back(place_of(file_.name, item) + ": '" + kind + "' is written [[" + kind +
                            "]]");
    }
  }

  void one(const std::string& kind, const toml::table& found) {
    Row row(file_.name, found, problems_);
    if (kind == "metric") {
      tables_.metrics.push_back(read_metric(row));
      places_.metrics.push_back(row.place());
    } else if (kind == "opcodes") {
      tables_.opcodes.push_back(read_opcodes(row, file_.name, problems_));
      places_.opcodes.push_back(row.place());
    } else {
      tables_.methods.push_back(read_method(row));
      places_.methods.push_back(row.place());
    }
    row.finish();
  }

  const File& file_;
  Tables& tables_;
  Places& places_;
  std::vector<std::string>& problems_;
};

}  // namespace

Result<Tables> read_tables(const std::vector<File>& files) {
  Tables tables;
  Places places;
  std::vector<std::string> problems;
  for (const File& file : files) FileReader(file, tables, places, problems).read();
  check_tables(tables, places, problems);
  if (!problems.empty()) return input_error(join(problems, "\n"));
  const auto order = [](const Method& method) {
    return std::pair(method.axis == "compute"  ? 0
                     : method.axis == "memory" ? 1
                                               : 2,
                     method.priority);
  };
  std::ranges::stable_sort(tables.methods,
                           [&](const Method& a, const Method& b) { return order(a) < order(b); });
  return tables;
}

}  // namespace kw::catalog
