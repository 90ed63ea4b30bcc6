#include "torch_worker/torch_export.h"

#include "core/json_writer.h"
#include "tensor/dtype.h"

namespace kw::torch_worker {

TorchArgument zeros_argument(std::string name, tensor::DType dtype,
                             const std::vector<int64_t>& shape) {
  Json type = Json::object();
  type.set("dtype", tensor::dtype_name(dtype)).set("shape", json_of(shape));
  Json value = Json::object();
  value.set("zeros", type);
  return {std::move(name), nullptr, value};
}

TorchAnswer describe(TorchProcess& torch, const TorchSource& source, double timeout_seconds) {
  TorchCall call;
  call.source = source;
  return torch.ask("describe", call, Json::object(), timeout_seconds);
}

TorchAnswer export_graph(TorchProcess& torch, const TorchCall& call,
                         const std::vector<TorchDim>& dims, double timeout_seconds) {
  Json list = Json::array();
  for (const TorchDim& each : dims) {
    Json item = Json::object();
    item.set("argument", each.argument).set("dim", each.dim).set("name", each.name);
    list.push(item);
  }
  Json extra = Json::object();
  extra.set("dims", list);
  return torch.ask("export", call, extra, timeout_seconds);
}

}  // namespace kw::torch_worker
