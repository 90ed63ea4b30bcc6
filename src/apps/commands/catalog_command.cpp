#include "catalog/catalog.h"

#include <fmt/core.h>

#include <algorithm>

#include "catalog/metric.h"
#include "commands/command.h"
#include "core/text.h"

namespace kw::commands {

namespace {

constexpr size_t kTextWidth = 96;

using catalog::Method;

/// Breaks text into lines of the terminal's width.
std::string filled(const std::string& text, const std::string& indent) {
  std::string out, line;
  for (const std::string& word : split(replace_all(text, "\n", " "), ' ')) {
    if (word.empty()) continue;
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > kTextWidth) {
      out += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + indent + line + "\n";
}

std::string fact(const char* name, const std::string& value) {
  if (value.empty()) return "";
  std::string text = filled(value, std::string(15, ' '));
  return text.replace(2, std::string(name).size(), name);
}

std::string features_text(const Method& method) {
  std::vector<std::string> names;
  for (const arch::Feature feature : method.features)
    names.emplace_back(arch::feature_name(feature));
  const std::vector<std::string> targets = arch::targets_with(method.features);
  const std::string where =
      targets.size() == arch::targets().size() ? "every target" : join(targets, ", ");
  return names.empty() ? where : join(names, ", ") + ": " + where;
}

std::string sass_text(const Method& method) {
  if (method.sass.empty()) return "not known how it shows in machine code";
  std::vector<std::string> checks;
  for (const catalog::SassCheck& check : method.sass) {
    std::vector<std::string> unknown;
    const catalog::Opcodes* opcodes = catalog::find_opcodes(check.opcodes);
    for (const std::string& target : arch::targets_with(method.features)) {
      if (!opcodes->pattern(target)) unknown.push_back(target);
    }
    std::string text = fmt::format("{} {}", catalog::sass_check_name(check.kind), opcodes->title);
    if (!unknown.empty()) text += " (not known for " + join(unknown, ", ") + ")";
    checks.push_back(text);
  }
  return join(checks, "; ");
}

std::string expressible_text(const Method& method) {
  switch (method.expressible) {
    case catalog::Expressible::Module:
      return "in a kernel module";
    case catalog::Expressible::Foreign:
      return "only with host code of its own";
    case catalog::Expressible::No:
      return "not in a kernel";
  }
  return "";
}

std::string method_text(const Method& method, const report::Style& style) {
  std::string text = paint(style, report::Paint::Strong, method.id) +
                     fmt::format("  P{}{}\n  {}\n\n", method.priority,
                                 method.experimental ? ", experimental" : "", method.title);
  text += filled(method.guidance, "  ") + "\n";
  text += fact("try when", method.trigger ? catalog::to_text(*method.trigger) : "");
  text += fact("not when", method.skip ? catalog::to_text(*method.skip) : "");
  text += fact("gain",
               fmt::format("{} to {} times, where it works", method.gain_low, method.gain_high));
  text += fact("needs", features_text(method));
  text += fact("needs first", join(method.needs, ", "));
  text += fact("excludes", join(method.conflicts, ", "));
  text += fact("stands for", join(method.supersedes, ", "));
  text += fact("effect", method.effect == catalog::Effect::None
                             ? "none on the numbers"
                             : std::string(catalog::effect_name(method.effect)));
  text += fact("machine code", sass_text(method));
  text += fact("check with", join(method.sanitizer, ", "));
  text += fact("knobs", join(method.knobs, "; "));
  text += fact("expressible", expressible_text(method));
  return text;
}

std::string list_text(const std::vector<const Method*>& methods, const report::Style& style) {
  std::string text, axis;
  for (const Method* method : methods) {
    if (method->axis != axis) {
      text += (axis.empty() ? "" : "\n") + paint(style, report::Paint::Strong, method->axis) + "\n";
      axis = method->axis;
    }
    const std::string mark = method->expressible == catalog::Expressible::Module ? "" : " *";
    text +=
        fmt::format("  {:>2}  {:<48} {}{}\n", method->priority, method->id, method->title, mark);
  }
  return text +
         "\n* not in a kernel module. 'kernelwright catalog ID' says more about one method.\n";
}

/// The methods that a word names: an id, an id without its axis, or an axis. "" names all.
Result<std::vector<const Method*>> named(const std::string& word) {
  std::vector<const Method*> found;
  for (const Method& method : catalog::methods()) {
    const bool fits = word.empty() || method.id == word || method.axis == word ||
                      method.id == method.axis + "." + word;
    if (fits) found.push_back(&method);
  }
  if (!found.empty()) return found;
  std::vector<std::string> names = catalog::ids();
  for (const Method& method : catalog::methods())
    names.push_back(method.id.substr(method.id.find('.') + 1));
  return input_error("there is no method '{}'{}; 'kernelwright catalog' lists all", word,
                     did_you_mean(word, names));
}

}  // namespace

Result<int> catalog_command(const Args& args, Io& io) {
  const std::string word = args.positionals.empty() ? "" : args.positionals.front();
  const std::vector<const Method*> methods = KW_TRY(named(word));
  const bool one = methods.size() == 1;
  io.print(one ? method_text(*methods.front(), io.style()) : list_text(methods, io.style()));
  if (one) return io.finish(kOk, Json().set("method", catalog::to_json(*methods.front())));
  Json list = Json::array(), metrics = Json::array();
  for (const Method* method : methods) list.push(catalog::to_json(*method));
  for (const catalog::Metric& metric : catalog::metrics()) metrics.push(catalog::to_json(metric));
  return io.finish(kOk, Json().set("methods", std::move(list)).set("metrics", std::move(metrics)));
}

}  // namespace kw::commands
