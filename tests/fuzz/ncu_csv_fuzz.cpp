// The profiler's CSV: metrics of a kernel, or an Error with a reason.
#include "drive.h"
#include "profile/ncu.h"
#include "profile/ncu_table.h"

namespace kw::fuzz {

const std::vector<std::string> kPieces = {"\"ID\",",
                                          "\"Kernel Name\",",
                                          "\"Metric Name\",",
                                          "\"Metric Unit\",",
                                          "\"Metric Value\",",
                                          "\",\"",
                                          "\"\"",
                                          "\n",
                                          "==PROF== ",
                                          "n/a",
                                          "nan",
                                          "1e999",
                                          "1.234,5",
                                          "1,234.5",
                                          "%",
                                          "nsecond",
                                          "Gbyte/second",
                                          "rms_norm",
                                          "-1",
                                          ";",
                                          "\r\n",
                                          "\xef\xbb\xbf"};

void check(const std::string& bytes) {
  (void)profile::counters_forbidden(bytes);
  const auto table = profile::read_ncu_table(bytes, "fuzz.csv");
  require(table || !table.error().message.empty(), "an Error says something");
  for (const char* kernel : {"", "rms_norm"}) {
    const auto metrics = profile::import_ncu(bytes, kernel, "fuzz.csv");
    require(metrics || !metrics.error().message.empty(), "an Error says something");
  }
}

}  // namespace kw::fuzz
