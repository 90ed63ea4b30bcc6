// The test program is also its own compile worker, like the real binary.
#include <gtest/gtest.h>

#include <string_view>

#include <csignal>
#include <string>

#include "compile/compile_worker.h"
#include "compile/wire.h"
#include "os/process.h"

namespace {

/// A worker that somebody kills at each compile.
int killed_worker() {
  std::string frame;
  static_cast<void>(kw::os::child_receive(&frame));
  static_cast<void>(kw::os::child_send(kw::compile::encode(kw::compile::WorkerHello{})));
  static_cast<void>(kw::os::child_receive(&frame));
  return std::raise(SIGKILL);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == kw::compile::kWorkerCommand) {
    return kw::compile::compile_worker_main();
  }
  if (argc > 1 && std::string_view(argv[1]) == "killed-worker") return killed_worker();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
