// The catalog is TOML that people edit. They should see all problems in one run, not one per run.
// So each read of a member records a problem (core/toml_reader.h) and leaves a default instead of
// returning an Error. Only text that is not TOML ends a file early. The cost: a bad row still
// exists in the tables while reading, so the tables are used only when no problem was found.
#include "catalog/reader.h"

#include <fmt/core.h>

#include <algorithm>

#include "catalog/row_checks.h"
#include "core/text.h"
#include "core/toml_reader.h"

namespace kw::catalog {
namespace {

using Strings = TomlReader::Strings;

void read_features(TomlReader& row, Method& method) {
  std::vector<std::string> names;
  row("features", names);
  for (const std::string& name : names) {
    if (const auto feature = arch::feature_from_name(name))
      method.features.push_back(*feature);
    else if (!name.empty())
      row.problem("features", fmt::format("'{}' is not a feature{}", name,
                                          did_you_mean(name, arch::feature_names())));
  }
}

void read_gain(TomlReader& row, Method& method) {
  std::vector<double> gain;
  row("gain", gain);
  const bool good = gain.size() == 2 && std::ranges::all_of(gain, [](double one) {
                      return one > 0 && one <= finite.high;
                    });
  if (!good) return row.problem("gain", "'gain' must be 2 positive numbers");
  method.gain_low = gain[0];
  method.gain_high = gain[1];
  if (gain[0] > gain[1]) row.problem("gain", "'gain' must be [least, most]");
}

void read_condition(TomlReader& row, const char* key, std::optional<Expression>& out) {
  std::string text;
  row(key, text);
  if (text.empty()) return;
  Result<Expression> parsed = parse_expression(text);
  if (parsed)
    out = std::move(parsed).value();
  else
    row.problem(key, fmt::format("{}: {}", key, parsed.error().message));
}

void read_sass(TomlReader& row, Method& method) {
  std::vector<std::string> checks;
  row("sass", checks);
  for (const std::string& text : checks) {
    const size_t blank = text.find(' ');
    const auto at = std::ranges::find(kSassCheckNames, std::string_view(text).substr(0, blank));
    if (at == std::end(kSassCheckNames) || blank == std::string::npos) {
      row.problem("sass",
                  fmt::format("'{}' is not 'present|absent|more|fewer|unrolls OPCODES'", text));
      continue;
    }
    method.sass.push_back({static_cast<SassCheck::Kind>(at - std::begin(kSassCheckNames)),
                           std::string(trim(std::string_view(text).substr(blank)))});
  }
}

}  // namespace

void fields(TomlReader& v, Opcodes::Row& r) {
  v("targets", r.targets)("pattern", r.pattern, required);
}

void fields(TomlReader& v, Opcodes& o) {
  v("id", o.id, required)("title", o.title, required)("rows", o.rows, required);
}

void fields(TomlReader& v, Method& m) {
  v("id", m.id, required)("title", m.title, required);
  m.axis = m.id.substr(0, m.id.find('.'));
  v("priority", m.priority, required, Within{1, 1000});
  read_features(v, m);
  read_gain(v, m);
  read_condition(v, "trigger", m.trigger);
  read_condition(v, "skip", m.skip);
  v("needs", m.needs)("conflicts", m.conflicts)("supersedes", m.supersedes);
  v("effect", m.effect, kEffectNames, required);
  read_sass(v, m);
  v("sanitizer", m.sanitizer)("knobs", m.knobs);
  v("expressible", m.expressible, kExpressibleNames, required);
  v("experimental", m.experimental)("guidance", m.guidance, required);
}

namespace {

class FileReader {
 public:
  FileReader(const File& file, Tables& tables, Places& places, std::vector<std::string>& problems)
      : file_(file), tables_(tables), places_(places), problems_(problems) {}

  void read() {
    const Result<toml::table> root = parse_toml(file_.text, file_.name);
    if (!root) return problems_.push_back(root.error().message);
    for (const auto& [key, node] : *root) table(std::string(key.str()), node);
  }

 private:
  void table(const std::string& kind, const toml::node& node) {
    const toml::array* rows = node.as_array();
    const bool known = kind == "metric" || kind == "opcodes" || kind == "method";
    if (!known || rows == nullptr)
      return problem(node, "'" + kind + "' is not one of [[metric]], [[opcodes]], [[method]]");
    for (const toml::node& item : *rows) {
      const toml::table* row = item.as_table();
      if (row == nullptr)
        problem(item, "'" + kind + "' is written [[" + kind + "]]");
      else if (kind == "metric")
        one(*row, tables_.metrics, places_.metrics);
      else if (kind == "opcodes")
        one(*row, tables_.opcodes, places_.opcodes);
      else
        one(*row, tables_.methods, places_.methods);
    }
  }

  template <class T>
  void one(const toml::table& table, std::vector<T>& rows, std::vector<std::string>& places) {
    TomlReader row(file_.name, table, Strings::NotBlank);
    fields(row, rows.emplace_back());
    places.push_back(row.place());
    for (std::string& problem : row.finish()) problems_.push_back(std::move(problem));
  }

  void problem(const toml::node& node, const std::string& what) {
    problems_.push_back(toml_error(file_.name, node, what).message);
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
