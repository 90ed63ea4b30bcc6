#include "optimize/workshop.h"

namespace kw::optimize {

Workshop::~Workshop() = default;
Author::~Author() = default;

}  // namespace kw::optimize
