// Names the front end knows without looking into a file: Python's builtins, PyTorch's constants,
// the rows behind operators. Lookups only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/cell.h"
#include "frontend/value.h"

namespace kw::frontend {

/// Whether a name of the reference can be a dim of the task: the kernel module's grammar has it.
bool is_dim_name(std::string_view name);
/// `name` with everything replaced that an identifier of a kernel module may not have:
/// "net.0.weight" -> "net_0_weight".
std::string identifier(std::string_view name);

bool is_builtin(std::string_view name);
/// The op row that serves a Python operator on tensors ("Add" -> "torch.add"); null for none.
const char* operator_row(std::string_view op);
/// "Add" -> "+".
const char* operator_text(std::string_view op);

/// One spelling for each library name: "torch.nn.functional.relu" -> "F.relu".
std::string canonical(const std::string& name);
/// torch.float32, torch.pi, math.inf, …; nothing for functions and modules.
std::optional<Value> library_constant(const std::string& name);
/// torch.no_grad and what else cannot change a value when used as a context or decorator.
bool is_harmless_context(const std::string& name);
/// Calls without any effect on values: torch.manual_seed, torch.nn.init.*, print.
bool is_ignored_call(const std::string& name);
/// Whether the result of this op shares memory with its first argument ("view", "reshape", …).
std::optional<Sharing> sharing_of(std::string_view method);
/// Functions whose result is drawn: torch.randn, torch.Tensor.uniform_, …
bool is_random(const std::string& name);

}  // namespace kw::frontend
