// SPDX-License-Identifier: Apache-2.0
// Samples asked in several forms: the answers that most forms give, against the right one.
#pragma once

#include "core/data/forms.h"
#include "core/exec/executor.h"

#include <cstdint>

namespace weft::train {

struct VoteCount {
    std::int64_t tasks = 0, samples = 0;
    /// Mean over tasks of the share of samples whose right answer is the first, or among the first
    /// two; of samples whose right answer is known.
    double first = 0, first_two = 0;
};

/// Asks every sample in at most `forms` forms. Answers stand in order of the forms that give them,
/// and of how sure the model is then that they are right: the mean of its verdicts (as the ARC
/// Prize is won, with two answers; TinyRecursiveModels, evaluators/arc.py). Throws
/// weft::Error{usage} for a model that cannot be followed or for samples without a right answer.
VoteCount vote(exec::Executor& executor, const data::Source& source,
               const data::AskedInForms& asked, std::int64_t forms);

} // namespace weft::train
