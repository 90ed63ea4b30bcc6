// Adapts a model session to this module: a function that answers, and one that gives the cost.
#pragma once

#include "review/reviewers.h"
#include "stages/model_session.h"

namespace kw::review {

/// May be called from several threads at once. Ctrl-C cancels.
stages::Answer answer_of(stages::ModelSession& session);
Price price_of(stages::ModelSession& session);

}  // namespace kw::review
