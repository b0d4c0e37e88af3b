// SPDX-License-Identifier: GPL-3.0-or-later
// The learning rate of a run over its updates, by the engine's own schedule function, with the
// points that can be taken hold of, and what moving one comes to.
#pragma once

#include "core/compile/config/run_config.h"
#include "ui/bridge/draft/draft.h"

#include <cstdint>
#include <vector>

namespace weft::ui {

struct ScheduleHandle {
    enum class Kind { Start, Peak, DecayStart, End };
    Kind kind = Kind::Peak;
    double x = 0; // updates done
    double y = 0; // learning rate
    bool moves_x = false;
    bool moves_y = false;
    QString name; // "warm-up ends"
};

struct ScheduleCurve {
    std::vector<double> x, y; // updates done before, rate of the next
    std::vector<ScheduleHandle> handles;
    std::int64_t steps = 0;
};

/// Of a normalised configuration over `steps` updates. `endless`: the run is measured in minutes,
/// so that no schedule knows its end.
ScheduleCurve scheduleCurve(const compile::RunConfig& config, std::int64_t steps, bool endless);
/// The rate of update `number`, from 1.
double learningRate(const compile::RunConfig& config, std::int64_t number, std::int64_t steps,
                    bool endless);

/// Edits of the configuration with which a handle is near (x, y); numbers are rounded as people
/// write them. Limits of the fields hold.
std::vector<FieldEdit> moveHandle(const compile::RunConfig& config, std::int64_t steps,
                                  const ScheduleHandle& handle, double x, double y);

} // namespace weft::ui
