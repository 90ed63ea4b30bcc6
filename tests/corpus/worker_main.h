// Test programs serve as their own worker processes, like the real binary does.
#pragma once

#include <optional>

namespace kw::corpus {

/// The exit code when the arguments name a worker's hidden subcommand, which is then served to its
/// end.
std::optional<int> serve_as_worker(int argc, char** argv);

}  // namespace kw::corpus
