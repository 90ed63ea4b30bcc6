// A crash leaves temporary files and perhaps a torn last event. repair() removes both when a run is
// opened for writing; readers ignore them. scan() rebuilds the state from the files: candidates
// from lineage.json, sessions and seconds from the events. Storing that state in a file of its own
// was the alternative; after a crash it could disagree with the folder. The cost: opening a run
// reads one small file per candidate. The reserve file keeps 256 KiB and an inode, so on a full
// disk it is overwritten with the report and renamed.
#include "store/run_impl.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "os/files.h"
#include "os/inside.h"

namespace kw::store {

namespace {

constexpr uint64_t kLongestFile = uint64_t{1} << 30;
constexpr size_t kReserveBytes = 256 << 10;  // several times the size of a usual report
constexpr int kMostUnsigned = 64;            // events between two signatures

Status remove_leftovers(const std::string& folder, os::Disk& disk, int64_t* removed) {
  for (const std::string& name : os::list_directory(folder)) {
    if (!is_leftover(name)) continue;
    KW_TRY(disk.remove(folder + "/" + name));
    ++*removed;
  }
  return Done{};
}

}  // namespace

void fields(auto& v, Manifest& m) {
  v("format", computed(kFolderFormat))("version", computed(kFolderVersion))("id", m.id);
  v("name", m.name)("created", m.created)("inputs", m.input_hashes);
}

Json to_json(const Manifest& manifest) { return record_json(manifest); }

Result<Manifest> read_manifest(const Layout& at) {
  if (!os::is_directory(at.folder)) {
    return input_error("there is no run folder {}", at.folder);
  }
  if (!os::exists(at.manifest())) {
    return input_error("{} is not a run folder: it has no run.json (or its creation was cut short)",
                       at.folder);
  }
  const std::string text = KW_TRY(read_kept(at, at.manifest()));
  const Result<Json> json = Json::parse(text);
  if (!json || (*json)["format"].as_string() != kFolderFormat) {
    return input_error("{} is damaged: run.json is not what was written", at.folder);
  }
  if (const int64_t version = (*json)["version"].as_int(); version != kFolderVersion) {
    return input_error("{} is a run folder of version {}; this program reads version {}", at.folder,
                       version, kFolderVersion);
  }
  auto manifest = read_record<Manifest>(*json);
  std::erase_if(manifest.input_hashes,
                [](const auto& row) { return !contains(kInputNames, row.first); });
  for (const char* name : kInputNames) manifest.input_hashes[name];  // "": no file has this hash
  return manifest;
}

bool is_abandoned_creation(const std::string& folder) {
  const std::vector<std::string> names = os::list_directory(folder);
  const auto ours = [](const std::string& name) {
    return name == "lock" || name == "inputs" || is_leftover(name);
  };
  return contains(names, "lock") && std::all_of(names.begin(), names.end(), ours);
}

bool is_run_folder(const std::string& folder) {
  const Layout at{folder};
  if (!os::exists(at.manifest())) return is_abandoned_creation(folder);
  return read_manifest(at) || (os::exists(at.lock()) && os::exists(at.input("reference.py")));
}

Result<std::string> read_kept(const Layout& at, const std::string& path) {
  return os::read_inside(at.folder, path.substr(at.folder.size() + 1), kLongestFile);
}

namespace {

std::string or_empty(const Result<std::string>& text) { return text ? *text : std::string(); }

// The signature is read before the events: a run may be in progress, and events only grow.
void check_seal(const Seal& seal, const std::string& run_id, std::string_view text,
                EventFile* journal) {
  const auto have = static_cast<int64_t>(text.size());
  if (seal.bytes < 0 || !seal.is_signed(run_id)) {
    journal->findings.emplace_back("signature.json was changed: it is not signed by its key");
  } else if (seal.bytes > have) {
    journal->lost_signed_bytes = seal.bytes - have;
    journal->findings.push_back(
        fmt::format("events.jsonl lacks {} bytes at its end that were signed", seal.bytes - have));
  } else if (journal->log.broken.empty() && journal->log.unreadable.empty() &&
             signing::digest(text.substr(0, static_cast<size_t>(seal.bytes))) != seal.digest) {
    journal->findings.emplace_back("events.jsonl was changed after it was signed");
  }
}

}  // namespace

std::optional<signing::Signer> own_signer(signing::IfMissing missing) {
  Result<signing::Signer> signer = signing::Signer::own(missing);
  return signer ? std::optional(std::move(signer).value()) : std::nullopt;
}

EventFile read_journal(const Layout& at, const signing::Signer* signer) {
  const Json seal = read_json(at, at.signature());
  const std::string manifest = or_empty(read_kept(at, at.manifest()));
  const std::string text = or_empty(read_kept(at, at.events()));
  EventFile journal(Chain(manifest, signer));
  journal.log = parse_events(text, journal.chain);
  const std::string_view sound = std::string_view(text).substr(0, journal.log.sound_bytes);
  journal.digest.add(sound);
  const Result<Json> run = Json::parse(manifest);
  const bool own = contains(journal.log.proofs, Proof::Own);
  if (!seal.is_null()) {
    check_seal(Seal::from(seal), run ? (*run)["id"].as_string() : "", sound, &journal);
  } else if (own && journal.log.events.size() > 1) {
    // It is written right after the first event.
    journal.findings.emplace_back("signature.json is missing");
  }
  if (!journal.findings.empty()) journal.log.certain = journal.log.events.size();
  return journal;
}

Json read_json(const Layout& at, const std::string& path) {
  const Result<std::string> text = read_kept(at, path);
  if (!text) return {};
  Result<Json> json = Json::parse(*text);
  return json ? std::move(json).value() : Json();
}

std::string json_text(const Json& json) { return json.dump(true) + "\n"; }

RecordedResults recorded_in(const EventLog& log) {
  constexpr std::pair<const char*, const char*> kFiles[] = {
      {"judged", kVerdictFile}, {"timed", kTimingFile}, {"finished", kReportFile}};
  RecordedResults found;
  for (size_t i = 0; i < log.events.size(); ++i) {
    const record::Event& event = log.events[i];
    const Json& data = event.data;
    if (event.kind == "replacing") {
      const auto known = found.find({data["id"].as_string(), data["file"].as_string()});
      if (known != found.end()) known->second.next = data["hash"].as_string();
    }
    if (event.kind == "set_aside") found.erase({data["id"].as_string(), data["file"].as_string()});
    for (const auto& [kind, file] : kFiles) {
      if (event.kind == kind)
        found[{data["id"].as_string(), file}] = {data["hash"].as_string(),
                                                 data["verdict"].as_string(),
                                                 data["module"].as_string(),
                                                 "",
                                                 log.proofs[i],
                                                 i >= log.certain};
    }
  }
  return found;
}

const Standing& Run::Impl::standing(const std::string& id, const char* name) const {
  const auto [at_id, is_new] = standings.try_emplace({id, name});
  if (is_new) at_id->second = examine(id, name);
  return at_id->second;
}

bool Run::Impl::is_altered(const std::string& id) const {
  return standing(id, kVerdictFile).altered() || standing(id, kTimingFile).altered();
}

Json Run::Impl::result(const std::string& id, const char* name) const {
  const std::lock_guard<std::mutex> guard(mutex);
  const bool counts = numbers.count(id) > 0 && !is_altered(id) && standing(id, name).counts;
  return counts ? read_json(at, at.of_candidate(id, name)) : Json();
}

std::string Run::Impl::module_digest(const std::string& id) const {
  const auto known = modules.find(id);
  if (known != modules.end()) return known->second;
  const Result<std::string> text = read_kept(at, at.of_candidate(id, "module.cu"));
  return text ? signing::digest(*text) : "";
}

// A process that dies between a result and its event leaves a result without an event. In a signed
// run it does not count, as anyone can put a file there; the candidate is judged again.
Standing Run::Impl::examine(const std::string& id, const char* name) const {
  const auto event = recorded.find({id, name});
  const std::string path = id.empty() ? at.report() : at.of_candidate(id, name);
  const bool there = os::exists(path);
  if (event == recorded.end()) {
    const bool cut_off = lock || sessions != closed;
    const std::string wrong = there && !cut_off ? "has no event that records it" : "";
    return {wrong, !there || (wrong.empty() && !own_events), true, !there};
  }
  const Recorded& record = event->second;
  if (!there && record.hash.empty() && id.empty()) return {};  // an older report is found elsewhere
  if (!there) return {"is missing", false, true, false};
  const Result<std::string> text = read_kept(at, path);
  if (!text) return {"cannot be read: " + text.error().message, false, true, false};
  if (!record.hash.empty()) {
    if (!same_content(record.hash, *text) && !same_content(record.next, *text))
      return {kChanged, false, true, false};
  } else if (!id.empty()) {
    const Result<Json> json = Json::parse(*text);
    if (!json) return {"is not JSON", false, true, false};
    if (!record.verdict.empty() && (*json)["verdict"].as_string() != record.verdict)
      return {fmt::format("was changed: the run recorded '{}'", record.verdict), false, true,
              false};
  }
  if (!record.module.empty()) {
    const std::string module = module_digest(id);
    if (!module.empty() && module != record.module)
      return {"is about another module.cu", false, true, false};
  }
  return {"", record.certain, record.certain, record.certain && record.proof == Proof::Own};
}

double Run::Impl::seconds() const {
  const std::chrono::duration<double> now = std::chrono::steady_clock::now() - opened;
  return seconds_before + now.count();
}

Json Run::Impl::session_data(Json found) const {
  if (signer) found.set("key", signer->key());
  return found;
}

void Run::Impl::scan() {
  for (const std::string& id : os::list_directory(at.candidates())) {
    if (!is_candidate_id(id)) continue;
    const Json lineage = read_json(at, at.of_candidate(id, "lineage.json"));
    if (lineage["id"].as_string() != id) continue;  // damaged, or interrupted while being added
    numbers[id] = lineage["number"].as_int();
    next_number = std::max(next_number, numbers[id] + 1);
    if (os::exists(at.of_candidate(id, "verdict.json"))) judged.insert(id);
  }
  journal.emplace(read_journal(at, signer ? &*signer : nullptr));
  const EventLog& log = journal->log;
  findings = journal->findings;
  lost_signed_bytes = journal->lost_signed_bytes;
  other_keys = journal->chain.other_keys();
  own_events = kw::contains(log.proofs, Proof::Own);
  recorded = recorded_in(log);
  lost_events = log.events.empty() && !numbers.empty();
  for (const record::Event& event : log.events) {
    seconds_before = std::max(seconds_before, event.seconds);
    sessions += event.kind == "opened" ? 1 : 0;
    closed += event.kind == "closed" ? 1 : 0;
    moved_aside += event.kind == "set_aside" ? 1 : 0;
  }
  if (!lock) return;  // a reader asks for them again
  journal->log.events.clear();
  journal->log.proofs.clear();
}

Status Run::Impl::repair(Json* found) {
  if (!journal) journal.emplace(read_journal(at, signer ? &*signer : nullptr));
  if (const uint64_t torn = journal->log.torn_bytes; torn > 0) {
    KW_TRY(disk.truncate(at.events(), journal->log.sound_bytes));
    journal->log.torn_bytes = 0;
    found->set("torn_event_bytes", torn);
  }
  int64_t removed = 0;
  for (const std::string& folder : {at.folder, at.inputs(), at.finals()}) {
    KW_TRY(remove_leftovers(folder, disk, &removed));
  }
  for (const std::string& id : os::list_directory(at.candidates())) {
    if (is_candidate_id(id)) KW_TRY(remove_leftovers(at.candidate(id), disk, &removed));
  }
  if (removed > 0) found->set("unfinished_files", removed);
  if (lost_events) found->set("lost_events", true);
  if (!findings.empty()) found->set("lost_signed_bytes", std::max<int64_t>(1, lost_signed_bytes));
  return Done{};
}

void Run::Impl::keep_reserve() {
  static_cast<void>(disk.write(at.reserve(), std::string(kReserveBytes, '\0'), os::Sync::No));
}

void Run::Impl::free_reserve() { static_cast<void>(disk.remove(at.reserve())); }

Status Run::Impl::append(const std::string& kind, Json data) {
  return append_event({seconds(), kind, std::move(data)});
}

// After a failed write it is not known what the file has: it is read again.
Status Run::Impl::append_event(const record::Event& event) {
  if (!journal) {
    Json found;
    KW_TRY(repair(&found));
  }
  const std::string line = journal->chain.extend(to_json(event).dump()) + "\n";
  if (Status appended = disk.append(at.events(), line); !appended) {
    journal.reset();
    return appended;
  }
  journal->digest.add(line);
  journal->log.sound_bytes += line.size();
  own_events = own_events || signer.has_value();
  if (++unsigned_events >= kMostUnsigned) sign();
  return Done{};
}

void Run::Impl::sign() {
  if (!signer || !journal || unsigned_events == 0) return;
  const auto bytes = static_cast<int64_t>(journal->log.sound_bytes);
  // What is signed must be on the disk first: after a power cut it would seem to be removed.
  if (!os::sync_file(at.events())) return;
  const Json seal = make_seal(*signer, manifest.id, journal->digest.hex(), bytes).json();
  if (disk.write(at.signature(), seal.dump(true) + "\n", os::Sync::No)) unsigned_events = 0;
}

void Run::Impl::note(const std::pair<std::string, std::string>& file, Recorded record) {
  record.proof = signer ? Proof::Own : Proof::Other;
  recorded[file] = std::move(record);
  standings.erase(file);
}

void Run::Impl::announce(const std::string& id, const char* name, const std::string& hash) {
  const auto known = recorded.find({id, name});
  if (known == recorded.end()) return;
  Json data = Json::object().set("id", id).set("file", name).set("hash", hash);
  if (append("replacing", std::move(data))) known->second.next = hash;
}

Status Run::Impl::write_of_candidate(const std::string& id, const char* name,
                                     std::string_view bytes, os::Sync sync) {
  return disk.write(at.of_candidate(id, name), bytes, sync);
}

Result<std::string> Run::Impl::merge_of_candidate(const std::string& id, const char* name,
                                                  const Json& members, os::Sync sync) {
  Json all = Json::object();
  // Members of a file that was changed are not kept.
  if (standing(id, name).counts) all = read_json(at, at.of_candidate(id, name));
  if (!all.is_object()) all = Json::object();
  for (const auto& [key, value] : members.members()) all.set(key, value);
  std::string text = json_text(all);
  announce(id, name, signing::digest(text));
  KW_TRY(write_of_candidate(id, name, text, sync));
  return text;
}

}  // namespace kw::store
