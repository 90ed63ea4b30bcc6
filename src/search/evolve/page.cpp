// A comparison should open in any browser, also years later and without a network. So the page is
// one file with an SVG picture and tables, written as text, and no scripts, fonts or links. A
// plotting library would draw nicer axes, but adds a dependency or a download. Lines differ in
// colour and in dashes, for readers who do not see all colours. All names are escaped, because run
// names come from the user. The cost: the picture is static, without zoom.
#include "evolve/page.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kw::evolve {
namespace {

constexpr double kWidth = 860, kHeight = 380;                      // of the picture
constexpr double kLeft = 78, kMargin = 20, kTop = 16, kFoot = 46;  // of its margins
constexpr size_t kTicks = 5;
// Colours that colour-blind readers can distinguish; dashes differ too.
constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#000000"};
constexpr std::array kDashes = {"none", "8 3", "2 3", "10 3 2 3"};

constexpr const char* kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 "
    "1em;color:#111;"
    "background:#fff}"
    "table{border-collapse:collapse;margin:1em 0;font-size:13px;display:block;overflow-x:auto}"
    "td,th{border:1px solid #bbb;padding:.25em .6em;text-align:right}"
    "td:first-child,th:first-child{text-align:left}"
    "svg{max-width:100%;height:auto}text{font:12px system-ui,sans-serif}";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Maps numbers to places in the picture.
struct Axes {
  double most_proposals = 1, low_us = 0, high_us = 1;

  double x(double proposals) const {
    return kLeft + (kWidth - kLeft - kMargin) * proposals / most_proposals;
  }
  double y(double us) const {
    const double share = (us - low_us) / (high_us - low_us);
    return kTop + (kHeight - kTop - kFoot) * (1 - share);
  }
};

Axes axes_of(const std::vector<ComparedRun>& list) {
  Axes axes;
  double low = INFINITY, high = 0;
  for (const ComparedRun& one : list) {
    axes.most_proposals =
        std::max(axes.most_proposals, static_cast<double>(one.summary["proposals_made"].as_int()));
    for (const Json& point : one.summary["curve"].items()) {
      low = std::min(low, point["us"].as_double());
      high = std::max(high, point["us"].as_double());
    }
  }
  if (high == 0) return axes;
  const double room = std::max(0.08 * (high - low), 0.02 * high);
  axes.low_us = std::max(0.0, low - room);
  axes.high_us = high + room;
  return axes;
}

std::string grid(const Axes& axes) {
  std::string out;
  for (size_t i = 0; i <= kTicks; ++i) {
    const double share = static_cast<double>(i) / kTicks;
    const double us = axes.low_us + share * (axes.high_us - axes.low_us);
    const double proposals = std::round(share * axes.most_proposals);
    out += fmt::format(
        "<line x1='{:.1f}' x2='{:.1f}' y1='{:.1f}' y2='{:.1f}' stroke='#ddd'/>"
        "<text x='{:.1f}' y='{:.1f}' text-anchor='end'>{:.4g}</text>"
        "<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>{:.0f}</text>\n",
        kLeft, kWidth - kMargin, axes.y(us), axes.y(us), kLeft - 8, axes.y(us) + 4, us,
        axes.x(proposals), kHeight - kFoot + 18, proposals);
  }
  out += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='middle'>proposals</text>\n",
                     (kLeft + kWidth - kMargin) / 2, kHeight - 8);
  out += fmt::format(
      "<text x='16' y='{0:.1f}' text-anchor='middle' transform='rotate(-90 16 {0:.1f})'>best so "
      "far, "
      "us</text>\n",
      (kTop + kHeight - kFoot) / 2);
  return out;
}

/// A step curve: the best stays the same until it changes.
std::string curve_path(const Json& summary, const Axes& axes) {
  std::string path;
  double last = 0;
  for (const Json& point : summary["curve"].items()) {
    const auto proposals = static_cast<double>(point["proposals"].as_int());
    const double us = point["us"].as_double();
    path += path.empty() ? fmt::format("M{:.1f},{:.1f}", axes.x(proposals), axes.y(us))
                         : fmt::format("H{:.1f}V{:.1f}", axes.x(proposals), axes.y(us));
    last = proposals;
  }
  const auto made = static_cast<double>(summary["proposals_made"].as_int());
  if (!path.empty() && made > last) path += fmt::format("H{:.1f}", axes.x(made));
  return path;
}

std::string picture(const std::vector<ComparedRun>& list) {
  const Axes axes = axes_of(list);
  std::string out = fmt::format(
      "<svg viewBox='0 0 {:.0f} {:.0f}' width='{:.0f}' height='{:.0f}' role='img' "
      "aria-label='best so far over proposals'>\n{}",
      kWidth, kHeight, kWidth, kHeight, grid(axes));
  std::string legend;
  for (size_t i = 0; i < list.size(); ++i) {
    const char* colour = kColours[i % kColours.size()];
    const char* dash = kDashes[i % kDashes.size()];
    const std::string path = curve_path(list[i].summary, axes);
    if (!path.empty())
      out += fmt::format(
          "<path d='{}' fill='none' stroke='{}' stroke-width='2' stroke-dasharray='{}'>"
          "<title>{}</title></path>\n",
          path, colour, dash, escaped(list[i].name));
    legend += fmt::format(
        "<svg width='34' height='10'><line x1='0' x2='34' y1='5' y2='5' stroke='{}' "
        "stroke-width='2' stroke-dasharray='{}'/></svg> {}{}&emsp;\n",
        colour, dash, escaped(list[i].name), path.empty() ? " (no kernel)" : "");
  }
  return out + "</svg>\n<p>" + legend + "</p>\n";
}

std::string table_html(const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<table>\n";
  for (size_t r = 0; r < rows.size(); ++r) {
    out += "<tr>";
    for (const std::string& cell : rows[r])
      out += fmt::format("<{0}>{1}</{0}>", r == 0 ? "th" : "td", escaped(cell));
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

}  // namespace

std::string comparison_page(const std::string& title, const std::vector<ComparedRun>& list) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang='en'>\n<head><meta charset='utf-8'><title>{0}</title>\n"
      "<style>{1}</style></head>\n<body>\n<h1>{0}</h1>\n",
      escaped(title), kStyle);
  out += picture(list);
  const bool measured = std::ranges::all_of(
      list, [](const ComparedRun& one) { return one.summary["measured"].as_bool(); });
  if (!measured) out += "<p>Without a GPU these are estimates, not times.</p>\n";
  for (const auto& rows : comparison_rows(list)) out += table_html(rows);
  return out + "</body>\n</html>\n";
}

}  // namespace kw::evolve
