// Catches what is written to standard output and error while it lives: a kernel's printf reaches us
// only there.
#pragma once

#include <string>

namespace kw::gpu {

class OutputCapture {
 public:
  OutputCapture();
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  /// Ends the capture; what was written, cut after 1 MiB.
  std::string finish();

 private:
  void restore();
  int file_ = -1;
  int saved_out_ = -1;
  int saved_err_ = -1;
};

}  // namespace kw::gpu
