#include "engine/best_image.h"

#include "os/interrupt.h"

namespace kw::engine {

Result<exec::CompileOutcome> BestImage::compile(exec::CompileRequest request) {
  request.image = kind_;
  Result<exec::CompileOutcome> first = compiler_.compile(request);
  if (first || kind_ == exec::ImageKind::Ptx || os::interrupted()) return first;
  request.image = exec::ImageKind::Ptx;
  Result<exec::CompileOutcome> second = compiler_.compile(request);
  if (!second) return first;
  kind_ = exec::ImageKind::Ptx;
  note_ = first.error().message;
  return second;
}

}  // namespace kw::engine
