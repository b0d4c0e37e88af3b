// SPDX-License-Identifier: Apache-2.0
#include "core/train/divergence.h"

#include "core/base/text.h"
#include "core/train/ways_on.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace weft::train {
namespace {

constexpr std::size_t kMostTold = 3; // ways on, in an event

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
    const std::string group = report.group.empty() ? "" : " of " + join(report.group, ", ");
    return report.kind + group + (report.path.empty() ? "" : " at " + report.path) + " (" +
           std::string(ir::phase_name(report.phase)) + ")";
}

/// Of rows that all have one size; false for numbers that are always finite.
bool row_is_finite(std::span<const std::byte> rows, const ir::Type& type, std::int64_t row) {
    if (type.dtype != ir::DType::f32) {
        return true;
    }
    const auto size = static_cast<std::size_t>(type.bytes());
    const std::byte* at = rows.data() + static_cast<std::size_t>(row) * size;
    for (std::size_t offset = 0; offset < size; offset += sizeof(float)) {
        float value = 0;
        std::memcpy(&value, at + offset, sizeof value);
        if (!std::isfinite(value)) {
            return false;
        }
    }
    return true;
}

bool sample_is_finite(const data::Source& source, std::int64_t index, std::int64_t epoch) {
    const data::SampleInfo& info = source.info();
    std::vector<std::byte> input(static_cast<std::size_t>(info.input.bytes()));
    std::vector<std::byte> target(static_cast<std::size_t>(info.target.bytes()));
    source.read_in_epoch(index, epoch, input, target);
    return row_is_finite(input, info.input, 0) && row_is_finite(target, info.target, 0);
}

std::string number_text(double value) {
    return config::Json(value).dump();
}

std::string scale_text(double scale) {
    return scale >= 1 && scale == std::floor(scale) && scale < 1e15
               ? format_thousands(std::llround(scale))
               : number_text(scale);
}

/// "f32[32,4] from -1.5 to 3e+30, 2 infinite"
std::string seen_text(const exec::SeenOperand& operand) {
    const exec::ValueRange& range = operand.range;
    std::string out = ir::to_text(operand.type);
    if (range.finite > 0) {
        out += range.low == range.high
                   ? " of " + format_short(range.low)
                   : " from " + format_short(range.low) + " to " + format_short(range.high);
    }
    if (range.infinite > 0) {
        out += ", " + format_thousands(range.infinite) + " infinite";
    }
    return range.nan > 0 ? out + ", " + format_thousands(range.nan) + " NaN" : out;
}

/// What the first bad op read, and what it made of it.
std::string operands_text(const exec::RunReport& report) {
    constexpr std::size_t kMostInputs = 4;
    if (report.inputs.empty()) {
        return "";
    }
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < std::min(report.inputs.size(), kMostInputs); ++i) {
        inputs.push_back(seen_text(report.inputs[i]));
    }
    if (report.inputs.size() > kMostInputs) {
        inputs.push_back(std::to_string(report.inputs.size() - kMostInputs) + " more");
    }
    const exec::ValueRange& made = report.output.range;
    return " It read " + join(inputs, "; ") + "; of its " +
           format_thousands(report.output.type.shape.elements()) + " values " +
           format_thousands(made.nan + made.infinite) + " are not finite.";
}

/// The optimizer's own epsilon, where it has one.
const config::Json* epsilon_of(const compile::RunConfig& config) {
    const config::Json& optimizer = config.section("optimizer");
    const auto found = optimizer.find("eps");
    return found != optimizer.end() && found->is_number() ? &*found : nullptr;
}

} // namespace

std::vector<WayOn> ways_past(const Divergence& what, const compile::RunConfig& config,
                             std::int64_t from) {
    const std::string start = way_from(from);
    const std::int64_t step = std::max<std::int64_t>(from, 0);
    std::vector<WayOn> out;
    const auto add = [&](const std::string& change, const std::string& assignment) {
        out.push_back({start + change, step, {assignment}});
    };
    const double rate = config.section("optimizer").value("learning_rate", 1e-3);
    add(" with half the learning rate", "optimizer.learning_rate=" + number_text(rate / 2));
    const double norm = config.max_grad_norm ? *config.max_grad_norm / 2 : 1.0;
    add(" with gradients clipped at norm " + number_text(norm),
        "training.max_grad_norm=" + number_text(norm));
    if (config.compute_dtype() != ir::DType::f32) {
        // bf16 has f32's range.
        const bool narrow = config.scales_loss() || config.operands() == ir::Operands::fp8;
        const std::string wider = narrow ? "bf16" : "f32";
        add(" in " + wider, "training.precision=" + wider);
    }
    // Weights that are spoilt already were so by an update before.
    const bool spoilt = what.report.kind == "argument" && what.bad_data.empty();
    if (!spoilt && what.step > step) {
        config::Json steps = config.pass_over;
        steps.push_back(what.step);
        add(" without the batch of step " + format_thousands(what.step),
            "training.pass_over=" + steps.dump());
    }
    if (const config::Json* epsilon = epsilon_of(config)) {
        const std::string larger = number_text(std::max(epsilon->get<double>() * 100, 1e-12));
        add(" with the optimizer's epsilon at " + larger, "optimizer.eps=" + larger);
    }
    return out;
}

std::optional<std::int64_t> row_of_bad_value(const exec::RunReport& report, std::int64_t rows) {
    const ir::Shape& shape = report.output.type.shape;
    if (report.finite || report.kind == "argument" || report.phase == ir::Phase::update ||
        shape.rank() == 0 || shape[0] != rows || report.output.range.first_bad < 0) {
        return std::nullopt;
    }
    const std::int64_t before = report.iterations.empty() ? 0 : report.iterations.front() * rows;
    return before + report.output.range.first_bad / (shape.elements() / rows);
}

std::string place_of_bad_value(const exec::RunReport& report, std::int64_t rows,
                               const data::Batch& batch, const data::Source& source,
                               const data::Sampler& sampler) {
    const auto row = row_of_bad_value(report, rows);
    if (!row || *row >= batch.samples) {
        return ""; // of padding
    }
    return source.place_of(sampler.index(batch.first_sample / source.samples(),
                                         batch.first_sample % source.samples() + *row));
}

std::optional<std::int64_t> row_of_bad_data(const data::Batch& batch,
                                            const data::SampleInfo& info) {
    for (std::int64_t row = 0; row < batch.samples; ++row) {
        if (!row_is_finite(batch.inputs, info.input, row) ||
            !row_is_finite(batch.targets, info.target, row)) {
            return row;
        }
    }
    return std::nullopt;
}

std::string place_of_bad_data(const data::Batch& batch, const data::Source& source,
                              const data::Sampler& sampler, const data::Mixing* mixing) {
    const auto row = row_of_bad_data(batch, source.info());
    if (!row) {
        return "";
    }
    const std::int64_t epoch = batch.first_sample / source.samples();
    const std::int64_t position = batch.first_sample % source.samples() + *row;
    const std::int64_t index = sampler.index(epoch, position);
    if (mixing == nullptr || !sample_is_finite(source, index, epoch)) {
        return source.place_of(index);
    }
    const data::Mix mix = mixing->draw(epoch, position, sampler.stretch(epoch, position));
    return source.place_of(sampler.index(epoch, mix.other));
}

ErrorEvent explain_divergence(const Divergence& what, const compile::RunConfig& config) {
    ErrorEvent event;
    event.kind = "diverged";
    event.where = place_of_failure(what.report);
    const std::string step = "Step " + format_thousands(what.step) + ": ";
    if (what.spoils) {
        event.message = step + "the update makes weights that are not finite";
    } else if (!std::isfinite(what.loss)) {
        event.message = step + "the loss became " + value_name(what.loss);
    } else {
        event.message = step + "the gradient norm became " + value_name(what.grad_norm);
    }
    if (config.loss_scale && !config.scales_loss()) {
        event.message += ", as it did in the " + std::to_string(config.loss_scale->hysteresis - 1) +
                         " updates before, which were skipped";
    } else if (config.loss_scale) {
        event.message += " at the loss scale " + scale_text(what.loss_scale) + ", and none below " +
                         scale_text(config.loss_scale->minimum) + " is allowed";
    }
    event.message += event.where.empty() ? "." : "; the first bad value is from here.";
    event.message += operands_text(what.report);
    if (what.left_out > 0) {
        event.message += " " + std::to_string(what.left_out) +
                         (what.left_out == 1 ? " update near it was" : " updates near it were") +
                         " left out before; no more are (training.most_rewinds).";
    }
    if (!what.sample.empty()) {
        event.message += " The first of them is of " + what.sample + ".";
    }
    if (!what.unread.empty()) {
        event.message +=
            " Where it began is not known: its batch cannot be read again (" + what.unread + ").";
    }
    event.hint = "The update was not taken. ";
    if (!what.bad_data.empty()) {
        event.where = what.bad_data;
        event.message += " It was read, not computed.";
        event.hint += "Correct or remove what was read there. ";
    }
    event.hint += what.last_checkpoint < 0 ? "There is no checkpoint yet."
                                           : "Last good checkpoint: step " +
                                                 format_thousands(what.last_checkpoint) + ".";
    event.ways_on = ways_past(what, config, what.last_checkpoint);
    event.ways_on.resize(std::min<std::size_t>(event.ways_on.size(), kMostTold));
    return event;
}

} // namespace weft::train
