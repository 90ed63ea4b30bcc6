#include "clib/job.h"

#include <chrono>
#include <exception>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "clib/json_options.h"
#include "core/text.h"
#include "os/interrupt.h"

namespace kw::clib {
namespace {

constexpr const char* kInterruptedText = "interrupted";

std::mutex& turn() {
  static std::mutex mutex;
  return mutex;
}

/// Commands that end in a document and do not talk to the user.
bool is_job(const options::Command& command) { return !command.hidden && !command.prints; }

Json failed(int code, const char* blame, const std::string& message) {
  return Json::object()
      .set("kernelwright", commands::version())
      .set("ok", false)
      .set("exit_code", code)
      .set("error", Json::object().set("blame", blame).set("message", message));
}

}  // namespace

Result<std::shared_ptr<Job>> Job::start(const std::string& command, const std::string& options) {
  const options::Command* found = options::find_command(command);
  if (found == nullptr || !is_job(*found)) {
    std::vector<std::string> names;
    for (const options::Command& one : options::commands())
      if (is_job(one)) names.emplace_back(one.name);
    return input_error("there is no command '{}'{}", command, did_you_mean(command, names));
  }
  const Json given = KW_TRY(Json::parse(options));
  std::shared_ptr<Job> job(new Job(*found, KW_TRY(command_line_of(*found, given))));
  os::arm_interrupt();
  std::thread([job] { job->run(); }).detach();
  return job;
}

bool Job::begin() {
  const std::lock_guard lock(mutex_);
  if (stopped_) return false;
  os::reset_interrupt();
  state_ = State::Running;
  return true;
}

void Job::run() {
  const std::lock_guard alone(turn());
  commands::Listener listener;
  listener.progress = [this](const std::string& text) { report_progress("progress", text); };
  listener.note = [this](const std::string& text) { report_progress("note", text); };
  listener.document = failed(commands::kInterrupted, "user", kInterruptedText);
  if (begin()) execute(listener);
  end(listener.document.dump());
}

void Job::execute(commands::Listener& listener) {
  try {
    commands::Io io(command_.name, listener);
    commands::perform(command_, words_, io);
  } catch (const std::bad_alloc&) {
    listener.document = failed(commands::kEnvironment, "environment", "out of memory");
  } catch (const std::system_error& refused) {
    listener.document = failed(commands::kEnvironment, "environment", refused.what());
  } catch (const std::exception& bug) {
    listener.document = failed(commands::kBug, "bug", bug.what());
  }
}

void Job::end(std::string result) {
  const std::lock_guard lock(mutex_);
  os::reset_interrupt();  // a request to stop ends with its job
  result_ = std::move(result);
  state_ = State::Ended;
  changed_.notify_all();
}

void Job::report_progress(const char* kind, const std::string& text) {
  const std::lock_guard lock(mutex_);
  // The caller may not listen for minutes: only the last of several progress lines is kept.
  if (!told_.empty() && told_.back().first == "progress") told_.pop_back();
  told_.emplace_back(kind, text);
}

bool Job::wait(int milliseconds) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(milliseconds),
                           [this] { return state_ == State::Ended; });
}

std::vector<std::pair<std::string, std::string>> Job::told() {
  const std::lock_guard lock(mutex_);
  return std::exchange(told_, {});
}

void Job::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (state_ == State::Running) os::request_interrupt();
}

}  // namespace kw::clib
