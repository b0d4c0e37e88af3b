// SPDX-License-Identifier: Apache-2.0
#include "core/compile/mesh/batch_advice.h"

#include "core/compile/predict.h"

#include <algorithm>
#include <cmath>

namespace weft::compile {
namespace {

/// Seconds of the forward pass's products of weights, in all executions.
struct Products {
    double computing = 0;
    double moving_weights = 0;
    double moving_rest = 0;
};

bool multiplies_by_weight(const plan::Step& step) {
    const std::string& kind = step.op.kind;
    return step.op.phase == ir::Phase::forward && step.inputs.size() >= 2 &&
           (kind == "linear" || kind == "matmul" || kind == "conv2d");
}

void add_products(const std::vector<plan::Step>& steps, double times, const cost::Limits& limits,
                  Products& out) {
    for (const plan::Step& step : steps) {
        if (step.is_loop()) {
            add_products(step.steps, times * static_cast<double>(step.count), limits, out);
        } else if (multiplies_by_weight(step)) {
            const cost::Work work = work_of(step);
            const auto weight = static_cast<double>(step.inputs[1].type.bytes());
            out.computing +=
                times * work.product_flops / cost::product_rate(work.dtype, work.operands, limits);
            out.moving_weights += times * weight / limits.bandwidth;
            out.moving_rest += times * (work.bytes - weight) / limits.bandwidth;
        }
    }
}

bool splits_batch(const plan::ExecutionPlan& plan, const std::string& axis) {
    for (const sharding::Rule& rule : plan.rules) {
        if (rule.logical == "batch") { // the first rule for a name counts
            return std::find(rule.axes.begin(), rule.axes.end(), axis) != rule.axes.end();
        }
    }
    return false;
}

} // namespace

std::optional<plan::BatchAdvice> advise_batch(const plan::ExecutionPlan& plan,
                                              const BatchPlan& batch, const cost::CostModel& cost) {
    const plan::PlannedProgram* step = plan.find("train_step");
    if (plan.mesh.single() || plan.pipeline || step == nullptr || !plan.predicted_step_ms) {
        return std::nullopt;
    }
    plan::BatchAdvice out;
    out.samples = batch.micro_batch_size;
    out.global_batch_size = batch.global_batch_size;
    Products products;
    add_products(step->steps, 1, cost.limits(), products);
    if (const double gain = products.computing - products.moving_rest; gain > 0) {
        out.balanced_samples = static_cast<std::int64_t>(
            std::ceil(static_cast<double>(out.samples) * products.moving_weights / gain));
    }
    double fixed_ms = 0;
    for (const plan::Collective& one : plan::collectives(*step)) {
        const bool fixed =
            one.phase == ir::Phase::update ||
            std::any_of(one.axes.begin(), one.axes.end(),
                        [&](const std::string& axis) { return splits_batch(plan, axis); });
        fixed_ms += fixed ? one.predicted_ms : 0;
    }
    const double computing_ms = *plan.predicted_step_ms - plan.communication_ms;
    const double growing_ms = plan.communication_ms - fixed_ms;
    out.communication_share = plan.communication_ms / *plan.predicted_step_ms;
    if (computing_ms > growing_ms) {
        const double times = fixed_ms / (computing_ms - growing_ms);
        out.balanced_batch_size = static_cast<std::int64_t>(
            std::ceil(static_cast<double>(batch.global_batch_size) * times));
    }
    return out;
}

} // namespace weft::compile
