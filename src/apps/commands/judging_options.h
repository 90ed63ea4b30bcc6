// Code shared by commands that judge a module against a reference: verify, bench, profile.
#pragma once

#include <memory>

#include "binding/bind.h"
#include "commands/command.h"
#include "timing/bench_tools.h"
#include "verification/verify.h"

namespace kw::commands {

/// The options that these commands read in the same way; dims are not among them.
verification::VerifyRequest verify_options(const Args& args,
                                           const binding::BindingRequest& bindings);

/// Opens --device, --target and --compiler.
Result<std::unique_ptr<timing::BenchMachine>> open_bench_machine(const Args& args, Io& io,
                                                                 bool torch = false);

}  // namespace kw::commands
