// Names that the front end knows without a file: Python's builtins, PyTorch's constants, the rows
// of operators. Lookups only.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/cell.h"
#include "frontend/value.h"

namespace kw::frontend {

/// Whether a name of the reference may be a dim, by the grammar of kernel modules.
bool is_dim_name(std::string_view name);
/// `name` as an identifier of a kernel module: "net.0.weight" -> "net_0_weight".
std::string identifier(std::string_view name);

/// Whether `words`, separated by one blank each, contain the word.
bool has_word(std::string_view words, std::string_view word);
bool is_builtin(std::string_view name);
/// The row that serves a Python operator on tensors ("Add" -> "torch.add"); null if none does.
const char* operator_row(std::string_view op);
/// The operator as written in Python: "Add" -> "+".
const char* operator_text(std::string_view op);

/// One spelling for each library name: "torch.nn.functional.relu" -> "F.relu".
std::string canonical(const std::string& name);
/// The value of torch.float32, torch.pi, math.inf, …; not set for functions and modules.
std::optional<Value> library_constant(const std::string& name);
/// Whether this context or decorator cannot change a value, such as torch.no_grad.
bool is_harmless_context(const std::string& name);
/// Whether a call cannot change a value, such as torch.manual_seed or print.
bool is_ignored_call(const std::string& name);
/// How the result of this method shares memory with its first argument ("view", "reshape", …); not
/// set if it does not.
std::optional<Sharing> sharing_of(std::string_view method);
/// Whether the result of this function is random: torch.randn, torch.Tensor.uniform_, …
bool is_random(const std::string& name);

}  // namespace kw::frontend
