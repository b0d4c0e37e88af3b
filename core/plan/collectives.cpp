// SPDX-License-Identifier: Apache-2.0
// The exchanges of a planned program, and what each device sends for them by the ring algorithm: an
// all-reduce of S bytes over n devices 2 S (n - 1) / n, all-gather, reduce-scatter and all-to-all
// S (n - 1) / n, a permutation S (FACTS E; Patarasuk and Yuan 2009).
#include "core/base/text.h"
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
            } else if (const ops::OpDef* def = ops::find_op(step.op.kind);
                       def != nullptr && def->collective) {
                add(step, position, times);
            }
        }
    }

    void add(const Step& step, int position, double times) {
        Collective one;
        one.number = static_cast<int>(out_.size()) + 1;
        one.position = position;
        one.kind = step.op.kind;
        one.axes = split(step.op.attributes.text("axes"), ',');
        one.devices = step.op.attributes.integer("count");
        for (std::size_t i = 0; i < step.inputs.size(); ++i) {
            one.array_bytes += std::max(step.inputs[i].type.bytes(), step.outputs[i].type.bytes());
        }
        one.overlaps = step.op.attributes.text("overlaps", "");
        const std::int64_t ring = one.array_bytes * (one.devices - 1) / one.devices;
        const std::int64_t sent = one.kind == "all_reduce" ? 2 * ring
                                  : one.kind == "permute"  ? one.array_bytes
                                                           : ring;
        one.sent_bytes = static_cast<std::int64_t>(static_cast<double>(sent) * times);
        one.count = times;
        one.cause = step.op.attributes.text("cause");
        one.path = step.op.path;
        one.phase = step.op.phase;
        out_.push_back(std::move(one));
    }

    std::vector<Collective> out_;
    int position_ = 0;
};

} // namespace

std::vector<Collective> collectives(const PlannedProgram& program) {
    return Collector().run(program);
}

} // namespace weft::plan
