#include "report/findings.h"

#include <fmt/core.h>

#include <algorithm>

#include "report/excerpt.h"
#include "report/picture.h"

namespace kw::report {

namespace {

using record::Certainty;
using record::Finding;
using record::FindingKind;

std::string dim_text(const kernel::Dim3& d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

std::string who_text(const record::ThreadId& who) {
  return "block " + dim_text(who.block) + ", thread " + dim_text(who.thread);
}

// Findings about a whole call have no thread.
bool has_thread(FindingKind kind) {
  switch (kind) {
    case FindingKind::OutputNotWritten:
    case FindingKind::ScratchNotRestored:
    case FindingKind::LaunchError:
    case FindingKind::OrderDependence:
    case FindingKind::StateAcrossCalls:
      return false;
    default:
      return true;
  }
}

bool may_lie_outside(FindingKind kind) {
  return kind == FindingKind::OutOfBoundsGlobal || kind == FindingKind::InvalidAddress;
}

const kernel::Buffer* find_buffer(const FindingContext& context, const std::string& name) {
  if (context.program == nullptr || name.empty()) return nullptr;
  for (const kernel::Buffer& buffer : context.program->buffers) {
    if (buffer.name == name) return &buffer;
  }
  return nullptr;
}

Paint paint_of(const Finding& finding) {
  return finding.certainty == Certainty::Certain ? Paint::Error : Paint::Warning;
}

std::string heading(const Finding& finding, const Style& style) {
  const char* severity = finding.certainty == Certainty::Certain ? "error" : "warning";
  return paint(style, paint_of(finding),
               fmt::format("{}[{}]", severity, record::finding_name(finding.kind))) +
         ": " + paint(style, Paint::Strong, finding.message) + "\n";
}

std::string where_text(const Finding& finding) {
  std::string out = "  ";
  if (finding.at.line > 0) {
    out += location(finding.at.file, finding.at.line) + "  ";
  } else if (finding.at.ptx_line > 0) {
    out += fmt::format("--> PTX line {}  ", finding.at.ptx_line);
  }
  if (!finding.kernel.empty()) out += "in " + finding.kernel;
  if (has_thread(finding.kind)) out += (finding.kernel.empty() ? "" : ", ") + who_text(finding.who);
  if (finding.count > 1)
    out += fmt::format("  ({} times)", with_commas(static_cast<uint64_t>(finding.count)));
  return out.find_first_not_of(' ') == std::string::npos ? "" : out + "\n";
}

std::string source_text(const Finding& finding, const FindingContext& context, const Style& style) {
  std::vector<Mark> marks;
  const bool same = finding.other_at && finding.other_at->line == finding.at.line &&
                    finding.other_at->file == finding.at.file && finding.other == finding.who;
  const bool pair = finding.other_at && finding.other_at->line > 0 && !same;
  if (finding.at.file == context.file_name) {
    std::string label = pair && finding.other ? "thread " + dim_text(finding.who.thread) : "";
    if (pair && finding.other && !(finding.other->block == finding.who.block))
      label = who_text(finding.who);
    marks.push_back({finding.at.line, 0, label, paint_of(finding)});
  }
  if (pair && finding.other_at->file == context.file_name) {
    std::string label = "the other access";
    if (finding.other) {
      const bool same_block = finding.other->block == finding.who.block;
      label = same_block ? "thread " + dim_text(finding.other->thread) : who_text(*finding.other);
    }
    marks.push_back({finding.other_at->line, 0, label, Paint::Warning});
  }
  std::string out = excerpt(context.text, marks, style);
  if (pair && finding.other_at->file != context.file_name) {
    out += "  the other access: " + location(finding.other_at->file, finding.other_at->line) + "\n";
  }
  return out;
}

std::string count_text(size_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

}  // namespace

std::string finding_text(const Finding& finding, const FindingContext& context,
                         const Style& style) {
  std::string out =
      heading(finding, style) + where_text(finding) + source_text(finding, context, style);
  const kernel::Buffer* buffer = find_buffer(context, finding.buffer);
  if (buffer != nullptr && (finding.element >= 0 || may_lie_outside(finding.kind))) {
    out += buffer_picture(*buffer, finding.element);
  }
  return out + "  " + paint(style, Paint::Good, "hint") + ": " +
         record::finding_hint(finding.kind) + "\n";
}

std::string findings_text(const std::vector<Finding>& findings, const FindingContext& context,
                          const Style& style, size_t limit) {
  if (findings.empty()) return "";
  std::vector<const Finding*> ordered;
  for (const Finding& finding : findings) ordered.push_back(&finding);
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const Finding* f) { return f->certainty == Certainty::Certain; });
  std::string out;
  for (size_t i = 0; i < std::min(limit, ordered.size()); ++i)
    out += finding_text(*ordered[i], context, style) + "\n";
  if (ordered.size() > limit) out += fmt::format("… and {} more\n\n", ordered.size() - limit);
  const auto errors =
      static_cast<size_t>(std::count_if(findings.begin(), findings.end(), [](const Finding& f) {
        return f.certainty == Certainty::Certain;
      }));
  const size_t warnings = findings.size() - errors;
  std::string total = errors > 0 ? paint(style, Paint::Error, count_text(errors, "error")) : "";
  if (warnings > 0) {
    total +=
        (total.empty() ? "" : ", ") + paint(style, Paint::Warning, count_text(warnings, "warning"));
  }
  return out + total + "\n";
}

}  // namespace kw::report
