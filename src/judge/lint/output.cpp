// Converts a report to JSON, and to SARIF for code-review tools.
#include <fmt/core.h>

#include "core/json_writer.h"
#include "lint/lint.h"

namespace kw::lint {

namespace {

Json sarif_rules() {
  return json_list(rules(), [](auto& v, const RuleInfo& rule) {
    v("id", rule.name)("shortDescription", Json().set("text", rule.what));
  });
}

Json sarif_result(const Report& report, const Finding& finding) {
  const std::string where = finding.shape.empty() ? "" : fmt::format(" (at {})", finding.shape);
  Json place;
  place.set("artifactLocation", Json().set("uri", report.path));
  // SARIF counts lines from 1; a finding about the whole file points at line 1.
  place.set("region", Json().set("startLine", finding.line > 0 ? finding.line : 1));
  Json result;
  result.set("ruleId", finding.rule);
  result.set("level", severity_name(finding.severity));
  result.set("message", Json().set("text", finding.message + where));
  result.set("locations", Json().push(Json().set("physicalLocation", std::move(place))));
  return result;
}

}  // namespace

Json to_json(const Report& report) {
  JsonWriter v;
  v("task", report.task)("path", report.path)("usable", report.usable());
  v("verdict", report.verdict())("shapes", report.shapes)("left_out", report.left_out);
  v("kill_rate", report.kill_rate, Zero::Omit)("equivalent", report.equivalent);
  v("findings", json_list(report.findings, [](auto& row, const Finding& finding) {
      row("rule", finding.rule)("severity", severity_name(finding.severity));
      row("subject", finding.subject)("message", finding.message)("shape", finding.shape);
      row("line", finding.line);
    }));
  return v.take();
}

Json to_sarif(std::span<const Report> reports, const std::string& version) {
  Json driver;
  driver.set("name", "kernelwright");
  driver.set("version", version);
  driver.set("rules", sarif_rules());
  Json results = Json::array();
  for (const Report& report : reports) {
    for (const Finding& finding : report.findings) results.push(sarif_result(report, finding));
  }
  Json run;
  run.set("tool", Json().set("driver", std::move(driver)));
  run.set("results", std::move(results));
  Json sarif;
  sarif.set("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  sarif.set("version", "2.1.0");
  sarif.set("runs", Json().push(std::move(run)));
  return sarif;
}

}  // namespace kw::lint
