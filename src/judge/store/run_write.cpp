// Verdicts, timings and final files are synced to disk. Texts and logs are not: a power cut can
// lose only what can be made again. A process that dies needs no sync.
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/check.h"
#include "os/files.h"
#include "store/index.h"
#include "store/run_impl.h"

namespace kw::store {

namespace {

constexpr size_t kMostLogBytes = 256 << 10;  // a candidate decides what a compiler prints

void check_writable(const std::optional<os::FileLock>& lock) {
  KW_CHECK(lock.has_value(), "only a run opened for writing is written to");
}

// Writes the final files and removes those of an earlier winner.
Status write_final(const Layout& at, const FinalFiles& files, os::Disk& disk, Json* hashes) {
  const std::array<const std::string*, kFinalNames.size()> contents = {
      &files.kernel_cu, &files.kernel_ptx, &files.kernel_cubin, &files.readme};
  KW_TRY(disk.make_directories(at.finals()));
  for (size_t i = 0; i < contents.size(); ++i) {
    const std::string path = at.final_file(kFinalNames[i]);
    if (contents[i]->empty()) {
      KW_TRY(disk.remove(path));
      continue;
    }
    KW_TRY(disk.write(path, *contents[i], os::Sync::Yes));
    hashes->set(kFinalNames[i], signing::digest(*contents[i]));
  }
  return Done{};
}

}  // namespace

Result<bool> Run::add(record::Candidate candidate) {
  check_writable(impl_->lock);
  KW_CHECK(candidate.id == record::candidate_id(candidate.text, candidate.tunes),
           "a candidate's id is its content's");
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  if (impl_->numbers.count(candidate.id) > 0) return false;
  if (candidate.when == 0) candidate.when = impl_->seconds();
  Json lineage = to_json(candidate).set("number", impl_->next_number);
  KW_TRY(impl_->disk.make_directories(impl_->at.candidate(candidate.id)));
  KW_TRY(impl_->write_of_candidate(candidate.id, "module.cu", candidate.text, os::Sync::No));
  KW_TRY(impl_->write_of_candidate(candidate.id, "lineage.json", json_text(lineage), os::Sync::No));
  impl_->numbers[candidate.id] = impl_->next_number++;
  impl_->modules[candidate.id] = signing::digest(candidate.text);
  impl_->standings.clear();
  Json data = Json::object();
  data.set("id", candidate.id).set("proposer", candidate.proposer).set("origin", candidate.origin);
  KW_TRY(impl_->append("added", std::move(data)));
  return true;
}

Status Run::compiled(const std::string& id, const std::string& log) {
  check_writable(impl_->lock);
  KW_CHECK(contains(id), "what is compiled was added");
  if (log.size() <= kMostLogBytes)
    return impl_->write_of_candidate(id, "compile.log", log, os::Sync::No);
  const std::string kept = fmt::format("{}\n… {} more bytes are not kept\n",
                                       log.substr(0, kMostLogBytes), log.size() - kMostLogBytes);
  return impl_->write_of_candidate(id, "compile.log", kept, os::Sync::No);
}

Status Run::judged(const std::string& id, const Json& verdict) {
  check_writable(impl_->lock);
  KW_CHECK(contains(id), "what is judged was added");
  const std::string text = json_text(verdict), hash = signing::digest(text);
  const std::string& word = verdict["verdict"].as_string();
  {
    const std::lock_guard<std::mutex> guard(impl_->mutex);
    impl_->announce(id, kVerdictFile, hash);
  }
  // Not under the lock: it waits for the disk.
  KW_TRY(impl_->write_of_candidate(id, kVerdictFile, text, os::Sync::Yes));
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  const std::string module = impl_->module_digest(id);
  Json data = Json::object().set("id", id).set("verdict", word).set("hash", hash);
  KW_TRY(impl_->append("judged", data.set("module", module)));
  impl_->judged.insert(id);
  impl_->note({id, kVerdictFile}, {hash, word, module});
  if (verdict["certified"].as_bool()) impl_->sign();
  return Done{};
}

Status Run::timed(const std::string& id, const Json& timing) {
  check_writable(impl_->lock);
  KW_CHECK(contains(id), "what is timed was added");
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  const std::string text =
      KW_TRY(impl_->merge_of_candidate(id, kTimingFile, timing, os::Sync::Yes));
  const std::string hash = signing::digest(text);
  KW_TRY(impl_->append("timed", Json::object().set("id", id).set("hash", hash)));
  impl_->note({id, kTimingFile}, {hash, "", ""});
  return Done{};
}

Status Run::profiled(const std::string& id, const Json& profile) {
  check_writable(impl_->lock);
  KW_CHECK(contains(id), "what is profiled was added");
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  KW_TRY(impl_->merge_of_candidate(id, "profile.json", profile, os::Sync::No));
  return Done{};
}

Status Run::append(const std::string& kind, const Json& event) {
  check_writable(impl_->lock);
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  return impl_->append(kind, event);
}

Status Run::append_synced(const std::string& kind, const Json& event) {
  KW_TRY(append(kind, event));
  return os::sync_file(impl_->at.events());
}

Status Run::keep(const record::Candidate& candidate) {
  KW_TRY(add(candidate));
  return Done{};
}

std::string Run::module_path(const std::string& id) const {
  return folder() + "/candidates/" + id + "/module.cu";
}

Status Run::checkpoint(const Json& state) {
  check_writable(impl_->lock);
  return impl_->disk.write(impl_->at.checkpoint(), json_text(state), os::Sync::Yes);
}

Status Run::set_altered_aside() {
  check_writable(impl_->lock);
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  for (const auto& [id, number] : impl_->numbers) {
    for (const char* name : {kVerdictFile, kTimingFile}) {
      if (impl_->standing(id, name).wrong.empty()) continue;
      const std::string to = fmt::format("aside/{:04}-{}-{}", ++impl_->moved_aside, id, name);
      const std::string whole = impl_->at.folder + "/" + to;
      KW_TRY(impl_->disk.make_directories(impl_->at.folder + "/aside"));
      // A link takes no name that is there already.
      const std::string from = impl_->at.of_candidate(id, name);
      if (os::exists(from) && ::link(from.c_str(), whole.c_str()) != 0)
        return environment_error("moving {} to {}: {}", from, whole, std::strerror(errno));
      Json data = Json::object().set("id", id).set("file", name).set("to", to);
      KW_TRY(impl_->append("set_aside", std::move(data)));
      KW_TRY(impl_->disk.remove(from));
      impl_->recorded.erase({id, name});
      impl_->standings.erase({id, name});
    }
  }
  return Done{};
}

Status Run::finish(Json report, const FinalFiles& files) {
  check_writable(impl_->lock);
  Json hashes = Json::object();
  const Status shipped = write_final(impl_->at, files, impl_->disk, &hashes);
  if (!shipped) {
    report.set("passed", false).set("interrupted", true).set("failed_stage", "store");
    report.set("failure_reason", shipped.error().message);
  }
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  Json storage = Json::object();
  storage.set("version", kFolderVersion).set("sessions", impl_->sessions);
  storage.set("crashes", impl_->sessions - impl_->closed - 1);
  storage.set("candidates", impl_->numbers.size()).set("judged", impl_->judged.size());
  report.set("storage", storage.set("final", std::move(hashes)));
  const std::string text = json_text(report), hash = signing::digest(text);
  impl_->announce("", kReportFile, hash);
  Status told = impl_->disk.write(impl_->at.report(), text, os::Sync::Yes);
  // Of two failures the first says why: without a reserve, the second finds no file.
  if (!told && impl_->disk.replace_by(impl_->at.report(), impl_->at.reserve(), text)) told = Done{};
  impl_->free_reserve();
  KW_TRY(std::move(told));
  Json data = Json::object().set("passed", report["passed"]);
  KW_TRY(impl_->append("finished", data.set("hash", hash)));
  impl_->note({"", kReportFile}, {hash, "", ""});
  impl_->sign();
  update_index_of(impl_->at.folder);
  return shipped;
}

}  // namespace kw::store
