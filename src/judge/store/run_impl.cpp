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
#include "core/hash.h"
#include "core/json_reader.h"
#include "core/json_writer.h"
#include "os/files.h"
#include "os/inside.h"

namespace kw::store {

namespace {

constexpr uint64_t kLongestFile = uint64_t{1} << 30;
constexpr size_t kReserveBytes = 256 << 10;  // several times the size of a usual report

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

EventLog read_events(const Layout& at) {
  const Result<std::string> text = read_kept(at, at.events());
  return text ? parse_events(*text) : EventLog{};
}

Json read_json(const Layout& at, const std::string& path) {
  const Result<std::string> text = read_kept(at, path);
  if (!text) return {};
  Result<Json> json = Json::parse(*text);
  return json ? std::move(json).value() : Json();
}

std::string json_text(const Json& json) { return json.dump(true) + "\n"; }

RecordedResults recorded_in(const EventLog& log) {
  RecordedResults found;
  for (const record::Event& event : log.events) {
    const bool judged = event.kind == "judged";
    if (!judged && event.kind != "timed") continue;
    found[{event.data["id"].as_string(), judged ? kVerdictFile : kTimingFile}] = {
        event.data["hash"].as_string(), event.data["verdict"].as_string()};
  }
  return found;
}

// A process that dies between a result and its event leaves a result without an event. Nothing
// judged may be lost, so such a result counts when a session did not end by itself.
std::string Run::Impl::wrong_with(const std::string& id, const char* name) const {
  const auto event = recorded.find({id, name});
  const std::string path = at.of_candidate(id, name);
  const bool there = os::exists(path);
  if (event == recorded.end()) {
    const bool cut_off = lock || sessions != closed;
    return there && !cut_off ? "has no event that records it" : "";
  }
  if (!there) return "is missing";
  const Result<std::string> text = read_kept(at, path);
  const Recorded& record = event->second;
  if (!text) return "cannot be read: " + text.error().message;
  if (!record.hash.empty()) return hash_hex(*text) == record.hash ? "" : "was changed";
  const Result<Json> json = Json::parse(*text);
  if (!json) return "is not JSON";
  const bool same = record.verdict.empty() || (*json)["verdict"].as_string() == record.verdict;
  return same ? "" : fmt::format("was changed: the run recorded '{}'", record.verdict);
}

double Run::Impl::seconds() const {
  const std::chrono::duration<double> now = std::chrono::steady_clock::now() - opened;
  return seconds_before + now.count();
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
  const EventLog log = read_events(at);
  recorded = recorded_in(log);
  lost_events = log.events.empty() && !numbers.empty();
  for (const record::Event& event : log.events) {
    seconds_before = std::max(seconds_before, event.seconds);
    sessions += event.kind == "opened" ? 1 : 0;
    closed += event.kind == "closed" ? 1 : 0;
  }
}

Status Run::Impl::repair(Json* found) {
  const EventLog log = read_events(at);
  if (log.torn_bytes > 0) {
    KW_TRY(disk.truncate(at.events(), log.sound_bytes));
    found->set("torn_event_bytes", log.torn_bytes);
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
  return Done{};
}

void Run::Impl::keep_reserve() {
  static_cast<void>(disk.write(at.reserve(), std::string(kReserveBytes, '\0'), os::Sync::No));
}

void Run::Impl::free_reserve() { static_cast<void>(disk.remove(at.reserve())); }

Status Run::Impl::append(const std::string& kind, Json data) {
  return disk.append(at.events(), event_line({seconds(), kind, std::move(data)}));
}

Status Run::Impl::write_of_candidate(const std::string& id, const char* name,
                                     std::string_view bytes, os::Sync sync) {
  return disk.write(at.of_candidate(id, name), bytes, sync);
}

Result<std::string> Run::Impl::merge_of_candidate(const std::string& id, const char* name,
                                                  const Json& members, os::Sync sync) {
  Json all = Json::object();
  // Members of a file that was changed are not kept.
  if (wrong_with(id, name).empty()) all = read_json(at, at.of_candidate(id, name));
  if (!all.is_object()) all = Json::object();
  for (const auto& [key, value] : members.members()) all.set(key, value);
  std::string text = json_text(all);
  KW_TRY(write_of_candidate(id, name, text, sync));
  return text;
}

}  // namespace kw::store
