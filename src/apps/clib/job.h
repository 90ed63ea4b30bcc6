// One command in its own thread. Jobs run one after another: they share the machine, and the flag
// that stops work belongs to the process.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "commands/command.h"
#include "core/json.h"
#include "core/result.h"

namespace kw::clib {

class Job {
 public:
  /// Input Error when the command does not exist or the options are not valid.
  static Result<std::shared_ptr<Job>> start(const std::string& command, const std::string& options);

  /// True once it has ended.
  bool wait(int milliseconds);
  /// The events since the last call: kind and text.
  std::vector<std::pair<std::string, std::string>> told();
  void stop();
  /// The document, when it has ended.
  const std::string& result() const { return result_; }

 private:
  enum class State : uint8_t { Waiting, Running, Ended };

  Job(const options::Command& command, std::vector<std::string> words)
      : command_(command), words_(std::move(words)) {}
  void run();
  void execute(commands::Listener& listener);
  void report_progress(const char* kind, const std::string& text);
  bool begin();
  void end(std::string result);

  const options::Command& command_;
  const std::vector<std::string> words_;
  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::Waiting;
  bool stopped_ = false;
  std::vector<std::pair<std::string, std::string>> told_;
  std::string result_;
};

}  // namespace kw::clib
