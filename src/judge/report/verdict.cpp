#include "report/verdict.h"

#include <fmt/core.h>

#include "core/text.h"

namespace kw::report {

namespace {

std::string row(const char* title, const std::string& text) {
  return text.empty() ? "" : fmt::format("  {:<15} {}\n", title, text);
}

// A reason of several lines (a module that does not parse) keeps its layout.
std::string reason_row(const std::string& reason) {
  if (reason.find('\n') == std::string::npos) return row("reason", printable(reason));
  return printable(reason) + "\n";
}

std::string cell_text(const record::Cell& cell) {
  std::vector<std::string> parts;
  if (!cell.shape.empty()) parts.push_back(cell.shape);
  if (!cell.family.empty()) parts.push_back(cell.family);
  return join(parts, ", ");
}

std::string worst_text(const record::Worst& worst) {
  std::vector<std::string> index;
  for (const int64_t i : worst.index) index.push_back(std::to_string(i));
  const std::string where =
      index.empty() ? worst.output : fmt::format("{}[{}]", worst.output, join(index, ", "));
  std::string text = fmt::format("{}: got {:.9g}, expected {:.9g}", where, worst.got, worst.want);
  if (!worst.why.empty()) return text + ": " + worst.why;
  return text + fmt::format(", allowed ±{} (z {}, {} ulps)", short_number(worst.bound),
                            short_number(worst.z), short_number(worst.ulps));
}

std::string rejected_text(const record::Rejected& verdict, const FindingContext& context,
                          const Style& style) {
  std::string text = reason_row(verdict.reason);
  if (verdict.finding) text += finding_text(*verdict.finding, context, style);
  return text + row("again", verdict.repro);
}

std::string wrong_text(const record::Wrong& verdict, const Style& style) {
  return reason_row(verdict.reason) + error_text(verdict.summary, style) +
         row("again", verdict.repro);
}

std::string batch_text(const record::BatchInvariance& batch) {
  if (!batch.holds) return batch.why.empty() ? "not checked" : batch.why;
  if (!*batch.holds) return "no: " + batch.why;
  std::string text = fmt::format("yes: along {}, the same bits in {} other batches",
                                 join(batch.dims, ", "), batch.batches);
  if (batch.most_rows > 0) text += fmt::format(" of up to {}", batch.most_rows);
  if (batch.not_tried.empty()) return text;
  text += fmt::format("; not tried, for lack of time: {}", batch.not_tried.front());
  if (batch.not_tried.size() > 1) text += fmt::format(" and {} more", batch.not_tried.size() - 1);
  return text;
}

std::string passed_text(const record::Passed& verdict, const Style& style) {
  std::string text = row("cells", fmt::format("{} right", verdict.cells));
  text += error_text(verdict.summary, style);
  if (verdict.deterministic)
    text += row("deterministic", *verdict.deterministic ? "yes: the same bits in other runs"
                                                        : "no: different bits in other runs");
  text += row("batch invariant", batch_text(verdict.batch));
  if (!verdict.sum_order.empty()) text += row("order of sum", verdict.sum_order);
  for (const std::string& missing : verdict.incomplete)
    text += row(&missing == &verdict.incomplete.front() ? "incomplete" : "", printable(missing));
  return text;
}

}  // namespace

std::string verdict_heading(const record::Verdict& verdict, const Style& style) {
  if (const auto* passed = std::get_if<record::Passed>(&verdict))
    return paint(style, Paint::Good, passed->below.empty() ? "PASSED" : "PASSED " + passed->below);
  if (std::holds_alternative<record::Unknown>(verdict))
    return paint(style, Paint::Warning, "UNKNOWN");
  if (const auto* rejected = std::get_if<record::Rejected>(&verdict))
    return paint(style, Paint::Error,
                 fmt::format("REJECTED at stage {}", record::stage_name(rejected->stage)));
  if (const auto* wrong = std::get_if<record::Wrong>(&verdict))
    return paint(style, Paint::Error,
                 fmt::format("WRONG at stage {}", record::stage_name(wrong->stage)));
  return paint(style, Paint::Error, "CRASHED");
}

std::string error_text(const record::ErrorSummary& summary, const Style&) {
  std::string text;
  if (summary.worst) {
    text += row("worst element", worst_text(*summary.worst));
    if (summary.cell) text += row("in", cell_text(*summary.cell));
  }
  text += row("error",
              fmt::format("max z {}, rms z {}; max abs {}, max rel {}, max {} ulps; {} elements",
                          short_number(summary.max_z), short_number(summary.rms_z),
                          short_number(summary.max_abs), short_number(summary.max_rel),
                          short_number(summary.max_ulps),
                          with_commas(static_cast<uint64_t>(summary.elements))));
  if (summary.overflowed > 0) {
    text += row("overflow",
                fmt::format("{} elements; right by what overflow gives: {} numbers, {} inf or NaN",
                            with_commas(static_cast<uint64_t>(summary.overflowed)),
                            with_commas(static_cast<uint64_t>(summary.overflow_values)),
                            with_commas(static_cast<uint64_t>(summary.overflow_classes))));
  }
  return text;
}

std::string verdict_text(const record::Verdict& verdict, const FindingContext& context,
                         const Style& style) {
  std::string text = verdict_heading(verdict, style) + "\n";
  if (const auto* rejected = std::get_if<record::Rejected>(&verdict))
    return text + rejected_text(*rejected, context, style);
  if (const auto* wrong = std::get_if<record::Wrong>(&verdict))
    return text + wrong_text(*wrong, style);
  if (const auto* passed = std::get_if<record::Passed>(&verdict))
    return text + passed_text(*passed, style);
  if (const auto* crashed = std::get_if<record::Crashed>(&verdict))
    return text + reason_row(crashed->what) + row("again", crashed->repro);
  return text + row("missing", printable(std::get<record::Unknown>(verdict).missing_evidence));
}

}  // namespace kw::report
