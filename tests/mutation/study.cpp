// Mutation testing of the judge. Thousands of mechanical mutants of honest modules go through the
// gate; each survivor is shown to be equivalent or legal, or it is a hole and is named. Results are
// appended to a file, one line each, so that a stopped study continues. docs/exploits.md has the
// table and what the columns mean.
//
//   mutation_study RESULTS.jsonl [--each 2] [--modules 120] [--seed 1] [--only TEXT]
//   [--most-seconds 3] [--shard 0/2] [--source FOLDER]
//   mutation_study RESULTS.jsonl --table
#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <set>

#include "../honest/study_options.h"
#include "laboratory.h"
#include "machine/devices.h"
#include "os/files.h"
#include "sample.h"
#include "truth/interpreter.h"

namespace kw::mutation {
namespace {

using honest::StudyOptions;

struct Settings {
  size_t each;
  uint64_t seed;
  double most_seconds;  // of judging one original
};

struct Tools {
  std::unique_ptr<ports::Compiler> compiler;
  std::unique_ptr<ports::Device> device;
  truth::Interpreter oracle;
};

class Study {
 public:
  Study(const Settings& settings, Tools& tools, std::FILE* out, const std::vector<Json>& before)
      : settings_(settings), tools_(tools), out_(out) {
    for (const Json& line : before)
      seen_.insert(line["module"].as_string() + " " + line["mutant"].as_string());
  }

  void judge(const honest::HonestModule& module) {
    if (seen_.count(module.name + " end") != 0) return;
    LaboratorySettings settings;
    settings.seed = settings_.seed;
    const auto laboratory =
        Laboratory::open(module, *tools_.compiler, *tools_.device, tools_.oracle, settings);
    if (!laboratory) return skip(module, laboratory.error().message);
    const Result<double> seconds = (*laboratory)->judge_original();
    if (!seconds) return skip(module, seconds.error().message);
    if (*seconds > settings_.most_seconds)
      return skip(module, fmt::format("judging the original takes {:.1f} s", *seconds));
    for (const Mutation& mutation :
         sample((*laboratory)->mutations(), settings_.each, settings_.seed))
      judge(module, **laboratory, mutation);
    write(module, "end", Json::object());
  }

 private:
  void judge(const honest::HonestModule& module, Laboratory& laboratory, const Mutation& mutation) {
    if (seen_.count(module.name + " " + mutation.key()) != 0) return;
    const auto start = std::chrono::steady_clock::now();
    const auto outcome = laboratory.judge(mutation);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    Json line = Json::object();
    line.set("operator", static_cast<int>(mutation.op));
    line.set("fate", outcome ? fate_name(outcome->fate) : "error");
    line.set("how", outcome ? outcome->how : "");
    line.set("why", (outcome ? outcome->why : outcome.error().message).substr(0, 400));
    line.set("seconds", passed.count());
    if (!outcome || outcome->fate == Fate::Survived)
      fmt::print("{} {}: {}\n  {}\n", line["fate"].as_string(), module.name, mutation.key(),
                 line.dump());
    write(module, mutation.key(), std::move(line));
  }

  void skip(const honest::HonestModule& module, const std::string& why) {
    fmt::print("skipped {}: {}\n", module.name, why);
    Json line = Json::object();
    line.set("skipped", why);
    write(module, "end", std::move(line));
  }

  void write(const honest::HonestModule& module, const std::string& mutant, Json line) {
    line.set("module", module.name);
    line.set("mutant", mutant);
    fmt::print(out_, "{}\n", line.dump());
    std::fflush(out_);
    std::fflush(stdout);
  }

  const Settings& settings_;
  Tools& tools_;
  std::FILE* out_;
  std::set<std::string> seen_;
};

Result<int> run(const StudyOptions& options) {
  const Settings settings = {options.count("--each", 2), options.count("--seed", 1),
                             options.number("--most-seconds", 3)};
  Tools tools;
  tools.compiler = KW_TRY(machine::open_compiler(os::env("KW_TEST_COMPILER")));
  tools.device = KW_TRY(machine::open_device({"vgpu", "", 0, {}}));
  const auto modules =
      KW_TRY(honest::honest_modules(1, options.text("--only"), options.text("--source")));
  const std::vector<Json> before = KW_TRY(honest::read_json_lines(options.results));
  std::FILE* out = std::fopen(options.results.c_str(), "a");
  if (out == nullptr) return input_error("cannot write {}", options.results);
  Study study(settings, tools, out, before);
  const size_t wanted = std::min(options.count("--modules", 120), modules.size());
  for (size_t i = options.shard; i < wanted; i += options.shards)
    study.judge(modules[i * modules.size() / wanted]);
  std::fclose(out);
  return 0;
}

struct Row {
  int64_t mutants = 0, stillborn = 0, killed = 0, equivalent = 0, legal = 0, survived = 0;
  std::map<std::string, int64_t> how;  // "vgpu", "dead code"

  double score() const {
    const int64_t counted = killed + survived;
    return counted == 0 ? 100 : 100.0 * static_cast<double>(killed) / static_cast<double>(counted);
  }
};

void count(const Json& line, Row* row) {
  const std::string& fate = line["fate"].as_string();
  ++row->mutants;
  row->stillborn += fate == "stillborn";
  row->killed += fate == "killed";
  row->equivalent += fate == "equivalent";
  row->legal += fate == "legal";
  row->survived += fate == "survived" || fate == "error";
  ++row->how[fate + " " + line["how"].as_string()];
}

void print_row(const std::string& name, const Row& row) {
  const auto of = [&](const char* how) {
    const auto at = row.how.find(how);
    return at == row.how.end() ? 0 : at->second;
  };
  fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.2f} % |\n", name,
             row.mutants, row.stillborn, of("killed vgpu"), of("killed numerics"),
             row.killed - of("killed vgpu") - of("killed numerics"), of("equivalent dead code"),
             of("equivalent never reached"), of("equivalent never another value"),
             row.equivalent - of("equivalent dead code") - of("equivalent never reached") -
                 of("equivalent never another value"),
             row.legal, row.score());
}

Result<int> print_table(const StudyOptions& options) {
  const std::vector<Json> lines = KW_TRY(honest::read_json_lines(options.results));
  std::map<int64_t, Row> rows;
  std::set<std::string> modules, skipped;
  Row all;
  for (const Json& line : lines) {
    if (line.contains("skipped")) skipped.insert(line["module"].as_string());
    if (!line.contains("operator")) continue;
    modules.insert(line["module"].as_string());
    count(line, &rows[line["operator"].as_int()]);
    count(line, &all);
  }
  fmt::print(
      "{} modules, {} left out (their own judgement takes too long for thousands of mutants).\n\n",
      modules.size(), skipped.size());
  fmt::print(
      "| operator | mutants | not a module | killed by the virtual GPU | by numbers | otherwise | "
      "dead code | never reached | never "
      "another value | never visible | legal rounding | score "
      "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const auto& [op, row] : rows) print_row(operator_name(static_cast<Operator>(op)), row);
  print_row("all", all);
  fmt::print("\nSurvivors: {}.\n", all.survived == 0 ? "none" : std::to_string(all.survived));
  for (const Json& line : lines) {
    const std::string& fate = line["fate"].as_string();
    if (fate == "survived" || fate == "error")
      fmt::print("- `{}`: {} ({}: {})\n", line["module"].as_string(), line["mutant"].as_string(),
                 line["how"].as_string(), line["why"].as_string());
  }
  return 0;
}

}  // namespace
}  // namespace kw::mutation

int main(int argc, char** argv) {
  using namespace kw::mutation;
  return kw::honest::study_main(
      argc, argv,
      {"--each N", "--modules N", "--seed N", "--only TEXT", "--most-seconds S", "--source FOLDER"},
      run, print_table);
}
