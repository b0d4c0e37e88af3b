// SPDX-License-Identifier: Apache-2.0
#include "core/plan/lower.h"

#include "core/ir/text.h"
#include "core/memory/arena.h"
#include "core/ops/op_def.h"
#include "core/plan/categorise.h"

#include <algorithm>
#include <map>
#include <optional>

namespace weft::plan {
namespace {

using ir::Op;
using ir::ValueId;

class Lowerer {
public:
    Lowerer(const ir::Program& program, const memory::Storage& storage,
            std::span<const KernelChoice> kernels, std::span<const StateSlot> slots,
            std::int64_t state_bytes)
        : program_(program), storage_(storage), kernels_(kernels), state_bytes_(state_bytes) {
        slots_.reserve(slots.size());
        for (const StateSlot& slot : slots) {
            slots_[slot.name] = &slot;
        }
    }

    /// Takes the ops of the program's body.
    PlannedProgram run(ir::Block& body) {
        out_.name = program_.name;
        lay_out();
        lower_block(body, out_.steps);
        ports(program_.arguments, out_.arguments);
        ports(program_.results, out_.results);
        for (const Step& step : out_.steps) {
            out_.flops += step.flops;
        }
        make_segments();
        make_timeline();
        return std::move(out_);
    }

    std::int64_t peak_bytes() {
        lay_out();
        return out_.peak_bytes;
    }

private:
    void lay_out() {
        make_buffers();
        make_workspaces();
        place();
    }

    const StateSlot& slot(const std::string& name) const {
        const auto found = slots_.find(name);
        WEFT_CHECK(found != slots_.end(),
                   "program " + program_.name + " uses state '" + name + "', which is not a slot");
        return *found->second;
    }

    void make_buffers() {
        const auto categories = categorise(program_, storage_, slots_);
        auto names = name_stretches(program_, storage_);
        out_.buffers.reserve(storage_.stretches.size());
        for (std::size_t i = 0; i < storage_.stretches.size(); ++i) {
            const memory::Stretch& stretch = storage_.stretches[i];
            Buffer buffer;
            buffer.name = std::move(names[i]);
            buffer.category = categories[i];
            buffer.bytes = stretch.bytes;
            buffer.first_step = stretch.range.first;
            buffer.last_step = stretch.range.last;
            if (!stretch.slot.empty()) {
                buffer.name = stretch.slot;
                buffer.is_state = true;
                buffer.offset = slot(stretch.slot).offset;
            }
            out_.buffers.push_back(std::move(buffer));
        }
    }

    void make_workspaces() {
        workspaces_.assign(kernels_.size(), -1);
        for (std::size_t position = 0; position < kernels_.size(); ++position) {
            if (kernels_[position].workspace_bytes == 0) {
                continue;
            }
            Buffer buffer;
            buffer.name = "workspace of " + kernels_[position].kernel;
            buffer.category = Category::workspace;
            buffer.bytes = kernels_[position].workspace_bytes;
            buffer.first_step = buffer.last_step = static_cast<int>(position);
            workspaces_[position] = static_cast<int>(out_.buffers.size());
            out_.buffers.push_back(std::move(buffer));
        }
    }

    void place() {
        std::vector<memory::Block> blocks;
        std::vector<std::size_t> owners;
        for (std::size_t i = 0; i < out_.buffers.size(); ++i) {
            const Buffer& buffer = out_.buffers[i];
            if (!buffer.is_state) {
                blocks.push_back({buffer.bytes, {buffer.first_step, buffer.last_step}, 0});
                owners.push_back(i);
            }
        }
        out_.peak_bytes = memory::assign_offsets(blocks, state_bytes_).bytes;
        const auto faults = memory::check_offsets(blocks, state_bytes_);
        WEFT_CHECK(faults.empty(), "program " + program_.name + ": " + faults.front());
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            out_.buffers[owners[i]].offset = blocks[i].offset;
        }
    }

    Operand operand(ValueId id) const {
        const auto index = static_cast<std::size_t>(id.index);
        Operand out;
        out.buffer = storage_.stretch_of[index];
        out.offset = out_.buffers[static_cast<std::size_t>(out.buffer)].offset;
        out.type = program_.type(id);
        out.strides.assign(loops_.size(), 0);
        for (const memory::Part* part = &storage_.liveness.parts[index]; part->of.valid();
             part = &storage_.liveness.parts[static_cast<std::size_t>(part->of.index)]) {
            const auto depth = std::find(loops_.begin(), loops_.end(), part->loop);
            if (depth != loops_.end()) {
                out.strides[static_cast<std::size_t>(depth - loops_.begin())] += part->stride_bytes;
            }
        }
        while (!out.strides.empty() && out.strides.back() == 0) {
            out.strides.pop_back();
        }
        return out;
    }

    void ports(const std::vector<ir::Port>& from, std::vector<PlannedPort>& to) const {
        for (const ir::Port& port : from) {
            if (port.role == ir::Role::state) {
                WEFT_CHECK(slot(port.name).type == program_.type(port.value),
                           "program " + program_.name + " has another type for slot " + port.name);
            }
            const ir::Type& type = program_.type(port.value);
            to.push_back({port.role, port.name, operand(port.value), type,
                          sharding::Sharding::replicated(type.shape.rank())});
        }
    }

    void lower_block(ir::Block& block, std::vector<Step>& steps) {
        steps.reserve(block.ops.size());
        for (Op& op : block.ops) {
            if (memory::is_step(op)) {
                const int position = position_++;
                steps.push_back(op.is_loop() ? loop(op, position) : leaf(std::move(op), position));
            }
        }
    }

    Step loop(Op& op, int position) {
        Step step;
        step.op.kind = op.kind;
        step.op.attributes = op.attributes;
        step.op.path = op.path;
        step.op.phase = op.phase;
        step.count = op.attributes.integer("count");
        step.reverse = op.attributes.flag("reverse");
        loops_.push_back(position);
        lower_block(op.body.front(), step.steps);
        loops_.pop_back();
        for (const Step& inner : step.steps) {
            step.flops += inner.flops * static_cast<double>(step.count);
            step.product_flops += inner.product_flops * static_cast<double>(step.count);
            step.bytes += inner.bytes * static_cast<double>(step.count);
        }
        return step;
    }

    Step leaf(Op op, int position) {
        Step step;
        step.inputs.reserve(op.inputs.size());
        step.outputs.reserve(op.outputs.size());
        for (const ValueId id : op.inputs) {
            step.inputs.push_back(operand(id));
        }
        for (const ValueId id : op.outputs) {
            step.outputs.push_back(operand(id));
        }
        const auto at = static_cast<std::size_t>(position);
        step.kernel = kernels_[at].kernel;
        step.backend = kernels_[at].backend;
        if (const int workspace = workspaces_[at]; workspace >= 0) {
            const Buffer& buffer = out_.buffers[static_cast<std::size_t>(workspace)];
            step.workspace = {workspace, buffer.offset, {ir::DType::u8, {buffer.bytes}}, {}};
        }
        const ops::OpCost cost = ops::cost_of({program_, op});
        step.flops = cost.flops;
        step.product_flops = cost.products;
        step.bytes = cost.bytes;
        step.op = std::move(op);
        number_locally(step);
        return step;
    }

    /// Step values are numbered on their own: inputs, outputs, then the body's in definition order.
    void number_locally(Step& step) const {
        std::map<ValueId, ValueId> number;
        std::int32_t next = 0;
        for (ValueId& id : step.op.inputs) {
            id = {next++};
        }
        for (ValueId& id : step.op.outputs) {
            id = {next++};
        }
        const auto define = [&](ValueId& id) {
            step.body_types.push_back(program_.type(id));
            number[id] = {next};
            id = {next++};
        };
        for (ir::Block& body : step.op.body) {
            std::for_each(body.arguments.begin(), body.arguments.end(), define);
            for (Op& op : body.ops) {
                for (ValueId& id : op.inputs) {
                    id = number.at(id);
                }
                std::for_each(op.outputs.begin(), op.outputs.end(), define);
            }
            for (ValueId& id : body.results) {
                id = number.at(id);
            }
        }
    }

    static int positions_of(const Step& step) {
        int count = 1;
        for (const Step& inner : step.steps) {
            count += positions_of(inner);
        }
        return count;
    }

    static bool has_phase(const Step& step, ir::Phase phase) {
        return step.is_loop()
                   ? std::any_of(step.steps.begin(), step.steps.end(),
                                 [&](const Step& inner) { return has_phase(inner, phase); })
                   : step.op.phase == phase;
    }

    /// A pipelined step is its actions and, around them, setup and update.
    void make_action_segments() {
        int position = 0;
        for (const Step& step : out_.steps) {
            const bool updated = !out_.segments.empty() && out_.segments.back().name == "update";
            const bool updates = step.op.phase == ir::Phase::update || updated;
            const std::string name = !step.op.action.empty() ? step.op.action
                                     : updates               ? "update"
                                                             : "setup";
            if (out_.segments.empty() || out_.segments.back().name != name) {
                out_.segments.push_back({name, 1, position, 0});
            }
            out_.segments.back().steps += positions_of(step);
            position += positions_of(step);
        }
    }

    /// A program with an update is setup, microstep x n, update; any other is one segment.
    void make_segments() {
        if (std::any_of(out_.steps.begin(), out_.steps.end(),
                        [](const Step& step) { return !step.op.action.empty(); })) {
            make_action_segments();
            return;
        }
        const bool updates =
            std::any_of(out_.steps.begin(), out_.steps.end(),
                        [](const Step& step) { return has_phase(step, ir::Phase::update); });
        const bool trains =
            updates && std::any_of(out_.steps.begin(), out_.steps.end(), [](const Step& step) {
                return has_phase(step, ir::Phase::backward);
            });
        int position = 0;
        for (const Step& step : out_.steps) {
            const int length = positions_of(step);
            const bool microstep = step.is_loop() && has_phase(step, ir::Phase::backward);
            const bool updated = !out_.segments.empty() && out_.segments.back().name == "update";
            std::string name = program_.name;
            if (trains) {
                name = microstep || has_phase(step, ir::Phase::backward) ? "microstep"
                       : step.op.phase == ir::Phase::update || updated   ? "update"
                                                                         : "microstep";
            }
            const std::int64_t repeat = microstep && trains ? step.count : 1;
            if (out_.segments.empty() || out_.segments.back().name != name ||
                out_.segments.back().repeat != repeat) {
                out_.segments.push_back({name, repeat, position, 0});
            }
            out_.segments.back().steps += length;
            position += length;
        }
        rename_setup();
    }

    /// What runs once before the repeated microstep is no microstep.
    void rename_setup() {
        const bool repeated =
            std::any_of(out_.segments.begin(), out_.segments.end(),
                        [](const Segment& segment) { return segment.repeat > 1; });
        for (Segment& segment : out_.segments) {
            if (repeated && segment.repeat == 1 && segment.name == "microstep") {
                segment.name = "setup";
            }
        }
    }

    void make_timeline() {
        std::vector<std::optional<std::int64_t>> change; // [position]
        const auto add = [&change](int position, std::int64_t bytes) {
            const auto at = static_cast<std::size_t>(position);
            change.resize(std::max(change.size(), at + 1));
            change[at] = change[at].value_or(0) + bytes;
        };
        for (const Buffer& buffer : out_.buffers) {
            if (!buffer.is_state) {
                add(buffer.first_step, memory::align(buffer.bytes));
                add(buffer.last_step + 1, -memory::align(buffer.bytes));
            }
        }
        std::int64_t alive = state_bytes_;
        std::int64_t most = -1;
        for (std::size_t position = 0; position < change.size(); ++position) {
            if (!change[position]) {
                continue;
            }
            alive += *change[position];
            out_.timeline.emplace_back(static_cast<int>(position), alive);
            if (alive > most) {
                most = alive;
                out_.peak_step = static_cast<int>(position);
            }
        }
    }

    const ir::Program& program_;
    const memory::Storage& storage_;
    std::span<const KernelChoice> kernels_;
    std::int64_t state_bytes_;
    SlotIndex slots_;
    PlannedProgram out_;
    std::vector<int> workspaces_; // [position] buffer
    std::vector<int> loops_;      // positions of the loops around the walk
    int position_ = 0;
};

} // namespace

std::int64_t place_slots(std::vector<StateSlot>& slots, int stage) {
    std::int64_t offset = 0;
    for (StateSlot& slot : slots) {
        if (slot.stage == stage) {
            slot.offset = offset;
            offset = memory::align(offset + slot.type.bytes());
        }
    }
    return offset;
}

PlannedProgram lower(ir::Program program, const memory::Storage& storage,
                     std::span<const KernelChoice> kernels, std::span<const StateSlot> slots,
                     std::int64_t state_bytes) {
    WEFT_CHECK(static_cast<int>(kernels.size()) == storage.liveness.positions,
               "one kernel choice per step position");
    return Lowerer(program, storage, kernels, slots, state_bytes).run(program.body);
}

std::int64_t landing_bytes(const ir::Program& program) {
    std::int64_t bytes = 0;
    for (const ir::Port& port : program.arguments) {
        const bool given = port.role != ir::Role::state;
        bytes += given ? memory::align(program.type(port.value).bytes()) : 0;
    }
    return bytes;
}

std::int64_t arena_bytes(const ir::Program& program, const memory::Storage& storage,
                         std::span<const KernelChoice> kernels, std::span<const StateSlot> slots,
                         std::int64_t state_bytes) {
    return Lowerer(program, storage, kernels, slots, state_bytes).peak_bytes();
}

} // namespace weft::plan
