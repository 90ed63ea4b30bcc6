// A folder that is gone when the test is over. For tests alone.
#pragma once

#include <stdlib.h>

#include <string>

#include "base/check.h"
#include "os/disk.h"

namespace kw::store {

class TestFolder {
 public:
  TestFolder() {
    char name[] = "/tmp/kw-store-XXXXXX";
    KW_CHECK(::mkdtemp(name) != nullptr, "tests have a writable /tmp");
    path_ = name;
  }
  ~TestFolder() { static_cast<void>(os::real_disk().remove(path_)); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace kw::store
