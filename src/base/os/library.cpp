#include "os/library.h"

#include <dlfcn.h>
#include <utility>

namespace kw::os {

Result<Library> Library::open(const std::string& path) {
  // The loader would look for such a path relative to the working directory.
  if (path.find('/') != std::string::npos && !path.starts_with("/"))
    return input_error("loading {}: a library is named by an absolute path, or without a folder",
                       path);
  Library library;
  library.path_ = path;
  library.handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library.handle_ == nullptr) {
    const char* why = ::dlerror();
    return environment_error("loading {}: {}", path, why != nullptr ? why : "unknown reason");
  }
  return library;
}

Library::Library(Library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

Library& Library::operator=(Library&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

Library::~Library() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

void* Library::find(const char* symbol) const {
  return handle_ == nullptr ? nullptr : ::dlsym(handle_, symbol);
}

}  // namespace kw::os
