#include "gpu/profiled_call.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cstring>

#include "cuda/buffers.h"
#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/launch.h"
#include "cuda/run_program.h"
#include "gpu/arena.h"
#include "gpu/lock.h"
#include "gpu/messages.h"
#include "gpu/question.h"
#include "os/files.h"

namespace kw::gpu {
namespace {

constexpr int kWarmCalls = 2;
constexpr double kLockSeconds = 120;

cuda::MaybeFault call_once(const cuda::Context& context,
                           const std::vector<cuda::ReadyLaunch>& launches, cuda::BufferSet& buffers,
                           double timeout_seconds) {
  KW_TRY(buffers.enqueue_zero_fills());
  for (const cuda::ReadyLaunch& ready : launches)
    KW_TRY(cuda::enqueue_launch(context, *ready.function, *ready.launch, buffers.addresses()));
  return context.wait(cuda::deadline_in(timeout_seconds), "running it for the profiler");
}

cuda::MaybeFault call_marked(const cuda::Context& context, cuda::LoadedImage& image,
                             const kernel::Program& program, const cuda::Sources& inputs,
                             double timeout_seconds) {
  const auto launches = KW_TRY(cuda::ready_launches(context, image, program));
  cuda::BufferSet buffers = KW_TRY(cuda::BufferSet::create(context, program, 0, 1));
  for (int warm = 0; warm < kWarmCalls; ++warm) {
    KW_TRY(buffers.upload(inputs));
    KW_TRY(call_once(context, launches, buffers, timeout_seconds));
  }
  // Undo what the warm-up call wrote into its inputs.
  KW_TRY(buffers.upload(inputs));
  KW_TRY(context.check(context.api().profiler_start(), "starting the profiler"));
  KW_TRY(call_once(context, launches, buffers, timeout_seconds));
  return context.check(context.api().profiler_stop(), "stopping the profiler");
}

Result<os::SharedMemory> open_memory(const std::string& path, uint64_t bytes) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return environment_error("{}: {}", path, std::strerror(errno));
  return os::SharedMemory::attach(fd, bytes);
}

/// Lays out the inputs one after another; the ranges are parallel to the buffers.
Result<std::vector<InputRef>> lay_out_inputs(const kernel::Program& program,
                                             const ports::InputViews& inputs, Arena& arena) {
  std::vector<InputRef> refs(program.buffers.size());
  for (size_t i = 0; i < refs.size(); ++i) {
    if (program.buffers[i].present && has_input_role(program.buffers[i]))
      refs[i].range = arena.reserve(inputs[i].data.size());
  }
  KW_TRY(arena.commit());
  for (size_t i = 0; i < refs.size(); ++i) {
    if (refs[i].range.bytes > 0)
      std::memcpy(arena.at(refs[i].range), inputs[i].data.data(), refs[i].range.bytes);
  }
  return refs;
}

}  // namespace

Result<ProfiledCall> ProfiledCall::write(const ports::Compiled& compiled,
                                         const kernel::Program& program,
                                         const ports::InputViews& inputs, const std::string& file,
                                         double timeout_seconds) {
  ports::TimedProgram given{1, &program, {inputs}};
  KW_TRY(ask_about({given}, 0, 0));
  ProfiledCall call;
  call.file_ = file;
  Request request;
  request.verb = Verb::Run;
  request.kind = compiled.kind;
  request.bytes = compiled.image;
  request.options.timeout_seconds = timeout_seconds;
  request.programs.push_back(
      {1, program, {KW_TRY(lay_out_inputs(program, inputs, call.inputs_))}, {}});
  request.arena_bytes = call.inputs_.memory().size();
  KW_TRY(os::write_file(file, encode(request), os::Sync::No));
  return call;
}

std::vector<std::string> ProfiledCall::words() const {
  // The profiler may not pass descriptors on, so the memory is named by our own /proc path.
  return {kProfiledCallCommand, file_,
          fmt::format("/proc/{}/fd/{}", ::getpid(), inputs_.memory().fd())};
}

Status profiled_call(const std::string& file, const std::string& memory) {
  const std::string frame = KW_TRY(os::read_file(file));
  const Request request = KW_TRY(decode_request(frame));
  if (request.programs.size() != 1 || request.programs[0].pool.size() != 1)
    return input_error(file + " does not describe one call");
  const kernel::Program& program = request.programs[0].program;
  const os::SharedMemory arena = KW_TRY(open_memory(memory, request.arena_bytes));
  cuda::ConstBytes bytes;
  for (const InputRef& ref : request.programs[0].pool[0]) {
    if (ref.range.offset > arena.size() || ref.range.bytes > arena.size() - ref.range.offset)
      return input_error(file + " names inputs that are not there");
    bytes.emplace_back(arena.data() + ref.range.offset, ref.range.bytes);
  }
  const cuda::Sources inputs = cuda::from_host(bytes);
  KW_TRY(cuda::check_program(program, inputs));
  const auto driver = KW_TRY(cuda::Driver::open());
  if (driver->api().profiler_start == nullptr || driver->api().profiler_stop == nullptr)
    return environment_error("the CUDA driver has no marks for profilers");
  const auto context = KW_TRY(cuda::Context::create(*driver, request.ordinal));
  const GpuLock lock = KW_TRY(GpuLock::take(context->info().uuid, kLockSeconds, {}));
  const auto image = KW_TRY(cuda::LoadedImage::load(*context, request.kind, request.bytes));
  const cuda::MaybeFault done =
      call_marked(*context, *image, program, inputs, request.options.timeout_seconds);
  if (!done) return environment_error(done.error().message);
  return Done{};
}

}  // namespace kw::gpu
