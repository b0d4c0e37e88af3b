// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands/verify.h"

#include "core/base/text.h"

#include <cmath>

namespace weft::cli {
namespace {

using train::MeshVerdict;

/// Of a difference.
std::string short_number(double value) {
    return format_short(value, 2);
}

const char* mode_of(const MeshVerdict& verdict) {
    return verdict.in_f64 ? "f64" : "f32";
}

/// "layer_norm at blocks.1.norm1, forward"
std::string op_text(const exec::OpDifference& op) {
    return op.kind + (op.path.empty() ? "" : " at " + op.path) + ", " +
           std::string(ir::phase_name(op.phase));
}

std::string first_text(const MeshVerdict& verdict) {
    const exec::OpDifference& op = *verdict.first;
    const std::string device = "device " + std::to_string(op.device);
    std::string out =
        "first difference  step " + std::to_string(verdict.first_step) + ": " + op_text(op) +
        "\n  its value       " + op.value + ", " + ir::to_text(op.type) + "\n  is off by       " +
        short_number(op.relative) + " of its largest magnitude, " +
        (op.summed ? "in the sum of the terms of " + device + " and its group" : "on " + device) +
        "\n";
    if (!op.on_devices.empty()) {
        out += "  the devices run " + join(op.on_devices, "; ") + "\n";
    }
    return out;
}

std::string values_text(const MeshVerdict& verdict) {
    if (verdict.first) {
        return first_text(verdict);
    }
    const char* const why = verdict.in_f64
                                ? "f64 rounds to 1e-16, so what is left is the order of sums"
                                : "f32: in f64 a model of this size would take minutes";
    return "values  " + format_thousands(verdict.values) + " agree op by op to " +
           short_number(verdict.largest_difference) + "; " +
           short_number(verdict.agreement.relative) + " is allowed in " + mode_of(verdict) + " (" +
           why + ")\n";
}

/// What amplifies, and the proof of it.
std::string routing_text(const train::RoutingChange& routing) {
    const std::string alone = "one device with microsteps of " + std::to_string(routing.rows) +
                              " samples differs from itself by " +
                              short_number(routing.loss_difference);
    return "  routing  is the same until step " + std::to_string(routing.step) + ", where " +
           format_thousands(routing.changed) + " of " + format_thousands(routing.choices) +
           " choices of experts differ\n  " +
           (routing.explains
                ? "the routing amplifies: a rounding decides between two experts of equal "
                  "probability, and the losses part there; " +
                      alone + "\n"
                : alone + ": roundings alone do not explain the losses\n");
}

std::string losses_text(const MeshVerdict& verdict) {
    const std::string allowed = short_number(verdict.loss_tolerance) + " is allowed in " +
                                verdict.precision +
                                " (sums in another order, step by step further apart)\n";
    const bool explained = verdict.routing && verdict.routing->explains;
    if (verdict.losses_agree() && !explained) {
        return "losses  as executed agree to " + short_number(verdict.loss_difference) + "; " +
               allowed;
    }
    const std::string differ = "losses  as executed differ by " +
                               short_number(verdict.loss_difference) + " at step " +
                               std::to_string(verdict.loss_step) + "; " + allowed;
    if (explained) {
        return differ + routing_text(*verdict.routing);
    }
    return differ + (verdict.routing ? routing_text(*verdict.routing) : "") +
           (verdict.first ? ""
                          : "  the programs agree before any pass: a pass, a kernel or an exchange "
                            "between threads is at fault\n");
}

} // namespace

std::string verdict_text(const MeshVerdict& verdict) {
    const bool agrees = verdict.values_agree() && verdict.losses_agree();
    return verdict.mesh.to_text() + " beside one device with the same micro batches, " +
           std::to_string(verdict.steps) + (verdict.steps == 1 ? " step: " : " steps: ") +
           (agrees ? "they agree\n\n" : "they differ\n\n") + values_text(verdict) +
           losses_text(verdict);
}

config::Json verdict_json(const MeshVerdict& verdict) {
    config::Json first;
    if (verdict.first) {
        const exec::OpDifference& op = *verdict.first;
        first = {{"step", verdict.first_step},
                 {"kind", op.kind},
                 {"path", op.path},
                 {"phase", ir::phase_name(op.phase)},
                 {"value", op.value},
                 {"type", ir::to_text(op.type)},
                 {"device", op.device},
                 {"summed", op.summed},
                 {"relative_difference", op.relative},
                 {"on_devices", op.on_devices}};
    }
    config::Json routing;
    if (verdict.routing) {
        const train::RoutingChange& change = *verdict.routing;
        routing = {{"first_change", change.step},
                   {"changed", change.changed},
                   {"choices", change.choices},
                   {"one_device_rows", change.rows},
                   {"one_device_difference", change.loss_difference},
                   {"explains", change.explains}};
    }
    return {{"agrees", verdict.values_agree() && verdict.losses_agree()},
            {"mesh", verdict.mesh.to_text()},
            {"steps", verdict.steps},
            {"values",
             {{"compared", verdict.values},
              {"dtype", mode_of(verdict)},
              {"largest_difference", verdict.largest_difference},
              {"tolerance", verdict.agreement.relative},
              {"first_difference", std::move(first)}}},
            {"losses",
             {{"precision", verdict.precision},
              {"largest_difference", verdict.loss_difference},
              {"tolerance", verdict.loss_tolerance}}},
            {"routing", std::move(routing)}};
}

} // namespace weft::cli
