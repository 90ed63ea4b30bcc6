#include "commands/judging_options.h"

#include "commands/values.h"

namespace kw::commands {

verification::VerifyRequest verify_options(const Args& args,
                                           const binding::BindingRequest& bindings) {
  verification::VerifyRequest request;
  request.reference_path = args.one("--reference");
  request.task_options = task_options(args);
  request.tunes = bindings.tunes;
  if (args.given("--seed")) request.seed = static_cast<uint64_t>(args.integer("--seed"));
  request.target = args.one("--target");
  request.timeout_seconds = args.number("--timeout");
  request.budget_seconds = args.number("--budget-seconds");
  request.threads = static_cast<int>(args.integer("--threads"));
  return request;
}

Result<std::unique_ptr<timing::BenchMachine>> open_bench_machine(const Args& args, Io& io,
                                                                 bool torch) {
  timing::BenchOpenRequest open;
  open.device = args.one("--device", "auto");
  open.target = args.one("--target");
  open.compiler = args.one("--compiler");
  open.notice = [&io](const std::string& what) { io.note(what); };
  open.torch = torch;
  return timing::BenchMachine::open(open);
}

}  // namespace kw::commands
