// A process that reads our environment block (/proc/PID/environ) or our memory has the user's keys.
// The block is as the kernel made it: unsetenv() removes nothing there. So each key is overwritten
// in place and kept in memory of its own, which core dumps leave out. The process is also made
// non-dumpable. Then no process of the same user can open its memory, and confined ones cannot
// either as root, because they have no capabilities and Landlock forbids them to trace others.
// A broker process that holds the keys would have to be asked for each key over a socket, by code
// in this process: a process that can read this one could ask as well, or wait for the answer. So
// it would add a process and no wall. What remains: root without confinement can read our memory.
#include "os/keys.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "core/text.h"
#include "os/process.h"

extern char** environ;

namespace kw::os {
namespace {

constexpr size_t kRoom = size_t{1} << 20;  // Linux allows 128 KiB for one variable

struct Keys {
  std::mutex mutex;
  std::set<std::string, std::less<>> names;  // besides those that is_key_variable() recognises
  bool hidden = false;                       // hide_keys() was called
  // NAME=value, each ended by a zero byte, in pages of their own.
  char* room = nullptr;
  size_t used = 0;
};

Keys& keys() {
  static auto* const only = new Keys;  // never destroyed: threads may still ask at the end
  return *only;
}

/// Keeps one entry; false when there is no room, and then it stays where it is.
bool keep(std::string_view entry) {
  Keys& all = keys();
  if (all.room == nullptr) {
    void* const got =
        ::mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) return false;
    ::madvise(got, kRoom, MADV_DONTDUMP);
    all.room = static_cast<char*>(got);
  }
  if (all.used + entry.size() + 1 > kRoom) return false;
  std::memcpy(all.room + all.used, entry.data(), entry.size());
  all.used += entry.size() + 1;
  return true;
}

template <typename Use>
void each_kept(const Use& use) {
  for (size_t at = 0; at < keys().used; at += std::strlen(keys().room + at) + 1)
    use(std::string_view(keys().room + at));
}

bool names_key(std::string_view name) {
  constexpr std::string_view kWords[] = {"KEY",         "KEYS", "TOKENS", "SECRETS", "CREDENTIAL",
                                         "CREDENTIALS", "AUTH", "COOKIE", "PAT"};
  constexpr std::string_view kEndings[] = {"APIKEY",   "TOKEN",  "SECRET",
                                           "PASSWORD", "PASSWD", "PASSPHRASE"};
  for (const std::string& word : split(name, '_')) {
    std::string upper = word;
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (std::ranges::count(kWords, std::string_view(upper)) > 0) return true;
    if (std::ranges::any_of(kEndings, [&](auto ending) { return upper.ends_with(ending); }))
      return true;
  }
  return keys().names.count(name) > 0;
}

/// Moves every key out of the environment block, and overwrites it there.
void take_keys() {
  char** kept = environ;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool is_key = names_key(text.substr(0, text.find('=')));
    if (is_key && keep(text))
      ::explicit_bzero(*entry, text.size());
    else
      *kept++ = *entry;
  }
  if (kept != nullptr) *kept = nullptr;
  if (keys().used > 0) ::prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace

void add_key_variables(const std::vector<std::string>& names) {
  const std::lock_guard lock(keys().mutex);
  keys().names.insert(names.begin(), names.end());
  if (keys().hidden) take_keys();
}

bool is_key_variable(std::string_view name) {
  const std::lock_guard lock(keys().mutex);
  return names_key(name);
}

void hide_keys() {
  const std::lock_guard lock(keys().mutex);
  keys().hidden = true;
  take_keys();
}

std::string hidden_key(std::string_view name) {
  const std::lock_guard lock(keys().mutex);
  std::string value;
  each_kept([&](std::string_view entry) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      value = entry.substr(name.size() + 1);
  });
  return value;
}

std::vector<std::string> hidden_keys() {
  const std::lock_guard lock(keys().mutex);
  std::vector<std::string> entries;
  each_kept([&](std::string_view entry) { entries.emplace_back(entry); });
  return entries;
}

}  // namespace kw::os
