// The problem: host code can be honest while it is recorded and launch something else on another
// day, host or device. The choice: everything that it can ask the machine has a made-up answer,
// which is another one in every call. Clocks and identities are answered where the program enters
// the kernel (confine.cpp), the time stamp counter where the instruction traps, variables of the
// environment by a function of ours. What has no sensible made-up answer, such as a file, refuses
// the call. The alternative, replacing functions of the C library alone, ends at the first system
// call that a program makes by itself. The cost: x86-64 only; the processor's own identity (cpuid)
// stays as it is.
#include "host_recording/recorder/world.h"

#include <elf.h>
#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "host_recording/recorder/control.h"
#include "host_recording/recorder/state.h"

namespace kw::recorder {
namespace {

constexpr int64_t kSecond = 1000000000;
constexpr int64_t kFirstDate = 1735689600;                         // 2025-01-01
constexpr uint64_t kManySeconds = uint64_t{12} * 365 * 24 * 3600;  // the dates that worlds have

constexpr const char* kDevices[] = {"NVIDIA H100 80GB HBM3",
                                    "NVIDIA H200",
                                    "NVIDIA A100-SXM4-80GB",
                                    "NVIDIA B200",
                                    "NVIDIA L40S",
                                    "NVIDIA GeForce RTX 4090",
                                    "NVIDIA GeForce RTX 5090",
                                    "NVIDIA GH200 480GB",
                                    "NVIDIA A10G",
                                    "NVIDIA H100 PCIe",
                                    "Tesla V100-SXM2-32GB",
                                    "NVIDIA RTX 6000 Ada Generation",
                                    "NVIDIA A100-PCIE-40GB MIG",
                                    "Graphics Device",
                                    "Tesla T4"};
constexpr const char* kHosts[] = {"node", "gpu", "worker", "localhost", "dgx", "ip-10-0-"};
constexpr const char* kValues[] = {"1", "0", "", "true", "off", "7", "/usr/local/bin", "debug"};

enum Question : uint64_t {
  kProcess = 1,
  kParent,
  kUser,
  kProcessor,
  kHost,
  kHostNumber,
  kRelease,
  kLoad,
  kUptime,
  kName,
  kUnique,
  kPci,
  kRate,
  kDriver,
  kVariable = 1000,
};

/// The page that `environ` points to, which nothing can read unnoticed, and the C library's code.
char** guarded = nullptr;
uint64_t library_begin = 0, library_end = 0;
constexpr size_t kPage = 4096;

#if defined(__x86_64__)
void put_time(uint64_t address, int64_t nanoseconds, int64_t divisor) {
  if (address == 0) return;
  auto* const to = reinterpret_cast<int64_t*>(address);
  to[0] = nanoseconds / kSecond;
  to[1] = nanoseconds % kSecond / divisor;
}

void put_name(uint64_t address) {
  auto* const to = reinterpret_cast<utsname*>(address);
  std::memset(to, 0, sizeof(*to));
  std::strcpy(to->sysname, "Linux");
  std::snprintf(to->nodename, sizeof(to->nodename), "%s%u",
                kHosts[of_world(kHost, std::size(kHosts))],
                static_cast<unsigned>(of_world(kHostNumber, 1000)));
  std::snprintf(to->release, sizeof(to->release), "%u.%u.0-generic",
                5 + static_cast<unsigned>(of_world(kRelease, 2)),
                1 + static_cast<unsigned>(of_world(kRelease, 17)));
  std::strcpy(to->version, "#1 SMP");
  std::strcpy(to->machine, "x86_64");
}

void put_system(uint64_t address) {
  auto* const to = reinterpret_cast<struct sysinfo*>(address);
  std::memset(to, 0, sizeof(*to));
  to->uptime = static_cast<long>(1000 + of_world(kUptime, 10000000));
  for (unsigned long& load : to->loads) load = of_world(kLoad, 1 << 20);
  to->mem_unit = 1;
  to->totalram = (64 + of_world(kLoad, 448)) << 30;
  to->freeram = to->totalram / 2;
  to->procs = static_cast<unsigned short>(100 + of_world(kLoad, 900));
}

void put_usage(uint64_t address) {
  auto* const to = reinterpret_cast<rusage*>(address);
  std::memset(to, 0, sizeof(*to));
  const int64_t spent = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  to->ru_utime = {spent / kSecond, spent % kSecond / 1000};
  to->ru_maxrss = static_cast<long>(50000 + of_world(kLoad, 1000000));
}

/// A file that the C library itself asks for when it formats a time.
bool of_the_library(const char* path) {
  return path != nullptr && (std::strncmp(path, "/etc/localtime", 14) == 0 ||
                             std::strncmp(path, "/usr/share/zoneinfo", 19) == 0 ||
                             std::strncmp(path, "/sys/devices/system/cpu", 23) == 0);
}

int64_t refuse_file(const char* path) {
  if (!of_the_library(path)) looked_at("files");
  return -EACCES;
}

/// Calls that name a file, or that ask for the working directory.
bool answer_file(int number, const uint64_t* arguments, int64_t* result) {
  switch (number) {
    case SYS_newfstatat: {
      const char* const path = reinterpret_cast<const char*>(arguments[1]);
      const bool of_descriptor = path == nullptr || *path == '\0';
      *result =
          of_descriptor ? ::syscall(SYS_fstat, arguments[0], arguments[2]) : refuse_file(path);
      return true;
    }
    case SYS_openat:
    case SYS_faccessat:
    case 439:  // faccessat2
    case SYS_readlinkat:
    case SYS_statx:
    case 437:  // openat2
      *result = refuse_file(reinterpret_cast<const char*>(arguments[1]));
      return true;
    case SYS_open:
    case SYS_creat:
    case SYS_stat:
    case SYS_lstat:
    case SYS_access:
    case SYS_readlink:
    case SYS_statfs:
    case SYS_getcwd:
    case SYS_chdir:
    case SYS_mkdir:
    case SYS_unlink:
    case SYS_rename:
      *result = refuse_file(reinterpret_cast<const char*>(arguments[0]));
      return true;
    default:
      return false;
  }
}

constexpr greg_t kSingleStep = 0x100;

/// After one instruction that read the guarded page.
void on_step(int, siginfo_t*, void* context) {
  ::mprotect(guarded, kPage, PROT_NONE);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~kSingleStep;
}

/// Finds the part of memory that holds the C library.
int find_library(dl_phdr_info* one, size_t, void*) {
  const uint64_t inside = as_number(reinterpret_cast<void*>(&::strtol));
  for (int i = 0; i < one->dlpi_phnum; ++i) {
    const uint64_t begin = one->dlpi_addr + one->dlpi_phdr[i].p_vaddr;
    const uint64_t end = begin + one->dlpi_phdr[i].p_memsz;
    if (one->dlpi_phdr[i].p_type != PT_LOAD || inside < begin || inside >= end) continue;
    library_begin = begin;
    library_end = end;
    return 1;
  }
  return 0;
}

/// rdtsc and rdtscp, where they are not allowed, raise SIGSEGV.
void on_fault(int, siginfo_t* info, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto at = reinterpret_cast<uint64_t>(info->si_addr);
  const auto page = reinterpret_cast<uint64_t>(guarded);
  if (guarded != nullptr && at >= page && at < page + kPage) {
    const auto code = static_cast<uint64_t>(registers[REG_RIP]);
    if (code < library_begin || code >= library_end) looked_at("the list of environment variables");
    ::mprotect(guarded, kPage, PROT_READ | PROT_WRITE);
    registers[REG_EFL] |= kSingleStep;
    return;
  }
  const auto* const code = reinterpret_cast<const unsigned char*>(registers[REG_RIP]);
  const bool may_be_code = info->si_code == SI_KERNEL;  // not the fault of an address
  const bool plain = may_be_code && code[0] == 0x0f && code[1] == 0x31;
  const bool with_processor = may_be_code && code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9;
  if (!plain && !with_processor) {
    ::signal(SIGSEGV, SIG_DFL);  // the instruction faults again
    return;
  }
  const auto ticks = static_cast<uint64_t>(read_clock(CLOCK_MONOTONIC)) * 3;
  registers[REG_RAX] = static_cast<greg_t>(ticks & 0xffffffffu);
  registers[REG_RDX] = static_cast<greg_t>(ticks >> 32);
  if (with_processor) registers[REG_RCX] = static_cast<greg_t>(of_world(kProcessor, 64));
  registers[REG_RIP] += plain ? 2 : 3;
}

/// The image of the system's vDSO.
unsigned char* shared_functions() {
  void* found = nullptr;
  ::dl_iterate_phdr(
      [](dl_phdr_info* one, size_t, void* to) {
        if (one->dlpi_name == nullptr || std::strncmp(one->dlpi_name, "linux-vdso", 10) != 0)
          return 0;
        *static_cast<void**>(to) = reinterpret_cast<void*>(one->dlpi_addr);
        return 1;
      },
      &found);
  return static_cast<unsigned char*>(found);
}

struct SystemFunction {
  const char* name;
  int number;
};
constexpr SystemFunction kFunctions[] = {{"clock_gettime", SYS_clock_gettime},
                                         {"gettimeofday", SYS_gettimeofday},
                                         {"time", SYS_time},
                                         {"getcpu", SYS_getcpu}};

/// Replaces the function by "mov eax, number; syscall; ret".
void redirect(unsigned char* function, int number) {
  const unsigned char code[] = {0xb8,
                                static_cast<unsigned char>(number & 0xff),
                                static_cast<unsigned char>(number >> 8),
                                0,
                                0,
                                0x0f,
                                0x05,
                                0xc3};
  std::memcpy(function, code, sizeof(code));
}

#endif

}  // namespace

World& world() {
  static World only;
  return only;
}

bool is_first() { return world().number <= 2; }

uint64_t of_world(uint64_t which, uint64_t count) {
  uint64_t mixed = world().seed + which * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return (mixed ^ (mixed >> 31)) % count;
}

int64_t read_clock(int clock) {
  World& w = world();
  const auto step = static_cast<int64_t>(100 + of_world(static_cast<uint64_t>(w.elapsed), 20000));
  w.elapsed += step;
  w.date += step;
  const bool of_the_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
                          clock == CLOCK_TAI || clock == CLOCK_REALTIME_ALARM;
  return of_the_day ? w.date : w.elapsed;
}

int64_t varied_attribute(int which) {
  enum : int { kClock = 13, kBus = 33, kSlot = 34, kMemoryClock = 36, kDomain = 50 };
  switch (which) {
    case kClock:
      return static_cast<int64_t>(1000000 + 1000 * of_world(kRate, 2000));
    case kMemoryClock:
      return static_cast<int64_t>(1000000 + 1000 * of_world(kRate, 9000));
    case kBus:
      return static_cast<int64_t>(of_world(kPci, 256));
    case kSlot:
      return static_cast<int64_t>(of_world(kPci + 100, 32));
    case kDomain:
      return static_cast<int64_t>(of_world(kPci + 200, 4));
    default:
      return -1;
  }
}

uint64_t ordinary_place() {
  // The kernel maps downwards from a random place in the last terabyte before the stack.
  constexpr uint64_t kFirst = 0x7f0000000000, kAway = uint64_t{1} << 36, kAlign = 512;
  int local = 0;
  const uint64_t stack = as_number(&local), mapped = as_number(reinterpret_cast<void*>(&::malloc));
  const uint64_t above = stack > mapped ? stack - mapped : 0;
  const uint64_t below = mapped > kFirst ? mapped - kFirst : 0;
  const uint64_t first = above > below ? mapped + kAway : kFirst;
  const uint64_t room = (above > below ? above : below) / 4;
  return (first + of_world(kUnique, room > 0 ? room : 1)) / kAlign * kAlign;
}

void looked_at(const char* what) {
  if (world().looked == nullptr) world().looked = what;
}

#if defined(__x86_64__)
bool answer_call(int number, const uint64_t* arguments, int64_t* result) {
  *result = 0;
  switch (number) {
    case SYS_clock_gettime:
      put_time(arguments[1], read_clock(static_cast<int>(arguments[0])), 1);
      return true;
    case SYS_gettimeofday:
      put_time(arguments[0], read_clock(CLOCK_REALTIME), 1000);
      return true;
    case SYS_time:
      *result = read_clock(CLOCK_REALTIME) / kSecond;
      if (arguments[0] != 0) *reinterpret_cast<int64_t*>(arguments[0]) = *result;
      return true;
    case SYS_times:
      *result = read_clock(CLOCK_MONOTONIC) / (kSecond / 100);
      if (arguments[0] != 0) {
        auto* const to = reinterpret_cast<tms*>(arguments[0]);
        *to = {*result, 0, 0, 0};
      }
      return true;
    case SYS_getpid:
    case SYS_gettid:
      *result = static_cast<int64_t>(2 + of_world(kProcess, 4000000));
      return true;
    case SYS_getppid:
      *result = static_cast<int64_t>(1 + of_world(kParent, 4000000));
      return true;
    case SYS_getuid:
    case SYS_geteuid:
    case SYS_getgid:
    case SYS_getegid:
      *result = static_cast<int64_t>(1000 + of_world(kUser, 1000));
      return true;
    case SYS_getcpu:
      if (arguments[0] != 0)
        *reinterpret_cast<unsigned*>(arguments[0]) =
            static_cast<unsigned>(of_world(kProcessor, 64));
      if (arguments[1] != 0) *reinterpret_cast<unsigned*>(arguments[1]) = 0;
      return true;
    case SYS_uname:
      put_name(arguments[0]);
      return true;
    case SYS_sysinfo:
      put_system(arguments[0]);
      return true;
    case SYS_getrusage:
      put_usage(arguments[1]);
      return true;
    default:
      return answer_file(number, arguments, result);
  }
}

bool clocks_by_system_calls() {
  unsigned char* const image = shared_functions();
  if (image == nullptr) return true;  // the C library enters the kernel for every clock
  const auto* const head = reinterpret_cast<const Elf64_Ehdr*>(image);
  const auto* const sections = reinterpret_cast<const Elf64_Shdr*>(image + head->e_shoff);
  for (int i = 0; i < head->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const auto* const symbols = reinterpret_cast<const Elf64_Sym*>(image + sections[i].sh_offset);
    const char* const names =
        reinterpret_cast<const char*>(image) + sections[sections[i].sh_link].sh_offset;
    if (::mprotect(image, 2 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
    for (size_t s = 0; s < sections[i].sh_size / sizeof(Elf64_Sym); ++s) {
      const char* name = names + symbols[s].st_name;
      if (std::strncmp(name, "__vdso_", 7) == 0) name += 7;
      for (const SystemFunction& one : kFunctions) {
        if (std::strcmp(name, one.name) == 0 && symbols[s].st_value != 0)
          redirect(image + symbols[s].st_value, one.number);
      }
    }
    return ::mprotect(image, 2 * kPage, PROT_READ | PROT_EXEC) == 0;
  }
  return false;
}

void guard_machine() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  ::sigaction(SIGSEGV, &action, nullptr);
  ::prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

#else
bool answer_call(int, const uint64_t*, int64_t*) { return false; }
bool clocks_by_system_calls() { return false; }
void guard_machine() {}
#endif

}  // namespace kw::recorder

using kw::recorder::of_world;
using kw::recorder::world;

extern "C" char** environ;

KW_RECORDED void kw_record_world(uint64_t seed) {
  using namespace kw::recorder;
  World& w = world();
  w.seed = seed;
  ++w.number;
  w.date = (kFirstDate + static_cast<int64_t>(of_world(0, kManySeconds))) * kSecond;
  w.date += static_cast<int64_t>(of_world(kUptime, kSecond));
  w.elapsed += static_cast<int64_t>(of_world(kUptime, 3600)) * kSecond;
  w.devices = 1 + static_cast<int>(of_world(kDriver, 8));
  if (is_first()) w.devices = w.ordinary ? 8 : 1;
  w.device = static_cast<int>(of_world(kPci, static_cast<uint64_t>(w.devices)));
  if (is_first() && w.ordinary && w.device == 0) w.device = 1;
}

#if defined(__x86_64__)
KW_RECORDED void kw_record_hide_environment() {
  using namespace kw::recorder;
  void* const page =
      ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  ::dl_iterate_phdr(find_library, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_step;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGTRAP, &action, nullptr);
  guarded = static_cast<char**>(page);
  environ = guarded;
  ::mprotect(page, kPage, PROT_NONE);
}
#else
KW_RECORDED void kw_record_hide_environment() {}
#endif

KW_RECORDED int kw_record_device() { return world().device; }

KW_RECORDED const char* kw_record_device_name() {
  return kw::recorder::kDevices[of_world(kw::recorder::kName, std::size(kw::recorder::kDevices))];
}

KW_RECORDED void kw_record_device_id(unsigned char* bytes) {
  for (uint64_t i = 0; i < 16; ++i)
    bytes[i] = static_cast<unsigned char>(of_world(kw::recorder::kUnique + (i << 32), 256));
}

KW_RECORDED const char* kw_record_variable(const char* name) {
  if (kw::recorder::is_first()) return world().ordinary ? "1" : nullptr;
  uint64_t mixed = kw::recorder::kVariable;
  for (const char* c = name; c != nullptr && *c != '\0'; ++c)
    mixed = mixed * 31 + static_cast<unsigned char>(*c);
  const uint64_t which = of_world(mixed, 2 * std::size(kw::recorder::kValues));
  return which < std::size(kw::recorder::kValues) ? kw::recorder::kValues[which] : nullptr;
}
