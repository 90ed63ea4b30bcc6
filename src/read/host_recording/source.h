// The text of a foreign file as it is compiled for a recording.
#pragma once

#include <string>
#include <vector>

namespace kw::host_recording {

/// The file with what makes its launcher callable behind it; its own lines keep their numbers.
std::string with_trampoline(const std::string& text, const std::string& file_name,
                            const std::string& launcher);
/// The same for a file of an extension that Python calls: all its functions by name. `helpers`:
/// with the kernels that play back fills and copies, of which a candidate needs one set.
std::string with_functions(const std::string& text, const std::string& file_name, bool helpers);

/// And for one that a harness calls: `function` of its bindings, with `arguments` as
/// shim/kw_bound_call.cuh has them.
std::string with_bound_call(const std::string& text, const std::string& file_name,
                            const std::string& function, const std::string& arguments);

/// Those kernels by themselves.
std::string helper_kernels();

/// Headers that stand in for PyTorch's, by their paths; each says the same.
struct ShimHeader {
  std::string path, text;
};
std::vector<ShimHeader> torch_headers();
/// Whether a file asks for them.
bool wants_torch(const std::string& text);

}  // namespace kw::host_recording
