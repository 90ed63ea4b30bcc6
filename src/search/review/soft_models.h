// A model session as soft/ sees it: someone who answers, and what that cost.
#pragma once

#include "engine/model_session.h"
#include "soft/panel.h"

namespace kw::engine {

/// May be called from several threads at once. Ctrl-C cancels.
stages::Answer answer_of(ModelSession& session);
soft::Price price_of(ModelSession& session);

}  // namespace kw::engine
