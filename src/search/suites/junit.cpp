#include <fmt/core.h>

#include "suites/evaluation.h"
#include "suites/number_text.h"

namespace kw::suites {

namespace {

/// Escapes text between tags or in quotes. Characters that XML 1.0 does not allow become '?'.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\n' || c == '\t') {
      out += fmt::format("&#{};", static_cast<int>(byte));
    } else {
      out += byte < 0x20 ? '?' : c;
    }
  }
  return out;
}

bool is_error(const TaskRow& row) {
  return row.failure_kind == kExternalError || row.failure_kind == kRunnerError;
}

std::string outcome(const TaskRow& row) {
  if (!row.passed) {
    const char* tag = is_error(row) ? "error" : "failure";
    return fmt::format("      <{} type=\"{}\" message=\"{}\">{}</{}>\n", tag,
                       escaped(row.failure_kind), escaped(short_text(row.failure_reason, 200)),
                       escaped(row.failure_reason), tag);
  }
  if (row.regression.empty()) return "";
  return fmt::format("      <failure type=\"regression\" message=\"{}\"/>\n",
                     escaped(row.regression));
}

}  // namespace

std::string junit_xml(const Evaluation& evaluation) {
  int failures = 0, errors = 0;
  std::string cases;
  for (const TaskRow& row : evaluation.rows) {
    const std::string inside = outcome(row);
    if (!inside.empty()) (!row.passed && is_error(row) ? errors : failures) += 1;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                         escaped(evaluation.suite), escaped(row.kernel), row.wall_seconds);
    cases += inside.empty() ? "/>\n" : ">\n" + inside + "    </testcase>\n";
  }
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\"",
                  evaluation.rows.size(), failures, errors, evaluation.totals.seconds);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n"
      "  <testsuite name=\"{1}\" timestamp=\"{2}\" {0}>\n{3}  </testsuite>\n</testsuites>\n",
      counts, escaped(evaluation.suite), escaped(evaluation.started), cases);
}

}  // namespace kw::suites
