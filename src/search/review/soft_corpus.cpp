#include "review/soft_corpus.h"

#include <fmt/core.h>

#include <set>

#include "core/text.h"
#include "os/files.h"
#include "review/scoreboard.h"
#include "store/find.h"
#include "store/run.h"

namespace kw::review {
namespace {

constexpr uint64_t kMostCorpusBytes = uint64_t{64} << 20;
constexpr size_t kMostOfARun = 100;  // so that one long run does not dominate

/// Removes local paths, because the corpus may be shared.
std::string anonymous(std::string reason, const std::string& folder) {
  reason = replace_all(std::move(reason), folder, "run");
  const std::string home = os::env("HOME");
  return home.size() > 1 ? replace_all(std::move(reason), home, "~") : reason;
}

/// Adds the judged candidates of one run.
Status add_run(const std::string& folder, std::set<std::string>& seen, Corpus& corpus) {
  const store::Run run = KW_TRY(store::Run::open(folder, store::Access::Read));
  const store::RunInputs inputs = KW_TRY(run.inputs());
  if (inputs.reference.empty()) return input_error("its reference was not kept");
  size_t taken = 0;
  for (const record::Candidate& candidate : run.candidates()) {
    const Json verdict = run.judgement(candidate.id);
    const std::optional<FinalVerdict> outcome = final_verdict_of(verdict);
    if (!outcome || taken == kMostOfARun || !seen.insert(inputs.name + candidate.id).second)
      continue;
    ++taken;
    CorpusEntry entry;
    entry.id = fmt::format("store.{}.{}", inputs.name, candidate.id);
    entry.task = inputs.name;
    entry.reference = inputs.reference;
    entry.module = candidate.text;
    entry.kind = "store";
    entry.right = outcome->right;
    entry.stage = outcome->stage;
    if (!outcome->right) entry.reason = anonymous(verdict["reason"].as_string(), folder);
    corpus.entries.push_back(std::move(entry));
  }
  return Done{};
}

}  // namespace

Corpus store_corpus(const std::string& root) {
  Corpus corpus;
  std::set<std::string> seen;
  for (const std::string& folder :
       store::run_folders(root.empty() ? store::default_root() : root)) {
    const Status added = add_run(folder, seen, corpus);
    if (!added)
      corpus.notes.push_back(fmt::format("{} is left out: {}", folder, added.error().message));
  }
  return corpus;
}

Result<Corpus> open_corpus(const std::string& name, const std::string& root) {
  if (name.empty()) return shipped_corpus();
  if (name != "store") {
    const std::string text = KW_TRY(os::read_file(name, kMostCorpusBytes));
    return parse_corpus(text, name);
  }
  Corpus corpus = shipped_corpus();
  Corpus own = store_corpus(root);
  corpus.notes = std::move(own.notes);
  corpus.notes.push_back(fmt::format("{} modules of past runs beside {} shipped ones",
                                     own.entries.size(), corpus.entries.size()));
  for (CorpusEntry& entry : own.entries) corpus.entries.push_back(std::move(entry));
  return corpus;
}

std::string corpus_text(const Corpus& corpus) {
  std::string out = Json::object().set("schema", "kernelwright verifier corpus 1").dump() + "\n";
  std::set<std::string> tasks;
  for (const CorpusEntry& entry : corpus.entries) {
    if (tasks.insert(entry.task).second)
      out += Json::object().set("task", entry.task).set("reference", entry.reference).dump() + "\n";
    out += Json::object()
               .set("base", entry.id)
               .set("task", entry.task)
               .set("text", entry.module)
               .dump() +
           "\n";
    Json row = Json::object();
    row.set("entry", entry.id).set("base", entry.id).set("kind", entry.kind);
    row.set("mutation", entry.mutation).set("verdict", entry.right ? "right" : "wrong");
    if (!entry.right) row.set("stage", entry.stage).set("reason", entry.reason);
    out += row.dump() + "\n";
  }
  return out;
}

}  // namespace kw::review
