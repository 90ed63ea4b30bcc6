/* kernelwright as a shared library: runs commands as jobs, and calls kernel modules. Options and
 * results are JSON; tensors have the layout of DLPack. A returned text stays valid until its handle
 * is freed or this thread calls the same function again. When a function fails, kw_last_error()
 * says why. The library never starts the host program again: workers are started from the program
 * `kernelwright` beside the library. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a function changes its meaning or is removed; new functions do not change it. */
#define KW_ABI_VERSION 1
int kw_abi_version(void);
/* "0.1.0". */
const char* kw_version(void);
/* {"blame": "input" | "candidate" | "environment" | "bug" | "user", "message": "…"} of this
 * thread's last failed call; "" if no call has failed. */
const char* kw_last_error(void);
/* 0, or -1 when the library cannot work: the workers' program is missing or of another version. */
int kw_check(void);

/* A command of the program (see `kernelwright help`) in its own thread. Jobs of one process run one
 * after another. */
typedef struct kw_job kw_job;
/* Called with the news of a job: kind is "progress" or "note". */
typedef void (*kw_listener)(void* context, const char* kind, const char* text);
/* `options` is an object. Members are options by their names without dashes ('_' is '-'). A list
 * gives an option several times, an object means NAME=VALUE pairs, true sets a flag, null and false
 * leave the option out. "arguments" is the list of positional words. NULL when there is no such
 * command. */
kw_job* kw_job_start(const char* command, const char* options);
/* Waits at most `milliseconds`, then calls the listener, in this thread, for each piece of news.
 * 1: the job has ended; 0: not yet. Without a listener the news is kept for kw_job_told. */
int kw_job_wait(kw_job* job, int milliseconds, kw_listener listener, void* context);
/* The news since the last call, for callers without a listener: [["progress", "…"], …]. */
const char* kw_job_told(kw_job* job);
/* Asks the job to end soon and cleanly; its results so far stay in its run folder. */
void kw_job_stop(kw_job* job);
/* What --json prints, after the end: {"ok", "exit_code", "error": {"blame", "message"}, …}. */
const char* kw_job_result(kw_job* job);
/* A job that has not ended is asked to stop, and then ends by itself. */
void kw_job_free(kw_job* job);

/* A tensor: DLPack's DLTensor, member for member. */
typedef struct kw_tensor {
  void* data;
  int32_t device_type, device_id; /* 1: CPU, 2: CUDA, 3: pinned CPU, 13: CUDA managed */
  int32_t ndim;
  uint8_t type_code, type_bits;
  uint16_t type_lanes;
  const int64_t* shape;
  const int64_t* strides; /* in elements; NULL: contiguous */
  uint64_t byte_offset;
} kw_tensor;

/* A kernel module, from which plans for given shapes are made. */
typedef struct kw_kernel kw_kernel;
/* {"text", "file_name", "tunes": {…}, "compiler": "", "timeout_seconds": 60}; only the text is
 * required. NULL on failure. */
kw_kernel* kw_kernel_open(const char* options);
/* {"task", "tensors": [{"name", "role", "dtype", "shape", "optional", "align"}],
 *  "scalars": [{"name", "dtype", "default"}], "dims": […]}. */
const char* kw_kernel_describe(kw_kernel* kernel);
void kw_kernel_free(kw_kernel* kernel);

/* The module for given shapes on one device: compiled, loaded, its launches checked. */
typedef struct kw_plan kw_plan;
/* {"device": "cuda" | "virtual", "ordinal": 0, "target": "", "shapes": {"x": [4, 8]},
 *  "strides": {…}, "dims": {…}, "scalars": {"eps": "1e-5"}, "absent": […]}. NULL on failure.
 * "cuda" retains the device's primary context, which the CUDA runtime also uses. */
kw_plan* kw_kernel_plan(kw_kernel* kernel, const char* request);
/* {"buffers": [{"name", "role", "dtype", "shape", "strides", "bytes", "align", "fill", "present"}],
 *  "launches", "device", "target"}. */
const char* kw_plan_describe(kw_plan* plan);
/* Runs the plan once. tensors[i] belongs to buffer i; it is NULL if the buffer is not present, and
 * for scratch on the virtual GPU. CUDA: the launches are queued on `stream` (a CUstream of the
 * plan's device) without allocating or waiting, so that they can be captured. Scratch is any memory
 * of enough bytes; if "fill" is "kept", it must be zero before the first call. The virtual GPU
 * ignores the stream and returns when the run has ended. Returns 0, or -1: a tensor does not fit,
 * or the kernel broke a rule. */
int kw_plan_run(kw_plan* plan, const kw_tensor* const* tensors, size_t count, void* stream);
void kw_plan_free(kw_plan* plan);

#ifdef __cplusplus
}
#endif
