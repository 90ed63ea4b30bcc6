// A dynamic library that is loaded at run time (CUDA driver, NVRTC, NVML …).
#pragma once

#include <memory>
#include <string>

#include "core/result.h"

namespace kw::os {

class Library {
 public:
  /// `path` is a bare soname, found by the loader, or an absolute path. Environment Error with the
  /// text of dlerror().
  static Result<Library> open(const std::string& path);
  Library(Library&& other) noexcept;
  Library& operator=(Library&& other) noexcept;
  ~Library();

  /// Address of a symbol, or nullptr.
  void* find(const char* symbol) const;
  /// Sets `function` to the symbol; false when the symbol is missing.
  template <typename F>
  bool bind(F*& function, const char* symbol) const {
    function = reinterpret_cast<F*>(find(symbol));
    return function != nullptr;
  }
  const std::string& path() const { return path_; }
  /// Drops the handle. The library stays loaded until the process ends; find() must not be called
  /// again.
  void leave_loaded() { handle_ = nullptr; }

 private:
  Library() = default;
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace kw::os
