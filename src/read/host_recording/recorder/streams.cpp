// Streams, events and graphs. All operations are recorded in the order of the calls, which is a
// legal order for several streams.
#include <string>

#include "host_recording/recorder/state.h"

using kw::recorder::fail;
using kw::recorder::new_handle;
using kw::recorder::refuse;
using kw::recorder::state;

namespace {

int make(void** to) {
  if (to == nullptr) return fail(kw::recorder::kInvalidValue);
  *to = new_handle();
  return 0;
}

uint64_t key(const void* handle) { return kw::recorder::as_number(handle); }

}  // namespace

KW_RECORDED int cudaStreamCreate(void** stream) { return make(stream); }
KW_RECORDED int cudaStreamCreateWithFlags(void** stream, unsigned) { return make(stream); }
KW_RECORDED int cudaStreamCreateWithPriority(void** stream, unsigned, int) { return make(stream); }
KW_RECORDED int cudaStreamDestroy(void*) { return 0; }
KW_RECORDED int cudaStreamSynchronize(void*) { return 0; }
KW_RECORDED int cudaStreamSynchronize_ptsz(void*) { return 0; }
KW_RECORDED int cudaStreamQuery(void*) { return 0; }
KW_RECORDED int cudaStreamWaitEvent(void*, void*, unsigned) { return 0; }
KW_RECORDED int cudaStreamGetPriority(void*, int* priority) {
  *priority = 0;
  return 0;
}
KW_RECORDED int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return 0;
}
KW_RECORDED int cudaEventCreate(void** event) { return make(event); }
KW_RECORDED int cudaEventCreateWithFlags(void** event, unsigned) { return make(event); }
KW_RECORDED int cudaEventDestroy(void*) { return 0; }
KW_RECORDED int cudaEventRecord(void*, void*) { return 0; }
KW_RECORDED int cudaEventRecord_ptsz(void*, void*) { return 0; }
KW_RECORDED int cudaEventRecordWithFlags(void*, void*, unsigned) { return 0; }
KW_RECORDED int cudaEventSynchronize(void*) { return 0; }
KW_RECORDED int cudaEventQuery(void*) { return 0; }
KW_RECORDED int cudaEventElapsedTime(float* ms, void*, void*) {
  kw::recorder::fill_with_noise(ms, 1);
  *ms = 0.5f + static_cast<float>(*reinterpret_cast<unsigned char*>(ms));
  return 0;
}

KW_RECORDED int cudaStreamBeginCapture(void*, int) {
  if (state().out != &state().text) return fail(kw::recorder::kInvalidValue);
  const uint64_t graph = key(new_handle());
  state().out = &state().graphs[graph];
  return 0;
}
KW_RECORDED int cudaStreamBeginCapture_ptsz(void* stream, int mode) {
  return cudaStreamBeginCapture(stream, mode);
}
KW_RECORDED int cudaStreamEndCapture(void*, void** graph) {
  for (auto& [handle, text] : state().graphs) {
    if (state().out != &text) continue;
    state().out = &state().text;
    *graph = reinterpret_cast<void*>(handle);
    return 0;
  }
  return fail(kw::recorder::kInvalidValue);
}
KW_RECORDED int cudaStreamEndCapture_ptsz(void* stream, void** graph) {
  return cudaStreamEndCapture(stream, graph);
}
KW_RECORDED int cudaStreamIsCapturing(void*, int* capturing) {
  *capturing = state().out == &state().text ? 0 : 1;
  return 0;
}
KW_RECORDED int cudaGraphInstantiate(void** instance, void* graph, unsigned long long) {
  *instance = graph;
  return state().graphs.count(key(graph)) > 0 ? 0 : fail(kw::recorder::kInvalidValue);
}
KW_RECORDED int cudaGraphInstantiateWithFlags(void** instance, void* graph, unsigned long long) {
  return cudaGraphInstantiate(instance, graph, 0);
}
KW_RECORDED int cudaGraphLaunch(void* instance, void*) {
  const auto at = state().graphs.find(key(instance));
  if (at == state().graphs.end()) return fail(kw::recorder::kInvalidValue);
  const std::string recorded = at->second;
  size_t begin = 0;
  for (size_t end = recorded.find('\n'); end != std::string::npos;
       end = recorded.find('\n', begin)) {
    kw::recorder::write_line(recorded.substr(begin, end - begin));
    begin = end + 1;
  }
  return 0;
}
KW_RECORDED int cudaGraphLaunch_ptsz(void* instance, void* stream) {
  return cudaGraphLaunch(instance, stream);
}
KW_RECORDED int cudaGraphUpload(void*, void*) { return 0; }
KW_RECORDED int cudaGraphDestroy(void*) { return 0; }
KW_RECORDED int cudaGraphExecDestroy(void*) { return 0; }
KW_RECORDED int cudaGraphCreate(void**, unsigned) {
  return refuse("a graph built node by node (capture a stream instead)");
}
