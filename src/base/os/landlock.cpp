// A program that runs text we did not write must reach only the files we name. Landlock does this
// without root, without a container and per process, so we use it. Namespaces or a container would
// need privileges that many machines do not give. Each version of the Linux interface adds rights:
// TCP from version 4, signals from version 6. So we ask for the version at run time and request
// only the rights it knows. The cost: on an old Linux kernel some restrictions are missing here;
// sandbox/properties.h tells what else provides them.
#include "os/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>

#include "os/file_error.h"

namespace kw::os {
namespace {

// Rights that later versions of the interface added, by number: the headers at build time may be
// older.
constexpr uint64_t kRefer = 1U << 13, kTruncate = 1U << 14, kIoctlDevice = 1U << 15;
constexpr uint64_t kFirstVersionRights = (1U << 13) - 1;

constexpr long kNetworkVersion = 4, kScopeVersion = 6;
constexpr uint64_t kTcp = 3;     // bind and connect
constexpr uint64_t kScopes = 3;  // abstract sockets, signals

/// The layout of the newest interface. Older versions read only the first fields.
struct RulesetAttributes {
  uint64_t files, network, scopes;
};

size_t attributes_size(long version) {
  if (version >= kScopeVersion) return sizeof(RulesetAttributes);
  return (version >= kNetworkVersion ? 2 : 1) * sizeof(uint64_t);
}

std::atomic<long> version_cap{LONG_MAX};

long landlock_version() {
  if (version_cap == 0) errno = ENOSYS;
  if (version_cap == 0) return -1;
  return std::min<long>(
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION),
      version_cap);
}

uint64_t known_rights(long version) {
  uint64_t rights = kFirstVersionRights;
  if (version >= 2) rights |= kRefer;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kIoctlDevice;
  return rights;
}

Error refused(const char* what) { return environment_error("{}: {}", what, reason_of(errno)); }

constexpr uint64_t kReading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr uint64_t kWriting = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
                              LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                              LANDLOCK_ACCESS_FS_REMOVE_DIR | kRefer | kTruncate;
constexpr uint64_t kForFiles = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                               LANDLOCK_ACCESS_FS_EXECUTE | kTruncate | kIoctlDevice;

constexpr uint64_t kExecuting = LANDLOCK_ACCESS_FS_EXECUTE;

bool allow(int ruleset, const std::string& path, uint64_t rights) {
  const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) != 0) return true;  // a missing path needs no rule
  landlock_path_beneath_attr rule{};
  rule.parent_fd = fd.get();
  rule.allowed_access = S_ISDIR(st.st_mode) ? rights : rights & kForFiles;
  return ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

void lower_limit(__rlimit_resource_t resource, uint64_t value) {
  struct rlimit current {};
  if (::getrlimit(resource, &current) != 0) return;
  const rlim_t lowered = std::min<rlim_t>(value, current.rlim_max);
  const struct rlimit wanted { lowered, lowered };
  ::setrlimit(resource, &wanted);
}

}  // namespace

LandlockSupport landlock_support() {
  LandlockSupport support;
  const long version = landlock_version();
  if (version < 1) support.reason = refused("this kernel has no Landlock").message;
  support.version = std::max(version, 0L);
  support.files = version >= 1;
  support.network = version >= kNetworkVersion;
  support.signals = version >= kScopeVersion;
  return support;
}

void cap_landlock(long version) { version_cap = version; }

Result<UniqueFd> make_ruleset(const Allowed& allowed) {
  const long version = landlock_version();
  if (version < 1) return refused("this kernel has no Landlock");
  const uint64_t known = known_rights(version);
  const RulesetAttributes attributes{known, kTcp, kScopes};
  UniqueFd ruleset = above_standard(UniqueFd(static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, &attributes, attributes_size(version), 0))));
  if (!ruleset) return refused("creating a Landlock ruleset");
  const std::pair<const std::vector<std::string>*, uint64_t> grants[] = {
      {&allowed.reading, kReading},
      {&allowed.running, kReading | kExecuting},
      {&allowed.writing, kReading | kWriting},
      {&allowed.devices, kReading | kWriting | kIoctlDevice},
  };
  for (const auto& [paths, rights] : grants) {
    for (const std::string& path : *paths) {
      if (!allow(ruleset.get(), path, rights & known)) return refused("adding a Landlock rule");
    }
  }
  return ruleset;
}

namespace {

void allow_own(int ruleset, const char* folder, uint64_t rights) {
  const int fd = ::open(folder, O_PATH | O_CLOEXEC);
  if (fd < 0) return;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = known_rights(landlock_version()) & rights;
  rule.parent_fd = fd;
  ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  ::close(fd);
}

}  // namespace

void allow_own_entries(int ruleset) {
  allow_own(ruleset, "/proc/self", kReading);
  allow_own(ruleset, "/proc/self/task", LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate);
}

bool enter_ruleset(int ruleset) {
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

void limit_resources(const ResourceLimits& limits) {
  lower_limit(RLIMIT_CORE, 0);
  if (limits.cpu_seconds != 0) lower_limit(RLIMIT_CPU, limits.cpu_seconds);
  if (limits.file_bytes != UINT64_MAX) lower_limit(RLIMIT_FSIZE, limits.file_bytes);
#ifndef __SANITIZE_ADDRESS__  // its shadow memory is larger than any useful limit
  if (limits.memory_bytes != 0) lower_limit(RLIMIT_AS, limits.memory_bytes);
#endif
}

}  // namespace kw::os
