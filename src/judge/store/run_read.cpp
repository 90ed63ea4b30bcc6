// A run folder can be edited, copied or damaged, so nothing in it is trusted on reading. Reads
// never fail as a whole: a missing or unreadable JSON file is null, a damaged candidate is skipped.
// damage() lists these cases: it compares the hashes of inputs and final files and each candidate's
// text with its id, and each verdict, timing and report with its last event, whose mark only the
// user's key can make (chain.h). One that differs is not returned either. The alternative, to check
// everything at opening, would make each open as slow as reading the run. The cost: a caller that
// needs certainty must ask damage().
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/text.h"
#include "os/files.h"
#include "os/lock.h"
#include "store/event_log.h"
#include "store/run_impl.h"

namespace kw::store {

namespace {

Result<Json> input_json(const Layout& at, const char* name) {
  const std::string text = KW_TRY(read_kept(at, at.input(name)));
  Result<Json> json = Json::parse(text);
  if (!json) return std::move(json).error().context(at.input(name));
  return json;
}

void damage_of_json(const Layout& at, const std::string& path, const std::string& name,
                    std::vector<std::string>* out) {
  if (os::exists(path) && read_json(at, path).is_null()) out->push_back(name + " is not JSON");
}

void damage_of_inputs(const Layout& at, const Manifest& manifest, std::vector<std::string>* out) {
  for (const auto& [name, hash] : manifest.input_hashes) {
    const Result<std::string> text = read_kept(at, at.input(name));
    if (!text) {
      out->push_back(fmt::format("inputs/{} is missing", name));
    } else if (!same_content(hash, *text)) {
      out->push_back(fmt::format("inputs/{} was changed", name));
    }
  }
}

void damage_of_final(const Layout& at, std::vector<std::string>* out) {
  const Json report = read_json(at, at.report());
  for (const char* name : kFinalNames) {
    const Json& hash = report["storage"]["final"][name];
    if (hash.is_null()) continue;
    const Result<std::string> text = read_kept(at, at.final_file(name));
    if (!text) {
      out->push_back(fmt::format("final/{} is missing", name));
    } else if (!same_content(hash.as_string(), *text)) {
      out->push_back(fmt::format("final/{} was changed", name));
    }
  }
}

Result<record::Candidate> read_candidate(const Layout& at, const std::string& id) {
  if (!is_candidate_id(id)) return input_error("'{}' is not a candidate's id", id);
  std::string text = KW_TRY(read_kept(at, at.of_candidate(id, "module.cu")));
  record::Candidate candidate = KW_TRY(record::candidate_from_json(
      read_json(at, at.of_candidate(id, "lineage.json")), std::move(text)));
  if (candidate.id != id) return input_error("its lineage is that of {}", candidate.id);
  return candidate;
}

// An interrupted add leaves only text and no lineage. That is not damage.
bool was_added(const Layout& at, const std::string& id) {
  const std::vector<std::string> names = os::list_directory(at.candidate(id));
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name != "module.cu" && !is_leftover(name);
  });
}

void damage_of_candidate(const Layout& at, const std::string& id, std::vector<std::string>* out) {
  if (!was_added(at, id)) return;
  const std::string shown = "candidates/" + id;
  const Result<record::Candidate> candidate = read_candidate(at, id);
  if (!candidate) out->push_back(fmt::format("{}: {}", shown, candidate.error().message));
  damage_of_json(at, at.of_candidate(id, "profile.json"), shown + "/profile.json", out);
}

/// What the events say was there and is not.
void damage_of_events(const Layout& at, const EventLog& log, std::vector<std::string>* out) {
  for (const int line : log.unreadable) {
    out->push_back(fmt::format("events.jsonl: line {} is not an event", line));
  }
  std::set<std::string> written;
  bool lost = false, cut = false;
  for (const record::Event& event : log.events) {
    const std::string& id = event.data["id"].as_string();
    if (event.kind == "added" && is_candidate_id(id)) written.insert("candidates/" + id);
    if (event.kind == "finished") written.insert("report.json");
    cut = cut || (event.kind == "opened" && event.data["lost_signed_bytes"].as_int() > 0);
    lost = lost || (event.kind == "opened" && event.data["lost_events"].as_bool());
    if (event.kind != "closed") continue;
    for (const Json& name : event.data["files"].items()) {
      for (const std::string& path : {at.checkpoint(), at.report()}) {
        if (path == at.folder + "/" + name.as_string()) written.insert(name.as_string());
      }
    }
  }
  for (const int line : log.broken) {
    out->push_back(
        fmt::format("events.jsonl: line {} was changed, or a line before it was removed", line));
  }
  if (cut) out->push_back("events.jsonl had lost or changed events when the run was opened again");
  if (lost) out->push_back("events.jsonl was missing or empty when the run was opened again");
  for (const std::string& name : written) {
    if (!os::exists(at.folder + "/" + name)) out->push_back(name + " is missing");
  }
}

}  // namespace

const std::string& Run::id() const { return impl_->manifest.id; }
const std::string& Run::folder() const { return impl_->at.folder; }
double Run::seconds() const { return impl_->seconds(); }

Result<RunInputs> Run::inputs() const {
  RunInputs inputs;
  inputs.name = impl_->manifest.name;
  inputs.prompt = KW_TRY(read_kept(impl_->at, impl_->at.input("prompt.txt")));
  inputs.reference = KW_TRY(read_kept(impl_->at, impl_->at.input("reference.py")));
  inputs.spec = KW_TRY(input_json(impl_->at, "spec.json"));
  inputs.config = KW_TRY(input_json(impl_->at, "config.json"));
  inputs.env = KW_TRY(input_json(impl_->at, "env.json"));
  return inputs;
}

std::vector<record::Candidate> Run::candidates() const {
  std::vector<std::pair<int64_t, std::string>> order;
  {
    const std::lock_guard<std::mutex> guard(impl_->mutex);
    for (const auto& [id, number] : impl_->numbers) order.emplace_back(number, id);
  }
  std::sort(order.begin(), order.end());
  std::vector<record::Candidate> list;
  for (const auto& [number, id] : order) {
    Result<record::Candidate> one = read_candidate(impl_->at, id);
    if (one) list.push_back(std::move(one).value());
  }
  return list;
}

Result<record::Candidate> Run::candidate(const std::string& id) const {
  return read_candidate(impl_->at, id);
}

bool Run::contains(const std::string& id) const {
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  return impl_->numbers.count(id) > 0;
}

bool Run::is_altered(const std::string& id) const {
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  return impl_->is_altered(id);
}

bool Run::is_vouched(const std::string& id) const {
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  return impl_->standing(id, kVerdictFile).vouched && impl_->standing(id, kTimingFile).vouched;
}

std::string Run::foreign() const {
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  for (const std::string& key : impl_->other_keys) {
    if (!key.empty())
      return fmt::format("signed by another key ({})", printable(key.substr(0, 16)));
  }
  if (impl_->other_keys.empty()) return "";
  return impl_->own_events ? "signed in part" : "not signed";
}

Json Run::judgement(const std::string& id) const { return impl_->result(id, kVerdictFile); }
Json Run::timing(const std::string& id) const { return impl_->result(id, kTimingFile); }

Json Run::profile(const std::string& id) const {
  return contains(id) ? read_json(impl_->at, impl_->at.of_candidate(id, "profile.json")) : Json();
}

Json Run::checkpoint() const { return read_json(impl_->at, impl_->at.checkpoint()); }

Json Run::report() const {
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  const bool changed = impl_->standing("", kReportFile).wrong == kChanged;
  return changed ? Json() : read_json(impl_->at, impl_->at.report());
}

std::string Run::compile_log(const std::string& id) const {
  if (!contains(id)) return "";
  Result<std::string> log = read_kept(impl_->at, impl_->at.of_candidate(id, "compile.log"));
  return log ? std::move(log).value() : "";
}

std::vector<record::Event> Run::events() const {
  if (!impl_->lock) return impl_->journal->log.events;
  return read_journal(impl_->at, impl_->signer ? &*impl_->signer : nullptr).log.events;
}

std::vector<std::string> Run::leftovers() const {
  std::vector<std::string> found;
  const Layout& at = impl_->at;
  std::vector<std::string> folders = {at.folder, at.inputs(), at.finals()};
  for (const std::string& id : os::list_directory(at.candidates())) {
    if (is_candidate_id(id)) folders.push_back(at.candidate(id));
  }
  for (const std::string& folder : folders) {
    for (const std::string& name : os::list_directory(folder)) {
      if (is_leftover(name)) found.push_back(folder + "/" + name);
    }
  }
  if (!impl_->lock && os::exists(at.reserve())) found.push_back(at.reserve());
  if (impl_->journal && impl_->journal->log.torn_bytes > 0) found.push_back(at.events());
  return found;
}

std::vector<std::string> Run::damage() const {
  std::vector<std::string> found;
  damage_of_inputs(impl_->at, impl_->manifest, &found);
  for (const std::string& id : os::list_directory(impl_->at.candidates())) {
    if (!is_candidate_id(id)) continue;
    damage_of_candidate(impl_->at, id, &found);
    const std::lock_guard<std::mutex> guard(impl_->mutex);
    for (const char* name : {kVerdictFile, kTimingFile}) {
      const std::string& wrong = impl_->standing(id, name).wrong;
      if (!wrong.empty()) found.push_back(fmt::format("candidates/{}/{} {}", id, name, wrong));
    }
  }
  if (impl_->lost_events && !impl_->lock) found.push_back("events.jsonl is missing or empty");
  found.insert(found.end(), impl_->findings.begin(), impl_->findings.end());
  if (impl_->lock) {
    const EventFile now = read_journal(impl_->at, impl_->signer ? &*impl_->signer : nullptr);
    damage_of_events(impl_->at, now.log, &found);
  } else {
    damage_of_events(impl_->at, impl_->journal->log, &found);
  }
  {
    const std::lock_guard<std::mutex> guard(impl_->mutex);
    const std::string& wrong = impl_->standing("", kReportFile).wrong;
    if (wrong == kChanged) found.push_back(fmt::format("{} {}", kReportFile, wrong));
  }
  damage_of_json(impl_->at, impl_->at.checkpoint(), "checkpoint.json", &found);
  damage_of_json(impl_->at, impl_->at.report(), "report.json", &found);
  damage_of_final(impl_->at, &found);
  return found;
}

int Run::crashes() const {
  const bool open_now = impl_->lock || os::lock_holder(impl_->at.lock());
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  return std::max(0, impl_->sessions - impl_->closed - (open_now ? 1 : 0));
}

std::string run_status(const std::string& folder) {
  const Layout at{folder};
  return os::lock_holder(at.lock()) ? "running" : status_of(read_json(at, at.report()));
}

std::string key_fault() {
  const auto signer = signing::Signer::own(signing::IfMissing::Fail);
  return signer || signer.error().blame == Blame::Input ? "" : signer.error().message;
}

std::string status_of(const Json& report) {
  if (report.is_null() || report["interrupted"].as_bool()) return "interrupted";
  return report["passed"].as_bool() ? "passed" : "failed";
}

}  // namespace kw::store
