// Captures standard output and error during its lifetime: a kernel's printf is written there.
#pragma once

#include <string>

namespace kw::gpu {

class OutputCapture {
 public:
  OutputCapture();
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  /// Ends the capture. Returns what was written, at most 1 MiB.
  std::string finish();

 private:
  void restore();
  int file_ = -1;
  int saved_out_ = -1;
  int saved_err_ = -1;
};

}  // namespace kw::gpu
