// Converts a report to JSON, and to SARIF for code-review tools.
#include <fmt/core.h>

#include "core/json_writer.h"

#include "lint/lint.h"

namespace kw::lint {

namespace {

Json finding_json(const Finding& finding) {
  Json json;
  json.set("rule", finding.rule);
  json.set("severity", severity_name(finding.severity));
  json.set("subject", finding.subject);
  json.set("message", finding.message);
  json.set("shape", finding.shape);
  json.set("line", finding.line);
  return json;
}

Json sarif_rules() {
  Json list = Json::array();
  for (const RuleInfo& rule : rules()) {
    Json entry;
    entry.set("id", rule.name);
    entry.set("shortDescription", Json().set("text", rule.what));
    list.push(std::move(entry));
  }
  return list;
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
  Json json;
  json.set("task", report.task);
  json.set("path", report.path);
  json.set("usable", report.usable());
  json.set("verdict", report.verdict());
  Json findings = Json::array();
  for (const Finding& finding : report.findings) findings.push(finding_json(finding));
  json.set("shapes", json_of(report.shapes)).set("left_out", json_of(report.left_out));
  if (report.kill_rate) json.set("kill_rate", *report.kill_rate);
  json.set("equivalent", json_of(report.equivalent));
  json.set("findings", std::move(findings));
  return json;
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
