// Calls as jobs: each runs one command, waits for its lane, can be asked about and stopped. What
// runs a command is a port, so that lanes and handles are tested with no processes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "mcp/tool.h"
#include "mcp/words.h"

namespace kw::mcp {

enum class State : uint8_t { Queued, Running, Done, Failed, Cancelled };
const char* state_name(State state);

struct JobRequest {
  const Tool* tool = nullptr;
  Words words;
  Lane lane = Lane::Quick;
  std::string owner;  // the session it ends with; "" = the server
};

/// What a runner tells while a command runs.
struct Told {
  std::function<void(const std::string&)> progress, note;
  std::function<bool()> stopped;  // asked often; true: end it
};

/// Runs a command to its end and gives its document. An Error when there is none: it crashed, or
/// could not be started.
using Runner = std::function<Result<Json>(const std::vector<std::string>& words, const Told& told)>;

/// A job as others see it at one moment.
struct Glance {
  std::string handle, tool, progress, why;  // why: of a failure
  State state = State::Queued;
  double seconds = 0;  // since it was asked for; until its end
  size_t ahead = 0;    // while queued: jobs of its lane before it
  Json document;       // when done
  const Tool* row = nullptr;
  uint64_t said = 0;               // how much progress there has been
  std::vector<std::string> notes;  // all so far
};

class Jobs {
 public:
  explicit Jobs(Runner runner);
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// The handle. An environment Error when too many are waiting.
  Result<std::string> start(JobRequest request);
  /// Nothing when there is no such job (any more).
  std::optional<Glance> look(const std::string& handle) const;
  std::vector<Glance> all() const;
  /// Waits until the job has ended or says something new (`said` differs), or the time is over.
  std::optional<Glance> wait(const std::string& handle, uint64_t said, double seconds) const;
  void cancel(const std::string& handle);
  void cancel_of(const std::string& owner);
  /// Stops everything and waits for it; nothing can be started afterwards.
  void close();

 private:
  struct Job;
  void work(Lane lane);
  void run(Job& job);
  void end(Job& job, const Result<Json>& outcome);
  void forget_old();
  Glance glance(const Job& job) const;
  std::shared_ptr<Job> next(Lane lane);

  Runner runner_;
  mutable std::mutex mutex_;  // guards all below
  mutable std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;
  std::deque<std::shared_ptr<Job>> order_;  // as they were asked for
  uint64_t made_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kw::mcp
