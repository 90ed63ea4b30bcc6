#include <fmt/core.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/values.h"
#include "engine/import.h"
#include "os/files.h"

namespace kw::cli {

namespace {

Result<engine::ImportReport> import_file(const Args& args) {
  engine::ImportOptions options;
  options.reference = args.one("--reference");
  options.function = args.one("--function");
  options.launcher = args.one("--launcher");
  options.inputs = args.all("--input");
  options.zero_outputs = args.has("--zero-outputs");
  options.dims = KW_TRY(binding_options(args)).dims;
  const std::string& path = args.positionals.front();
  if (!os::exists(path)) return input_error(fmt::format("{}: no such file", path));
  return engine::import_module(path, options);
}

std::string next_step(const engine::ImportReport& report, const std::string& out,
                      const std::string& reference) {
  std::string words = "kernelwright verify " + shell_quote(out);
  words += " --reference " + (reference.empty() ? "REF" : shell_quote(reference));
  for (const std::string& word : report.task_words) words += " " + shell_quote(word);
  return words;
}

}  // namespace

int import_command(const Args& args, Io& io) {
  const Result<engine::ImportReport> report = import_file(args);
  if (!report) return io.fail(report.error());
  Json document = engine::to_json(*report);
  if (!report->result.problems.empty()) {
    io.complain(engine::problems_text(*report));
    return io.finish(kBadInput, std::move(document));
  }
  for (const std::string& note : report->result.notes) io.note(note);
  const std::string out = args.one("--out");
  if (out.empty()) {
    io.print(report->result.module);
    return io.finish(kOk, std::move(document));
  }
  const Status written = os::write_file(out, report->result.module);
  if (!written) return io.fail(written.error());
  io.print(fmt::format("{} holds what '{}' launches; judge it with\n  {}\n", out,
                       report->result.launcher, next_step(*report, out, args.one("--reference"))));
  return io.finish(kOk, std::move(document.set("out", out)));
}

}  // namespace kw::cli
