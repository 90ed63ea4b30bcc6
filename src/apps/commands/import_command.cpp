#include <fmt/core.h>

#include "commands/command.h"
#include "commands/values.h"
#include "core/text.h"
#include "os/files.h"
#include "reference/import_file.h"

namespace kw::commands {

namespace {

Result<reference::ImportReport> import_file(const Args& args) {
  reference::ImportOptions options;
  options.reference = args.one("--reference");
  options.function = args.one("--function");
  options.launcher = args.one("--launcher");
  options.mode = args.one("--mode");
  options.inputs = args.all("--input");
  options.zero_outputs = args.has("--zero-outputs");
  options.dims = KW_TRY(binding_options(args)).dims;
  const std::string& path = args.positionals.front();
  if (!os::exists(path)) return input_error("{}: no such file", path);
  return reference::import_module(path, options);
}

std::string next_step(const reference::ImportReport& report, const std::string& out,
                      const std::string& reference) {
  std::string words = "kernelwright verify " + shell_quote(out);
  words += " --reference " + (reference.empty() ? "REF" : shell_quote(reference));
  for (const std::string& word : report.task_words) words += " " + shell_quote(word);
  return words;
}

}  // namespace

Result<int> import_command(const Args& args, Io& io) {
  const reference::ImportReport report = KW_TRY(import_file(args));
  Json document = to_json(report);
  if (!report.result.problems.empty()) {
    io.print_error(reference::problems_text(report));
    return io.finish(kBadInput, std::move(document));
  }
  for (const std::string& note : report.result.notes) io.note(note);
  const std::string out = args.one("--out");
  if (out.empty()) {
    io.print(report.result.module);
    return io.finish(kOk, std::move(document));
  }
  KW_TRY(os::write_file(out, report.result.module));
  io.print(fmt::format("{} contains the launches of '{}'; verify it with\n  {}\n", out,
                       report.result.launcher, next_step(report, out, args.one("--reference"))));
  return io.finish(kOk, std::move(document.set("out", out)));
}

}  // namespace kw::commands
