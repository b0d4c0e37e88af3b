// SPDX-License-Identifier: Apache-2.0
// The exchanges of a planned program, and what each device sends for them (core/cost/exchange.h).
#include "core/base/text.h"
#include "core/cost/exchange.h"
#include "core/ops/op_def.h"
#include "core/plan/plan.h"

#include <algorithm>

namespace weft::plan {
namespace {

class Collector {
public:
    std::vector<Collective> run(const PlannedProgram& program) {
        visit(program.steps, 1);
        return std::move(out_);
    }

private:
    void visit(const std::vector<Step>& steps, double times) {
        for (const Step& step : steps) {
            const int position = position_++;
            if (step.is_loop()) {
                visit(step.steps, times * static_cast<double>(step.count));
            } else if (std::optional<Collective> one = collective_of(step);
                       one && one->kind != "receive" && one->kind != "sent") {
                one->number = static_cast<int>(out_.size()) + 1;
                one->position = position;
                one->sent_bytes =
                    static_cast<std::int64_t>(static_cast<double>(one->sent_bytes) * times);
                one->predicted_ms *= times;
                one->count = times;
                out_.push_back(std::move(*one));
            }
        }
    }

    std::vector<Collective> out_;
    int position_ = 0;
};

} // namespace

std::optional<Collective> collective_of(const Step& step) {
    const ops::OpDef* def = step.is_loop() ? nullptr : ops::find_op(step.op.kind);
    if (def == nullptr || !def->collective) {
        return std::nullopt;
    }
    Collective out;
    out.kind = step.op.kind == "send" ? "send_recv" : step.op.kind;
    out.axes = split(step.op.attributes.text("axes"), ',');
    out.devices = step.op.attributes.integer("count");
    const bool arrives = step.op.kind == "receive" || step.op.kind == "sent"; // priced as sent
    for (std::size_t i = 0; i < step.inputs.size() && !arrives; ++i) {
        out.array_bytes += std::max(step.inputs[i].type.bytes(), step.outputs[i].type.bytes());
    }
    out.overlaps = step.op.attributes.text("overlaps", "");
    out.sent_bytes = cost::sent_bytes({out.kind, out.array_bytes, out.devices});
    out.predicted_ms = step.predicted_ms;
    out.cause = step.op.attributes.text("cause");
    out.what = step.op.attributes.text("what", "");
    out.why = step.op.attributes.text("why", "");
    out.tensor = step.op.attributes.text("tensor", "");
    out.path = step.op.path;
    out.phase = step.op.phase;
    return out;
}

std::vector<Collective> collectives(const PlannedProgram& program) {
    return Collector().run(program);
}

} // namespace weft::plan
