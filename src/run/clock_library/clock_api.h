/* The clock as a shared library with a C interface, for processes that are not ours: the torch
 * process loads it and has its own work timed beside candidates, by the code that times candidates
 * everywhere. Frames are those of gpu/messages.h; nothing else of kernelwright is visible. Not
 * thread-safe. */
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

/* Work captured by the caller, to be timed beside the programs of a Time frame. It exists in
 * `calls` copies, each a CUgraph with inputs and outputs of its own; inputs are refilled from the
 * pool before every sample. */
typedef struct kw_baseline {
  const char* name;
  size_t calls, inputs, outputs, entries;
  void* const* graphs;         /* [calls] */
  const kw_span* input_spans;  /* [calls][inputs] */
  const kw_span* output_spans; /* [calls][outputs] */
  const kw_span* pool_spans;   /* [entries][inputs]; entries may be 0: contents stay */
} kw_baseline;

typedef struct kw_clock kw_clock;

/* The clock on the primary context of this device. NULL on failure: kw_clock_error(NULL) says why.
 */
kw_clock* kw_clock_open(int ordinal);
/* Not after a lost context: then the process is to end. */
void kw_clock_close(kw_clock* clock);
/* Answers a Load or Time frame with a reply frame, which stays valid until the next call. In a Time
 * frame, the key of an input is its place in `inputs`, counted from 1. The results of baselines
 * follow those of programs. NULL only for a bug of ours: kw_clock_error(clock) says which. */
const char* kw_clock_ask(kw_clock* clock, const char* frame, size_t frame_bytes,
                         const kw_span* inputs, size_t input_count, const kw_baseline* baselines,
                         size_t baseline_count, size_t* reply_bytes);
/* What went wrong last; "" for nothing. */
const char* kw_clock_error(kw_clock* clock);
/* Whether the context is lost, so that this process can use the device no more. */
int kw_clock_lost(kw_clock* clock);

#ifdef __cplusplus
}
#endif
