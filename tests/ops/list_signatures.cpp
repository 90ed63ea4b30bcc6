// Prints every PyTorch name that the front end knows, with its parameters: one line "kind, name,
// signature", separated by tabs. schemas.py compares them with the installed torch.
#include <algorithm>
#include <cstdio>
#include <string>

#include "frontend/call.h"
#include "frontend/nn_modules.h"

namespace {

void print(const char* kind, const std::string& name, std::string signature) {
  std::ranges::replace(signature, '\n', ' ');
  std::printf("%s\t%s\t%s\n", kind, name.c_str(), signature.c_str());
}

}  // namespace

int main() {
  for (const std::string& name : kw::frontend::op_names()) {
    print("op", name, kw::frontend::find_op(name)->signature);
  }
  for (const std::string& name : kw::frontend::module_names()) {
    const kw::frontend::ModuleRow* row = kw::frontend::find_module(name);
    if (row != nullptr) print("module", name, row->signature);
  }
  return 0;
}
