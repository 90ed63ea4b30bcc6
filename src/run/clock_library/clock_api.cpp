#include "clock_library/clock_api.h"

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "clock_library/clock_session.h"

#define KW_EXPORT __attribute__((visibility("default")))

struct kw_clock {
  std::unique_ptr<kw::clock_library::ClockSession> session;
  std::string reply, error;
};

namespace {

std::string& open_error() {
  static std::string error;
  return error;
}

std::vector<kw::cuda::DeviceSpan> spans(const kw_span* from, size_t count) {
  std::vector<kw::cuda::DeviceSpan> made;
  for (size_t i = 0; i < count; ++i) made.push_back({from[i].address, from[i].bytes});
  return made;
}

kw::clock_library::Baseline baseline_of(const kw_baseline& from) {
  kw::clock_library::Baseline made;
  made.name = from.name;
  for (size_t c = 0; c < from.calls; ++c) {
    made.calls.push_back({static_cast<kw::cuda::CuGraph>(from.graphs[c]),
                          spans(from.input_spans + c * from.inputs, from.inputs),
                          spans(from.output_spans + c * from.outputs, from.outputs)});
  }
  for (size_t e = 0; e < from.entries; ++e) {
    made.pool.push_back(spans(from.pool_spans + e * from.inputs, from.inputs));
  }
  return made;
}

/// No exception may cross the C interface; a thrown one becomes the error text.
template <typename Work>
auto guarded(std::string& error, Work work) -> decltype(work()) {
  try {
    error.clear();
    return work();
  } catch (const std::exception& thrown) {
    error = thrown.what();
  } catch (...) {
    error = "something that is not an exception was thrown";
  }
  return {};
}

}  // namespace

KW_EXPORT kw_clock* kw_clock_open(int ordinal) {
  return guarded(open_error(), [&]() -> kw_clock* {
    auto session = kw::clock_library::ClockSession::open(ordinal);
    if (!session) {
      open_error() = session.error().message;
      return nullptr;
    }
    return new kw_clock{std::move(session).value(), {}, {}};
  });
}

KW_EXPORT void kw_clock_close(kw_clock* clock) { delete clock; }

KW_EXPORT const char* kw_clock_ask(kw_clock* clock, const char* frame, size_t frame_bytes,
                                   const kw_span* inputs, size_t input_count,
                                   const kw_baseline* baselines, size_t baseline_count,
                                   size_t* reply_bytes) {
  *reply_bytes = 0;
  return guarded(clock->error, [&]() -> const char* {
    auto request = kw::gpu::decode_request(std::string_view(frame, frame_bytes));
    if (!request) {
      clock->error = request.error().message;
      return nullptr;
    }
    std::vector<kw::clock_library::Baseline> work;
    for (size_t i = 0; i < baseline_count; ++i) work.push_back(baseline_of(baselines[i]));
    clock->reply =
        kw::gpu::encode(clock->session->ask(*request, spans(inputs, input_count), std::move(work)));
    *reply_bytes = clock->reply.size();
    return clock->reply.data();
  });
}

KW_EXPORT const char* kw_clock_error(kw_clock* clock) {
  return clock == nullptr ? open_error().c_str() : clock->error.c_str();
}

KW_EXPORT int kw_clock_lost(kw_clock* clock) { return clock->session->lost() ? 1 : 0; }
