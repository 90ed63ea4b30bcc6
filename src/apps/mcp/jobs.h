// Runs calls as jobs: each runs one command, waits for its resource, and can be queried and
// stopped. The runner of commands is a parameter, so that resources and handles are tested without
// processes.
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
#include "mcp/tool_arguments.h"

namespace kw::mcp {

enum class JobState : uint8_t { Queued, Running, Done, Failed, Cancelled };
const char* state_name(JobState state);

struct JobRequest {
  const AgentTool* tool = nullptr;
  Words words;
  ResourceClass resource = ResourceClass::Quick;
  std::string owner;  // the job ends with this session; "" = with the server
};

/// Callbacks of a runner while a command runs.
struct Callbacks {
  std::function<void(const std::string&)> progress, note;
  std::function<bool()> stopped;  // called often; true: end it
};

/// Runs a command to its end and returns its document. An Error when there is none: the command
/// crashed, or could not be started.
using Runner =
    std::function<Result<Json>(const std::vector<std::string>& words, const Callbacks& callbacks)>;

/// The state of a job at one moment.
struct JobSnapshot {
  std::string handle, tool, progress, why;  // why: the reason of a failure
  JobState state = JobState::Queued;
  double seconds = 0;  // since its request; until its end
  size_t ahead = 0;    // while queued: the number of jobs for its resource before it
  Json document;       // when done
  const AgentTool* row = nullptr;
  uint64_t said = 0;               // counts progress and notes
  std::vector<std::string> notes;  // all so far
};

class Jobs {
 public:
  explicit Jobs(Runner runner);
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// Returns the handle. An environment Error when too many jobs are open.
  Result<std::string> start(JobRequest request);
  /// Empty when there is no such job.
  std::optional<JobSnapshot> look(const std::string& handle) const;
  std::vector<JobSnapshot> all() const;
  /// Waits until the job has ended or has news (`said` differs), or the time is over.
  std::optional<JobSnapshot> wait(const std::string& handle, uint64_t said, double seconds) const;
  void cancel(const std::string& handle);
  void cancel_of(const std::string& owner);
  /// Stops all jobs and waits for them; none can be started afterwards.
  void close();

 private:
  struct Job;
  void work(ResourceClass resource);
  void run(Job& job);
  void end(Job& job, const Result<Json>& outcome);
  void forget_old();
  JobSnapshot snapshot(const Job& job) const;
  std::shared_ptr<Job> next(ResourceClass resource);

  Runner runner_;
  mutable std::mutex mutex_;  // guards all below
  mutable std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Job>> jobs_;
  std::deque<std::shared_ptr<Job>> order_;  // in the order of their requests
  uint64_t made_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kw::mcp
