// SPDX-License-Identifier: Apache-2.0
#include "core/stages/split_stages.h"

#include "core/stages/check_messages.h"
#include "core/stages/stage_program.h"

#include <algorithm>
#include <deque>
#include <set>

namespace weft::stages {
namespace {

using ir::Block;
using ir::Op;
using ir::Phase;
using ir::ValueId;
using pipeline::Action;
using pipeline::ActionKind;
using pipeline::Schedule;

bool does(Work work, ActionKind kind) {
    switch (kind) {
    case ActionKind::forward: return work == Work::forward;
    case ActionKind::backward: return work == Work::input_grad || work == Work::weight_grad;
    case ActionKind::input_grad: return work == Work::input_grad;
    case ActionKind::weight_grad: return work == Work::weight_grad;
    }
    return false;
}

class Splitter {
public:
    Splitter(const ir::Program& program, const StageMap& map, const Schedule& schedule,
             const PipelineAxis& axis)
        : program_(program), schedule_(schedule), source_(program, map), parts_(source_.parts),
          mail_(schedule.stages) {
        for (int stage = 0; stage < schedule.stages; ++stage) {
            stages_.emplace_back(source_, axis, mail_, stage);
        }
        find_readers(program.body);
    }

    std::vector<ir::Program> run() {
        for (const ir::Port& port : program_.arguments) {
            if (port.role == ir::Role::state) {
                post(kOutside, port.value);
            }
        }
        for (const Op& op : program_.body.ops) {
            if (&op == parts_.loop()) {
                run_schedule();
                for (StageProgram& stage : stages_) {
                    stage.end_action();
                }
                for (const ValueId id : op.outputs) {
                    post(kOutside, id);
                }
            } else if (parts_.of(op) != kAnywhere) {
                StageProgram& own = stage_of(parts_.of(op));
                if (op.phase == Phase::update) {
                    own.end_action();
                } else if (parts_.loop() == nullptr && trains_) {
                    own.begin_action(label(op));
                }
                emit(own, op, kOutside);
            }
        }
        return finish();
    }

private:
    StageProgram& stage_of(int part) {
        return stages_[static_cast<std::size_t>(std::max(0, part) % schedule_.stages)];
    }

    int stage_index(int part) const { return std::max(0, part) % schedule_.stages; }

    /// Of an op whose loop over one microbatch was inlined.
    std::string label(const Op& op) const {
        const int chunk = parts_.of(op) / schedule_.stages;
        const ActionKind kind =
            op.phase == Phase::forward ? ActionKind::forward : ActionKind::backward;
        return pipeline::to_text(Action{kind, 0, chunk}, schedule_.chunks);
    }

    /// The stages that read a value and do not make it.
    void find_readers(const Block& block) {
        for (const Op& op : block.ops) {
            trains_ = trains_ || op.phase == Phase::backward;
            if (&op == parts_.loop()) {
                find_readers(op.body.front());
                for (std::size_t i = 0; i < op.outputs.size(); ++i) {
                    read(op.inputs[i], parts_.of(op.body.front().arguments[i]));
                }
                continue;
            }
            for (const ValueId id : op.inputs) {
                read(id, parts_.of(op));
            }
        }
        if (&block == &program_.body) {
            for (const ir::Port& port : program_.results) {
                if (port.role == ir::Role::state) {
                    read(port.value, part_of_slot(port.name));
                }
            }
        }
    }

    int part_of_slot(const std::string& name) const {
        const auto found = std::find_if(
            program_.arguments.begin(), program_.arguments.end(), [&](const ir::Port& port) {
                return port.role == ir::Role::state && port.name == name;
            });
        return found == program_.arguments.end() ? std::max(0, source_.map.part_of(name))
                                                 : parts_.of(found->value);
    }

    void read(ValueId id, int part) {
        if (part != kAnywhere && parts_.of(id) != kAnywhere &&
            stage_index(part) != stage_index(parts_.of(id))) {
            readers_[id].insert(stage_index(part));
        }
    }

    void emit(StageProgram& stage, const Op& op, int microbatch) {
        stage.emit(op, microbatch);
        for (const ValueId id : op.outputs) {
            post(microbatch, id);
        }
    }

    /// Sends a value to those who will read it.
    void post(int microbatch, ValueId id) {
        const auto found = readers_.find(id);
        if (found == readers_.end()) {
            return;
        }
        for (const int reader : found->second) {
            stage_of(parts_.of(id)).send(microbatch, id, reader);
        }
    }

    /// Every stage's actions in its order, each when what it needs has been computed.
    void run_schedule() {
        const auto parts = static_cast<std::size_t>(schedule_.parts());
        const auto microbatches = static_cast<std::size_t>(schedule_.microbatches);
        forwards_.assign(parts, std::vector<bool>(microbatches, false));
        backwards_ = forwards_;
        std::vector<std::size_t> next(static_cast<std::size_t>(schedule_.stages), 0);
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t stage = 0; stage < next.size(); ++stage) {
                const auto& actions = schedule_.stage_actions[stage];
                while (next[stage] < actions.size() && ready(stage, actions[next[stage]])) {
                    run(stages_[stage], static_cast<int>(stage), actions[next[stage]++]);
                    moved = true;
                }
            }
        }
        for (std::size_t stage = 0; stage < next.size(); ++stage) {
            WEFT_CHECK(next[stage] == schedule_.stage_actions[stage].size(),
                       "a legal schedule ends");
        }
    }

    bool ready(std::size_t stage, const Action& action) const {
        const auto part =
            static_cast<std::size_t>(schedule_.part(static_cast<int>(stage), action.chunk));
        const auto microbatch = static_cast<std::size_t>(action.microbatch);
        if (action.kind == ActionKind::forward) {
            return part == 0 || forwards_[part - 1][microbatch];
        }
        return forwards_[part][microbatch] &&
               (part + 1 == forwards_.size() || backwards_[part + 1][microbatch]);
    }

    void run(StageProgram& stage, int index, const Action& action) {
        const int part = schedule_.part(index, action.chunk);
        stage.begin_action(pipeline::to_text(action, schedule_.chunks));
        const Block& body = parts_.loop()->body.front();
        std::set<ValueId> done;
        for (const Op& op : body.ops) {
            if (parts_.of(op) == part && does(parts_.work(op), action.kind)) {
                emit(stage, op, action.microbatch);
                done.insert(op.outputs.begin(), op.outputs.end());
            }
        }
        for (std::size_t i = 0; i < parts_.loop()->outputs.size(); ++i) {
            if (done.contains(body.results[i])) {
                stage.carry(static_cast<int>(i), action.microbatch);
            }
        }
        const auto at = static_cast<std::size_t>(part);
        const auto microbatch = static_cast<std::size_t>(action.microbatch);
        if (action.kind == ActionKind::forward) {
            forwards_[at][microbatch] = true;
        } else if (action.kind != ActionKind::weight_grad) {
            backwards_[at][microbatch] = true;
        }
    }

    std::vector<ir::Program> finish() {
        for (const ir::Port& port : program_.results) {
            const int part =
                port.role == ir::Role::state ? part_of_slot(port.name) : parts_.of(port.value);
            stage_of(part).add_result(port);
        }
        for (const ir::Port& port : program_.arguments) {
            // What nobody reads still has a place where the host may write it.
            const bool there = std::any_of(stages_.begin(), stages_.end(), [&](auto& stage) {
                return stage.has_argument(port.value);
            });
            if (!there) {
                stage_of(parts_.of(port.value)).add_argument(port.value);
            }
        }
        std::vector<ir::Program> out;
        for (StageProgram& stage : stages_) {
            out.push_back(stage.take());
        }
        check_messages(out);
        return out;
    }

    const ir::Program& program_;
    const Schedule& schedule_;
    const Source source_;
    const OpParts& parts_;
    Mail mail_;
    std::deque<StageProgram> stages_;
    std::map<ValueId, std::set<int>> readers_;
    std::vector<std::vector<bool>> forwards_, backwards_; // [part][microbatch] done
    bool trains_ = false;
};

} // namespace

std::vector<ir::Program> split_stages(const ir::Program& program, const StageMap& map,
                                      const pipeline::Schedule& schedule,
                                      const PipelineAxis& axis) {
    return Splitter(program, map, schedule, axis).run();
}

} // namespace weft::stages
