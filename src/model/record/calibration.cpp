#include "record/calibration.h"

#include <algorithm>

#include "core/json_reader.h"
#include "core/json_writer.h"

namespace kw::record {
namespace {

// Increase it when the meaning of a calibration changes.
constexpr int64_t kVersion = 2;

}  // namespace

void fields(auto& v, Peak& p) {
  v("precision", p.precision)("instruction", p.instruction)("tera", p.tera);
}

void fields(auto& v, Calibration& c) {
  v("version", computed(kVersion))("uuid", c.uuid)("gpu", c.gpu)("driver", c.driver);
  v("date", c.date)("read_gbps", c.read, required)("write_gbps", c.write, required);
  v("copy_gbps", c.copy, required)("add_gbps", c.add, required);
  v("buffer_bytes", c.buffer_bytes, required)("launch_us", c.launch_us, required);
  v("overhead_us", c.overhead_us, required)("host_us", c.host_us, required)("peaks", c.peaks);
  v("sm_clock_mhz", c.sm_clock_mhz)("temperature_c", c.temperature_c);
}

double Calibration::bandwidth(double read_bytes, double write_bytes) const {
  const double total = read_bytes + write_bytes;
  if (!(total > 0)) return read;
  // Measured rates at four shares of written bytes, with linear interpolation between them.
  const double part = write_bytes / total;
  const double parts[] = {0, 1.0 / 3, 0.5, 1};
  const double rates[] = {read, add, copy, write};
  for (int i = 0; i < 3; ++i) {
    if (part > parts[i + 1]) continue;
    const double at = (part - parts[i]) / (parts[i + 1] - parts[i]);
    return rates[i] + at * (rates[i + 1] - rates[i]);
  }
  return write;
}

double Calibration::peak(const std::string& precision) const { return peak(precision, ""); }

double Calibration::peak(const std::string& precision, const std::string& instruction) const {
  double best = 0;
  for (const Peak& row : peaks) {
    if (row.precision == precision && row.instruction.starts_with(instruction))
      best = std::max(best, row.tera);
  }
  return best;
}

Json to_json(const Calibration& calibration) { return record_json(calibration); }

Result<Calibration> calibration_from_json(const Json& json) {
  if (json["version"].as_int() != kVersion)
    return environment_error("this is not a calibration of this version of kernelwright");
  Result<Calibration> found = check_record<Calibration>(json);
  if (!found) return environment_error("a calibration whose " + found.error().message);
  const Calibration& c = *found;
  if (!(c.read > 0) || !(c.copy > 0)) return environment_error("a calibration without bandwidths");
  if (std::min({c.write, c.add, c.buffer_bytes, c.launch_us, c.overhead_us, c.host_us}) < 0)
    return environment_error("a calibration with a negative number");
  return found;
}

}  // namespace kw::record
