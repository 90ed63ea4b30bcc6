// A folder that is deleted at the end of the test. For tests only.
#pragma once

#include <stdlib.h>

#include <string>

#include "core/check.h"
#include "os/disk.h"

namespace kw::store {

class TestFolder {
 public:
  TestFolder() {
    // In memory if possible: the tests write thousands of small files.
    for (const char* place : {"/dev/shm", "/tmp"}) {
      path_ = std::string(place) + "/kw-store-XXXXXX";
      if (::mkdtemp(path_.data()) != nullptr) return;
    }
    KW_CHECK(false, "tests have a writable /tmp");
  }
  ~TestFolder() { static_cast<void>(os::real_disk().remove(path_)); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace kw::store
