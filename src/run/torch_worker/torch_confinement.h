// Confines the torch process, which executes untrusted Python. It may read and run Python, its
// packages and the system, and write its own temporary folder. It sees no other files, keys or
// networks of the user.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "sandbox/sandbox.h"

namespace kw::torch_worker {

struct TorchConfinement {
  std::string python;  // the interpreter itself, not a script that selects one
  sandbox::ForeignProcess job;
};
/// `scratch`: the folder that the process may write.
Result<TorchConfinement> torch_confinement(const std::string& python, const std::string& scratch,
                                           sandbox::Kind kind);

/// The file that our Python package exported for a reference with this text, and that the text
/// loads. It is in the cache, named by its hash. "" when the text loads none.
std::string exported_program(const std::string& text);

/// During its lifetime, `tell` gets one sentence for the user before each file is executed, once
/// per file and content, also over several commands. It returns whether the user saw it.
class ExecutionListener {
 public:
  explicit ExecutionListener(std::function<bool(const std::string&)> tell);
  ~ExecutionListener();
  ExecutionListener(const ExecutionListener&) = delete;
  ExecutionListener& operator=(const ExecutionListener&) = delete;

 private:
  friend void announce_execution(const std::string& path, const std::string& content);
  const std::function<bool(const std::string&)> tell_;
  std::set<std::string> told_;  // hashes
};
/// Call this before the file is executed. The content is all that is executed of the user's.
void announce_execution(const std::string& path, const std::string& content);

}  // namespace kw::torch_worker
