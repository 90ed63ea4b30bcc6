#include "record/calibration.h"

#include <algorithm>
#include <cmath>

namespace kw::record {
namespace {

// Increase it when the meaning of a calibration changes.
constexpr int64_t kVersion = 2;

struct Number {
  const char* name;
  double Calibration::*member;
};
constexpr Number kNumbers[] = {
    {"read_gbps", &Calibration::read},
    {"write_gbps", &Calibration::write},
    {"copy_gbps", &Calibration::copy},
    {"add_gbps", &Calibration::add},
    {"buffer_bytes", &Calibration::buffer_bytes},
    {"launch_us", &Calibration::launch_us},
    {"overhead_us", &Calibration::overhead_us},
    {"host_us", &Calibration::host_us},
};

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

}  // namespace

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
    if (row.precision == precision && starts_with(row.instruction, instruction))
      best = std::max(best, row.tera);
  }
  return best;
}

Json to_json(const Calibration& calibration) {
  Json json = Json::object();
  json.set("version", kVersion);
  json.set("uuid", calibration.uuid).set("gpu", calibration.gpu).set("driver", calibration.driver);
  json.set("date", calibration.date);
  for (const Number& number : kNumbers) json.set(number.name, calibration.*number.member);
  Json peaks = Json::array();
  for (const Peak& peak : calibration.peaks) {
    peaks.push(Json::object()
                   .set("precision", peak.precision)
                   .set("instruction", peak.instruction)
                   .set("tera", peak.tera));
  }
  json.set("peaks", std::move(peaks));
  json.set("sm_clock_mhz", calibration.sm_clock_mhz);
  json.set("temperature_c", calibration.temperature_c);
  return json;
}

Result<Calibration> calibration_from_json(const Json& json) {
  if (json["version"].as_int() != kVersion)
    return environment_error("this is not a calibration of this version of kernelwright");
  Calibration calibration;
  calibration.uuid = json["uuid"].as_string();
  calibration.gpu = json["gpu"].as_string();
  calibration.driver = json["driver"].as_string();
  calibration.date = json["date"].as_string();
  for (const Number& number : kNumbers) {
    const double value = json[number.name].as_double(-1);
    if (!(value >= 0) || !std::isfinite(value))
      return environment_error(std::string("a calibration without ") + number.name);
    calibration.*number.member = value;
  }
  for (const Json& peak : json["peaks"].items()) {
    calibration.peaks.push_back(
        {peak["precision"].as_string(), peak["instruction"].as_string(), peak["tera"].as_double()});
  }
  calibration.sm_clock_mhz = static_cast<int>(json["sm_clock_mhz"].as_int());
  calibration.temperature_c = static_cast<int>(json["temperature_c"].as_int());
  if (!(calibration.read > 0) || !(calibration.copy > 0))
    return environment_error("a calibration without bandwidths");
  return calibration;
}

}  // namespace kw::record
