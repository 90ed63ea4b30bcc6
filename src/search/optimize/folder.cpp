// Steps of a run execute in different processes, and agents edit files between them. So the folder
// must survive a crash and must detect edits. commit() appends the whole state to journal.jsonl and
// then replaces state.json. If a crash falls between the two, state.json equals the entry before
// the last, and open() continues with the last. Any other difference, or a wrong checksum, is an
// Error that names the way to restore. Files that later steps depend on are stamped with a hash in
// the state. A database was the alternative; agents could not read it. The journal grows by one
// state per step.
#include "optimize/folder.h"

#include <fmt/core.h>

#include <ctime>
#include <filesystem>

#include "core/hash.h"
#include "core/text.h"
#include "os/disk.h"
#include "os/files.h"
#include "os/inside.h"
#include "os/leftovers.h"
#include "os/own_files.h"

namespace kw::optimize {
namespace {

constexpr const char* kStateName = "state.json";
constexpr const char* kJournalName = "journal.jsonl";
constexpr const char* kLockName = "lock";

std::string absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path full = std::filesystem::absolute(path, error).lexically_normal();
  if (error) return path;
  std::string text = full.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

/// The hash of a state without its own checksum.
std::string checksum(const Json& json) {
  Json plain = Json::object();
  for (const auto& [key, value] : json.members()) {
    if (key != "checksum") plain.set(key, value);
  }
  return hash_hex(plain.dump());
}

/// The states of the journal, newest first, at most two. A torn last line is ignored.
std::vector<Json> newest(const std::string& folder) {
  std::vector<Json> states;
  const Result<std::string> text = os::read_inside(folder, kJournalName, uint64_t{1} << 30);
  if (!text) return states;
  const std::vector<std::string_view> lines = split_lines(*text);
  for (auto line = lines.rbegin(); line != lines.rend() && states.size() < 2; ++line) {
    Result<Json> entry = Json::parse(*line);
    if (entry && (*entry)["state"].is_object()) states.push_back((*entry)["state"]);
  }
  return states;
}

std::string way_out(const std::string& folder) {
  return fmt::format(
      "'kernelwright optimize state --run-dir {} --restore' brings back what was last written",
      shell_quote(folder));
}

/// The journal decides. state.json must be its last state or, after a crash, the one before.
Result<Json> sound_state(const std::string& folder, const Json& json) {
  const std::vector<Json> known = newest(folder);
  const std::string sum = checksum(json);
  if (json["checksum"].as_string() != sum)
    return input_error("{}/state.json was changed by hand; {}", folder, way_out(folder));
  if (known.empty())
    return input_error(
        "{0}/journal.jsonl is missing or damaged, so {0}/state.json cannot be trusted; set up a "
        "new run from {0}/{1}",
        folder, json["best_file"].as_string());
  if (checksum(known.front()) == sum) return json;
  if (known.size() > 1 && checksum(known[1]) == sum) return known.front();
  return input_error("{0}/state.json is not what {0}/journal.jsonl says was last; {1}", folder,
                     way_out(folder));
}

Result<State> read_state(const std::string& folder) {
  const std::string path = folder + "/" + kStateName;
  if (!os::is_directory(folder))
    return input_error("there is no run folder {}; 'kernelwright optimize setup' makes one",
                       folder);
  if (!os::exists(path))
    return input_error(
        "{} is not a run of optimize: it has no state.json (setup did not finish, or it is another "
        "folder); 'kernelwright optimize setup' makes a new one",
        folder);
  KW_TRY(os::check_contained(folder));
  const std::string text = KW_TRY(os::read_inside(folder, kStateName, kMostFileBytes));
  const Result<Json> json = Json::parse(text);
  if (!json)
    return input_error("{} is damaged: {}; {}", path, json.error().message, way_out(folder));
  // Another version is reported first: its checksum may be computed differently.
  if (Result<State> version = state_from_json(*json);
      !version && (*json)["schema_version"].as_int(-1) != kStateVersion)
    return std::move(version).error().context("reading " + path);
  const Json sound = KW_TRY(sound_state(folder, *json));
  Result<State> state = state_from_json(sound);
  if (!state) return std::move(state).error().context("reading " + path);
  state->run_dir = folder;  // the folder may have been moved
  return state;
}

Result<os::FileLock> hold(const std::string& folder) {
  Result<os::FileLock> lock = os::FileLock::take(folder + "/" + kLockName);
  if (!lock) return std::move(lock).error().context("run folder " + folder);
  return lock;
}

std::tm utc(std::time_t seconds) {
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return parts;
}

}  // namespace

Result<Folder> Folder::create(const std::string& path) {
  Folder folder(absolute(path));
  if (os::exists(folder.at(kStateName))) return input_error("{} holds a run already", folder.path_);
  KW_TRY(os::make_directories(folder.path_));
  folder.lock_ = KW_TRY(hold(folder.path_));
  folder.state.run_dir = folder.path_;
  folder.state.created_at = utc_now();
  return folder;
}

Result<Folder> Folder::open(const std::string& path) {
  Folder folder(absolute(path));
  folder.state = KW_TRY(read_state(folder.path_));
  folder.lock_ = KW_TRY(hold(folder.path_));
  os::remove_leftovers(folder.path_);
  // Read again: from now on no other process writes.
  folder.state = KW_TRY(read_state(folder.path_));
  return folder;
}

Result<State> Folder::look(const std::string& path) { return read_state(absolute(path)); }

Result<State> Folder::restore(const std::string& path) {
  const std::string folder = absolute(path);
  const std::vector<Json> known = newest(folder);
  if (known.empty())
    return input_error("{}/journal.jsonl holds no state to bring back; set up a new run", folder);
  const os::FileLock lock = KW_TRY(hold(folder));
  State state = KW_TRY(state_from_json(known.front()));
  KW_TRY(os::write_inside(folder, kStateName, known.front().dump(true) + "\n"));
  state.run_dir = folder;
  return state;
}

std::string Folder::in_iteration(int iteration, std::string_view name) {
  return fmt::format("iterv{}/{}", iteration, name);
}

bool Folder::has(std::string_view name) const { return os::exists(at(name)); }

Result<std::string> Folder::read(std::string_view name, uint64_t limit) const {
  return os::read_inside(path_, std::string(name), limit);
}

Result<Json> Folder::read_json(std::string_view name) const {
  const std::string text = KW_TRY(read(name));
  Result<Json> json = Json::parse(text);
  if (!json) return std::move(json).error().context("reading " + at(name));
  return json;
}

Status Folder::write(std::string_view name, std::string_view text) const {
  KW_TRY(os::make_directories(std::filesystem::path(at(name)).parent_path()));
  return os::write_inside(path_, std::string(name), text, os::Sync::No);
}

Status Folder::write_json(std::string_view name, const Json& json) const {
  return write(name, json.dump(true) + "\n");
}

Status Folder::remove(std::string_view name) const { return os::real_disk().remove(at(name)); }

Status Folder::write_stamped(const std::string& name, std::string_view text) {
  KW_TRY(write(name, text));
  state.stamps[name] = hash_hex(text);
  return Done{};
}

Result<std::string> Folder::read_stamped(const std::string& name) const {
  std::string text = KW_TRY(read(name));
  const auto stamp = state.stamps.find(name);
  if (stamp == state.stamps.end() || stamp->second != hash_hex(text))
    return input_error("{} is not what kernelwright wrote: restore it, or set up a new run",
                       at(name));
  return text;
}

Status Folder::commit(std::string_view step, Json note) {
  ++state.revision;
  Json json = to_json(state);
  json.set("checksum", checksum(json));
  const Json entry = Json::object()
                         .set("revision", state.revision)
                         .set("time", utc_now())
                         .set("step", step)
                         .set("phase", phase_name(state.phase))
                         .set("iter", state.iter)
                         .set("note", std::move(note))
                         .set("state", json);
  KW_TRY(os::real_disk().append(at(kJournalName), entry.dump() + "\n"));
  return os::real_disk().write(at(kStateName), json.dump(true) + "\n", os::Sync::Yes);
}

std::string utc_now() {
  const std::tm t = utc(std::time(nullptr));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", t.tm_year + 1900, t.tm_mon + 1,
                     t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
}

Result<std::string> make_run_folder(const std::string& parent) {
  const std::tm t = utc(std::time(nullptr));
  const std::string folder = parent.empty() ? "." : parent;
  const std::string name =
      fmt::format("{}/run_{:04}{:02}{:02}_{:02}{:02}{:02}", folder, t.tm_year + 1900, t.tm_mon + 1,
                  t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
  KW_TRY(os::make_directories(folder));
  std::string path = name;
  for (int i = 2; !KW_TRY(os::make_new_directory(path)); ++i) path = fmt::format("{}_{}", name, i);
  return path;
}

}  // namespace kw::optimize
