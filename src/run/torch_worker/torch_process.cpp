// A reference is Python that the user may not have written, and importing torch takes seconds. So
// one confined process imports torch once and serves many requests. A reference may change torch
// itself, so each one runs in a fork of that process (python/torch_worker/template.py). The process
// is replaced when it dies, hangs or answers badly, or when a reference leaves processes or files.
// A fork cannot name its threads behind Landlock, and the CUDA driver must. So a reference that
// uses CUDA gets a process of its own.
// One process per request would be simpler, but would cost an import each time. Tensors are passed
// in shared memory; requests and replies are JSON frames. The cost: each request writes a marker to
// stderr, so that output printed before it is not shown with it.
#include "torch_worker/torch_process.h"

#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "core/text.h"
#include "kTorchWorkerFiles.inc"
#include "os/interrupt.h"
#include "os/memory.h"
#include "os/shared_memory.h"
#include "os/spawn.h"
#include "torch_worker/torch_confinement.h"
#include "torch_worker/torch_python.h"
#include "torch_worker/torch_wire.h"

namespace kw::torch_worker {
namespace {

constexpr size_t kTracebackLines = 30;
constexpr double kEndSeconds = 3;
constexpr double kEndReferenceSeconds = 5;

/// boot.py, the program that the process starts with, and the files it receives as the first frame.
struct Worker {
  std::string boot;
  Json files = Json::object();
};

Worker worker_files() {
  Worker worker;
  for (const auto* file = kTorchWorkerFiles; file->name != nullptr; ++file) {
    if (std::string_view(file->name) == "boot.py") {
      worker.boot = file->text;
    } else {
      worker.files.set(file->name, file->text);
    }
  }
  return worker;
}

TorchAnswer failing(TorchKind kind, std::string message, std::string traceback = {}) {
  TorchAnswer answer;
  answer.outcome = {kind, std::move(message), std::move(traceback)};
  return answer;
}

std::string last_lines(const std::string& text, size_t count) {
  auto lines = split_lines(trim(text));
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<long>(count));
  return join({lines.begin(), lines.end()}, "\n");
}

}  // namespace

/// A request that was sent: the id of its answer, and the memory of its tensors.
struct TorchProcess::Sent {
  int64_t id = 0;
  os::SharedMemory memory;
  os::ChannelState state = os::ChannelState::Open;
};

TorchProcess::TorchProcess(TorchOptions options)
    : options_(std::move(options)), alone_(options_.gpu) {}
TorchProcess::~TorchProcess() = default;

void TorchProcess::stop() {
  child_.reset();
  greeting_sent_.reset();
  reference_.reset();
}

TorchOutcome TorchProcess::launch() {
  std::vector<std::string> command = options_.command;
  Worker worker = worker_files();
  if (command.empty()) {
    const FoundPython found = find_torch_python();
    if (found.path.empty()) return no_torch(found);
    command = {found.path,
               "-I",
               "-B",
               "-u",
               "-c",
               worker.boot,
               options_.baselines ? "times"
               : alone_           ? "alone"
                                  : "forks"};
  }
  child_.reset();
  if (Status started = start_confined(std::move(command)); !started)
    return {TorchKind::Failed, started.error().message, ""};
  ++started_;
  if (child_->send(worker.files.dump()) != os::ChannelState::Open) {
    return lost(os::ChannelState::Closed, 0).outcome;
  }
  Result<Sent> sent = send(Json::object().set("verb", "hello"), {});
  if (!sent) return {TorchKind::Failed, sent.error().message, ""};
  greeting_sent_ = std::make_unique<Sent>(std::move(sent).value());
  return {};
}

Status TorchProcess::start_confined(std::vector<std::string> command) {
  scratch_.emplace(KW_TRY(os::ScratchFolder::make("torch")));
  const sandbox::Kind kind = options_.baselines           ? sandbox::Kind::TorchBaseline
                             : sandbox::has_gpu_devices() ? sandbox::Kind::TorchGpu
                                                          : sandbox::Kind::Torch;
  TorchConfinement walls = KW_TRY(torch_confinement(command.front(), scratch_->path(), kind));
  command.front() = walls.python;
  if (!program_.empty()) walls.job.allowed.reading.push_back(program_);
  // The driver reserves huge ranges of addresses, so only processes without it have this limit.
  if (kind == sandbox::Kind::Torch) walls.job.data_bytes = os::available_memory();
  child_ = KW_TRY(sandbox::start(walls.job, command));
  return Done{};
}

void TorchProcess::begin() {
  // A failure to start is reported by the next request.
  if (child_ == nullptr) static_cast<void>(launch());
}

TorchAnswer TorchProcess::hello() {
  TorchAnswer answer;
  const bool gone = child_ == nullptr || (!child_->alive() && greeting_sent_ == nullptr);
  if (gone) answer.outcome = launch();
  if (answer.ok() && greeting_sent_ != nullptr) {
    answer = receive(*greeting_sent_, options_.start_seconds);
    greeting_sent_.reset();
    if (!answer.ok()) child_.reset();
    greeting_ = answer.body;
  }
  answer.body = greeting_;
  return answer;
}

TorchAnswer TorchProcess::run(const TorchCall& call, double timeout_seconds) {
  return ask("run", call, Json::object(), timeout_seconds);
}

/// The process that is there serves this reference, or it is stopped.
void TorchProcess::make_room_for(const std::string& reference, const TorchCall& call) {
  const std::string program = exported_program(call.source.text);
  const bool other = reference_ && *reference_ != reference && !options_.many_references;
  const bool alone = options_.gpu || (alone_ && !other) || call.device.starts_with("cuda") ||
                     (!options_.many_references && reference.find("cuda") != std::string::npos);
  if (program != program_ || alone != alone_ || (other && (alone_ || !end_reference()))) stop();
  program_ = program;
  alone_ = alone;
}

/// Whether nothing is left of the reference.
bool TorchProcess::end_reference() {
  if (child_ == nullptr || greeting_sent_ != nullptr || !child_->alive()) return true;
  return exchange(Json::object().set("verb", "end"), {}, kEndReferenceSeconds).ok();
}

TorchAnswer TorchProcess::ask(const std::string& verb, const TorchCall& given, const Json& extra,
                              double timeout_seconds,
                              const std::vector<const tensor::HostTensor*>& more) {
  TorchCall call = given;
  add_texts(&call.source);
  const std::string reference = call.source.text + "\n" + call.source.neighbours.dump();
  make_room_for(call.source.path + "\n" + reference, call);
  if (TorchAnswer greeting = hello(); !greeting.ok()) return greeting;
  reference_ = call.source.path + "\n" + reference;
  announce_execution(call.source.path, reference);
  std::vector<const tensor::HostTensor*> tensors;
  Json request = extra;
  request.set("verb", verb);
  put_call(call, &request, &tensors);
  request.set("more", static_cast<int64_t>(tensors.size()));
  tensors.insert(tensors.end(), more.begin(), more.end());
  const uint64_t limit =
      options_.memory_bytes != 0 ? options_.memory_bytes : os::available_memory() / 4 * 3;
  request.set("memory_bytes", limit);
  return exchange(std::move(request), tensors, timeout_seconds);
}

TorchAnswer TorchProcess::exchange(Json request,
                                   const std::vector<const tensor::HostTensor*>& tensors,
                                   double timeout_seconds) {
  const Result<Sent> sent = send(std::move(request), tensors);
  if (!sent) return failing(TorchKind::Failed, sent.error().message);
  return receive(*sent, timeout_seconds);
}

Result<TorchProcess::Sent> TorchProcess::send(
    Json request, const std::vector<const tensor::HostTensor*>& tensors) {
  Json places = Json::array();
  os::SharedMemory memory = KW_TRY(lay_out(tensors, &places));
  const int64_t id = next_id_++;
  marker_ = fmt::format("[kernelwright request {} of {}]", id, child_->pid());
  request.set("tensors", places).set("id", id).set("marker", marker_);
  const os::ChannelState state = child_->send(request.dump(), {memory.fd()});
  return Sent{id, std::move(memory), state};
}

TorchAnswer TorchProcess::receive(const Sent& sent, double timeout_seconds) {
  os::ChannelState state = sent.state;
  std::string frame;
  if (state == os::ChannelState::Open) state = child_->receive(&frame, timeout_seconds);
  if (state != os::ChannelState::Open) return lost(state, timeout_seconds);

  TorchAnswer answer = read_reply(frame, sent.id, sent.memory.fd());
  answer.printed = printed();
  if (answer.outcome.kind == TorchKind::Garbled) {
    answer.outcome.traceback = last_lines(answer.printed, kTracebackLines);
    child_.reset();
  } else if (answer.body["fatal"].as_bool()) {
    child_.reset();
  }
  return answer;
}

TorchAnswer TorchProcess::lost(os::ChannelState state, double timeout_seconds) {
  const bool late = state == os::ChannelState::TimedOut;
  // A process that ends closes its channel shortly before. One that stays alive has misbehaved.
  const double patience = os::monotonic_seconds() + kEndSeconds;
  while (!late && child_->alive() && os::monotonic_seconds() < patience) ::usleep(2000);
  const bool misbehaved = !late && child_->alive();
  child_->kill();
  const std::string said = printed();
  TorchAnswer answer;
  if (os::interrupted()) {
    answer = failing(TorchKind::Failed, "interrupted");
  } else if (late) {
    answer = failing(TorchKind::TimedOut,
                     fmt::format("no answer within {} s; the process was ended", timeout_seconds));
  } else if (misbehaved) {
    answer = failing(TorchKind::Garbled, "it closed its channel or sent an impossible frame",
                     last_lines(said, kTracebackLines));
  } else {
    answer = failing(TorchKind::Died, child_->how_it_ended(), last_lines(said, kTracebackLines));
  }
  answer.printed = said;
  child_.reset();
  return answer;
}

/// The text printed since the current request began.
std::string TorchProcess::printed() {
  const std::string tail = child_->stderr_tail();
  const size_t at = tail.rfind(marker_ + "\n");
  return at == std::string::npos ? tail : tail.substr(at + marker_.size() + 1);
}

}  // namespace kw::torch_worker
