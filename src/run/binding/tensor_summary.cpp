#include "binding/tensor_summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/hash.h"
#include "core/json_writer.h"
#include "tensor/convert.h"

namespace kw::binding {

TensorSummary summarise(const std::string& name, const tensor::HostTensor& tensor) {
  TensorSummary summary;
  summary.name = name;
  summary.dtype = tensor.dtype;
  summary.shape = tensor.shape;
  summary.values = tensor::value_count(tensor);
  summary.min = std::numeric_limits<double>::infinity();
  summary.max = -summary.min;
  double sum = 0;
  std::array<double, 1024> chunk;
  for (int64_t start = 0; start < summary.values; start += static_cast<int64_t>(chunk.size())) {
    const auto n = static_cast<size_t>(
        std::min<int64_t>(static_cast<int64_t>(chunk.size()), summary.values - start));
    tensor::load_values(tensor, start, {chunk.data(), n});
    for (size_t i = 0; i < n; ++i) {
      const double v = chunk[i];
      summary.nans += std::isnan(v) ? 1 : 0;
      summary.infinities += std::isinf(v) ? 1 : 0;
      if (!std::isfinite(v)) continue;
      summary.min = std::min(summary.min, v);
      summary.max = std::max(summary.max, v);
      sum += v;
      ++summary.finite;
    }
  }
  if (summary.finite == 0) summary.min = summary.max = 0;
  summary.mean = summary.finite == 0 ? 0 : sum / static_cast<double>(summary.finite);
  summary.hash = hash_hex({reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size()});
  return summary;
}

Json to_json(const TensorSummary& summary) {
  Json json = Json::object();
  json.set("name", summary.name)
      .set("dtype", tensor::dtype_name(summary.dtype))
      .set("shape", json_of(summary.shape));
  const bool any = summary.finite > 0;
  json.set("min", any ? Json(summary.min) : Json()).set("max", any ? Json(summary.max) : Json());
  json.set("mean", any ? Json(summary.mean) : Json());
  json.set("nans", summary.nans).set("infinities", summary.infinities).set("hash", summary.hash);
  return json;
}

}  // namespace kw::binding
