// SPDX-License-Identifier: Apache-2.0
#include "core/stages/split_stages.h"

#include "core/stages/check_messages.h"
#include "core/stages/stage_program.h"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>

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
        : program_(program), schedule_(schedule), source_(program, map, schedule.stages),
          parts_(source_.parts), mail_(schedule.stages), readers_(program.values.size()) {
        for (const ir::Port& port : program.arguments) {
            if (port.role == ir::Role::state) {
                slot_parts_.emplace(port.name, parts_.of(port.value));
            }
        }
        for (int stage = 0; stage < schedule.stages; ++stage) {
            stages_.emplace_back(source_, axis, mail_, stage);
        }
        find_readers(program.body);
        if (parts_.loop() != nullptr) {
            list_tasks(*parts_.loop());
        }
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
    static std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

    /// An op of the loop over microbatches.
    struct Task {
        const Op* op = nullptr;
        Work work = Work::outside;
        std::vector<int> carries; // positions of the loop's results that it makes
    };

    void list_tasks(const Op& loop) {
        const Block& body = loop.body.front();
        std::vector<std::vector<int>> positions(program_.values.size()); // [value]
        for (std::size_t i = 0; i < loop.outputs.size(); ++i) {
            positions[at(body.results[i])].push_back(static_cast<int>(i));
        }
        tasks_.resize(static_cast<std::size_t>(schedule_.parts()));
        for (const Op& op : body.ops) {
            if (parts_.of(op) == kAnywhere) {
                continue;
            }
            Task task{&op, parts_.work(op), {}};
            for (const ValueId id : op.outputs) {
                const std::vector<int>& own = positions[at(id)];
                task.carries.insert(task.carries.end(), own.begin(), own.end());
            }
            tasks_[static_cast<std::size_t>(parts_.of(op))].push_back(std::move(task));
        }
    }

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
        const auto found = slot_parts_.find(name);
        return found == slot_parts_.end() ? std::max(0, source_.map.part_of(name)) : found->second;
    }

    void read(ValueId id, int part) {
        if (part != kAnywhere && parts_.of(id) != kAnywhere &&
            stage_index(part) != stage_index(parts_.of(id))) {
            readers_[at(id)].insert(stage_index(part));
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
        for (const int reader : readers_[at(id)]) {
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
        std::vector<int> carried;
        for (const Task& task : tasks_[static_cast<std::size_t>(part)]) {
            if (does(task.work, action.kind)) {
                emit(stage, *task.op, action.microbatch);
                carried.insert(carried.end(), task.carries.begin(), task.carries.end());
            }
        }
        std::sort(carried.begin(), carried.end());
        for (const int position : carried) {
            stage.carry(position, action.microbatch);
        }
        const auto own = static_cast<std::size_t>(part);
        const auto microbatch = static_cast<std::size_t>(action.microbatch);
        if (action.kind == ActionKind::forward) {
            forwards_[own][microbatch] = true;
        } else if (action.kind != ActionKind::weight_grad) {
            backwards_[own][microbatch] = true;
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
    std::vector<std::set<int>> readers_; // [value] stages
    std::unordered_map<std::string_view, int> slot_parts_;
    std::vector<std::vector<Task>> tasks_;                // [part] in program order
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
