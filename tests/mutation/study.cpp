// Mutation testing of the judge. Thousands of mechanical mutants of honest modules go through the
// gate; each survivor is shown to be equivalent or legal, or it is a hole and is named. Results are
// appended to a file, one line each, so that a stopped study continues. docs/exploits.md has the
// table and what the columns mean.
//
//   mutation_study RESULTS.jsonl [--each 2] [--modules 120] [--seed 1] [--only TEXT]
//   [--most-seconds 3] [--shard 0/2] mutation_study RESULTS.jsonl --table
#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <set>

#include "../honest/json_lines.h"
#include "compile/compile_worker.h"
#include "laboratory.h"
#include "machine/devices.h"
#include "os/files.h"
#include "sample.h"
#include "truth/interpreter.h"

namespace kw::mutation {
namespace {

struct Settings {
  std::string results, only;
  size_t each = 2, modules = 120, shard = 0, shards = 1;
  uint64_t seed = 1;
  double most_seconds = 3;  // of judging one original
  bool table = false;
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
    if ((*laboratory)->original_seconds() > settings_.most_seconds)
      return skip(module, fmt::format("judging the original takes {:.1f} s",
                                      (*laboratory)->original_seconds()));
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

Result<int> run(const Settings& settings) {
  Tools tools;
  tools.compiler = KW_TRY(machine::open_compiler(os::env("KW_TEST_COMPILER")));
  tools.device = KW_TRY(machine::open_device({"vgpu", "", 0, {}}));
  const auto modules = KW_TRY(honest::honest_modules(1, settings.only));
  const std::vector<Json> before = KW_TRY(honest::read_json_lines(settings.results));
  std::FILE* out = std::fopen(settings.results.c_str(), "a");
  if (out == nullptr) return input_error("cannot write {}", settings.results);
  Study study(settings, tools, out, before);
  const size_t wanted = std::min(settings.modules, modules.size());
  for (size_t i = settings.shard; i < wanted; i += settings.shards)
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

Result<int> print_table(const Settings& settings) {
  const std::vector<Json> lines = KW_TRY(honest::read_json_lines(settings.results));
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

Result<Settings> settings_of(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--table") {
      settings.table = true;
      continue;
    }
    if (word.rfind("--", 0) != 0) {
      settings.results = word;
      continue;
    }
    ++i;
    if (word == "--each") settings.each = static_cast<size_t>(std::atoi(value.c_str()));
    if (word == "--modules") settings.modules = static_cast<size_t>(std::atoi(value.c_str()));
    if (word == "--seed") settings.seed = static_cast<uint64_t>(std::atoll(value.c_str()));
    if (word == "--only") settings.only = value;
    if (word == "--most-seconds") settings.most_seconds = std::atof(value.c_str());
    if (word == "--shard" &&
        std::sscanf(value.c_str(), "%zu/%zu", &settings.shard, &settings.shards) != 2)
      return input_error("--shard needs a number and a count, such as 0/2");
  }
  if (settings.results.empty() || settings.shards == 0 || settings.modules == 0)
    return input_error(
        "usage: mutation_study RESULTS.jsonl [--each N] [--modules N] [--seed N] [--only TEXT] "
        "[--shard I/N] | --table");
  return settings;
}

}  // namespace

int main_of(int argc, char** argv) {
  const auto settings = settings_of(argc, argv);
  auto code = !settings         ? Result<int>(settings.error())
              : settings->table ? print_table(*settings)
                                : run(*settings);
  if (code) return *code;
  fmt::print(stderr, "{}\n", code.error().message);
  return 2;
}

}  // namespace kw::mutation

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == kw::compile::kWorkerCommand)
    return kw::compile::compile_worker_main();
  return kw::mutation::main_of(argc, argv);
}
