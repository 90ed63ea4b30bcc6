#include "oracle/torch_process.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/hash.h"
#include "base/text.h"
#include "kTorchWorkerFiles.inc"
#include "oracle/torch_python.h"
#include "os/interrupt.h"
#include "os/memory.h"
#include "os/shared_memory.h"
#include "os/spawn.h"
#include "tensor/dtype.h"

namespace kw::oracle {
namespace {

constexpr uint64_t kAlign = 64;
constexpr size_t kTracebackLines = 30;
constexpr double kEndSeconds = 3;
// A tensor beyond this is no answer of ours; the sum of all is checked against the shared memory.
constexpr size_t kMaxOutputs = 4096;

/// The worker's files as the first frame, and the program that takes it.
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

uint64_t aligned(uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/// Reads without mapping: a process that shortens the memory meanwhile must not be our SIGBUS.
bool read_at(int fd, uint64_t offset, std::vector<std::byte>* bytes) {
  for (size_t done = 0; done < bytes->size();) {
    const ssize_t n =
        ::pread(fd, bytes->data() + done, bytes->size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

/// One output as the reply describes it; nothing when the description makes no sense.
std::optional<TorchTensor> read_output(const Json& described, int fd, uint64_t memory_bytes) {
  TorchTensor output;
  output.name = described["name"].as_string();
  const auto dtype = tensor::dtype_from_name(described["dtype"].as_string());
  const int64_t offset = described["offset"].as_int(-1);
  const int64_t bytes = described["bytes"].as_int(-1);
  if (!dtype || offset < 0 || bytes < 0 || !described["shape"].is_array()) return std::nullopt;
  output.tensor.dtype = *dtype;
  for (const Json& extent : described["shape"].items()) {
    output.tensor.shape.push_back(extent.as_int(-1));
  }
  const auto count = tensor::element_count(output.tensor.shape);
  const auto size = static_cast<uint64_t>(tensor::dtype_size(*dtype));
  if (!count || static_cast<uint64_t>(*count) > UINT64_MAX / size ||
      static_cast<uint64_t>(*count) * size != static_cast<uint64_t>(bytes)) {
    return std::nullopt;
  }
  const auto end = static_cast<uint64_t>(offset) + static_cast<uint64_t>(bytes);
  if (end > memory_bytes) return std::nullopt;
  output.tensor.data.resize(static_cast<size_t>(bytes));
  if (!read_at(fd, static_cast<uint64_t>(offset), &output.tensor.data)) return std::nullopt;
  return output;
}

uint64_t size_of(int fd) {
  const off_t end = ::lseek(fd, 0, SEEK_END);
  return end < 0 ? 0 : static_cast<uint64_t>(end);
}

Json source_json(const TorchSource& source) {
  Json json = Json::object();
  json.set("path", source.path);
  if (!source.text.empty()) json.set("text", source.text);
  json.set("entry", source.entry);
  Json globals = Json::object();
  for (const auto& [name, value] : source.globals) globals.set(name, value);
  json.set("globals", globals);
  return json;
}

Json arguments_json(const std::vector<TorchArgument>& arguments,
                    std::vector<const tensor::HostTensor*>* tensors) {
  Json list = Json::array();
  for (const TorchArgument& argument : arguments) {
    Json item = Json::object();
    item.set("name", argument.name);
    if (argument.tensor != nullptr) {
      item.set("tensor", static_cast<int64_t>(tensors->size()));
      tensors->push_back(argument.tensor);
    } else {
      item.set("value", argument.value);
    }
    list.push(item);
  }
  return list;
}

}  // namespace

TorchProcess::TorchProcess(TorchOptions options) : options_(std::move(options)) {}
TorchProcess::~TorchProcess() = default;

void TorchProcess::stop() { child_.reset(); }

TorchOutcome TorchProcess::start() {
  std::vector<std::string> command = options_.command;
  Worker worker = worker_files();
  if (command.empty()) {
    const FoundPython found = find_torch_python();
    if (found.path.empty()) return no_torch(found);
    command = {found.path, "-I", "-B", "-u", "-c", worker.boot};
  }
  auto child = os::Child::start(command);
  if (!child) return {TorchKind::Failed, child.error().message, ""};
  child_ = std::move(child).value();
  ++started_;
  if (child_->send(worker.files.dump()) != os::ChannelState::Open) {
    return lost(os::ChannelState::Closed, 0).outcome;
  }
  Json request = Json::object();
  request.set("verb", "hello");
  TorchAnswer answer = exchange(std::move(request), {}, options_.start_seconds);
  if (!answer.ok()) child_.reset();
  greeting_ = std::move(answer.body);
  return answer.outcome;
}

TorchAnswer TorchProcess::hello() {
  TorchAnswer answer;
  if (child_ == nullptr || !child_->alive()) answer.outcome = start();
  answer.body = greeting_;
  return answer;
}

TorchAnswer TorchProcess::run(const TorchCall& call, double timeout_seconds) {
  return ask("run", call, Json::object(), timeout_seconds);
}

TorchAnswer TorchProcess::ask(const std::string& verb, const TorchCall& call, const Json& extra,
                              double timeout_seconds,
                              const std::vector<const tensor::HostTensor*>& more) {
  if (TorchAnswer greeting = hello(); !greeting.ok()) return greeting;
  std::vector<const tensor::HostTensor*> tensors;
  Json request = extra;
  request.set("verb", verb);
  request.set("source", source_json(call.source));
  request.set("arguments", arguments_json(call.arguments, &tensors));
  request.set("weights", arguments_json(call.weights, &tensors));
  request.set("more", static_cast<int64_t>(tensors.size()));
  tensors.insert(tensors.end(), more.begin(), more.end());
  Json written = Json::array();
  for (const std::string& name : call.written) written.push(name);
  request.set("written", written);
  request.set("written_only", call.written_only);
  request.set("device", call.device);
  request.set("allow_tf32", call.allow_tf32);
  request.set("seed", static_cast<int64_t>(call.seed & INT64_MAX));
  const uint64_t limit =
      options_.memory_bytes != 0 ? options_.memory_bytes : os::available_memory() / 4 * 3;
  request.set("memory_bytes", limit);
  return exchange(std::move(request), tensors, timeout_seconds);
}

TorchAnswer TorchProcess::exchange(Json request,
                                   const std::vector<const tensor::HostTensor*>& tensors,
                                   double timeout_seconds) {
  uint64_t total = 0;
  Json places = Json::array();
  for (const tensor::HostTensor* each : tensors) {
    Json place = Json::object();
    place.set("dtype", tensor::dtype_name(each->dtype));
    Json shape = Json::array();
    for (int64_t extent : each->shape) shape.push(extent);
    place.set("shape", shape).set("offset", total).set("bytes", uint64_t{each->data.size()});
    places.push(place);
    total += aligned(each->data.size());
  }
  auto memory = os::SharedMemory::create(total);
  if (!memory) return failing(TorchKind::Failed, memory.error().message);
  uint64_t at = 0;
  for (const tensor::HostTensor* each : tensors) {
    if (!each->data.empty()) std::memcpy(memory->data() + at, each->data.data(), each->data.size());
    at += aligned(each->data.size());
  }
  const int64_t id = next_id_++;
  marker_ = fmt::format("[kernelwright request {} of {}]", id, child_->pid());
  request.set("tensors", places);
  request.set("id", id);
  request.set("marker", marker_);

  os::ChannelState state = child_->send(request.dump(), {memory->fd()});
  std::string frame;
  if (state == os::ChannelState::Open) state = child_->receive(&frame, timeout_seconds);
  if (state != os::ChannelState::Open) return lost(state, timeout_seconds);

  auto garbled = [&](const std::string& why) {
    TorchAnswer answer = failing(TorchKind::Garbled, why, last_lines(printed(), kTracebackLines));
    child_.reset();
    return answer;
  };
  auto reply = Json::parse(frame);
  if (!reply || !reply->is_object()) return garbled("its answer is not JSON");
  if ((*reply)["id"].as_int(-1) != id) return garbled("its answer is to another request");
  const auto kind = torch_kind_from_name((*reply)["kind"].as_string());
  if (!kind) return garbled("its answer has no kind");
  TorchAnswer answer =
      failing(*kind, (*reply)["message"].as_string(), (*reply)["traceback"].as_string());
  answer.printed = printed();
  if ((*reply)["fatal"].as_bool()) child_.reset();
  if (!answer.ok()) return answer;
  const auto& outputs = (*reply)["outputs"].items();
  if (outputs.size() > kMaxOutputs) return garbled("its answer has too many outputs");
  const uint64_t memory_bytes = size_of(memory->fd());
  if (const uint64_t room = os::available_memory(); room != 0 && memory_bytes > room) {
    return failing(TorchKind::OutOfMemory,
                   fmt::format("its outputs take {}, {} are free", human_bytes(memory_bytes),
                               human_bytes(room)));
  }
  for (const Json& described : outputs) {
    auto output = read_output(described, memory->fd(), memory_bytes);
    if (!output) return garbled("its answer describes a tensor that cannot be");
    answer.outputs.push_back(std::move(*output));
  }
  answer.body = std::move(reply).value();
  return answer;
}

TorchAnswer TorchProcess::lost(os::ChannelState state, double timeout_seconds) {
  const bool late = state == os::ChannelState::TimedOut;
  // A process that ends closes its channel a moment before; one that does not end has misbehaved.
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

/// What the process printed since the current request began.
std::string TorchProcess::printed() {
  const std::string tail = child_->stderr_tail();
  const size_t at = tail.rfind(marker_ + "\n");
  return at == std::string::npos ? tail : tail.substr(at + marker_.size() + 1);
}

}  // namespace kw::oracle
