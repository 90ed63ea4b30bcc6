// The walls around the torch process, which executes Python that people were handed: it reads and
// runs Python, its packages and the system, writes a temporary folder of its own, and sees none of
// the user's other files, keys or networks.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "os/landlock.h"

namespace kw::torch_worker {

struct TorchWalls {
  std::string python;  // the interpreter itself, behind the scripts that choose one
  os::Allowed allowed;
  std::vector<std::string> environment;  // NAME=value
};
/// `scratch`: the folder it may write.
Result<TorchWalls> torch_walls(const std::string& python, const std::string& scratch);

/// The program that our Python package exported for a reference with this text and that it loads,
/// a file of the cache named by its hash; "" when it loads none.
std::string exported_program(const std::string& text);

/// While it lives, `tell` gets a sentence for the user before a file is executed, once per file.
class ExecutionListener {
 public:
  explicit ExecutionListener(std::function<void(const std::string&)> tell);
  ~ExecutionListener();
  ExecutionListener(const ExecutionListener&) = delete;
  ExecutionListener& operator=(const ExecutionListener&) = delete;

 private:
  friend void announce_execution(const std::string& path);
  const std::function<void(const std::string&)> tell_;
  std::set<std::string> told_;  // files
};
/// The file is about to be executed.
void announce_execution(const std::string& path);

}  // namespace kw::torch_worker
