#include "cuda/subject.h"

namespace kw::cuda {

bool CallBuffers::in_place() const {
  for (const DeviceSpan& input : inputs) {
    for (const DeviceSpan& output : outputs) {
      if (input.address < output.address + output.bytes &&
          output.address < input.address + input.bytes)
        return true;
    }
  }
  return strided_in_place;
}

}  // namespace kw::cuda
