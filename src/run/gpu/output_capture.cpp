#include "gpu/output_capture.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace kw::gpu {
namespace {

constexpr size_t kMaxCaptured = size_t{1} << 20;

}  // namespace

OutputCapture::OutputCapture() {
  std::fflush(stdout);
  std::fflush(stderr);
  file_ = ::memfd_create("kernelwright-output", MFD_CLOEXEC);
  if (file_ < 0) return;
  saved_out_ = ::dup(STDOUT_FILENO);
  saved_err_ = ::dup(STDERR_FILENO);
  ::dup2(file_, STDOUT_FILENO);
  ::dup2(file_, STDERR_FILENO);
}

OutputCapture::~OutputCapture() {
  restore();
  if (file_ >= 0) ::close(file_);
}

void OutputCapture::restore() {
  std::fflush(stdout);
  std::fflush(stderr);
  if (saved_out_ >= 0) {
    ::dup2(saved_out_, STDOUT_FILENO);
    ::close(saved_out_);
  }
  if (saved_err_ >= 0) {
    ::dup2(saved_err_, STDERR_FILENO);
    ::close(saved_err_);
  }
  saved_out_ = saved_err_ = -1;
}

std::string OutputCapture::finish() {
  restore();
  struct stat written {};
  const bool known = file_ >= 0 && ::fstat(file_, &written) == 0;
  std::string text(known ? std::min(static_cast<size_t>(written.st_size), kMaxCaptured) : 0, '\0');
  const ssize_t got = text.empty() ? 0 : ::pread(file_, text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return text;
}

}  // namespace kw::gpu
