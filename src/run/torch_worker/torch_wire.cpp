// A call is sent as a JSON frame, and its tensors in shared memory that the frame describes. The
// answer comes back the same way, from a process that runs untrusted code. So every number in it is
// checked against the dtype, the shape and the memory's size before it is used.
// Outputs are read with pread into our own memory, not through a mapping: the process could shorten
// the memory, and a mapped read would then end us with SIGBUS. The cost is one copy.
#include "torch_worker/torch_wire.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "core/json_writer.h"
#include "core/text.h"
#include "os/files.h"
#include "os/memory.h"
#include "tensor/dtype.h"
#include "torch_worker/torch_neighbours.h"

namespace kw::torch_worker {
namespace {

constexpr uint64_t kAlign = 64;
constexpr uint64_t kMostSourceBytes = 16 << 20;
// No valid answer has more tensors. Their sizes are checked against the shared memory.
constexpr size_t kMaxOutputs = 4096;

uint64_t aligned(uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/// Reads without mapping: the process may shorten the memory, and a mapped read would then raise
/// SIGBUS.
bool read_at(int fd, uint64_t offset, tensor::Bytes* bytes) {
  for (size_t done = 0; done < bytes->size();) {
    const ssize_t n =
        ::pread(fd, bytes->data() + done, bytes->size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

/// One output as the reply describes it; empty when the description is not valid.
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

/// Reads the outputs that a reply describes; Garbled when a description is not valid.
TorchOutcome read_outputs(const Json& list, int fd, std::vector<TorchTensor>* outputs) {
  const uint64_t memory_bytes = size_of(fd);
  if (list.items().size() > kMaxOutputs) {
    return {TorchKind::Garbled, "its answer has too many outputs", ""};
  }
  if (const uint64_t room = os::available_memory(); room != 0 && memory_bytes > room) {
    return {TorchKind::OutOfMemory,
            fmt::format("its outputs take {}, {} are free", human_bytes(memory_bytes),
                        human_bytes(room)),
            ""};
  }
  for (const Json& described : list.items()) {
    auto output = read_output(described, fd, memory_bytes);
    if (!output) {
      return {TorchKind::Garbled, "its answer describes an impossible tensor", ""};
    }
    outputs->push_back(std::move(*output));
  }
  return {};
}

Json source_json(const TorchSource& source) {
  Json json = Json::object();
  json.set("path", source.path);
  if (!source.text.empty()) json.set("text", source.text);
  json.set("neighbours", source.neighbours);
  json.set("entry", source.entry);
  json.set("globals", json_of(source.globals));
  if (source.evaluation) json.set("evaluation", true);
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

Json gradients_json(const TorchGradients& gradients) {
  Json json = Json::object();
  json.set("of", json_of(gradients.of)).set("upstream", json_of(gradients.upstream));
  return json.set("outputs", json_of(gradients.outputs));
}

}  // namespace

void add_texts(TorchSource* source) {
  if (source->path.empty()) return;
  if (source->text.empty()) {
    if (Result<std::string> text = os::read_file(source->path, kMostSourceBytes))
      source->text = std::move(text).value();
  }
  source->neighbours = imported_neighbours(*source);
}

void put_call(const TorchCall& call, Json* request,
              std::vector<const tensor::HostTensor*>* tensors) {
  request->set("source", source_json(call.source));
  request->set("arguments", arguments_json(call.arguments, tensors));
  request->set("weights", arguments_json(call.weights, tensors));
  request->set("written", json_of(call.written));
  request->set("written_only", call.written_only);
  if (!call.gradients.of.empty()) request->set("gradients", gradients_json(call.gradients));
  request->set("device", call.device);
  request->set("allow_tf32", call.allow_tf32);
  request->set("seed", static_cast<int64_t>(call.seed & INT64_MAX));
}

Result<os::SharedMemory> lay_out(const std::vector<const tensor::HostTensor*>& tensors,
                                 Json* places) {
  uint64_t total = 0;
  for (const tensor::HostTensor* each : tensors) {
    Json place = Json::object();
    place.set("dtype", tensor::dtype_name(each->dtype));
    place.set("shape", json_of(each->shape))
        .set("offset", total)
        .set("bytes", uint64_t{each->data.size()});
    places->push(place);
    total += aligned(each->data.size());
  }
  os::SharedMemory memory = KW_TRY(os::SharedMemory::create(total));
  uint64_t at = 0;
  for (const tensor::HostTensor* each : tensors) {
    if (!each->data.empty()) std::memcpy(memory.data() + at, each->data.data(), each->data.size());
    at += aligned(each->data.size());
  }
  return memory;
}

TorchAnswer read_reply(const std::string& frame, int64_t id, int fd) {
  auto reply = Json::parse(frame);
  if (!reply || !reply->is_object()) {
    TorchAnswer garbled;
    garbled.outcome = {TorchKind::Garbled, "its answer is not JSON", ""};
    return garbled;
  }
  TorchAnswer answer;
  answer.body = std::move(reply).value();
  const auto kind = torch_kind_from_name(answer.body["kind"].as_string());
  if (answer.body["id"].as_int(-1) != id) {
    answer.outcome = {TorchKind::Garbled, "its answer is to another request", ""};
  } else if (!kind) {
    answer.outcome = {TorchKind::Garbled, "its answer has no kind", ""};
  } else if (*kind != TorchKind::Ok) {
    answer.outcome = {*kind, answer.body["message"].as_string(),
                      answer.body["traceback"].as_string()};
  } else {
    answer.outcome = read_outputs(answer.body["outputs"], fd, &answer.outputs);
    if (!answer.ok()) answer.outputs.clear();
  }
  return answer;
}

}  // namespace kw::torch_worker
