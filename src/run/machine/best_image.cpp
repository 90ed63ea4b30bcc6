#include "machine/best_image.h"

#include "os/interrupt.h"

namespace kw::machine {

Result<ports::CompileOutcome> BestImage::compile(ports::CompileRequest request) {
  request.image = kind_;
  Result<ports::CompileOutcome> first = compiler_.compile(request);
  if (first || kind_ == ports::ImageKind::Ptx || os::interrupted()) return first;
  request.image = ports::ImageKind::Ptx;
  Result<ports::CompileOutcome> second = compiler_.compile(request);
  if (!second) return first;
  kind_ = ports::ImageKind::Ptx;
  note_ = first.error().message;
  return second;
}

}  // namespace kw::machine
