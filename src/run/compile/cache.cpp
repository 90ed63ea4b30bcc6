// A compile takes 30 ms to seconds, and the same source is compiled again in every run. So outcomes
// are kept on disk, under a hash of everything that decides the result: request, compiler,
// arguments, headers. Headers count by name, size and time, because hashing their contents would
// take too long. Failures are not kept. A cache in memory would be simpler, but would end with the
// process. Files need care: entries carry their key and a checksum, a folder that other users can
// change is not used, and the oldest entries are removed above max_bytes.
// Other processes write too, so the folder's size is only known roughly between scans.
#include "compile/cache.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>

#include "compile/search.h"
#include "compile/wire.h"
#include "core/hash.h"
#include "os/files.h"
#include "os/own_files.h"

namespace kw::compile {
namespace {

// Must change with the layout of entries and with the processing of a compiler's result.
constexpr std::string_view kFormat = "kernelwright compile cache 6\n";
constexpr int kUserFolderDepth = 8;
// Other processes write too: scan the folder again after this number of writes.
constexpr int kWritesBetweenScans = 256;
constexpr time_t kStaleTemporarySeconds = 3600;

struct Entry {
  std::string path;
  int64_t bytes = 0;
  timespec used{};
};

// An entry: the format, a checksum over all that follows, the length of the key, the key, and the
// outcome. The key is compared as a whole, so an entry under another one's name is not believed.
std::string checksum(std::string_view text) { return fmt::format("{:016x}", hash64(text)); }

std::string keyed(std::string_view key) { return fmt::format("{:016x}{}", key.size(), key); }

std::string entry_of(std::string_view key, std::string_view payload) {
  const std::string rest = keyed(key).append(payload);
  return std::string(kFormat) + checksum(rest) + rest;
}

std::optional<std::string_view> payload_in(std::string_view entry, std::string_view key) {
  constexpr size_t kSum = 16;
  const std::string wanted = keyed(key);
  if (!entry.starts_with(kFormat) || entry.size() < kFormat.size() + kSum) return std::nullopt;
  const std::string_view sum = entry.substr(kFormat.size(), kSum);
  const std::string_view rest = entry.substr(kFormat.size() + kSum);
  if (!rest.starts_with(wanted) || sum != checksum(rest)) return std::nullopt;
  return rest.substr(wanted.size());
}

std::vector<Entry> entries_in(const std::string& folder) {
  std::vector<Entry> entries;
  for (const std::string& subfolder : os::list_directory(folder)) {
    for (const std::string& name : os::list_directory(folder + "/" + subfolder)) {
      Entry entry{folder + "/" + subfolder + "/" + name, 0, {}};
      struct stat st {};
      if (::stat(entry.path.c_str(), &st) != 0 || !S_ISREG(st.st_mode)) continue;
      if (name.find(".tmp-") != std::string::npos) {  // of a process killed while writing
        if (::time(nullptr) - st.st_mtim.tv_sec > kStaleTemporarySeconds)
          ::unlink(entry.path.c_str());
        continue;
      }
      entry.bytes = st.st_size;
      entry.used = st.st_mtim;
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

}  // namespace

CachingCompiler::CachingCompiler(std::unique_ptr<ports::Compiler> inner, CacheOptions options)
    : inner_(std::move(inner)), options_(std::move(options)) {}

CacheStats CachingCompiler::stats() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stats_;
}

std::vector<std::string> CachingCompiler::notes() const {
  std::vector<std::string> all = inner_->notes();
  const std::lock_guard<std::mutex> lock(mutex_);
  all.insert(all.end(), notes_.begin(), notes_.end());
  return all;
}

CachingCompiler::Place CachingCompiler::place_of(const ports::CompileRequest& request) const {
  ports::CompileRequest key = request;
  key.timeout_seconds = 0;
  std::string text =
      std::string(kFormat) + inner_->name() + "\n" + options_.salt + "\n" + encode(key);
  if (options_.command) text += options_.command(key);
  if (!request.include_folders.empty())
    text += fingerprint(request.include_folders, kUserFolderDepth);
  const std::string hash = hash_hex(text);
  return {hash.substr(0, 2) + "/" + hash.substr(2), std::move(text)};
}

bool CachingCompiler::is_usable() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return usable_;
}

void CachingCompiler::give_up(const Error& error) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (usable_) notes_.push_back("compiled images are not cached: " + error.message);
  usable_ = false;
}

bool CachingCompiler::load(const Place& place, ports::CompileOutcome* outcome) {
  const auto bytes = os::read_own(options_.folder, place.name);
  if (!bytes) {
    if (bytes.error().blame == Blame::Environment) give_up(bytes.error());
    return false;
  }
  const auto payload = payload_in(*bytes, place.key);
  const bool good = payload && decode(*payload, outcome) && outcome->compiled && !outcome->failed;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!good) ++stats_.damaged;
  return good;
}

void CachingCompiler::make_room(uint64_t added) {
  const bool look = known_bytes_ < 0 || ++writes_ % kWritesBetweenScans == 0;
  known_bytes_ = std::max<int64_t>(known_bytes_, 0) + static_cast<int64_t>(added);
  if (!look && known_bytes_ <= static_cast<int64_t>(options_.max_bytes)) return;
  std::vector<Entry> entries = entries_in(options_.folder);
  int64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  known_bytes_ = total;
  if (total <= static_cast<int64_t>(options_.max_bytes)) return;
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  // Down to four fifths, so that the next write does not scan again.
  const auto goal = static_cast<int64_t>(options_.max_bytes / 5 * 4);
  for (const Entry& entry : entries) {
    if (known_bytes_ <= goal) break;
    if (::unlink(entry.path.c_str()) == 0) known_bytes_ -= entry.bytes;
  }
}

void CachingCompiler::store(const Place& place, const ports::CompileOutcome& outcome) {
  const std::string path = options_.folder + "/" + place.name;
  const std::string bytes = entry_of(place.key, encode(outcome));
  Status written = os::check_own_folder(options_.folder);
  if (written) written = os::make_directories(path.substr(0, path.rfind('/')));
  if (written) written = os::write_file(path, bytes, os::Sync::No);
  if (!written) return give_up(written.error());
  const std::lock_guard<std::mutex> lock(mutex_);
  make_room(bytes.size());
}

Result<ports::CompileOutcome> CachingCompiler::compile(const ports::CompileRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const Place place = place_of(request);
  ports::CompileOutcome outcome;
  if (is_usable() && load(place, &outcome)) {
    // Marks it as used now.
    ::utimensat(AT_FDCWD, (options_.folder + "/" + place.name).c_str(), nullptr, 0);
    outcome.compiled->from_cache = true;
    outcome.compiled->seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::lock_guard<std::mutex> lock(mutex_);
    ++stats_.hits;
    return outcome;
  }
  outcome = KW_TRY(inner_->compile(request));
  if (outcome.compiled && is_usable()) store(place, outcome);
  const std::lock_guard<std::mutex> lock(mutex_);
  ++stats_.misses;
  return outcome;
}

}  // namespace kw::compile
