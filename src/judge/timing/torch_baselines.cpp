// Candidates and PyTorch must be timed by one clock in one process. So the request carries our
// clock library, the candidates' images and programs, and all inputs to the torch process, and
// Python only calls the library. Inputs go through shared memory; equal ones are sent and stored on
// the device once. The frames are those of the GPU worker, so both processes run the same code.
// Timing from Python was the alternative; its overhead would be part of each time. The cost:
// outputs of timed calls cannot be copied out there, so audits use hashes.
#include "timing/torch_baselines.h"

#include <fmt/core.h>

#include <cstring>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "gpu/messages.h"
#include "kClockLibrary.inc"
#include "ports/audit_hash.h"

namespace kw::timing {
namespace {

using tensor::HostTensor;

HostTensor bytes_tensor(std::string_view bytes) {
  HostTensor made;
  made.dtype = tensor::DType::Uint8;
  made.shape = {static_cast<int64_t>(bytes.size())};
  made.data.resize(bytes.size());
  std::memcpy(made.data.data(), bytes.data(), bytes.size());
  return made;
}

/// Everything that is sent with the call. Equal inputs are sent, and stored on the device, once.
class CallContents {
 public:
  /// The index of this input.
  int64_t input(const HostTensor& given) {
    const auto seen = seen_.find(&given);
    if (seen != seen_.end()) return seen->second;
    const Key key{ports::audit_hash(given.data), given.dtype, given.shape};
    const auto [at, fresh] = places_.emplace(key, static_cast<int64_t>(inputs_.size()));
    if (fresh) inputs_.push_back(&given);
    seen_.emplace(&given, at->second);
    return at->second;
  }
  void frame(const gpu::Request& request) { frames_.push_back(bytes_tensor(gpu::encode(request))); }
  void library(std::string_view bytes) { library_ = bytes_tensor(bytes); }

  std::vector<const HostTensor*> all() const {
    std::vector<const HostTensor*> list = inputs_;
    list.push_back(&library_);
    for (const HostTensor& frame : frames_) list.push_back(&frame);
    return list;
  }
  /// The index of each part in all(). The last `rounds` frames are timings; those before are loads.
  void describe(size_t rounds, Json* request) const {
    auto next = static_cast<int64_t>(inputs_.size());
    Json inputs = Json::array();
    for (int64_t i = 0; i < next; ++i) inputs.push(i);
    request->set("inputs", inputs).set("library", next++);
    Json loads = Json::array(), timings = Json::array();
    for (size_t i = 0; i + rounds < frames_.size(); ++i) loads.push(next++);
    for (size_t i = 0; i < rounds; ++i) timings.push(next++);
    request->set("loads", loads).set("rounds", timings);
  }

 private:
  using Key = std::tuple<uint64_t, tensor::DType, std::vector<int64_t>>;
  std::vector<const HostTensor*> inputs_;
  std::map<Key, int64_t> places_;
  std::map<const HostTensor*, int64_t> seen_;  // hashing gigabytes is slow
  HostTensor library_;
  std::vector<HostTensor> frames_;
};

gpu::Request load_frame(const ports::Compiled& compiled, ports::ImageId id) {
  gpu::Request load;
  load.verb = gpu::Verb::Load;
  load.image = id;
  load.kind = compiled.kind;
  load.bytes = compiled.image;
  return load;
}

gpu::ProgramMessage program_message(const BaselineCandidate& candidate, ports::ImageId id,
                                    CallContents* contents) {
  gpu::ProgramMessage message;
  message.image = id;
  message.program = *candidate.program;
  for (const ports::InputViews& entry : candidate.pool) {
    std::vector<gpu::InputRef>& refs = message.pool.emplace_back();
    for (size_t i = 0; i < entry.size(); ++i) {
      const HostTensor& given = entry[i];
      refs.push_back(
          {given.data.empty() ? 0 : static_cast<uint64_t>(contents->input(given)) + 1, {}});
    }
  }
  return message;
}

void add_frames(const BaselineRequest& request, CallContents* contents) {
  gpu::Request timing;
  timing.verb = gpu::Verb::Time;
  timing.protocol_options = request.protocol;
  ports::ImageId id = 0;
  for (const BaselineCandidate& candidate : request.candidates) {
    contents->frame(load_frame(*candidate.compiled, ++id));
    timing.programs.push_back(program_message(candidate, id, contents));
  }
  for (const uint64_t seed : request.seeds) {
    timing.protocol_options.seed = seed;
    contents->frame(timing);
  }
}

Json torch_request(const BaselineRequest& request, CallContents* contents) {
  Json json = Json::object();
  Json pool = Json::array();
  for (const auto& entry : request.pool) {
    Json places = Json::array();
    for (const HostTensor* given : entry) places.push(contents->input(*given));
    pool.push(places);
  }
  Json modes = Json::array();
  for (const std::string& mode : request.modes) modes.push(mode);
  Json protocol = Json::object();
  protocol.set("graph_copies", request.protocol.graph_copies);
  protocol.set("graph_below_us", request.protocol.graph_below_us);
  json.set("pool", pool).set("modes", modes).set("protocol", protocol);
  json.set("want_outputs", request.want_outputs);
  contents->describe(request.seeds.size(), &json);
  return json;
}

Result<gpu::Reply> reply_frame(const HostTensor& tensor) {
  const auto* bytes = reinterpret_cast<const char*>(tensor.data.data());
  return gpu::decode_reply({bytes, tensor.data.size()});
}

std::vector<BaselineResult> read_modes(const Json& modes) {
  std::vector<BaselineResult> results;
  for (const Json& entry : modes.items()) {
    BaselineResult result;
    result.mode = entry["mode"].as_string();
    const auto kind = torch_worker::torch_kind_from_name(entry["kind"].as_string());
    result.outcome = {kind.value_or(torch_worker::TorchKind::Garbled), entry["message"].as_string(),
                      entry["traceback"].as_string()};
    for (const Json& sample : entry["host_us"].items()) {
      result.host_us.push_back(sample.as_double());
    }
    results.push_back(std::move(result));
  }
  return results;
}

/// Timed results are in this order: candidates, then the modes that have an order.
Status share_out(gpu::Reply reply, const Json& modes, size_t candidates, BaselineRound* timed) {
  timed->status = reply.time.status;
  timed->message = std::move(reply.time.message);
  if (timed->status != ports::RunStatus::Completed) return Done{};
  auto& results = reply.time.results;
  if (results.size() < candidates) return Error{Blame::Bug, "the clock left out a candidate"};
  for (size_t i = 0; i < candidates; ++i) timed->candidates.push_back(std::move(results[i]));
  for (size_t i = 0; i < timed->baselines.size(); ++i) {
    const Json& order = modes.items()[i]["order"];
    const size_t place = candidates + static_cast<size_t>(order.as_int());
    if (!order.is_int()) continue;
    if (order.as_int() < 0 || place >= results.size()) {
      return Error{Blame::Bug, "the clock left out a baseline"};
    }
    timed->baselines[i].timed = std::move(results[place]);
  }
  return Done{};
}

Result<BaselineRound> read_round(gpu::Reply reply, const Json& modes,
                                 const BaselineRequest& request) {
  BaselineRound round;
  round.baselines = read_modes(modes);
  if (round.baselines.size() != request.modes.size())
    return Error{Blame::Bug, "the torch process left out a mode"};
  KW_TRY(share_out(std::move(reply), modes, request.candidates.size(), &round));
  return round;
}

/// Moves the outputs, named "mode/output", to their modes.
void hand_outputs(std::vector<torch_worker::TorchTensor>& outputs, size_t first,
                  BaselineRound& round) {
  for (size_t i = first; i < outputs.size(); ++i) {
    torch_worker::TorchTensor& output = outputs[i];
    for (BaselineResult& result : round.baselines) {
      if (!output.name.starts_with(result.mode + "/")) continue;
      result.outputs.push_back(
          {output.name.substr(result.mode.size() + 1), std::move(output.tensor)});
      break;
    }
  }
}

}  // namespace

Result<BaselinesTimed> time_baselines(torch_worker::TorchProcess& torch,
                                      const BaselineRequest& request) {
  if (request.pool.empty()) return Error{Blame::Bug, "baselines need a pool of inputs"};
  if (request.seeds.empty()) return Error{Blame::Bug, "baselines need a round"};
  if (request.protocol.copies_out != 0) {
    return Error{Blame::Bug, "the torch process copies no outputs out of timed calls"};
  }
  CallContents contents;
  contents.library({kClockLibrary, static_cast<size_t>(kClockLibrary_end - kClockLibrary)});
  add_frames(request, &contents);
  const Json extra = torch_request(request, &contents);
  std::optional<gpu::GpuLock> lock;
  if (!request.uuid.empty()) {
    lock.emplace(
        KW_TRY(gpu::GpuLock::take(request.uuid, request.lock_timeout_seconds, request.notice)));
  }
  torch_worker::TorchAnswer answer =
      torch.ask("baselines", request.call, extra, request.timeout_seconds, contents.all());
  BaselinesTimed timed;
  timed.outcome = answer.outcome;
  if (!answer.ok()) return timed;
  const Json& rounds = answer.body["rounds"];
  const size_t loads = request.candidates.size();
  if (rounds.items().empty() || rounds.items().size() > request.seeds.size() ||
      answer.outputs.size() < loads + rounds.items().size()) {
    return Error{Blame::Bug, "the torch process left out an answer"};
  }
  for (size_t i = 0; i < loads; ++i) {
    const gpu::Reply reply = KW_TRY(reply_frame(answer.outputs[i].tensor));
    if (!reply.error.empty()) return Error{reply.blame, reply.error};
  }
  for (size_t i = 0; i < rounds.items().size(); ++i) {
    gpu::Reply reply = KW_TRY(reply_frame(answer.outputs[loads + i].tensor));
    if (!reply.error.empty()) return Error{reply.blame, reply.error};
    timed.device = reply.info;
    timed.rounds.push_back(KW_TRY(read_round(std::move(reply), rounds.items()[i], request)));
  }
  const bool whole = timed.rounds.back().status != ports::RunStatus::Completed ||
                     timed.rounds.size() == request.seeds.size();
  if (!whole) return Error{Blame::Bug, "the torch process left out a round"};
  hand_outputs(answer.outputs, loads + timed.rounds.size(), timed.rounds.front());
  return timed;
}

}  // namespace kw::timing
