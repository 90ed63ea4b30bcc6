#include "os/memory.h"

#include <gtest/gtest.h>

namespace kw::os {

TEST(Memory, SomeIsAvailableAndNotMoreThanAnyMachineHas) {
  EXPECT_GT(available_memory(), uint64_t{1} << 20);
  EXPECT_LT(available_memory(), uint64_t{1} << 60);
}

}  // namespace kw::os
