#include "engine/verify_tools.h"

#include "frontend/load.h"
#include "oracle/interpreter.h"

namespace kw::engine {

Result<task::Task> load_reference(const ReferenceRequest& request) {
  frontend::LoadOptions options;
  options.function = request.function;
  options.inputs = request.inputs;
  options.dims = request.dims;
  return frontend::load_task(request.path, options);
}

std::unique_ptr<exec::Oracle> open_oracle() { return std::make_unique<oracle::Interpreter>(); }

}  // namespace kw::engine
