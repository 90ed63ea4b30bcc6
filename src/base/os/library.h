// A dynamic library loaded at run time (CUDA driver, NVRTC, NVML …).
#pragma once

#include <memory>
#include <string>

#include "core/result.h"

namespace kw::os {

class Library {
 public:
  /// `path` may be a bare soname (loader path), else it must be absolute. Environment Error with
  /// dlerror()'s text.
  static Result<Library> open(const std::string& path);
  Library(Library&& other) noexcept;
  Library& operator=(Library&& other) noexcept;
  ~Library();

  /// Address of a symbol, or nullptr.
  void* find(const char* symbol) const;
  /// Sets `function` from the symbol; false when it is missing.
  template <typename F>
  bool bind(F*& function, const char* symbol) const {
    function = reinterpret_cast<F*>(find(symbol));
    return function != nullptr;
  }
  const std::string& path() const { return path_; }
  /// Gives up the handle: it stays loaded until the process ends, and nothing more is found in it.
  void leave_loaded() { handle_ = nullptr; }

 private:
  Library() = default;
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace kw::os
