// The suite is its own worker, as the kernelwright binary is. Built a second time with
// KW_FAKE_DRIVER set, it runs on the fake driver that lies beside it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "gpu/gpu_worker.h"
#include "os/files.h"

#ifdef KW_FAKE_DRIVER
namespace {

/// Chooses the fake driver, and a lock folder of its own: tests that run at once each pretend to
/// have a GPU.
class FakeDriver {
 public:
  FakeDriver() {
    const std::string self = kw::os::self_path();
    const std::string library = self.substr(0, self.rfind('/')) + "/" KW_FAKE_DRIVER;
    ::setenv("KERNELWRIGHT_LIBCUDA", library.c_str(), 0);
    if (::mkdtemp(folder_.data()) != nullptr)
      ::setenv("KERNELWRIGHT_RUNTIME_DIR", folder_.c_str(), 0);
  }
  ~FakeDriver() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

 private:
  std::string folder_ = (std::filesystem::temp_directory_path() / "kw-fake-gpu-XXXXXX").string();
};

}  // namespace
#endif

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "worker-gpu") == 0) return kw::gpu::gpu_worker_main();
#ifdef KW_FAKE_DRIVER
  const FakeDriver fake;
#endif
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
