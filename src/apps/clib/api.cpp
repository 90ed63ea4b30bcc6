// The C interface, for Python and other languages. Handles own the C++ objects. An exception must
// not cross into C, so every call that can fail goes through guarded(). It stores the error as JSON
// text, per thread, and returns a null pointer or -1. A struct of error codes would be usual in C,
// but callers need the message and whether the input, the machine or the candidate is to blame.
// The cost: a caller must read kw_last_error() before its next call on the same thread. Texts
// returned by a handle are valid until the handle changes or is freed.
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "clib/bound_kernel.h"
#include "clib/job.h"
#include "clib/kernel.h"
#include "clib/kernelwright.h"
#include "clib/own_workers.h"
#include "commands/io.h"
#include "core/json.h"
#include "core/result.h"

#define KW_EXPORT __attribute__((visibility("default")))

struct kw_job {
  std::shared_ptr<kw::clib::Job> job;
  std::string told;
};
struct kw_kernel {
  std::unique_ptr<kw::clib::Kernel> kernel;
};
struct kw_plan {
  std::unique_ptr<kw::clib::LaunchPlan> plan;
};

namespace {

using kw::Json;
using kw::Result;
using kw::Status;

std::string& last_error() {
  static thread_local std::string error;
  return error;
}

void blame(const char* who, const std::string& message) {
  last_error() = Json::object().set("blame", who).set("message", message).dump();
}

void blame(const kw::Error& error) { blame(kw::blame_name(error.blame), error.message); }

/// Returns the value of `work`. On failure stores the error and returns `otherwise`.
template <typename T, typename Work>
T guarded(T otherwise, Work work) {
  try {
    Result<T> made = work();
    if (made) return std::move(made).value();
    blame(made.error());
  } catch (const std::bad_alloc&) {
    blame("environment", "out of memory");
  } catch (const std::system_error& refused) {
    blame("environment", refused.what());
  } catch (const std::exception& bug) {
    blame("bug", bug.what());
  }
  return otherwise;
}

Result<Json> object_of(const char* text, const char* what) {
  if (text == nullptr) return kw::input_error(std::string(what) + " are missing");
  Result<Json> parsed = Json::parse(text);
  if (parsed && !parsed->is_object())
    return kw::input_error(std::string(what) + " are not a JSON object");
  return parsed;
}

}  // namespace

KW_EXPORT int kw_abi_version(void) { return KW_ABI_VERSION; }
KW_EXPORT const char* kw_version(void) { return kw::commands::version(); }
KW_EXPORT const char* kw_last_error(void) { return last_error().c_str(); }

KW_EXPORT int kw_check(void) {
  return guarded<int>(-1, []() -> Result<int> {
    KW_TRY(kw::clib::find_workers());
    return 0;
  });
}

KW_EXPORT kw_job* kw_job_start(const char* command, const char* options) {
  return guarded<kw_job*>(nullptr, [&]() -> Result<kw_job*> {
    KW_TRY(kw::clib::find_workers());
    if (command == nullptr) return kw::input_error("no command was named");
    auto job = KW_TRY(kw::clib::Job::start(command, options == nullptr ? "{}" : options));
    return new kw_job{std::move(job), {}};
  });
}

KW_EXPORT int kw_job_wait(kw_job* job, int milliseconds, kw_listener listener, void* context) {
  return guarded<int>(-1, [&]() -> Result<int> {
    const bool ended = job->job->wait(milliseconds);
    if (listener == nullptr) return ended ? 1 : 0;
    for (const auto& [kind, text] : job->job->told()) listener(context, kind.c_str(), text.c_str());
    return ended ? 1 : 0;
  });
}

KW_EXPORT const char* kw_job_told(kw_job* job) {
  return guarded<const char*>("[]", [&]() -> Result<const char*> {
    Json news = Json::array();
    for (const auto& [kind, text] : job->job->told())
      news.push(Json::array().push(kind).push(text));
    job->told = news.dump();
    return job->told.c_str();
  });
}

KW_EXPORT void kw_job_stop(kw_job* job) { job->job->stop(); }
KW_EXPORT const char* kw_job_result(kw_job* job) { return job->job->result().c_str(); }

KW_EXPORT void kw_job_free(kw_job* job) {
  if (job != nullptr && !job->job->wait(0)) job->job->stop();
  delete job;
}

KW_EXPORT kw_kernel* kw_kernel_open(const char* options) {
  return guarded<kw_kernel*>(nullptr, [&]() -> Result<kw_kernel*> {
    KW_TRY(kw::clib::find_workers());
    const Json given = KW_TRY(object_of(options, "the kernel's options"));
    return new kw_kernel{KW_TRY(kw::clib::Kernel::open(given))};
  });
}

KW_EXPORT const char* kw_kernel_describe(kw_kernel* kernel) {
  return kernel->kernel->description().c_str();
}

KW_EXPORT void kw_kernel_free(kw_kernel* kernel) { delete kernel; }

KW_EXPORT kw_plan* kw_kernel_plan(kw_kernel* kernel, const char* request) {
  return guarded<kw_plan*>(nullptr, [&]() -> Result<kw_plan*> {
    const Json asked = KW_TRY(object_of(request, "the plan's options"));
    std::string fault;
    auto plan = KW_TRY(kernel->kernel->plan(asked, &fault));
    if (plan != nullptr) return new kw_plan{std::move(plan)};
    blame("candidate", fault);
    return static_cast<kw_plan*>(nullptr);
  });
}

KW_EXPORT const char* kw_plan_describe(kw_plan* plan) { return plan->plan->description().c_str(); }

KW_EXPORT int kw_plan_run(kw_plan* plan, const kw_tensor* const* tensors, size_t count,
                          void* stream) {
  return guarded<int>(-1, [&]() -> Result<int> {
    const std::string fault = KW_TRY(plan->plan->run({tensors, count}, stream));
    if (fault.empty()) return 0;
    blame("candidate", fault);
    return -1;
  });
}

KW_EXPORT void kw_plan_free(kw_plan* plan) { delete plan; }
