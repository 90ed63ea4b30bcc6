// Tuning the reviewers' prompts takes many paid calls, so it must survive interruptions. A folder
// has the settings, one journal of votes and rewritings per field, and the list of calls with their
// costs. A resumed session reads the journals and asks only for what is missing. A hash of corpus
// and prompts guards against a mix of votes on different texts. A tuned prompt is installed only if
// it is not worse on held-out tasks. Installing the best on the training tasks would be simpler,
// but such prompts may memorise those tasks. The cost: a quarter of the tasks serves only this
// check and the report.
#include "review/soft_tune.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "core/hash.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "os/disk.h"
#include "os/files.h"
#include "os/inside.h"
#include "os/permissions.h"
#include "review/soft_corpus.h"
#include "review/soft_models.h"
#include "stages/model_session.h"
#include "store/run_id.h"

namespace kw::review {
namespace {

constexpr const char* kSettingsFile = "/settings.json";
constexpr uint64_t kMostJournalBytes = uint64_t{1} << 30;

Result<std::vector<Field>> fields_named(const std::string& word) {
  if (word == "all") return std::vector<Field>(kFields.begin(), kFields.end());
  if (const auto field = field_named(word)) return std::vector<Field>{*field};
  const std::vector<std::string> names = {"compile", "memory", "numerics", "all"};
  return input_error("--verifier: there is no '{}'{}; verifiers: {}", word,
                     did_you_mean(word, names), join(names, ", "));
}

/// The settings that a new folder is created with.
template <class V>
void list_settings(V& v, TuneVerifiersRequest& r) {
  v("verifier", r.verifier)("corpus", r.corpus)("model", r.models.model_id);
  v("second_model", r.second_model)("prompts", r.prompts)("generations", r.generations);
  v("population", r.population)("sample", r.sample)("seed", r.seed)("reflect", r.reflect);
  v("install", r.install)("budget_usd", r.models.budget_usd);
  v("max_calls", r.models.max_calls, Zero::Omit)("max_tokens", r.models.max_tokens, Zero::Omit);
}

/// A hash of what votes depend on besides the settings: files may change between sessions.
std::string begun_hash(const Corpus& corpus, const std::map<Field, std::string>& instructions) {
  std::string all;
  for (const CorpusEntry& entry : corpus.entries)
    all += entry.id + (entry.right ? " right\n" : " wrong\n") + entry.module;
  for (const auto& [field, text] : instructions) all += text;
  return hash_hex(all);
}

/// Replaces the request by the settings of the folder; only generations, budget, second model and
/// installation may differ. Returns the hash of corpus and prompts at its start, "" when unknown.
Result<std::string> take_up(const std::string& folder, TuneVerifiersRequest& request) {
  KW_TRY(os::check_contained(folder));
  const Result<std::string> text = os::read_file(folder + kSettingsFile, uint64_t{1} << 20);
  if (!text) return input_error("{} contains no tuning run to resume", folder);
  const Json json = KW_TRY(Json::parse(*text));
  if (json["kernelwright"].as_string() != "tuning of verifiers 1")
    return input_error("{} contains no tuning run to resume", folder);
  const std::string model = json["model"].as_string();
  if (!request.models.model_id.empty() && request.models.model_id != model)
    return input_error("this tuning was begun with {}; votes of {} cannot be mixed with its votes",
                       model.empty() ? "the default model" : model, request.models.model_id);
  const TuneVerifiersRequest now = request;
  JsonReader reader(json);
  list_settings(reader, request);
  request.models.programs = now.models.programs || os::is_served();
  if (!now.second_model.empty()) request.second_model = now.second_model;
  request.generations = std::max(now.generations, json["generations"].as_int());
  request.install = now.install && json["install"].as_bool(true);
  stages::take_limits(request.models, now.models);
  return json["begun_with"].as_string();
}

Result<std::string> new_folder(const TuneVerifiersRequest& request) {
  if (!request.out.empty()) {
    if (os::exists(request.out) &&
        (!os::is_directory(request.out) || !os::list_directory(request.out).empty()))
      return input_error("{} exists already; continue it with --resume", request.out);
    return request.out;
  }
  const int64_t now = store::wall_clock();
  return os::data_directory() + "/verifiers/" +
         store::run_id(now, "verifiers",
                       hash64(std::to_string(::getpid()), static_cast<uint64_t>(now)));
}

/// The rows of a file of JSON lines; an incomplete last line is left out.
std::vector<Json> read_rows(const std::string& path) {
  std::vector<Json> rows;
  const Result<std::string> text = os::read_file(path, kMostJournalBytes);
  if (!text) return rows;
  for (const std::string_view line : split_lines(*text)) {
    if (Result<Json> row = Json::parse(line)) rows.push_back(std::move(row).value());
  }
  return rows;
}

class Tuning {
 public:
  Tuning(TuneVerifiersRequest request, const TuneWatcher& watcher)
      : request_(std::move(request)), watcher_(watcher) {}

  Result<TuneVerifiersReport> run() {
    if (!request_.resume.empty()) {
      report_.folder = request_.resume;
      begun_with_ = KW_TRY(take_up(report_.folder, request_));
    }
    fields_ = KW_TRY(fields_named(request_.verifier));
    instructions_ = KW_TRY(starting_instructions());
    session_ = KW_TRY(stages::ModelSession::open(request_.models, request_.seed));
    const llm::Config& config = session_->client().config();
    model_ = session_->plan().model(stages::Stage::Performance);
    if (!request_.second_model.empty())
      second_ = KW_TRY(llm::parse_model_id(request_.second_model, config));
    if (second_ && second_->text() == model_.text())
      return input_error("--second-model must differ from --model");
    KW_TRY(session_->client().provider(model_.provider));
    if (second_) KW_TRY(session_->client().provider(second_->provider));
    KW_TRY(open_folder());
    write_calls_ahead();
    for (const Field field : fields_) KW_TRY(split_corpus(corpus_, field, request_.seed, sample()));
    if (watcher_) watcher_(terms(), true);
    for (const Field field : fields_) KW_TRY(tune_field(field));
    KW_TRY(keep_calls());
    KW_TRY(write_report());
    return std::move(report_);
  }

 private:
  size_t sample() const { return static_cast<size_t>(request_.sample); }

  Result<std::map<Field, std::string>> starting_instructions() const {
    if (!request_.prompts.empty()) return load_instructions(request_.prompts);
    std::map<Field, std::string> all;
    for (const Field field : kFields) all[field] = shipped_instructions(field);
    return all;
  }

  Status open_folder() {
    // The runs in the store change; the corpus of a tuning must not.
    const std::string kept = report_.folder + "/corpus.jsonl";
    const bool again = !request_.resume.empty();
    corpus_ =
        KW_TRY(open_corpus(again && os::exists(kept) ? kept : request_.corpus, request_.runs));
    report_.notes = corpus_.notes;
    const std::string now = begun_hash(corpus_, instructions_);
    if (again && !begun_with_.empty() && begun_with_ != now)
      return input_error(
          "the corpus or the prompts changed since this tuning began, and votes on others cannot "
          "be mixed with its votes; restore them, or start a new tuning");
    if (again) {
      KW_TRY(repair(report_.folder + "/calls.jsonl"));
      std::vector<llm::LedgerEntry> rows;
      for (const Json& row : read_rows(report_.folder + "/calls.jsonl"))
        rows.push_back(llm::ledger_entry_from_json(row));
      session_->restore(llm::settled(rows));
      return Done{};
    }
    report_.folder = KW_TRY(new_folder(request_));
    KW_TRY(os::make_directories(report_.folder));
    if (request_.corpus == "store")
      KW_TRY(os::write_file(report_.folder + "/corpus.jsonl", corpus_text(corpus_)));
    JsonWriter v;
    v("kernelwright", "tuning of verifiers 1");
    list_settings(v, request_);
    return os::write_file(report_.folder + kSettingsFile,
                          v("begun_with", now).take().dump(true) + "\n");
  }

  std::string terms() const {
    const int64_t each = request_.sample * (request_.reflect ? 2 : 1);
    const int64_t prompts = 1 + request_.generations * request_.population;
    const int64_t most = static_cast<int64_t>(fields_.size()) *
                         (2 * each * prompts + prompts - 1 + each * 2 * (second_ ? 2 : 1));
    return fmt::format("{}: at most {} calls of {}{}, {}; {}", report_.folder, most, model_.text(),
                       second_ ? " and " + second_->text() : "", session_->limits_text(),
                       "results so far are kept; continue with --resume");
  }

  void write_calls_ahead() {
    session_->write_ahead([path = report_.folder + "/calls.jsonl"](const llm::LedgerEntry& row) {
      Status written = os::real_disk().append(path, to_json(row).dump() + "\n");
      return written ? os::sync_file(path) : written;
    });
  }

  /// Stores new rows of the ledger, so that a later session knows what was spent.
  Status keep_calls() {
    std::string lines;
    for (const llm::LedgerEntry& row : session_->fresh_rows()) lines += to_json(row).dump() + "\n";
    if (lines.empty()) return Done{};
    return os::real_disk().append(report_.folder + "/calls.jsonl", lines);
  }

  ReviewPorts ports(Field field, const std::string& journal) {
    ReviewPorts ports;
    ports.answer = answer_of(*session_);
    ports.price = price_of(*session_);
    ports.write = [this, journal](const Json& event) -> Status {
      KW_TRY(os::real_disk().append(journal, event.dump() + "\n"));
      return keep_calls();
    };
    if (watcher_) {
      ports.watch = [this, field](size_t done, size_t all) {
        watcher_(fmt::format("{}: vote {} of {}", field_name(field), done, all), false);
      };
    }
    return ports;
  }

  /// Removes an incomplete last line that a killed session left.
  static Status repair(const std::string& journal) {
    const Result<std::string> text = os::read_file(journal, kMostJournalBytes);
    if (!text || text->empty() || text->ends_with("\n")) return Done{};
    const size_t end = text->rfind('\n');
    return os::real_disk().truncate(journal, end == std::string::npos ? 0 : end + 1);
  }

  Status tune_field(Field field) {
    const std::string folder = report_.folder + "/" + field_name(field);
    KW_TRY(os::make_directories(folder));
    const std::string journal = folder + "/journal.jsonl";
    KW_TRY(repair(journal));
    TuneSettings settings;
    settings.field = field;
    settings.model = model_;
    settings.second = second_;
    settings.generations = static_cast<int>(request_.generations);
    settings.population = static_cast<int>(request_.population);
    settings.sample = sample();
    settings.seed = request_.seed;
    settings.reflect = request_.reflect;
    settings.in_flight = static_cast<int>(request_.in_flight);
    Tuned tuned = KW_TRY(tune(corpus_, settings, instructions_.at(field), read_rows(journal),
                              ports(field, journal)));
    // If no vote was possible at all, return the failure. Results of other fields are still
    // reported.
    if (tuned.votes == 0 && tuned.failure && report_.tuned.empty()) {
      KW_TRY(keep_calls());
      return tuned.failure->error().context("no question could be asked");
    }
    KW_TRY(keep_prompt(tuned));
    report_.tuned.push_back(std::move(tuned));
    return Done{};
  }

  static const MetricRow* held_out(const Tuned& tuned, const std::string& who) {
    for (const MetricRow& row : tuned.rows) {
      if (row.where == "held-out" && (row.who == who || row.who.starts_with(who + " ")))
        return &row;
    }
    return nullptr;
  }

  Status keep_prompt(const Tuned& tuned) {
    if (!tuned.better) return Done{};
    const std::string name = instruction_file(tuned.field);
    KW_TRY(os::make_directories(report_.folder + "/prompts"));
    KW_TRY(os::write_file(report_.folder + "/prompts/" + name, tuned.best.text));
    const MetricRow* before = held_out(tuned, "shipped");
    const MetricRow* after = held_out(tuned, "tuned");
    if (!tuned.finished || before == nullptr || after == nullptr || !request_.install)
      return Done{};
    if (after->confusion.fitness() < before->confusion.fitness()) {
      report_.warnings.push_back(
          fmt::format("{}: the tuned prompt is not better on unseen tasks, so it was not installed",
                      field_name(tuned.field)));
      return Done{};
    }
    const std::string folder = tuned_prompts_folder();
    KW_TRY(os::make_directories(folder));
    KW_TRY(os::write_file(folder + "/" + name, tuned.best.text));
    KW_TRY(os::write_file(folder + "/" + replace_all(name, ".txt", ".json"),
                          to_json(tuned).dump(true) + "\n"));
    report_.installed.push_back(folder + "/" + name);
    return Done{};
  }

  Status write_report() {
    report_.cost = llm::cost_text(session_->client().ledger().totals());
    for (const std::string& warning : session_->warnings()) report_.warnings.push_back(warning);
    const llm::LedgerTotals totals = session_->client().ledger().totals();
    JsonWriter v;
    v("folder", report_.folder)("finished", report_.finished())("model", model_.text());
    v("cost", report_.cost)("second_model", second_ ? Json(second_->text()) : Json());
    v("calls", totals.calls)("usd", totals.usd)("verifiers", report_.tuned);
    v("notes", report_.notes)("warnings", report_.warnings)("installed", report_.installed);
    report_.document = v.take();
    KW_TRY(os::write_file(report_.folder + "/scores.json", report_.document.dump(true) + "\n"));
    return os::write_file(report_.folder + "/report.md", "```\n" + tune_text(report_) + "```\n");
  }

  TuneVerifiersRequest request_;
  const TuneWatcher& watcher_;
  TuneVerifiersReport report_;
  std::string begun_with_;
  std::vector<Field> fields_;
  std::map<Field, std::string> instructions_;
  Corpus corpus_;
  std::unique_ptr<stages::ModelSession> session_;
  llm::ModelId model_;
  std::optional<llm::ModelId> second_;
};

}  // namespace

bool TuneVerifiersReport::finished() const { return unfinished() == nullptr; }

const Tuned* TuneVerifiersReport::unfinished() const {
  const auto found = std::ranges::find_if(tuned, [](const Tuned& one) { return !one.finished; });
  return found == tuned.end() ? nullptr : &*found;
}

std::string tuned_prompts_folder() { return os::config_directory() + "/verifiers"; }

Result<TuneVerifiersReport> tune_verifiers(TuneVerifiersRequest request,
                                           const TuneWatcher& watcher) {
  return Tuning(std::move(request), watcher).run();
}

std::string tune_text(const TuneVerifiersReport& report) {
  std::string out;
  for (const Tuned& tuned : report.tuned) {
    out += fmt::format("{} verifier: {}\n", field_name(tuned.field), tuned.stopped);
    out += metrics_table(tuned.rows);
    for (const Rewriting& one : tuned.rewritings)
      out +=
          fmt::format("  generation {} prompt {}: {}\n", one.generation, one.number, one.outcome);
    for (const std::string& note : tuned.notes) out += "  " + note + "\n";
    out += "\n";
  }
  for (const std::string& note : report.notes) out += "note       " + note + "\n";
  for (const std::string& warning : report.warnings) out += "warning    " + warning + "\n";
  for (const std::string& path : report.installed) out += "installed  " + path + "\n";
  out += fmt::format("cost       {}\nfolder     {}\n", report.cost, report.folder);
  return out;
}

}  // namespace kw::review
