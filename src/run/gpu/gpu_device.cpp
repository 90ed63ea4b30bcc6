// A candidate can hang a kernel, corrupt the context or kill its process, and the next candidate
// must not suffer. So all device work happens in a worker process. It is kept from candidate to
// candidate, because a new context costs 0.1 s or more, and it is replaced when a run lost it.
// After a loss a canary kernel must succeed before the next candidate runs; otherwise the call is
// an environment Error.
// One worker per candidate would be simpler, but would cost a new context and new uploads each
// time. The cost here: inputs that the worker keeps may be overwritten, so it checks them and asks
// for lost ones again.
#include "gpu/gpu_device.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/check.h"
#include "core/hash.h"
#include "core/text.h"
#include "cuda/run_program.h"
#include "cuda/storage_layout.h"
#include "os/interrupt.h"

namespace kw::gpu {
namespace {

using ports::RunStatus;

constexpr double kLoadSeconds = 120;
constexpr double kCanarySeconds = 60;
// Time added to a run's own limit. Copying at 100 MB/s is slow even on a busy machine.
constexpr double kSlackSeconds = 30;
constexpr double kSlowestBytesPerSecond = 1e8;
constexpr uint64_t kMaxOneImage = uint64_t{256} << 20;
constexpr uint64_t kMaxImageBytes = uint64_t{1} << 30;  // of all images together
// An input larger than 1/16 of the device's memory is not kept by the worker.
constexpr uint64_t kKeptInputPart = 16;

double patience(double limit_seconds, uint64_t bytes) {
  return limit_seconds + kSlackSeconds + 3 * static_cast<double>(bytes) / kSlowestBytesPerSecond;
}

}  // namespace

Result<std::unique_ptr<GpuDevice>> GpuDevice::open(int ordinal, GpuOptions options) {
  std::unique_ptr<GpuDevice> device(new GpuDevice(ordinal, std::move(options)));
  KW_TRY(device->ensure_worker());
  return device;
}

GpuDevice::~GpuDevice() = default;

Status GpuDevice::ensure_worker() {
  // The worker died while idle, so the next candidate is not the cause.
  if (worker_ != nullptr && !worker_->alive()) drop_worker("the loss of an idle worker");
  if (worker_ != nullptr) return Done{};
  worker_ = KW_TRY(WorkerLink::start(ordinal_));
  worker_pid_ = worker_->pid();
  info_ = worker_->info();
  return Done{};
}

void GpuDevice::drop_worker(const std::string& why) {
  worker_.reset();
  worker_pid_ = 0;
  suspicion_ = why;
}

Status GpuDevice::canary() {
  KW_TRY(ensure_worker());
  Request request;
  request.verb = Verb::Canary;
  const Answer answer = worker_->ask(request, kCanarySeconds);
  if (answer.state == Answer::State::Replied && answer.reply.error.empty()) return Done{};
  const std::string why = answer.state == Answer::State::Replied ? answer.reply.error
                          : answer.state == Answer::State::TimedOut
                              ? "the canary kernel never ended"
                              : "the worker died: " + answer.how_died;
  worker_.reset();
  worker_pid_ = 0;
  return environment_error(why);
}

Status GpuDevice::ensure_healthy() {
  KW_TRY(ensure_worker());
  if (suspicion_.empty()) return Done{};
  Status status = canary();
  if (!status && !os::interrupted()) {
    // A device that was just reset may need a second.
    std::this_thread::sleep_for(std::chrono::seconds(1));
    status = canary();
  }
  if (!status) {
    return environment_error("{} ({}) is not healthy after \"{}\": {}", info_.name, info_.uuid,
                             suspicion_, status.error().message);
  }
  suspicion_.clear();
  return Done{};
}

Status GpuDevice::health() {
  const std::lock_guard guard(mutex_);
  const GpuLock lock =
      KW_TRY(GpuLock::take(info_.uuid, options_.lock_timeout_seconds, options_.notice));
  if (suspicion_.empty()) suspicion_ = "a question about its health";
  return ensure_healthy();
}

Result<ports::ImageId> GpuDevice::load(const ports::Compiled& compiled) {
  const std::lock_guard guard(mutex_);
  if (compiled.image.size() > kMaxOneImage) {
    return input_error("the image has {}; {} is the most a GPU worker takes",
                       human_bytes(compiled.image.size()), human_bytes(kMaxOneImage));
  }
  const std::string hash = hash_hex(compiled.image);
  ports::ImageId id = 0;
  for (auto& [known, image] : images_) {
    if (image.hash == hash && image.kind == compiled.kind) id = known;
  }
  const bool fresh = id == 0;
  if (fresh) {
    id = next_image_++;
    images_[id] = {compiled.kind, compiled.image, hash, 0};
  }
  Status status = ensure_image(id);
  if (!status) {
    if (fresh) images_.erase(id);
    return std::move(status).error();
  }
  forget_old_images(id);
  return id;
}

Status GpuDevice::ensure_image(ports::ImageId id) {
  auto found = images_.find(id);
  if (found == images_.end()) {
    return input_error(
        "image {} is not loaded (too many others were loaded since, or it never was)", id);
  }
  found->second.last_used = ++clock_;
  KW_TRY(ensure_worker());
  if (worker_->holds(id)) return Done{};
  Request request;
  request.verb = Verb::Load;
  request.image = id;
  request.kind = found->second.kind;
  request.bytes = found->second.bytes;
  Answer answer = worker_->ask(request, kLoadSeconds);
  if (answer.state != Answer::State::Replied) {
    const std::string how =
        answer.state == Answer::State::TimedOut ? "never ended" : answer.how_died;
    drop_worker("loading an image");
    KW_TRY(os::check_interrupted());
    return input_error("the driver failed while it loaded this image: " + how);
  }
  if (answer.reply.context_lost) drop_worker("loading an image");
  if (!answer.reply.error.empty()) return Error{answer.reply.blame, answer.reply.error};
  KW_CHECK(worker_ != nullptr, "a context is not lost by loading an image well");
  if (auto oldest = worker_->note_loaded(id)) {
    request = {};
    request.verb = Verb::Unload;
    request.image = *oldest;
    answer = worker_->ask(request, kLoadSeconds);
    if (answer.state != Answer::State::Replied) {
      drop_worker("unloading an image");
      return environment_error("the GPU worker was lost while it unloaded an image");
    }
  }
  return Done{};
}

void GpuDevice::forget_old_images(ports::ImageId keep) {
  uint64_t total = 0;
  for (const auto& [id, image] : images_) total += image.bytes.size();
  while (total > kMaxImageBytes && images_.size() > 1) {
    auto oldest = images_.end();
    for (auto it = images_.begin(); it != images_.end(); ++it) {
      if (it->first == keep) continue;
      if (oldest == images_.end() || it->second.last_used < oldest->second.last_used) oldest = it;
    }
    total -= oldest->second.bytes.size();
    images_.erase(oldest);
  }
}

InputRef GpuDevice::place_input(InputKey key, const tensor::Bytes& data,
                                const std::set<InputKey>& needed, Request& request,
                                std::vector<ArenaFill>& fills) {
  InputRef ref{key, {}};
  if (key != 0 && worker_->keeps(key)) return ref;
  const Range range = arena_.reserve(data.size());
  fills.push_back({range, &data});
  if (key == 0) {
    ref.range = range;
    return ref;
  }
  request.uploads.push_back({key, range});
  const auto budget = static_cast<uint64_t>(info_.memory_bytes) / options_.kept_part;
  const auto dropped = worker_->note_kept(key, data.size(), budget, needed);
  request.drops.insert(request.drops.end(), dropped.begin(), dropped.end());
  return ref;
}

Status GpuDevice::lay_out(const Question& question, Request& request) {
  arena_.clear();
  request.uploads.clear();
  request.drops.clear();
  request.programs.clear();
  std::set<InputKey> needed;
  for (const auto& sets : question.keys) {
    for (const auto& keys : sets) needed.insert(keys.begin(), keys.end());
  }
  std::vector<ArenaFill> fills;
  for (size_t p = 0; p < question.programs->size(); ++p) {
    const ports::TimedProgram& given = (*question.programs)[p];
    ProgramMessage message;
    message.image = given.image;
    message.program = *given.program;
    const std::vector<kernel::Buffer>& buffers = given.program->buffers;
    for (size_t set = 0; set < given.pool.size(); ++set) {
      std::vector<InputRef>& refs = message.pool.emplace_back(buffers.size());
      for (size_t i = 0; i < buffers.size(); ++i) {
        if (!buffers[i].present || !has_input_role(buffers[i])) continue;
        refs[i] =
            place_input(question.keys[p][set][i], given.pool[set][i].data, needed, request, fills);
      }
    }
    for (int place = 0; place < question.output_places; ++place) {
      std::vector<Range>& ranges = message.outputs.emplace_back();
      for (const kernel::Buffer& buffer : buffers) {
        const bool wanted = buffer.present && has_output_role(buffer);
        ranges.push_back(arena_.reserve(wanted ? cuda::dense_bytes(buffer) : 0));
      }
    }
    request.programs.push_back(std::move(message));
  }
  KW_TRY(arena_.commit());
  for (const ArenaFill& fill : fills) {
    if (fill.range.bytes > 0)
      copy_in_parts(arena_.at(fill.range), {fill.from->data(), fill.range.bytes});
  }
  return Done{};
}

Status GpuDevice::share_arena() {
  const auto failed = worker_->share(arena_.memory(), arena_.generation());
  if (!failed) return Done{};
  const std::string why =
      failed->state == Answer::State::Replied ? failed->reply.error : failed->how_died;
  drop_worker("sharing memory");
  return environment_error("the GPU worker could not map the shared memory: " + why);
}

Result<RunStatus> GpuDevice::serve(const Question& question, Request& request, double limit_seconds,
                                   Reply& reply, std::string& message) {
  const auto memory = static_cast<uint64_t>(info_.memory_bytes);
  if (question.bytes > memory) {
    // Tensors that do not fit the device need no memory on the host.
    message = fmt::format("the tensors need {}, {} has {}", human_bytes(question.bytes), info_.name,
                          human_bytes(memory));
    return RunStatus::OutOfMemory;
  }
  const GpuLock lock =
      KW_TRY(GpuLock::take(info_.uuid, options_.lock_timeout_seconds, options_.notice));
  for (int attempt = 0;; ++attempt) {
    KW_TRY(ensure_healthy());
    for (const ports::TimedProgram& given : *question.programs) KW_TRY(ensure_image(given.image));
    KW_TRY(lay_out(question, request));
    KW_TRY(share_arena());
    const RunStatus status =
        KW_TRY(converse(request, patience(limit_seconds, question.bytes), reply, message));
    if (status != RunStatus::Completed || reply.lost.empty()) return status;
    // A kept input was overwritten, or memory was short: send it again.
    if (worker_ != nullptr) {
      for (InputKey key : reply.lost) worker_->forget(key);
    }
    const bool short_of_memory =
        reply.run.status == RunStatus::OutOfMemory || reply.time.status == RunStatus::OutOfMemory;
    if (short_of_memory || attempt > 0) return status;
  }
}

Result<RunStatus> GpuDevice::converse(const Request& request, double limit_seconds, Reply& reply,
                                      std::string& message) {
  Answer answer = worker_->ask(request, limit_seconds);
  if (os::interrupted()) {
    drop_worker("an interrupted run");
    return environment_error("interrupted");
  }
  const std::string& name = request.programs[0].program.module_name;
  if (answer.state == Answer::State::TimedOut) {
    drop_worker("a hang of " + name);
    message = fmt::format("the worker did not answer within {:.0f} s and was ended", limit_seconds);
    return RunStatus::Hung;
  }
  if (answer.state == Answer::State::Died) {
    drop_worker("the loss of the worker that ran " + name);
    message = "the worker process " + answer.how_died;
    return RunStatus::WorkerLost;
  }
  reply = std::move(answer.reply);
  if (reply.context_lost) drop_worker("a fault of " + name);
  if (!reply.error.empty()) return Error{reply.blame, reply.error};
  return RunStatus::Completed;
}

std::vector<tensor::HostTensor> GpuDevice::fetch(const kernel::Program& program,
                                                 const std::vector<Range>& ranges) {
  std::vector<tensor::HostTensor> buffers(program.buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    const kernel::Buffer& buffer = program.buffers[i];
    if (!buffer.present || !has_output_role(buffer)) continue;
    buffers[i].dtype = buffer.dtype;
    buffers[i].shape = buffer.shape;
    buffers[i].data = spare_.copy_of({arena_.at(ranges[i]), ranges[i].bytes});
  }
  return buffers;
}

Result<ports::RunOutcome> GpuDevice::run(ports::ImageId image, const kernel::Program& program,
                                         const ports::InputViews& inputs,
                                         const ports::RunOptions& options) {
  const std::lock_guard guard(mutex_);
  Request request;
  request.verb = Verb::Run;
  request.options = options;
  request.seed = hash64(fmt::format("{} {}", ::getpid(), ++clock_));
  ports::RunOutcome outcome;
  Reply reply;
  const std::vector<ports::TimedProgram> programs = {{image, &program, {inputs}}};
  const Question question = KW_TRY(ask_about(programs, options.copy_outputs ? 1 : 0, most_kept()));
  const RunStatus met =
      KW_TRY(serve(question, request, options.timeout_seconds, reply, outcome.message));
  if (met != RunStatus::Completed) {
    outcome.status = met;
    return outcome;
  }
  outcome = std::move(reply.run);
  if (outcome.status == RunStatus::OutOfMemory) suspicion_ = "running out of memory";
  if (outcome.status != RunStatus::Completed || !options.copy_outputs) return outcome;
  outcome.buffers = fetch(program, request.programs[0].outputs[0]);
  return outcome;
}

Result<ports::TimeOutcome> GpuDevice::time(const std::vector<ports::TimedProgram>& programs,
                                           const ports::TimeProtocol& protocol) {
  const std::lock_guard guard(mutex_);
  ports::TimeOutcome outcome;
  if (programs.empty()) return outcome;
  Request request;
  request.verb = Verb::Time;
  request.protocol_options = protocol;
  Reply reply;
  const int places = protocol.copies_out > 0 ? protocol.copies_out + 1 : 0;
  const Question question = KW_TRY(ask_about(programs, places, most_kept()));
  outcome.status =
      KW_TRY(serve(question, request, protocol.timeout_seconds, reply, outcome.message));
  if (outcome.status != RunStatus::Completed) return outcome;
  if (reply.time.status == RunStatus::OutOfMemory) suspicion_ = "running out of memory";
  outcome = std::move(reply.time);
  for (size_t p = 0; p < outcome.results.size(); ++p) {
    std::vector<ports::CopiedCall>& copied = outcome.results[p].copied;
    for (size_t c = 0; c < copied.size(); ++c) {
      const auto slot = static_cast<size_t>(reply.slots.at(p).at(c));
      copied[c].buffers = fetch(*programs[p].program, request.programs[p].outputs.at(slot));
    }
  }
  return outcome;
}

Result<record::Calibration> GpuDevice::calibrate(double timeout_seconds) {
  const std::lock_guard guard(mutex_);
  const GpuLock lock =
      KW_TRY(GpuLock::take(info_.uuid, options_.lock_timeout_seconds, options_.notice));
  KW_TRY(ensure_healthy());
  Request request;
  request.verb = Verb::Calibrate;
  request.options.timeout_seconds = timeout_seconds;
  const Answer answer = worker_->ask(request, patience(20 * timeout_seconds, 0));
  if (os::interrupted()) {
    drop_worker("an interrupted calibration");
    return environment_error("interrupted");
  }
  if (answer.state != Answer::State::Replied) {
    drop_worker("a calibration");
    return environment_error("the GPU worker was lost while it calibrated: " +
                             (answer.how_died.empty() ? "it did not answer" : answer.how_died));
  }
  if (answer.reply.context_lost) drop_worker("a calibration");
  if (!answer.reply.error.empty()) return Error{answer.reply.blame, answer.reply.error};
  return record::calibration_from_json(KW_TRY(Json::parse(answer.reply.calibration)));
}

void GpuDevice::recycle(std::vector<tensor::HostTensor> buffers) {
  spare_.give(std::move(buffers));
}

void GpuDevice::renew() {
  const std::lock_guard guard(mutex_);
  worker_.reset();
  worker_pid_ = 0;
}

uint64_t GpuDevice::most_kept() const {
  return static_cast<uint64_t>(info_.memory_bytes) / kKeptInputPart;
}

}  // namespace kw::gpu
