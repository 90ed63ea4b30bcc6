#include "workflows/session.h"

#include <new>
#include <system_error>

#include "core/check.h"
#include "os/interrupt.h"

namespace kw::workflows {

double seconds(const Session& session) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - session.start).count();
}

bool has_failed(const Session& session) { return !session.report.failed_stage.empty(); }

void report_progress(Session& session, const std::string& stage, const std::string& detail) {
  session.progress.stage = stage;
  session.progress.detail = detail;
  session.progress.seconds = seconds(session);
  if (session.watcher) session.watcher(session.progress);
}

void fail(Session& session, const std::string& stage, const Error& error) {
  session.report.failed_stage = stage;
  session.report.failure_reason = error.message;
  session.report.interrupted = os::interrupted();
  session.report.error_blame = static_cast<int>(error.blame);
}

Status guarded(Session& session, Status (*step)(Session&)) {
  try {
    return step(session);
  } catch (const Bug& bug) {
    return Error{Blame::Bug, bug.what()};
  } catch (const std::bad_alloc&) {
    return environment_error("out of memory; free some, and continue with: kernelwright resume");
  } catch (const std::system_error& refused) {
    return environment_error("the system refused: {}", refused.what());
  }
}

Status traced(Session& session, const char* name, Status (*step)(Session&)) {
  const double begin = seconds(session);
  Status done = guarded(session, step);
  session.traces.push_back({name, 1, static_cast<bool>(done), seconds(session) - begin});
  return done;
}

std::string priority(const Session& session) {
  if (const reference::Phrase* said = session.prompt.find(reference::PhraseKind::Priority))
    return said->value;
  return session.models ? session.models->spec.optimization_priority : "";
}

const ports::Device& device_of(const Session& session) {
  const verification::VerifyTools& tools = session.tools.verify;
  return tools.gpu != nullptr ? *tools.gpu : *tools.virtual_gpu;
}

}  // namespace kw::workflows
