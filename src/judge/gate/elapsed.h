// How long something took, to predict how long more of it takes. Other processes on this machine
// should not change what the judge tries, so time in which this process waited for a processor does
// not count: it is the smaller of the time that passed and of the processor time of all threads.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>

namespace kw::gate {

class Elapsed {
 public:
  double seconds() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    return std::min(passed.count(),
                    static_cast<double>(std::clock() - processor_) / CLOCKS_PER_SEC);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::clock_t processor_ = std::clock();
};

}  // namespace kw::gate
