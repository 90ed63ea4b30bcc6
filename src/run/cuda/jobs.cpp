#include "cuda/jobs.h"

#include <algorithm>

#include "kJobKernels.inc"

namespace kw::cuda {
namespace {

constexpr unsigned kJobThreads = 256;
constexpr size_t kMaxRows = 65535;  // of a grid

}  // namespace

const char* job_kernels_ptx() { return kJobKernels; }

FaultOr<JobList> JobList::create(const Context& context, const std::vector<Job>& jobs) {
  JobList list;
  if (jobs.empty()) return list;
  const uint64_t bytes = jobs.size() * sizeof(Job);
  list.memory_ = KW_TRY(DeviceMemory::allocate(context, bytes, "a list of jobs"));
  list.count_ = jobs.size();
  for (const Job& job : jobs) list.longest_ = std::max(list.longest_, job.bytes);
  KW_TRY(context.upload(list.memory_.address(), jobs.data(), bytes, "uploading a list of jobs"));
  return list;
}

Result<std::unique_ptr<JobKernels>> JobKernels::load(const Context& context) {
  std::unique_ptr<JobKernels> kernels(new JobKernels(context));
  auto image = LoadedImage::load(context, ports::ImageKind::Ptx, kJobKernels);
  if (!image) {
    return environment_error("the driver refuses kernelwright's own kernels: " +
                             image.error().message);
  }
  kernels->image_ = std::move(image).value();
  return kernels;
}

MaybeFault JobKernels::launch(const char* entry, const JobList& jobs, void** params) {
  LoadedFunction* function = KW_TRY(image_->function(entry));
  const uint64_t wanted = (jobs.longest() / 16 + kJobThreads - 1) / kJobThreads;
  const auto most = static_cast<uint64_t>(std::max(1, context_.info().sms) * 8);
  CuLaunchConfig config{};
  config.grid_x = static_cast<unsigned>(std::clamp<uint64_t>(wanted, 1, most));
  config.grid_y = static_cast<unsigned>(jobs.size());
  config.grid_z = 1;
  config.block_x = kJobThreads;
  config.block_y = config.block_z = 1;
  config.stream = context_.stream();
  const CuResult code = context_.api().launch(&config, function->handle, params, nullptr);
  if (code == kSuccess) return Done{};
  return context_.check(code, std::string("launching ") + entry);
}

MaybeFault JobKernels::copy(const JobList& jobs) {
  if (jobs.size() == 0) return Done{};
  CuDevicePtr list = jobs.address();
  void* params[] = {&list};
  return launch("kw_copy_jobs", jobs, params);
}

MaybeFault JobKernels::fill(const JobList& jobs) {
  if (jobs.size() == 0) return Done{};
  CuDevicePtr list = jobs.address();
  void* params[] = {&list};
  return launch("kw_fill_jobs", jobs, params);
}

MaybeFault JobKernels::hash(const JobList& jobs, uint64_t seed, CuDevicePtr out) {
  if (jobs.size() == 0) return Done{};
  KW_TRY(context_.check(context_.api().fill_bytes(out, 0, jobs.size() * 8, context_.stream()),
                        "clearing hashes"));
  CuDevicePtr list = jobs.address();
  void* params[] = {&list, &seed, &out};
  return launch("kw_hash_jobs", jobs, params);
}

FaultOr<std::vector<uint64_t>> JobKernels::hash_now(const std::vector<DeviceSpan>& spans,
                                                    uint64_t seed, const Deadline& deadline) {
  std::vector<uint64_t> hashes(spans.size());
  for (size_t first = 0; first < spans.size(); first += kMaxRows) {
    std::vector<Job> jobs;
    for (size_t i = first; i < std::min(spans.size(), first + kMaxRows); ++i)
      jobs.push_back({spans[i].address, 0, spans[i].bytes});
    const JobList list = KW_TRY(JobList::create(context_, jobs));
    const DeviceMemory out =
        KW_TRY(DeviceMemory::allocate(context_, jobs.size() * 8, "hashes of buffers"));
    KW_TRY(hash(list, seed, out.address()));
    KW_TRY(context_.wait(deadline, "hashing buffers"));
    KW_TRY(context_.download(&hashes[first], out.address(), jobs.size() * 8, "reading hashes"));
  }
  return hashes;
}

}  // namespace kw::cuda
