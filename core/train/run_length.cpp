// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_length.h"

#include "core/base/error.h"
#include "core/data/text/token_samples.h"

#include <algorithm>
#include <cmath>

namespace weft::train {

using compile::Cadence;

Pace pace_of(const compile::RunConfig& config, const data::Source& train) {
    return pace_of(config, train.samples(), train.info());
}

Pace pace_of(const compile::RunConfig& config, std::int64_t samples, const data::SampleInfo& info) {
    Pace pace;
    pace.samples_per_epoch = samples;
    pace.batch_size = config.global_batch_size;
    const std::int64_t whole = pace.samples_per_epoch / pace.batch_size;
    const bool ragged = pace.samples_per_epoch % pace.batch_size != 0;
    pace.steps_per_epoch = std::max<std::int64_t>(1, whole + (ragged && !config.drop_last ? 1 : 0));
    pace.tokens_per_sample = data::token_positions(info.input);
    return pace;
}

std::int64_t total_steps(const Cadence& length, const Pace& pace) {
    switch (length.unit) {
    case Cadence::Unit::steps: return std::llround(length.amount);
    case Cadence::Unit::epochs:
        return std::llround(std::ceil(length.amount * static_cast<double>(pace.steps_per_epoch)));
    case Cadence::Unit::minutes: return 0;
    case Cadence::Unit::tokens:
        if (pace.tokens_per_sample == 0) {
            throw Error(ErrorKind::usage, "/training/length/tokens",
                        "the samples of this data are not sequences of tokens",
                        "give the length in steps or epochs");
        }
        return std::llround(std::ceil(
            length.amount / static_cast<double>(pace.batch_size * pace.tokens_per_sample)));
    }
    return 0;
}

bool is_due(const Cadence& cadence, const Pace& pace, std::int64_t step, double seconds_since) {
    if (cadence.amount <= 0) {
        return false;
    }
    double period = cadence.amount; // in steps
    switch (cadence.unit) {
    case Cadence::Unit::minutes: return seconds_since >= cadence.amount * 60.0;
    case Cadence::Unit::epochs:
        period = cadence.amount * static_cast<double>(pace.steps_per_epoch);
        break;
    case Cadence::Unit::tokens:
        period =
            cadence.amount / static_cast<double>(pace.batch_size *
                                                 std::max<std::int64_t>(1, pace.tokens_per_sample));
        break;
    case Cadence::Unit::steps: break;
    }
    // Due when a multiple of the period lies in (step - 1, step].
    const auto passed = [&](std::int64_t at) {
        return std::floor(static_cast<double>(at) / period);
    };
    return passed(step) > passed(step - 1);
}

} // namespace weft::train
