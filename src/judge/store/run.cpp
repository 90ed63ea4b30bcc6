// A run must survive a crash at any moment. A folder becomes a run by its run.json, which is
// written after all inputs. A candidate is added by its lineage.json, which is written after its
// text. So a crash leaves a complete thing or none. Only events.jsonl, the one file that is
// appended to, can be torn; opening for writing repairs it. A database for everything was the
// alternative; plain files can be read without this program. The cost: many small files and the
// order of their writes.
#include "store/run.h"

#include <algorithm>

#include "core/text.h"
#include "os/entropy.h"
#include "os/files.h"
#include "os/inside.h"
#include "store/event_log.h"
#include "store/index.h"
#include "store/run_id.h"
#include "store/run_impl.h"

namespace kw::store {

namespace {

constexpr int kTries = 16;  // attempts to find a free name

std::array<std::string, kInputNames.size()> input_texts(const RunInputs& inputs) {
  return {inputs.prompt, inputs.reference, json_text(inputs.spec), json_text(inputs.config),
          json_text(inputs.env)};
}

Status check_free(const std::string& folder) {
  const Layout at{folder};
  if (!os::exists(folder)) return Done{};
  if (!os::is_directory(folder)) return input_error("{} is not a folder", folder);
  if (const auto holder = os::lock_holder(at.lock())) {
    return input_error("{} is in use by {}", folder, *holder);
  }
  if (os::exists(at.manifest())) {
    return input_error("{} holds a run already: resume it, or name another folder", folder);
  }
  if (os::list_directory(folder).empty() || is_abandoned_creation(folder)) return Done{};
  return input_error("{} is not empty: name another folder", folder);
}

Status write_inputs(const Layout& at, const RunInputs& inputs, os::Disk& disk, Manifest* manifest) {
  KW_TRY(disk.make_directories(at.inputs()));
  const auto texts = input_texts(inputs);
  for (size_t i = 0; i < texts.size(); ++i) {
    KW_TRY(disk.write(at.input(kInputNames[i]), texts[i], os::Sync::Yes));
    manifest->input_hashes[kInputNames[i]] = signing::digest(texts[i]);
  }
  return Done{};
}

Status check_inputs(const Layout& at, const Manifest& manifest) {
  for (const auto& [name, hash] : manifest.input_hashes) {
    const std::string text = KW_TRY(read_kept(at, at.input(name)));
    if (same_content(hash, text)) continue;
    return input_error(
        "inputs/{} was changed after the run began, so the run cannot continue; start a new run",
        name);
  }
  return Done{};
}

/// Creates the folder and locks it. The caller tries another name if another process was faster.
Result<os::FileLock> claim(const Layout& at, os::Disk& disk) {
  KW_TRY(disk.make_directories(at.folder));
  os::FileLock lock = KW_TRY(os::FileLock::take(at.lock()));
  if (os::exists(at.manifest())) return input_error("it holds a run already");
  return lock;
}

Result<std::string> new_id(const RunInputs& inputs) {
  const uint64_t salt = KW_TRY(os::random_bits());
  return run_id(wall_clock(), inputs.name, salt);
}

}  // namespace

Run::Run(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Run::Run(Run&&) noexcept = default;

Run& Run::operator=(Run&& other) noexcept {
  std::swap(impl_, other.impl_);  // the other object closes what this one held
  return *this;
}

// Best effort: a run whose end was not recorded counts as interrupted, which is true. Without
// memory for it, the end is not recorded either; an exception must not leave a destructor.
Run::~Run() {
  if (!impl_ || !impl_->lock) return;
  try {
    close();
  } catch (const std::bad_alloc&) {
  }
}

void Run::close() {
  const std::lock_guard<std::mutex> guard(impl_->mutex);
  impl_->free_reserve();
  Json there = Json::array();
  for (const std::string& path : {impl_->at.checkpoint(), impl_->at.report()}) {
    if (os::exists(path)) there.push(path.substr(impl_->at.folder.size() + 1));
  }
  static_cast<void>(impl_->append("closed", Json::object().set("files", std::move(there))));
  impl_->sign();
  update_index_of(impl_->at.folder);
}

Result<Run> Run::create(const Where& where, const RunInputs& inputs, os::Disk& disk) {
  if (!where.folder.empty()) KW_TRY(check_free(where.folder));
  if (where.folder.empty() && os::exists(Layout{where.root}.manifest())) {
    return input_error("{} is itself a run: resume it, or name the folder that is to hold runs",
                       where.root);
  }
  for (int attempt = 1;; ++attempt) {
    const std::string id = KW_TRY(new_id(inputs));
    const Layout at{where.folder.empty() ? where.root + "/" + id : where.folder};
    auto impl = std::make_unique<Impl>(at, disk);
    impl->signer = own_signer(signing::IfMissing::Make);
    Result<os::FileLock> lock = claim(at, disk);
    if (!lock && where.folder.empty() && lock.error().blame == Blame::Input && attempt < kTries) {
      continue;
    }
    if (!lock) return std::move(lock).error().context(at.folder);
    impl->lock = std::move(lock).value();
    impl->manifest = {id, inputs.name, utc_text(wall_clock()), {}};
    Json abandoned;  // left by an unfinished creation
    KW_TRY(impl->repair(&abandoned));
    KW_TRY(write_inputs(at, inputs, disk, &impl->manifest));
    KW_TRY(disk.write(at.manifest(), json_text(to_json(impl->manifest)), os::Sync::Yes));
    impl->journal.reset();  // its marks begin with run.json
    impl->keep_reserve();
    impl->sessions = 1;
    KW_TRY(impl->append("opened", impl->session_data(Json::object())));
    impl->sign();
    if (where.folder.empty()) make_index(where.root);
    update_index_of(at.folder);
    return Run(std::move(impl));
  }
}

Result<Run> Run::open(const std::string& folder, Access access, os::Disk& disk) {
  const Layout at{folder};
  auto impl = std::make_unique<Impl>(at, disk);
  impl->signer =
      own_signer(access == Access::Write ? signing::IfMissing::Make : signing::IfMissing::Fail);
  impl->manifest = KW_TRY(read_manifest(at));
  KW_TRY(os::check_contained(folder));
  if (access == Access::Write) {
    Result<os::FileLock> lock = os::FileLock::take(at.lock());
    if (!lock) return std::move(lock).error().context(folder);
    impl->lock = std::move(lock).value();
    if (Status same = check_inputs(at, impl->manifest); !same) {
      return std::move(same).error().context(folder);
    }
  }
  impl->scan();
  if (access == Access::Write) {
    Json found = Json::object();
    KW_TRY(impl->repair(&found));
    if (!impl->lock->died().empty()) found.set("died", impl->lock->died());
    impl->keep_reserve();
    ++impl->sessions;
    KW_TRY(impl->append("opened", impl->session_data(std::move(found))));
    impl->sign();
    update_index_of(folder);
  }
  return Run(std::move(impl));
}

std::string default_root() {
  const std::string own = os::env("KERNELWRIGHT_RUNS");
  return own.empty() ? os::data_directory() + "/runs" : own;
}

}  // namespace kw::store
