// Estimates and floors need the rates that this GPU really reaches, not those of its data sheet. So
// kernels of our own are timed by the same clock as candidates. Traffic is measured for four mixes
// of reads and writes. Each mix runs in six ways (grid, words per thread, cache hints), and the
// best counts, because the best way differs between GPUs. Arithmetic loops are first timed short,
// then with enough iterations for about 1 ms.
// Data sheet numbers would cost nothing, but no kernel reaches them. The cost here is a few seconds
// and a fifth of the free memory, at most 1 GiB, for each of three buffers.
#include "cuda/calibrate.h"

#include <algorithm>
#include <memory>

#include "cuda/calibrate_ptx.h"
#include "cuda/kernel_subject.h"

namespace kw::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kBlocksPerSm = 8;
// Large enough that the start and the end of a kernel do not matter.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;
constexpr double kWantedUs = 1000;  // for one arithmetic loop
constexpr uint32_t kFirstIterations = 64;
constexpr uint32_t kMostIterations = 1 << 22;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Holds the state of one calibration.
class Bench {
 public:
  Bench(const Context& context, UtilityKernels& utilities, double timeout_seconds)
      : context_(context), utilities_(utilities) {
    protocol_.max_samples = 20;
    protocol_.max_seconds = 0.2;
    protocol_.warmup_seconds = 0.1;
    protocol_.timeout_seconds = timeout_seconds;
    protocol_.audit = false;
  }

  FaultOr<record::Calibration> run() {
    result_.uuid = context_.info().uuid;
    result_.gpu = context_.info().name;
    result_.driver = context_.info().driver;
    KW_TRY(measure_traffic());
    for (const PeakImage& image : peak_images()) KW_TRY(measure_peaks(image));
    const NvmlReading reading = context_.telemetry();
    result_.sm_clock_mhz = reading.sm_clock_mhz;
    result_.temperature_c = reading.temperature_c;
    return std::move(result_);
  }

 private:
  FaultOr<record::TimingSamples> time(Subject& subject, const ports::TimeProtocol& protocol) {
    TimeReport report = time_subjects(context_, utilities_, {{&subject, {}}}, protocol);
    if (report.status != ports::RunStatus::Completed) {
      Fault fault = refusal(report.message);
      fault.status = report.status;
      fault.device_lost = report.device_lost;
      fault.context_lost = context_.lost();
      return fault;
    }
    return std::move(report.results[0].samples);
  }

  FaultOr<std::unique_ptr<LoadedImage>> load(const std::string& ptx) {
    auto image = LoadedImage::load(context_, ports::ImageKind::Ptx, ptx);
    if (!image) return refusal(image.error().message);
    return std::move(image).value();
  }

  MaybeFault measure_traffic() {
    const auto image = KW_TRY(load(traffic_ptx()));
    const unsigned blocks = kBlocksPerSm * static_cast<unsigned>(std::max(1, context_.info().sms));
    const uint64_t step = uint64_t{16} * 4 * blocks * kThreads;
    const uint64_t wanted = std::min(kMostBytes, context_.free_bytes() / 5);
    const uint64_t bytes = std::max<uint64_t>(1, wanted / step) * step;
    result_.buffer_bytes = static_cast<double>(bytes);
    std::vector<DeviceMemory> buffers;
    for (int i = 0; i < 3; ++i) {
      buffers.push_back(KW_TRY(DeviceMemory::allocate(context_, bytes, "a calibration")));
      KernelSubject fill(context_, *KW_TRY(image->function("kw_random")), blocks, kThreads,
                         {buffers.back().address(), bytes / 16});
      KW_TRY(fill.enqueue(0));
    }
    const CuDevicePtr a = buffers[0].address();
    const CuDevicePtr b = buffers[1].address();
    const CuDevicePtr c = buffers[2].address();
    const uint64_t count = bytes / 16;
    struct Row {
      const char* entry;
      std::vector<uint64_t> params;
      double buffers;
      double record::Calibration::*to;
    };
    const Row rows[] = {
        {"kw_read", {a, c, count}, 1, &record::Calibration::read},
        {"kw_add", {a, b, c, count}, 3, &record::Calibration::add},
        {"kw_copy", {a, b, count}, 2, &record::Calibration::copy},
        {"kw_write", {a, count}, 1, &record::Calibration::write},
    };
    // Many short blocks are faster than a resident grid on some GPUs, and one word per thread
    // faster than four. The best way counts.
    struct Way {
      const char* suffix;
      unsigned threads;
      uint64_t grid;
    };
    std::vector<Way> ways = {{"", kThreads, blocks}, {"", kThreads, count / (4 * kThreads)}};
    for (const unsigned threads : {kThreads, 2 * kThreads, 4 * kThreads})
      ways.push_back({"_one", threads, count / threads});
    ways.push_back({"_streamed", kThreads, count / kThreads});
    for (const Row& row : rows) {
      double best = 0;
      for (const Way& way : ways) {
        LoadedFunction* function = KW_TRY(image->function(std::string(row.entry) + way.suffix));
        KernelSubject kernel(context_, *function, static_cast<unsigned>(way.grid), way.threads,
                             row.params);
        ports::TimeProtocol protocol = protocol_;
        protocol.graph_below_us = 0;
        const record::TimingSamples samples = KW_TRY(time(kernel, protocol));
        const double us = std::max(1e-3, median(samples.microseconds));
        best = std::max(best, row.buffers * static_cast<double>(bytes) / us * 1e-3);
      }
      result_.*row.to = best;
    }
    return measure_launch(*image);
  }

  MaybeFault measure_launch(LoadedImage& image) {
    KernelSubject empty(context_, *KW_TRY(image.function("kw_empty")), 1, 32, {});
    ports::TimeProtocol protocol = protocol_;
    protocol.graph_below_us = 1e9;
    protocol.graph_copies = 100;
    const record::TimingSamples samples = KW_TRY(time(empty, protocol));
    result_.launch_us = median(samples.microseconds);
    result_.overhead_us = samples.overhead_us * samples.calls_per_sample;
    result_.host_us = samples.host_us;
    return Done{};
  }

  bool suits(const PeakImage& image) const {
    const int capability =
        context_.attribute(kAttrComputeMajor) * 10 + context_.attribute(kAttrComputeMinor);
    return image.exactly ? capability == image.least : capability >= image.least;
  }

  MaybeFault measure_peaks(const PeakImage& source) {
    if (!suits(source)) return Done{};
    auto image = load(source.ptx);
    // An older driver refuses new instructions: then only that peak is unknown.
    if (!image) return image.error().context_lost ? MaybeFault(image.error()) : MaybeFault(Done{});
    for (const PeakKernel& peak : source.kernels) KW_TRY(measure_peak(**image, peak));
    return Done{};
  }

  MaybeFault measure_peak(LoadedImage& image, const PeakKernel& peak) {
    LoadedFunction* function = KW_TRY(image.function(peak.entry));
    const DeviceMemory sink = KW_TRY(DeviceMemory::allocate(context_, 256, "a calibration"));
    const auto blocks =
        static_cast<unsigned>(peak.blocks_per_sm * std::max(1, context_.info().sms));
    ports::TimeProtocol protocol = protocol_;
    protocol.graph_below_us = 0;
    protocol.cold_cache = false;
    double us = 0;
    uint32_t iterations = kFirstIterations;
    // The first attempt times a few iterations; the second runs enough of them to time well.
    for (int attempt = 0; attempt < 2; ++attempt) {
      KernelSubject kernel(context_, *function, blocks, static_cast<unsigned>(peak.threads),
                           {sink.address(), iterations});
      protocol.max_samples = attempt == 0 ? 4 : protocol_.max_samples;
      const record::TimingSamples samples = KW_TRY(time(kernel, protocol));
      us = std::max(0.1, median(samples.microseconds));
      if (attempt == 0) {
        const double factor = std::max(1.0, kWantedUs / us);
        iterations = static_cast<uint32_t>(
            std::min(static_cast<double>(kMostIterations), iterations * factor));
      }
    }
    const double threads = static_cast<double>(blocks) * peak.threads;
    result_.peaks.push_back(
        {peak.precision, peak.instruction, peak.operations * threads * iterations / us * 1e-6});
    return Done{};
  }

  const Context& context_;
  UtilityKernels& utilities_;
  ports::TimeProtocol protocol_;
  record::Calibration result_;
};

}  // namespace

FaultOr<record::Calibration> calibrate(const Context& context, UtilityKernels& utilities,
                                       double timeout_seconds) {
  return Bench(context, utilities, timeout_seconds).run();
}

}  // namespace kw::cuda
