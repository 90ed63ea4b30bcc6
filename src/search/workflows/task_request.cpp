#include "workflows/task_request.h"

#include "timing/bench_tools.h"
#include "verification/verify.h"

namespace kw::workflows {

verification::VerifyRequest verify_request(const TaskRequest& request) {
  verification::VerifyRequest verify;
  verify.reference_path = request.reference;
  verify.task_options = verification::task_options(request.inputs, request.function);
  if (!request.mode.empty())
    verify.task_options.insert(verify.task_options.end(), {"--mode", request.mode});
  verify.seed = request.seed;
  verify.target = request.named_target();
  verify.timeout_seconds = request.timeout_seconds;
  verify.budget_seconds = request.budget_seconds;
  verify.threads = request.threads;
  return verify;
}

timing::BenchOpenRequest machine_request(const TaskRequest& request) {
  timing::BenchOpenRequest open;
  open.device = request.device;
  open.target = request.named_target();
  open.compiler = request.compiler;
  return open;
}

}  // namespace kw::workflows
