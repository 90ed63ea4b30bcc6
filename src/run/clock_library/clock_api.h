/* The clock as a shared library with a C interface. The torch process loads it, so that the same
 * code times PyTorch's work and candidates side by side. Frames are those of gpu/messages.h; no
 * other symbol of kernelwright is visible. Not thread-safe. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A piece of device memory. */
typedef struct kw_span {
  uint64_t address, bytes;
} kw_span;

/* Work captured by the caller, timed together with the programs of a Time frame. There are `calls`
 * copies, each a CUgraph with its own inputs and outputs. Inputs are refilled from the pool before
 * every sample. */
typedef struct kw_baseline {
  const char* name;
  size_t calls, inputs, outputs, entries;
  void* const* graphs;         /* [calls] */
  const kw_span* input_spans;  /* [calls][inputs] */
  const kw_span* output_spans; /* [calls][outputs] */
  const kw_span* pool_spans;   /* [entries][inputs]; entries may be 0: no refill */
} kw_baseline;

typedef struct kw_clock kw_clock;

/* Opens the clock on the primary context of this device. NULL on failure: kw_clock_error(NULL) says
 * why. */
kw_clock* kw_clock_open(int ordinal);
/* Must not be called after the context is lost: then the process must end. */
void kw_clock_close(kw_clock* clock);
/* Answers a Load or Time frame with a reply frame, which stays valid until the next call. In a Time
 * frame, the key of an input is its index in `inputs`, counted from 1. The results of baselines
 * follow those of programs. NULL only for a bug of ours: kw_clock_error(clock) names it. */
const char* kw_clock_ask(kw_clock* clock, const char* frame, size_t frame_bytes,
                         const kw_span* inputs, size_t input_count, const kw_baseline* baselines,
                         size_t baseline_count, size_t* reply_bytes);
/* The last error; "" if there was none. */
const char* kw_clock_error(kw_clock* clock);
/* Whether the context is lost, so that this process cannot use the device any more. */
int kw_clock_lost(kw_clock* clock);

#ifdef __cplusplus
}
#endif
