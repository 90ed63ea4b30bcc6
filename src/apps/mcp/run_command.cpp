#include "mcp/run_command.h"

#include <fmt/core.h>

#include <chrono>
#include <optional>

#include "core/json_writer.h"
#include "core/text.h"
#include "mcp/scratch.h"
#include "os/files.h"
#include "os/process.h"

namespace kw::mcp {
namespace {

using Moment = std::chrono::steady_clock::time_point;

constexpr double kTick = 0.05;  // seconds between two checks whether it must stop
constexpr std::chrono::milliseconds kGrace{1500};  // from the stop request until it is killed
constexpr size_t kTailKept = 2000;

Error died(os::Child& child) {
  child.kill();
  const std::string tail(trim(child.stderr_tail()));
  const std::string words = tail.size() > kTailKept ? tail.substr(tail.size() - kTailKept) : tail;
  return Error{Blame::Bug, fmt::format("the command's process {}{}", child.how_it_ended(),
                                       words.empty() ? "" : ":\n" + words)};
}

std::string frame_of(const char* key, Json value) {
  return Json::object().set(key, std::move(value)).dump();
}

}  // namespace

Result<Json> run_command(const std::vector<std::string>& words, const os::Permissions& allowed,
                         const std::vector<std::string>& roots, const Callbacks& callbacks) {
  // Outlives the child, so that files of a killed child are removed too.
  const std::shared_ptr<Scratch> scratch = KW_TRY(Scratch::make());
  const auto child = KW_TRY(os::Child::start(
      {os::self_path(), kJobCommand},
      {{"TMPDIR=" + scratch->folder(), os::forbidding(allowed), os::keeping_in(roots)},
       os::Environment::Everything}));
  if (child->send(frame_of("words", json_of(words))) != os::ChannelState::Open) return died(*child);
  std::optional<Moment> told_to_stop;
  std::string text;
  for (;;) {
    const os::ChannelState state = child->receive(&text, kTick);
    if (state == os::ChannelState::Closed) return died(*child);
    if (state == os::ChannelState::Open) {
      const Result<Json> frame = Json::parse(text);
      if (!frame) return died(*child);
      const Json& said = *frame;
      if (said.contains("document")) return said["document"];
      if (said.contains("progress")) callbacks.progress(said["progress"].as_string());
      if (said.contains("note")) callbacks.note(said["note"].as_string());
    }
    if (!told_to_stop && callbacks.stopped()) {
      child->send(frame_of("stop", true));
      told_to_stop = std::chrono::steady_clock::now();
    }
    if (told_to_stop && std::chrono::steady_clock::now() - *told_to_stop > kGrace) {
      child->kill();
      return environment_error("stopped");
    }
  }
}

}  // namespace kw::mcp
