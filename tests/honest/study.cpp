// How often the judge refuses an honest module. Each module is judged again and again, every time
// with fresh secrets and another assignment of its tunables. Results are appended to a file, one
// line each, so that a stopped study continues. The alternative, the ordinary tests with fixed
// seeds, cannot show a refusal that one draw in a thousand causes.
//
//   honest_study RESULTS.jsonl [--times 20] [--designs 1] [--only TEXT] [--budget 1] [--shard 0/2]
//     [--source FOLDER]
//   honest_study RESULTS.jsonl --table
#include <fmt/core.h>

#include <cstdio>
#include <ctime>
#include <map>
#include <random>
#include <set>

#include "core/json.h"
#include "harness.h"
#include "machine/devices.h"
#include "modules.h"
#include "os/files.h"
#include "study_options.h"
#include "truth/interpreter.h"

namespace kw::honest {
namespace {

struct Tools {
  std::unique_ptr<ports::Compiler> compiler;
  std::unique_ptr<ports::Device> device;
  truth::Interpreter oracle;
};

using Seen = std::set<std::pair<std::string, int>>;

/// One judgement. An Error is a failure of ours.
Result<Json> judge(const HonestModule& module, int time, const StudyOptions& options, Tools& tools) {
  verification::VerifyRequest request;
  request.module_path = "module.cu";
  request.reference_path = module.task->source_path;
  request.budget_seconds = options.number("--budget", 1);
  request.threads = options.shards > 1 ? 1 : 0;  // the other shards use the other cores
  std::mt19937_64 random(std::hash<std::string>{}(module.name) + static_cast<uint64_t>(time));
  if (time > 0) request.tunes = module.tunes[random() % module.tunes.size()];
  verification::VerifyTools with;
  with.compiler = tools.compiler.get();
  with.virtual_gpu = tools.device.get();
  with.oracle = &tools.oracle;
  const std::clock_t start = std::clock();
  const auto report = KW_TRY(verification::verify_module(module.text, *module.task, request, with));
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  Json line = Json::object();
  line.set("module", module.name);
  line.set("source", module.source);
  line.set("time", time);
  line.set("verdict", record::verdict_name(report.gate.verdict));
  Json tunes = Json::object();
  for (const auto& [name, value] : request.tunes) tunes.set(name, value);
  line.set("tunes", std::move(tunes));
  line.set("cells", static_cast<int64_t>(report.gate.cells.size()));
  line.set("cpu_seconds", seconds);  // without the worker process that compiles
  if (!report.ok()) {
    Json whole = to_json(report);
    line.set("refused", whole["verdict"]);
    for (const char* key : {"detail", "error", "reason", "again", "finding", "worst", "summary"})
      if (whole.contains(key)) line.set(key, whole[key]);
  }
  return line;
}

Result<int> run(const StudyOptions& options) {
  Seen seen;
  const std::vector<Json> before = KW_TRY(read_json_lines(options.results));
  for (const Json& line : before)
    seen.insert({line["module"].as_string(), static_cast<int>(line["time"].as_int())});
  Tools tools;
  tools.compiler = KW_TRY(machine::open_compiler(os::env("KW_TEST_COMPILER")));
  tools.device = KW_TRY(machine::open_device({"vgpu", "", 0, {}}));
  const auto modules = KW_TRY(honest_modules(options.count("--designs", 1), options.text("--only"),
                                               options.text("--source")));
  std::FILE* out = std::fopen(options.results.c_str(), "a");
  if (out == nullptr) return input_error("cannot write {}", options.results);
  const int times = static_cast<int>(options.count("--times", 20));
  int refused = 0, judged = 0;
  for (int time = 0; time < times; ++time) {
    for (size_t i = options.shard; i < modules.size(); i += options.shards) {
      if (seen.count({modules[i].name, time}) != 0) continue;
      const auto line = judge(modules[i], time, options, tools);
      if (!line) {
        fmt::print("ERROR {}: {}\n", modules[i].name, line.error().message);
        continue;
      }
      ++judged;
      if (line->contains("refused")) {
        ++refused;
        fmt::print("REFUSED {}\n", line->dump());
      }
      fmt::print(out, "{}\n", line->dump());
      std::fflush(out);
      std::fflush(stdout);
    }
    fmt::print("time {}: {} of {} refused so far\n", time, refused, judged);
  }
  std::fclose(out);
  return refused == 0 ? 0 : 1;
}

struct Row {
  std::set<std::string> modules, refused_modules;
  int64_t judgements = 0, cells = 0, refused = 0;
};

std::string kind_of(const Json& line) {
  const std::string& name = line["module"].as_string();
  if (line["source"].as_string() == "by hand") return "kernels written by hand";
  return "generated for " + name.substr(0, name.find('/', name.find('/') + 1));
}

Result<int> print_table(const StudyOptions& options) {
  const std::vector<Json> lines = KW_TRY(read_json_lines(options.results));
  std::map<std::string, Row> rows;
  for (const Json& line : lines) {
    for (const std::string& kind : {kind_of(line), std::string("~all")}) {
      Row& row = rows[kind];
      row.modules.insert(line["module"].as_string());
      ++row.judgements;
      row.cells += line["cells"].as_int();
      if (line.contains("refused")) {
        ++row.refused;
        row.refused_modules.insert(line["module"].as_string());
      }
    }
  }
  fmt::print("| modules | number | judgements | cells | refused |\n|---|---|---|---|---|\n");
  for (const auto& [kind, row] : rows)
    fmt::print("| {} | {} | {} | {} | {} |\n", kind == "~all" ? "all" : kind, row.modules.size(),
               row.judgements, row.cells, row.refused);
  return 0;
}

}  // namespace
}  // namespace kw::honest

int main(int argc, char** argv) {
  using namespace kw::honest;
  return study_main(
      argc, argv,
      {"--times N", "--designs N", "--only TEXT", "--budget SECONDS", "--source FOLDER"}, run,
      print_table);
}
