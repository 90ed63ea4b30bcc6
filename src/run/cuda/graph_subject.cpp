#include "cuda/graph_subject.h"

#include <utility>

#include "core/check.h"

namespace kw::cuda {

GraphSubject::GraphSubject(const Context& context, std::string name, std::vector<ForeignCall> calls,
                           std::vector<std::vector<DeviceSpan>> pool)
    : context_(context),
      name_(std::move(name)),
      calls_(std::move(calls)),
      pool_(std::move(pool)),
      execs_(calls_.size(), nullptr) {
  KW_CHECK(!calls_.empty(), "a graph subject has a call");
  for (const ForeignCall& call : calls_) {
    // Without a pool no input is refilled, so none is listed.
    buffers_.push_back({pool_.empty() ? std::vector<DeviceSpan>{} : call.inputs, call.outputs, {}});
  }
  if (pool_.empty()) pool_.emplace_back();
}

GraphSubject::~GraphSubject() {
  if (context_.lost()) return;
  for (CuGraphExec exec : execs_) {
    if (exec != nullptr) context_.api().graph_exec_destroy(exec);
  }
}

FaultOr<size_t> GraphSubject::make_copies(size_t) { return calls_.size(); }

MaybeFault GraphSubject::enqueue(size_t copy) {
  CuGraphExec& exec = execs_[copy];
  if (exec == nullptr) {
    KW_TRY(context_.check(context_.api().graph_instantiate(&exec, calls_[copy].graph, 0),
                          "instantiating the graph of " + name_));
  }
  return context_.check(context_.api().graph_launch(exec, context_.stream()),
                        "launching the graph of " + name_);
}

}  // namespace kw::cuda
