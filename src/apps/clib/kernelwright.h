/* kernelwright as a shared library: commands as jobs, and kernel modules as something to call. JSON
 * in and out, tensors as DLPack has them. Texts it returns stay valid until their handle is freed
 * or the same function is called again by this thread. Where a function fails, kw_last_error() says
 * why. Nothing here starts the host process anew: workers are the program `kernelwright` that lies
 * beside the library. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a function changes its meaning or goes away; new functions leave it as it is. */
#define KW_ABI_VERSION 1
int kw_abi_version(void);
/* "0.1.0". */
const char* kw_version(void);
/* {"blame": "input" | "candidate" | "environment" | "bug" | "user", "message": "…"} of this
 * thread's last call that failed; "" before there was one. */
const char* kw_last_error(void);
/* 0, or -1 when the library cannot work as it stands: its workers' program is missing or of another
 * version. */
int kw_check(void);

/* A command of the program, as `kernelwright help` lists them, in a thread of its own. Jobs of one
 * process run one after the other. */
typedef struct kw_job kw_job;
/* Told what a job is doing: kind is "progress" or "note". */
typedef void (*kw_listener)(void* context, const char* kind, const char* text);
/* `options` is an object: members are options by their names without dashes ('_' is '-'), lists
 * give an option several times, objects are NAME=VALUE pairs, true is a flag, null and false
 * nothing; "arguments" is the list of what stands without a name. NULL when there is no such
 * command. */
kw_job* kw_job_start(const char* command, const char* options);
/* Waits at most so long and tells the listener, in this thread, what happened meanwhile. 1: the job
 * has ended; 0: not yet. Without a listener the news are kept for kw_job_told. */
int kw_job_wait(kw_job* job, int milliseconds, kw_listener listener, void* context);
/* The news for those who cannot be called back: [["progress", "…"], …] since they were last told.
 */
const char* kw_job_told(kw_job* job);
/* Asks the job to end soon and in order; what it has found stays in its run. */
void kw_job_stop(kw_job* job);
/* What --json prints, once it has ended: {"ok", "exit_code", "error": {"blame", "message"}, …}. */
const char* kw_job_result(kw_job* job);
/* A job that has not ended is asked to stop and ends by itself. */
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

/* A kernel module, ready to be planned for shapes. */
typedef struct kw_kernel kw_kernel;
/* {"text", "file_name", "tunes": {…}, "compiler": "", "timeout_seconds": 60}; all but the text may
 * be missing. NULL on failure. */
kw_kernel* kw_kernel_open(const char* options);
/* {"task", "tensors": [{"name", "role", "dtype", "shape", "optional", "align"}],
 *  "scalars": [{"name", "dtype", "default"}], "dims": […]}. */
const char* kw_kernel_describe(kw_kernel* kernel);
void kw_kernel_free(kw_kernel* kernel);

/* The module for given shapes on one device: compiled, loaded, its launches checked. */
typedef struct kw_plan kw_plan;
/* {"device": "cuda" | "virtual", "ordinal": 0, "target": "", "shapes": {"x": [4, 8]},
 *  "strides": {…}, "dims": {…}, "scalars": {"eps": "1e-5"}, "absent": […]}. NULL on failure.
 * "cuda" retains the device's primary context, the one the CUDA runtime uses. */
kw_plan* kw_kernel_plan(kw_kernel* kernel, const char* request);
/* {"buffers": [{"name", "role", "dtype", "shape", "strides", "bytes", "align", "fill", "present"}],
 *  "launches", "device", "target"}. */
const char* kw_plan_describe(kw_plan* plan);
/* Runs it once. tensors[i] belongs to buffer i; NULL where a buffer is not present, and for scratch
 * on the virtual GPU. CUDA: queued on `stream` (a CUstream of the plan's device), without
 * allocating or waiting, so that it can be captured; scratch is any memory of that many bytes, zero
 * at first where "fill" is "kept". The virtual GPU ignores the stream and answers when it is done.
 * 0, or -1: a tensor that does not fit, a kernel that broke a rule. */
int kw_plan_run(kw_plan* plan, const kw_tensor* const* tensors, size_t count, void* stream);
void kw_plan_free(kw_plan* plan);

#ifdef __cplusplus
}
#endif
