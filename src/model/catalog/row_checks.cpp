// The catalog is edited by hand, and its rows refer to each other by name. A wrong name would
// silently disable a method. So all rows are checked together after reading: ids, priorities,
// metrics, opcodes and the relations between methods. A check while reading is not possible,
// because a row may name a later row. Every problem is collected with its place, so one pass shows
// the editor all of them. The search for circles visits the relations of each method again; the
// catalog is small enough.
#include "catalog/row_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "core/contains.h"
#include "core/text.h"

namespace kw::catalog {
namespace {

constexpr size_t kLeastGuidance = 150;  // characters; a shorter text is not a paragraph

class Checker {
 public:
  Checker(const Tables& tables, const Places& places, std::vector<std::string>& problems)
      : tables_(tables), places_(places), problems_(problems) {}

  void run() {
    for (const Metric& metric : tables_.metrics) metric_ids_.push_back(metric.id);
    for (const Opcodes& opcodes : tables_.opcodes) opcode_ids_.push_back(opcodes.id);
    for (const Method& method : tables_.methods) method_ids_.push_back(method.id);
    check_ids("metric", metric_ids_, places_.metrics);
    check_ids("opcodes", opcode_ids_, places_.opcodes);
    check_ids("method", method_ids_, places_.methods);
    for (size_t i = 0; i < tables_.metrics.size(); ++i) check_metric(i);
    for (size_t i = 0; i < tables_.opcodes.size(); ++i) check_opcodes(i);
    for (size_t i = 0; i < tables_.methods.size(); ++i) check_method(i);
    check_circles();
  }

 private:
  void problem(const std::string& place, const std::string& what) {
    problems_.push_back(place + ": " + what);
  }

  void check_ids(const char* kind, const std::vector<std::string>& ids,
                 const std::vector<std::string>& places) {
    std::map<std::string, std::string> seen;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i].empty()) continue;
      const bool fine =
          ids[i].find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.") == std::string::npos;
      if (!fine) problem(places[i], fmt::format("'{}' is not written like an id", ids[i]));
      const auto [before, first] = seen.emplace(ids[i], places[i]);
      if (!first)
        problem(places[i], fmt::format("{} '{}' is at {} already", kind, ids[i], before->second));
    }
  }

  // A profiler name may mean only one metric; otherwise an import would depend on the order.
  void check_metric(size_t index) {
    const Metric& metric = tables_.metrics[index];
    for (const auto* names : {&metric.ncu, &metric.labels}) {
      for (const std::string& name : *names) {
        const std::string key =
            name + (names == &metric.labels ? std::string(" in ") + unit_name(metric.unit)
                                            : std::string());
        const auto [before, first] = aliases_.emplace(key, metric.id);
        if (!first)
          problem(places_.metrics[index],
                  fmt::format("'{}' already means {}", name, before->second));
      }
    }
  }

  void check_opcodes(size_t index) {
    std::set<std::string> seen;
    for (const Opcodes::Row& row : tables_.opcodes[index].rows) {
      for (const std::string& target : row.targets) {
        if (const auto known = arch::find_target(target); !known && target != "all")
          problem(places_.opcodes[index], known.error().message);
        if (!seen.insert(target).second)
          problem(places_.opcodes[index], fmt::format("'{}' has two rows", target));
      }
      try {
        const std::regex compiled(row.pattern);
      } catch (const std::regex_error&) {
        problem(places_.opcodes[index],
                fmt::format("'{}' is not a regular expression", row.pattern));
      }
    }
  }

  void check_method(size_t index) {
    const Method& method = tables_.methods[index];
    const std::string& place = places_.methods[index];
    if (method.axis != "compute" && method.axis != "memory" && method.axis != "latency")
      problem(place, fmt::format("'{}' must begin with compute., memory. or latency.", method.id));
    const auto [before, first] =
        priorities_.emplace(std::pair(method.axis, method.priority), method.id);
    if (!first && method.priority > 0)
      problem(place, fmt::format("priority {} of {} belongs to {} already", method.priority,
                                 method.axis, before->second));
    if (!method.guidance.empty() && method.guidance.size() < kLeastGuidance)
      problem(place, fmt::format("the guidance of {} is not a paragraph", method.id));
    if (!method.trigger)
      problem(place, fmt::format("{} has no trigger that can be evaluated", method.id));
    if (arch::targets_with(method.features).empty())
      problem(place, fmt::format("no target has all features of {}", method.id));
    check_condition(place, "trigger", method.trigger);
    check_condition(place, "skip", method.skip);
    check_sass(place, method);
    check_words(place, "sanitizer", method.sanitizer,
                {"memcheck", "racecheck", "initcheck", "synccheck"});
    check_relations(place, method);
  }

  void check_condition(const std::string& place, const char* what,
                       const std::optional<Expression>& condition) {
    if (!condition) return;
    for (const std::string& name : metrics_of(*condition)) {
      if (!contains(metric_ids_, name))
        problem(place, fmt::format("{}: '{}' is not a metric{}", what, name,
                                   did_you_mean(name, metric_ids_)));
    }
    check_types(place, what, *condition);
    if (what == std::string_view("skip") &&
        to_text(*condition).find(" worst ") != std::string::npos)
      problem(place, "skip: a condition that excludes a method cannot have a 'worst' value");
  }

  // A flag must not be compared, and a number must be compared.
  void check_types(const std::string& place, const char* what, const Expression& e) {
    for (const Expression& part : e.parts) check_types(place, what, part);
    const auto at = std::ranges::find(tables_.metrics, e.metric, &Metric::id);
    if (e.metric.empty() || at == tables_.metrics.end()) return;
    const bool bare = e.kind == Expression::Kind::Flag;
    if (bare && at->unit != Unit::Flag)
      problem(place, fmt::format("{}: '{}' is a number; compare it", what, e.metric));
    if (!bare && at->unit == Unit::Flag)
      problem(place, fmt::format("{}: '{}' is true or false; it is not compared", what, e.metric));
  }

  void check_sass(const std::string& place, const Method& method) {
    for (const SassCheck& check : method.sass) {
      if (!contains(opcode_ids_, check.opcodes))
        problem(place, fmt::format("sass: there are no opcodes '{}'{}", check.opcodes,
                                   did_you_mean(check.opcodes, opcode_ids_)));
    }
  }

  void check_words(const std::string& place, const char* what,
                   const std::vector<std::string>& given, const std::vector<std::string>& known) {
    for (const std::string& word : given) {
      if (!contains(known, word))
        problem(place, fmt::format("{}: '{}' is unknown{}", what, word, did_you_mean(word, known)));
    }
  }

  void check_relations(const std::string& place, const Method& method) {
    for (const auto* list : {&method.needs, &method.conflicts, &method.supersedes}) {
      check_words(place, "relations", *list, method_ids_);
      if (contains(*list, method.id))
        problem(place, fmt::format("{} is related to itself", method.id));
    }
    for (const std::string& other : method.conflicts) {
      const auto at = std::ranges::find(tables_.methods, other, &Method::id);
      if (at != tables_.methods.end() && !contains(at->conflicts, method.id))
        problem(place, fmt::format("{} conflicts with {}, which does not list the conflict",
                                   method.id, other));
      if (contains(method.needs, other))
        problem(place, fmt::format("{} both needs {} and conflicts with it", method.id, other));
    }
  }

  // 'needs' and 'supersedes' are orders, so they must not contain a circle.
  void check_circles() {
    for (const auto relation : {&Method::needs, &Method::supersedes}) {
      for (size_t i = 0; i < tables_.methods.size(); ++i) {
        std::set<std::string> seen;
        if (reaches(tables_.methods[i].id, tables_.methods[i], relation, seen))
          problem(places_.methods[i],
                  fmt::format("{} leads back to itself", tables_.methods[i].id));
      }
    }
  }

  bool reaches(const std::string& goal, const Method& from,
               std::vector<std::string> Method::*relation, std::set<std::string>& seen) const {
    for (const std::string& next : from.*relation) {
      if (next == goal && from.id != goal) return true;
      const auto at = std::ranges::find(tables_.methods, next, &Method::id);
      if (at != tables_.methods.end() && seen.insert(next).second &&
          reaches(goal, *at, relation, seen))
        return true;
    }
    return false;
  }

  const Tables& tables_;
  const Places& places_;
  std::vector<std::string>& problems_;
  std::vector<std::string> metric_ids_, opcode_ids_, method_ids_;
  std::map<std::string, std::string> aliases_;
  std::map<std::pair<std::string, int>, std::string> priorities_;
};

}  // namespace

void check_tables(const Tables& tables, const Places& places, std::vector<std::string>& problems) {
  Checker(tables, places, problems).run();
}

}  // namespace kw::catalog
