// The problem: a launcher computes grids and sizes from its parameters, and a plan needs them as
// expressions. The choice: interpret the host code with symbols for parameters, one path per run. A
// condition on the shape that cannot be folded is a decision: this run takes one branch, a later
// run the other. The alternative, recording a real run, shows one shape only (host_recording does
// that). The cost: the number of decisions per path is limited, and unknown code is refused. The
// readers of names, expressions, calls, launches and statements are functions over HostState.
#include "cuda_import/host_code_reader.h"

#include "cuda_import/host_state.h"
#include "cuda_import/reader_calls.h"
#include "cuda_import/reader_names.h"

namespace kw::cuda_import {

HostCodeResult read_host_code(const HostSource& source, std::vector<bool> decisions,
                              const Item& launcher, const std::vector<HostValue>& arguments) {
  HostState host(source, std::move(decisions));
  read_enumerators(host);
  const std::vector<CParameter> parameters = source.parameters(launcher);
  for (size_t i = 0; i < parameters.size() && i < arguments.size(); ++i)
    host.declare(parameters[i].name, parameters[i].type, arguments[i]);
  const cuda_source::Token& where = source.tokens[launcher.first];
  run_body(host, host.code_of(launcher.body_first, launcher.body_last), {}, where);
  host.out.decisions.resize(host.taken);
  return std::move(host.out);
}

}  // namespace kw::cuda_import
