#include "cuda/kernel_subject.h"

#include <utility>

namespace kw::cuda {

KernelSubject::KernelSubject(const Context& context, LoadedFunction& function, unsigned blocks,
                             unsigned threads, std::vector<uint64_t> params)
    : context_(context),
      function_(function),
      blocks_(blocks),
      threads_(threads),
      params_(std::move(params)) {}

KernelSubject::~KernelSubject() {
  if (graph_ != nullptr && !context_.lost()) context_.api().graph_destroy(graph_);
}

MaybeFault KernelSubject::enqueue(size_t) {
  std::vector<void*> pointers;
  for (uint64_t& param : params_) pointers.push_back(&param);
  CuLaunchConfig config{blocks_, 1, 1, threads_, 1, 1, 0, context_.stream(), nullptr, 0};
  return context_.check(context_.api().launch(&config, function_.handle, pointers.data(), nullptr),
                        "launching " + function_.entry);
}

FaultOr<CuGraph> KernelSubject::graph(size_t copy) {
  if (graph_ != nullptr) return graph_;
  KW_TRY(context_.check(context_.api().capture_begin(context_.stream(), kCaptureThreadLocal),
                        "capturing a call"));
  MaybeFault queued = enqueue(copy);
  MaybeFault ended =
      context_.check(context_.api().capture_end(context_.stream(), &graph_), "capturing a call");
  KW_TRY(std::move(queued));
  KW_TRY(std::move(ended));
  return graph_;
}

}  // namespace kw::cuda
