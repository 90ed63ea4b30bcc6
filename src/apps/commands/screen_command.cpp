#include <fmt/core.h>

#include <algorithm>

#include "commands/command.h"
#include "core/text.h"
#include "reference/load_reference.h"
#include "verification/screen.h"

namespace kw::commands {

namespace {

using verification::Screened;
using verification::ScreenScope;

constexpr ScreenScope kOrder[] = {ScreenScope::InScope, ScreenScope::NeedsReview,
                                  ScreenScope::OutOfScope};

int64_t count(const std::vector<Screened>& all, ScreenScope scope) {
  return std::ranges::count(all, scope, &Screened::scope);
}

std::string group_text(const std::vector<Screened>& all, ScreenScope scope,
                       const report::Style& style) {
  if (count(all, scope) == 0) return "";
  const report::Paint paint_as = scope == ScreenScope::InScope       ? report::Paint::Good
                                 : scope == ScreenScope::NeedsReview ? report::Paint::Warning
                                                                     : report::Paint::Error;
  std::string text = fmt::format(
      "{} ({})\n", paint(style, paint_as, verification::scope_name(scope)), count(all, scope));
  for (const Screened& one : all) {
    if (one.scope != scope) continue;
    text += fmt::format("  {}: {}{}\n", printable(one.name), printable(one.reason),
                        one.reader == "torch.export" ? " (read by torch.export)" : "");
  }
  return text;
}

}  // namespace

Result<int> screen_command(const Args& args, Io& io) {
  const auto progress = [&io](const std::string& what) { io.progress(what); };
  const std::vector<Screened> all =
      KW_TRY(verification::screen(args.positionals.front(), progress, reference::open_torch(), args.one("--mode")));
  Json files = Json::array(), counts = Json::object();
  for (const Screened& one : all) files.push(to_json(one));
  for (const ScreenScope scope : kOrder) {
    io.print(group_text(all, scope, io.style()));
    counts.set(verification::scope_name(scope), count(all, scope));
  }
  return io.finish(kOk,
                   Json::object().set("counts", std::move(counts)).set("files", std::move(files)));
}

}  // namespace kw::commands
