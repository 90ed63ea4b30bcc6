// The process behind one call of an MCP tool. It receives the command as a frame (os/process.h),
// runs it, and sends progress and the result back as frames.
#include <mutex>
#include <thread>

#include "commands/command.h"
#include "commands/watch.h"
#include "mcp/run_command.h"
#include "os/interrupt.h"
#include "os/process.h"

namespace kw::commands {

namespace {

/// Sends one frame at a time: progress may come from any thread.
class Channel {
 public:
  void say(const char* key, Json value) {
    const std::string frame = Json::object().set(key, std::move(value)).dump();
    const std::lock_guard lock(mutex_);
    os::child_send(frame);
  }

 private:
  std::mutex mutex_;
};

/// Any frame after the words means: stop. So does the end of the parent.
void wait_for_stop() {
  std::string frame;
  os::child_receive(&frame);
  os::request_interrupt();
}

Result<std::vector<std::string>> told_words() {
  std::string frame;
  if (os::child_receive(&frame) != os::ChannelState::Open)
    return input_error("worker-job is started by 'kernelwright mcp'");
  const Json told = KW_TRY(Json::parse(frame));
  std::vector<std::string> words;
  for (const Json& word : told["words"].items()) words.push_back(word.as_string());
  if (words.empty()) return input_error("no command");
  return words;
}

Json run_words(std::vector<std::string> words, Channel& channel) {
  Listener listener;
  listener.progress = [&](const std::string& text) { channel.say("progress", text); };
  listener.note = [&](const std::string& text) { channel.say("note", text); };
  const std::string name = words.front();
  Io io(name, listener);
  const Command* command = options::find_command(name);
  words.erase(words.begin());
  if (command == nullptr || command->hidden)
    io.fail(input_error("there is no command '" + name + "'"));
  else
    perform(*command, words, io);
  return std::move(listener.document);
}

}  // namespace

Result<int> job_worker(const Args&, Io&) {
  std::vector<std::string> words = KW_TRY(told_words());
  const InterruptWatch watch;
  std::thread(wait_for_stop).detach();
  Channel channel;
  channel.say("document", run_words(std::move(words), channel));
  return kOk;
}

}  // namespace kw::commands
