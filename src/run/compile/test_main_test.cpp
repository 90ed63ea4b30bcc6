// The test program is also its own compile worker, like the real binary.
#include <gtest/gtest.h>

#include <string_view>

#include "compile/compile_worker.h"

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == kw::compile::kWorkerCommand) {
    return kw::compile::compile_worker_main();
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
