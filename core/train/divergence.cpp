// SPDX-License-Identifier: Apache-2.0
#include "core/train/divergence.h"

#include "core/base/text.h"
#include "core/train/ways_on.h"

#include <cmath>

namespace weft::train {
namespace {

std::string value_name(double value) {
    return std::isnan(value) ? "NaN" : "infinite";
}

std::string place_of_failure(const exec::RunReport& report) {
    if (report.finite) {
        return "";
    }
    if (report.kind == "argument") {
        return "argument " + report.path;
    }
    return report.kind + (report.path.empty() ? "" : " at " + report.path) + " (" +
           std::string(ir::phase_name(report.phase)) + ")";
}

std::string number_text(double value) {
    return config::Json(value).dump();
}

std::vector<WayOn> ways_on(const compile::RunConfig& config, std::int64_t from) {
    const std::string start = way_from(from);
    const std::int64_t step = std::max<std::int64_t>(from, 0);
    std::vector<WayOn> out;
    const double rate = config.section("optimizer").value("learning_rate", 1e-3);
    out.push_back({start + " with half the learning rate",
                   step,
                   {"optimizer.learning_rate=" + number_text(rate / 2)}});
    const double norm = config.max_grad_norm ? *config.max_grad_norm / 2 : 1.0;
    out.push_back({start + " with gradients clipped at norm " + number_text(norm),
                   step,
                   {"training.max_grad_norm=" + number_text(norm)}});
    if (config.precision != "f32") {
        out.push_back({start + " in f32", step, {"training.precision=f32"}});
    }
    return out;
}

} // namespace

ErrorEvent explain_divergence(const Divergence& what, const compile::RunConfig& config) {
    ErrorEvent event;
    event.kind = "diverged";
    event.where = place_of_failure(what.report);
    const std::string step = "Step " + format_thousands(what.step) + ": ";
    if (!std::isfinite(what.loss)) {
        event.message = step + "the loss became " + value_name(what.loss);
    } else {
        event.message = step + "the gradient norm became " + value_name(what.grad_norm);
    }
    event.message += event.where.empty() ? "." : "; the first bad value is from here.";
    event.hint = "The update was not taken. ";
    event.hint += what.last_checkpoint < 0 ? "There is no checkpoint yet."
                                           : "Last good checkpoint: step " +
                                                 format_thousands(what.last_checkpoint) + ".";
    event.ways_on = ways_on(config, what.last_checkpoint);
    return event;
}

} // namespace weft::train
