#include "timing/calibration.h"

#include <ctime>

#include "os/files.h"
#include "os/own_files.h"

namespace kw::timing {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  char text[32] = {};
  if (::gmtime_r(&now, &utc) != nullptr) std::strftime(text, sizeof(text), "%Y-%m-%d", &utc);
  return text;
}

/// A file that other users can change is not used: measured rates decide what is called good.
Result<record::Calibration> read(const std::string& path, const ports::DeviceInfo& device) {
  const std::string text = KW_TRY(os::read_own_file(path, uint64_t{1} << 20));
  const Json json = KW_TRY(Json::parse(text));
  record::Calibration calibration = KW_TRY(record::calibration_from_json(json));
  if (calibration.uuid != device.uuid || calibration.driver != device.driver)
    return environment_error("the calibration is of another GPU or driver");
  return calibration;
}

}  // namespace

std::string calibration_path(const std::string& uuid) {
  return os::cache_directory() + "/calibration/" + uuid + ".json";
}

Result<CalibrationReport> calibration_of(const ports::DeviceInfo& device, const Measure& measure,
                                         Freshness freshness) {
  CalibrationReport report;
  report.path = calibration_path(device.uuid);
  if (freshness == Freshness::Kept) {
    if (Result<record::Calibration> kept = read(report.path, device)) {
      report.calibration = std::move(kept).value();
      return report;
    }
  }
  report.calibration = KW_TRY(measure());
  report.calibration.date = today();
  report.measured = true;
  // If the cache cannot be written, calibration repeats each time; the result is the same.
  const std::string folder = report.path.substr(0, report.path.rfind('/'));
  const Status made = os::make_directories(folder);
  if (!made || !os::write_file(report.path, to_json(report.calibration).dump(true), os::Sync::No))
    report.path.clear();
  return report;
}

}  // namespace kw::timing
