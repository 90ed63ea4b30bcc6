#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "host_recording/captive_worker.h"
#include "host_recording/foreign_build.h"
#include "host_recording/recording.h"
#include "host_recording/weak_references.h"
#include "os/files.h"
#include "os/process.h"
#include "os/scratch.h"

namespace kw::host_recording {
namespace {

// A library without device code: each entry launches two blocks where its condition holds, else
// one. `args[0]` is a tensor's address, `args[1]` the size.
constexpr const char* kLibrary = R"(
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
struct Dims { unsigned x, y, z; };
extern "C" int cudaLaunchKernel(const void*, Dims, Dims, void**, size_t, void*);
extern "C" int cudaGetDevice(int*);
extern "C" const char* kw_record_device_name();
extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
extern "C" int absent(int) __attribute__((weak));
static char kernel;
static const int registered = [] {
  __cudaRegisterFunction(nullptr, &kernel, nullptr, "k", 0, nullptr, nullptr, nullptr, nullptr, nullptr);
  return 0;
}();
static void launch(void** args, bool cheats) {
  cudaLaunchKernel(&kernel, {cheats ? 2u : 1u, 1, 1}, {32, 1, 1}, args, 0, nullptr);
}
static int counted = 0, largest = 0;
static int device() { int d = 0; cudaGetDevice(&d); return d; }
static long clock_now() { timespec t; syscall(SYS_clock_gettime, CLOCK_REALTIME, &t); return t.tv_sec; }
#define ENTRY(name, condition) \
  extern "C" void name(void** args) { const uint64_t x = *(uint64_t*)args[0]; const int n = *(int*)args[1]; (void)x; (void)n; launch(args, condition); }
ENTRY(honest, false)
ENTRY(honest_state, (++counted, getenv("DEBUG"), time(nullptr), device(), false))
ENTRY(calls_7, ++counted > 7)
ENTRY(calls_400, ++counted > 400)
ENTRY(calls_modulo, ++counted % 97 == 90)
ENTRY(order, (largest = n > largest ? n : largest) > n)
ENTRY(date, time(nullptr) > 1798761600)
ENTRY(hour, std::chrono::system_clock::now().time_since_epoch().count() / 3600000000000ll % 24 >= 12)
ENTRY(by_call, clock_now() % 2 == 1)
ENTRY(counter, (__rdtsc() >> 4) % 2 == 1)
ENTRY(process, getpid() % 2 == 1)
ENTRY(variable, getenv("MY_JOB") != nullptr)
ENTRY(variable_kept, ([] { static const bool is = getenv("MY_JOB") != nullptr; return is; }()))
ENTRY(range, (x >> 40) == 0x7f)
ENTRY(parity, (x >> 9) % 2 == 1)
ENTRY(ordinal, device() != 0)
ENTRY(device_name, strstr(kw_record_device_name(), "H100") != nullptr)
ENTRY(host_name, ([] { char name[65] = {}; gethostname(name, 64); return name[0] == 'g'; }()))
ENTRY(libraries, dlsym(nullptr, "cuInit") != nullptr)
ENTRY(variables, environ != nullptr && *environ != nullptr)
ENTRY(files, ([] { struct stat s; return stat("/dev/nvidia0", &s) == 0; }()))
ENTRY(weak, absent != nullptr)
)";

class GccWorlds : public testing::Test {
 protected:
  void SetUp() override {
    const std::string worker =
        std::filesystem::path(os::self_path()).parent_path().parent_path().string() +
        "/kernelwright";
    if (os::find_program("g++").empty()) GTEST_SKIP() << "no g++ on this machine";
    if (!std::filesystem::exists(worker)) GTEST_SKIP() << "no kernelwright beside the tests";
    ::setenv("KERNELWRIGHT_WORKER", worker.c_str(), 1);
    job_.runtime = folder_.path() + "/libkwrecord.so";
    job_.library = folder_.path() + "/foreign.so";
    job_.readable = {folder_.path()};
    job_.kernels["k"].params = {8};
    job_.memory_bytes = uint64_t{80} << 30;
    for (const uint8_t n : {64, 7, 200})
      job_.cases.push_back({{uint64_t{4} * n}, {{0, {}}, {-1, {n, 0, 0, 0}}}});
    ASSERT_TRUE(os::write_file(job_.runtime, recorder_library()));
    ASSERT_TRUE(os::write_file(folder_.path() + "/foreign.cpp", kLibrary));
    const auto built = os::run_process({"g++", "-shared", "-fPIC", "-std=c++17", "-o", job_.library,
                                        folder_.path() + "/foreign.cpp", job_.runtime},
                                       {}, {});
    ASSERT_TRUE(built && built->exit_code == 0) << (built ? built->err : built.error().message);
  }
  void TearDown() override { ::unsetenv("KERNELWRIGHT_WORKER"); }

  /// Why the entry is refused, as two processes see it; "" if it is not.
  std::string refused(const std::string& entry) {
    job_.entry = entry;
    std::vector<std::vector<CaseRecord>> runs;
    for (const bool far : {false, true}) {
      job_.base = far ? 0 : uint64_t{1} << 47;
      job_.far_calls = far ? 1500 : 0;
      job_.seed = far ? 12345 : 6789;
      const auto captured = run_captive(job_, 60);
      if (!captured || !captured->finished) return captured ? captured->ended : "not started";
      auto read = read_recording(captured->text);
      if (!read) return read.error().message;
      runs.push_back(std::move(*read));
    }
    for (size_t i = 0; i < job_.cases.size(); ++i) {
      std::vector<CaseRecord*> records;
      for (auto& run : runs) records.push_back(&run.at(i));
      const AgreedCall agreed = agree_on_call(records, kCallsPerCase);
      if (agreed.call == nullptr) return agreed.refused + agreed.not_served;
    }
    return "";
  }

  const os::ScratchFolder folder_ = os::ScratchFolder::make("test").value();
  CaptiveJob job_;
};

TEST_F(GccWorlds, EveryCallSeesAnotherMachine) {
  EXPECT_EQ(refused("honest"), "");
  EXPECT_EQ(refused("honest_state"), "");
  for (const char* entry : {"calls_7", "calls_400", "calls_modulo", "order", "date", "hour",
                            "by_call", "counter", "process", "variable", "variable_kept", "range",
                            "parity", "ordinal", "device_name", "host_name"})
    EXPECT_NE(refused(entry).find("launches differ from call to call"), std::string::npos)
        << entry << ": " << refused(entry);
  for (const char* entry : {"libraries", "variables", "files"})
    EXPECT_NE(refused(entry).find("it looks at "), std::string::npos)
        << entry << ": " << refused(entry);
  const auto library = os::read_file(job_.library);
  ASSERT_TRUE(library);
  EXPECT_EQ(weak_references(*library), std::vector<std::string>{"absent"});
  EXPECT_TRUE(weak_references("not a library").empty());
}

}  // namespace
}  // namespace kw::host_recording
