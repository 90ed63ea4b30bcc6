#include "tools.h"

#include "core/check.h"
#include "machine/devices.h"
#include "os/files.h"

namespace kw::corpus {

Tools::Tools(const std::string& compiler) {
  auto opened = machine::open_compiler(compiler.empty() ? os::env("KW_TEST_COMPILER") : compiler);
  if (opened) {
    compiler_ = std::move(opened).value();
  } else {
    problem_ = opened.error().message;
  }
}

bool Tools::can_compile(const Entry& entry) const {
  return entry.needs == kPlain || compiler_->name().find("clang") == std::string::npos;
}

Workbench& Tools::virtual_bench(const std::string& target) {
  Bench& bench = benches_[target];
  if (!bench.bench) {
    auto device = machine::open_device({.kind = "vgpu", .target = target, .notice = {}});
    KW_CHECK(device.has_value(), "the virtual GPU is always there");
    bench.device = std::move(device).value();
    bench.bench = std::make_unique<Workbench>(*compiler_, *bench.device, target);
  }
  return *bench.bench;
}

}  // namespace kw::corpus
