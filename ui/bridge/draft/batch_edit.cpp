// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/batch_edit.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/draft/stage_edit.h"

#include <QObject>

#include <algorithm>

namespace weft::ui {
namespace {

QString shardsText(std::int64_t shards) {
    return QObject::tr("%n data shard(s)", nullptr, static_cast<int>(shards));
}

/// "8 or 16", of what divides a shard's samples around a number that does not.
QString nearText(const compile::BatchPlan& batch, std::int64_t number) {
    const std::int64_t below = nextDivisor(batch, number, false);
    const std::int64_t above = nextDivisor(batch, number, true);
    return below == number || above == number || below == above
               ? formatCount(below == number ? above : below)
               : QObject::tr("%1 or %2").arg(formatCount(below), formatCount(above));
}

/// Why a shard's samples cannot be dealt out by this number; empty: they can.
QString divisionProblem(const compile::BatchPlan& batch, std::int64_t number) {
    if (batch.global_batch_size % batch.data_ranks != 0) {
        return QObject::tr("%1 samples do not divide over %2, so each update is one microstep")
            .arg(formatCount(batch.global_batch_size), shardsText(batch.data_ranks));
    }
    const std::int64_t share = batch.global_batch_size / batch.data_ranks;
    if (number > 0 && share % number == 0) {
        return {};
    }
    return QObject::tr("%1 does not divide the %2 samples of each of %3: use %4")
        .arg(formatCount(number), formatCount(share), shardsText(batch.data_ranks),
             nearText(batch, number));
}

std::string microAssignment(const compile::BatchPlan& batch, std::int64_t micro) {
    const bool whole = micro == batch.global_batch_size / batch.data_ranks;
    return "training.micro_batch_size=" + (whole ? "null" : std::to_string(micro));
}

/// The draft has more to say: a pipeline needs microbatches.
BatchOutcome checked(const compile::RunConfig& config, std::vector<std::string> assignments) {
    QString problem = problemOf(config, assignments);
    return problem.isEmpty() ? BatchOutcome{std::move(assignments), {}}
                             : BatchOutcome{{}, std::move(problem)};
}

} // namespace

BatchOutcome withMicroBatch(const compile::RunConfig& config, std::int64_t micro) {
    const compile::BatchPlan batch = compile::plan_batch(config);
    const QString problem = divisionProblem(batch, micro);
    return problem.isEmpty() ? checked(config, {microAssignment(batch, micro)})
                             : BatchOutcome{{}, problem};
}

BatchOutcome withAccumulation(const compile::RunConfig& config, std::int64_t steps) {
    const compile::BatchPlan batch = compile::plan_batch(config);
    if (const QString problem = divisionProblem(batch, steps); !problem.isEmpty()) {
        return {{}, problem};
    }
    return withMicroBatch(config, batch.global_batch_size / batch.data_ranks / steps);
}

BatchOutcome withSamples(const compile::RunConfig& config, std::int64_t samples) {
    const std::int64_t step = samplesStep(config);
    if (config.micro_batch_size && samples % step != 0) {
        const std::int64_t below = samples / step * step;
        return {{},
                QObject::tr("%1 samples are not whole micro batches of %2 on %3: use %4")
                    .arg(formatCount(samples), formatCount(*config.micro_batch_size),
                         shardsText(step / *config.micro_batch_size),
                         below == 0 ? formatCount(step)
                                    : QObject::tr("%1 or %2")
                                          .arg(formatCount(below), formatCount(below + step)))};
    }
    return checked(config, {"training.global_batch_size=" + std::to_string(samples)});
}

std::int64_t nextDivisor(const compile::BatchPlan& batch, std::int64_t from, bool up) {
    const std::int64_t share = batch.global_batch_size / batch.data_ranks;
    const std::int64_t step = up ? 1 : -1;
    for (std::int64_t next = std::min(from, share + 1) + step; next > 0 && next <= share;
         next += step) {
        if (share % next == 0) {
            return next;
        }
    }
    return from;
}

std::int64_t samplesStep(const compile::RunConfig& config) {
    return compile::plan_batch(config).data_ranks * config.micro_batch_size.value_or(1);
}

} // namespace weft::ui
