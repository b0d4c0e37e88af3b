// SPDX-License-Identifier: Apache-2.0
#include "core/compile/predict.h"

#include "core/base/on_threads.h"
#include "core/base/text.h"
#include "core/compile/mesh/stage_programs.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <map>

namespace weft::compile {
namespace {

constexpr double kWorthSayingMs = 0.01;

/// Of the first floating-point operand: products compute in it. f32 where there is none.
ir::DType dtype_of(const plan::Step& step) {
    for (const auto* operands : {&step.inputs, &step.outputs}) {
        for (const plan::Operand& operand : *operands) {
            if (ir::is_float(operand.type.dtype)) {
                return operand.type.dtype;
            }
        }
    }
    return ir::DType::f32;
}

ir::Operands operands_of(const plan::Step& step) {
    const std::string text = step.op.attributes.text("operands", "");
    return text.empty()     ? ir::Operands::as_stored
           : text == "tf32" ? ir::Operands::tf32
                            : ir::Operands::fp8;
}

bool exchanges(const plan::Step& step) {
    return ops::op_def(step.op.kind).collective;
}

void append(const std::vector<plan::Step>& steps, double times, std::vector<cost::Work>& out) {
    for (const plan::Step& step : steps) {
        if (step.is_loop()) {
            append(step.steps, times * static_cast<double>(step.count), out);
        } else if (!exchanges(step)) {
            out.push_back(work_of(step));
            out.back().times = times;
        }
    }
}

/// Where the exchanges of a program go: a program has many, along few axes.
class Links {
public:
    /// Hosts hold consecutive devices; `host_devices` 0: one holds all.
    Links(const sharding::Mesh& mesh, std::int64_t host_devices)
        : mesh_(mesh), host_devices_(host_devices) {}

    cost::Exchange exchange_of(const plan::Collective& one) {
        return {one.kind, one.array_bytes, one.devices, near_of(one.axes), one.count};
    }

private:
    /// Members of the first device's group that stand on its host.
    std::int64_t near_of(const std::vector<std::string>& names) {
        if (host_devices_ == 0 || mesh_.devices() <= host_devices_) {
            return 0;
        }
        const auto [found, is_new] = near_.try_emplace(names, 0);
        if (is_new) {
            found->second = count_near(names);
        }
        return found->second;
    }

    std::int64_t count_near(const std::vector<std::string>& names) const {
        std::vector<int> axes;
        for (const std::string& name : names) {
            axes.push_back(mesh_.find(name));
        }
        std::int64_t near = 0;
        for (std::int64_t device = 0; device < host_devices_; ++device) {
            const auto place = mesh_.coordinates(device);
            bool same = true;
            for (std::size_t i = 0; i < place.size(); ++i) {
                const bool along =
                    std::find(axes.begin(), axes.end(), static_cast<int>(i)) != axes.end();
                same = same && (along || place[i] == 0);
            }
            near += same ? 1 : 0;
        }
        return near;
    }

    const sharding::Mesh& mesh_;
    const std::int64_t host_devices_;
    std::map<std::vector<std::string>, std::int64_t> near_;
};

cost::MeshWork mesh_work_of(const plan::PlannedProgram& program,
                            const std::vector<plan::Collective>& collectives,
                            const sharding::Mesh& mesh, Links& links) {
    cost::MeshWork out{work_of(program), {}, mesh.devices()};
    for (const plan::Collective& one : collectives) {
        out.exchanges.push_back(links.exchange_of(one));
    }
    return out;
}

class Pricer {
public:
    Pricer(const cost::CostModel& cost, const sharding::Mesh& mesh, Links& links)
        : cost_(cost), mesh_(mesh), links_(links) {}

    double price(std::vector<plan::Step>& steps) const {
        double total = 0;
        for (plan::Step& step : steps) {
            step.predicted_ms =
                step.is_loop() ? price(step.steps) * static_cast<double>(step.count) : once(step);
            total += step.predicted_ms;
        }
        return total;
    }

private:
    double once(const plan::Step& step) const {
        const std::int64_t devices = mesh_.devices();
        const auto exchange = plan::collective_of(step);
        return exchange ? cost_.exchange_ms(links_.exchange_of(*exchange), devices)
                        : cost_.op_ms(work_of(step)) * cost_.share(devices);
    }

    const cost::CostModel& cost_;
    const sharding::Mesh& mesh_;
    Links& links_;
};

/// How much of the exchanges that may overlap with backward is hidden behind it: they go one after
/// the other, each from when it is issued, and what comes behind backward waits for them.
class Overlap {
public:
    /// Milliseconds of one call of a priced program.
    double hidden_ms(const plan::PlannedProgram& program) {
        walk(program.steps);
        wait();
        return all_ms_ - now_ms_;
    }

private:
    void walk(const std::vector<plan::Step>& steps) {
        for (const plan::Step& step : steps) {
            if (step.is_loop()) {
                loop(step);
                continue;
            }
            all_ms_ += step.predicted_ms;
            if (!step.op.attributes.text("overlaps", "").empty()) {
                sent_ms_ = std::max(sent_ms_, now_ms_) + step.predicted_ms;
                continue;
            }
            // One set of links: an exchange that somebody waits for waits for those before it.
            if (exchanges(step) || step.op.phase != ir::Phase::backward) {
                wait();
            }
            now_ms_ += step.predicted_ms;
        }
    }

    /// Every iteration is like the first, and waits for its exchanges.
    void loop(const plan::Step& step) {
        wait();
        const double start_ms = now_ms_;
        const double before_ms = all_ms_;
        walk(step.steps);
        wait();
        const auto more = static_cast<double>(step.count - 1);
        now_ms_ += more * (now_ms_ - start_ms);
        all_ms_ += more * (all_ms_ - before_ms);
    }

    void wait() { now_ms_ = std::max(now_ms_, sent_ms_); }

    double all_ms_ = 0;  // one step after the other
    double now_ms_ = 0;  // with overlap
    double sent_ms_ = 0; // the last overlapping exchange ends
};

} // namespace

cost::Work work_of(const plan::Step& step) {
    return {step.op.kind, step.kernel, dtype_of(step),   step.flops, step.product_flops,
            step.bytes,   1,           operands_of(step)};
}

std::vector<cost::Work> work_of(const plan::PlannedProgram& program) {
    std::vector<cost::Work> out;
    append(program.steps, 1, out);
    out.push_back(work_beside_kernels(program));
    return out;
}

cost::MeshWork mesh_work_of(const plan::PlannedProgram& program, const sharding::Mesh& mesh,
                            std::int64_t host_devices) {
    Links links(mesh, host_devices);
    return mesh_work_of(program, plan::collectives(program), mesh, links);
}

cost::Work work_beside_kernels(const plan::PlannedProgram& program) {
    cost::Work work;
    for (const plan::PlannedPort& argument : program.arguments) {
        const bool is_state = argument.role == ir::Role::state;
        work.bytes += is_state ? 0 : static_cast<double>(argument.operand.type.bytes());
    }
    return work;
}

void predict(plan::ExecutionPlan& plan, const cost::CostModel& cost,
             const pipeline::Schedule* schedule, int workers, bool beside) {
    plan.prediction_basis = cost.basis();
    if (!cost.available()) {
        return;
    }
    if (!plan.mesh.single()) {
        plan.assumptions.push_back(cost.exchange_basis(plan.mesh.devices()));
    }
    std::vector<double> communication_ms(plan.programs.size(), 0); // [program]
    for_each_on(workers, plan.programs.size(), [&](std::size_t i) {
        plan::PlannedProgram& program = plan.programs.edit(i);
        Links links(plan.mesh, cost.host_devices());
        Pricer(cost, plan.mesh, links).price(program.steps);
        const std::vector<plan::Collective> collectives = plan::collectives(program);
        for (const plan::Collective& one : collectives) {
            communication_ms[i] += one.predicted_ms;
        }
        const cost::Prediction prediction = cost.predict(
            mesh_work_of(program, collectives, plan.mesh, links), cost::program_key(program.text));
        program.hidden_ms = cost.overlaps() || beside ? Overlap().hidden_ms(program) : 0;
        program.predicted_ms = prediction.ms - program.hidden_ms;
        program.predicted_error = prediction.error;
    });
    for (const plan::PlannedProgram& program : plan.programs) {
        if (schedule == nullptr && program.hidden_ms >= kWorthSayingMs) {
            plan.assumptions.push_back(format_duration(program.hidden_ms / 1e3) +
                                       " of the exchanges of " + program.name +
                                       " are hidden behind its backward phase");
        }
    }
    for (std::size_t i = 0; i < plan.programs.size(); ++i) {
        const plan::PlannedProgram& program = plan.programs[i];
        if (program.name != "train_step") {
            continue;
        }
        // Of a pipeline's stages, the slowest.
        plan.predicted_step_ms = std::max(plan.predicted_step_ms.value_or(0), program.predicted_ms);
        plan.predicted_error = std::max(plan.predicted_error, program.predicted_error);
        plan.communication_ms = std::max(plan.communication_ms, communication_ms[i]);
    }
    if (schedule != nullptr && plan.predicted_step_ms) {
        plan.predicted_step_ms = predict_pipeline(plan, *schedule);
    }
}

} // namespace weft::compile
