#include "compile/compile_worker.h"

#include <unistd.h>

#include "compile/nvrtc_core.h"
#include "compile/wire.h"
#include "os/landlock.h"
#include "os/process.h"

namespace kw::compile {
namespace {

// Precompiled, cooperative_groups alone takes 100 MB; a worker that has written more than this is
// replaced.
constexpr uint64_t kMaxPrecompiled = uint64_t{500} << 20;

WorkerReply serve(NvrtcCore& core, const std::string& frame) {
  WorkerReply reply;
  ports::CompileRequest request;
  if (!decode(frame, &request)) {
    reply.error = "the compile worker did not understand a request";
    return reply;
  }
  auto outcome = core.compile(request);
  if (outcome) {
    reply.outcome = std::move(outcome).value();
  } else {
    reply.error = outcome.error().message;
  }
  // After running out of memory the state of the library is undefined.
  const bool shaken = reply.outcome.failed && reply.outcome.failed->crashed;
  reply.wants_rest = shaken || core.precompiled_bytes() >= kMaxPrecompiled;
  return reply;
}

}  // namespace

int compile_worker_main() {
  std::string frame;
  WorkerSetup setup;
  if (os::child_receive(&frame) != os::ChannelState::Open || !decode(frame, &setup)) return 2;
  // PTX names the folder that the compiler ran in: it must be the same everywhere.
  if (::chdir("/") != 0) return 2;
  WorkerHello hello;
  auto core = NvrtcCore::load({setup.library, setup.builtins, setup.version, setup.header_folders,
                               setup.precompile ? setup.scratch_folder : ""});
  if (!core) {
    hello.error = core.error().message;
    os::child_send(encode(hello));
    return 0;
  }
  os::limit_resources({setup.memory_bytes, 0, UINT64_MAX});
  if (os::child_send(encode(hello)) != os::ChannelState::Open) return 0;
  while (os::child_receive(&frame) == os::ChannelState::Open) {
    if (os::child_send(encode(serve(**core, frame))) != os::ChannelState::Open) break;
  }
  // NVRTC removes its precompiled headers in an exit handler.
  return 0;
}

}  // namespace kw::compile
