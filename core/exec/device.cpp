// SPDX-License-Identifier: Apache-2.0
#include "core/exec/device.h"

#include "core/base/clock.h"
#include "core/base/machine.h"
#include "core/base/team_wait.h"
#include "core/exec/arena_monitor.h"
#include "core/exec/argument_feed.h"
#include "core/exec/exchange_lane.h"
#include "core/exec/find_nonfinite.h"
#include "core/exec/open_device.h"
#include "core/exec/prepared_program.h"
#include "core/ir/op_tensors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace weft::exec {
namespace {

Span span_of(const plan::Operand& operand, std::span<const std::int64_t> iterations) {
    return {offset_of(operand, iterations), operand.type.bytes()};
}

class ValuesInArena final : public StepValues {
public:
    ValuesInArena(OpenDevice& memory, const plan::Step& step,
                  std::span<const std::int64_t> iterations)
        : memory_(memory), step_(step), iterations_(iterations) {}

    HostPart input(std::size_t index) const override { return part(step_.inputs[index]); }
    HostPart output(std::size_t index) const override { return part(step_.outputs[index]); }

private:
    HostPart part(const plan::Operand& operand) const {
        return {memory_, offset_of(operand, iterations_), operand.type.bytes(),
                HostPart::Use::look};
    }

    OpenDevice& memory_;
    const plan::Step& step_;
    std::span<const std::int64_t> iterations_;
};

} // namespace

struct LocalDevice::State {
    State(std::shared_ptr<const plan::ExecutionPlan> execution_plan, int its_place,
          const Compute& compute, ExecutorOptions executor_options, Exchange* with_others)
        : plan(std::move(execution_plan)), place(its_place), stage(plan->stage_of(place)),
          backends(compute.backends), options(executor_options), exchange(with_others),
          memory(compute, place, sizes().arena_bytes, sizes().landing_bytes) {
        if (!memory.on_host()) {
            feed.emplace(memory, sizes().landing_bytes);
        }
        if (exchange != nullptr && exchange->may_go_beside()) {
            lane.emplace(*exchange);
        }
        if (options.instrument) {
            WEFT_CHECK(memory.on_host(), "the host watches only arenas that it reaches");
            monitor.emplace(memory.bytes(), sizes().state_bytes);
        }
    }

    const plan::Stage& sizes() const { return plan->stages[static_cast<std::size_t>(stage)]; }

    const plan::PlannedProgram& planned(std::string_view name) const {
        const plan::PlannedProgram* found = plan->find(name, stage);
        WEFT_CHECK(found != nullptr, "the plan has no program " + std::string(name));
        return *found;
    }

    PreparedProgram& prepared(std::string_view name) {
        const auto found = programs.find(name);
        if (found != programs.end()) {
            return found->second;
        }
        memory.take(planned(name).peak_bytes);
        const std::int64_t before = heap_bytes();
        PreparedProgram made = prepare_program(planned(name), memory.data(), backends);
        if (lane) {
            order_beside(made);
        }
        book(before);
        iterations.resize(std::max(iterations.size(), static_cast<std::size_t>(made.depth)));
        PreparedProgram& kept = programs.emplace(std::string(name), std::move(made)).first->second;
        if (!memory.on_host()) { // its calls know their steps by address
            queues.emplace(&kept, std::make_unique<QueuedProgram>(kept, memory, *queued_exchange));
        }
        return kept;
    }

    std::int64_t heap_bytes() const {
        const ProcessMemory now = read_process_memory();
        return now.resident_bytes - now.file_bytes - (memory.on_host() ? memory.taken_bytes() : 0);
    }
    /// Beside others a device cannot tell its growth from theirs: the executor books for all.
    void book(std::int64_t before) {
        library_bytes += exchange == nullptr ? heap_bytes() - before : 0;
    }

    /// Kernels put off some of their memory until they run.
    bool run_program(PreparedProgram& program) {
        if (!memory.on_host()) {
            return queue_program(program);
        }
        if (exchange == nullptr) {
            return run_booked(program);
        }
        begin_use(program);
        const bool finished = run_booked(program);
        if (lane) {
            wait_beside(lane->begun());
            lane->end();
        }
        use.end_s = clock.steady_s();
        for (std::size_t link = 0; link < use.links.size(); ++link) {
            const comm::Traffic now = exchange->traffic(link);
            use.links[link].waited_s += now.waited_s;
            use.links[link].sent_bytes += now.sent_bytes;
            use.links[link].moved_s -= now.waited_s;
        }
        return finished;
    }

    /// False when stopped: once it is queued, a run goes to its end.
    bool queue_program(PreparedProgram& program) {
        if (stop.stop_requested() && (vote == nullptr || vote->stop())) {
            return false;
        }
        if (vote != nullptr && !vote->write()) {
            return false;
        }
        last_run = &program;
        feed->send(*program.plan);
        if (values == nullptr) {
            queues.at(&program)->run(observer);
            return true;
        }
        queues.at(&program)->run_each([&](const PreparedStep& step,
                                          std::span<const std::int64_t> indices,
                                          std::span<void* const>) {
            values->seen(*step.step, ValuesInArena(memory, *step.step, indices));
            return true;
        });
        return true;
    }

    void run_checked(PreparedProgram& program) {
        running = program.plan;
        if (feed) {
            feed->send(*program.plan);
        }
        if (!arguments_finite(program) && !goes_to_its_end()) {
            return;
        }
        if (memory.on_host()) {
            run_program(program);
            return;
        }
        queues.at(&program)->run_each(
            [&](const PreparedStep& step, std::span<const std::int64_t> indices,
                std::span<void* const> outputs) { return outputs_finite(step, indices, outputs); });
    }

    void begin_use(const PreparedProgram& program) {
        use.actions.resize(program.actions.size());
        for (std::size_t i = 0; i < program.actions.size(); ++i) {
            use.actions[i] = {program.actions[i], 0, 0};
        }
        use.links.resize(exchange->links().size());
        for (std::size_t link = 0; link < use.links.size(); ++link) {
            const comm::Traffic before = exchange->traffic(link);
            use.links[link] = {exchange->links()[link], 0, -before.waited_s, -before.sent_bytes,
                               before.waited_s};
        }
        use.start_s = clock.steady_s();
    }

    bool run_booked(PreparedProgram& program) {
        running = program.plan;
        if (program.runs == kSettlingRuns) {
            return run_steps(program.steps, 0);
        }
        ++program.runs;
        const std::int64_t before = heap_bytes();
        const bool finished = run_steps(program.steps, 0);
        book(before);
        return finished;
    }

    static const plan::Operand& port(const std::vector<plan::PlannedPort>& ports,
                                     std::string_view name) {
        const auto found = std::find_if(ports.begin(), ports.end(),
                                        [&](const plan::PlannedPort& p) { return p.name == name; });
        WEFT_CHECK(found != ports.end(), "the program has no port " + std::string(name));
        return found->operand;
    }

    HostPart part(const plan::Operand& operand, HostPart::Use use) {
        return {memory, operand.offset, operand.type.bytes(), use};
    }

    void begin(const PreparedProgram& program) {
        weft_set_threads(options.threads);
        if (watches_team) {
            weft_observe_team();
        }
        state_written = false;
        report = {};
        if (monitor) {
            std::vector<Span> written;
            for (const plan::PlannedPort& argument : program.plan->arguments) {
                written.push_back(span_of(argument.operand, {}));
            }
            monitor->begin_run(written);
        }
    }

    /// False when stopped or, in a checked run, at the first value that is not finite.
    bool run_steps(std::vector<PreparedStep>& steps, std::size_t depth) {
        for (PreparedStep& step : steps) {
            if (lane && step.behind > 0) {
                wait_beside(std::min(step.behind, lane->begun()));
            }
            if (!state_written && stop.stop_requested() && (vote == nullptr || vote->stop())) {
                return false;
            }
            if (!(step.step->is_loop() ? run_loop(step, depth) : run_kernel(step, depth))) {
                return false;
            }
            if (monitor) {
                for (const int index : step.retires) {
                    const plan::Buffer& buffer = running->buffers[static_cast<std::size_t>(index)];
                    monitor->retire({buffer.offset, buffer.bytes});
                }
            }
        }
        return true;
    }

    bool run_loop(PreparedStep& loop, std::size_t depth) {
        const std::int64_t count = loop.step->count;
        for (std::int64_t visit = 0; visit < count; ++visit) {
            iterations[depth] = loop.step->reverse ? count - 1 - visit : visit;
            if (!run_steps(loop.body, depth + 1)) {
                return false;
            }
        }
        return true;
    }

    bool run_kernel(PreparedStep& prepared_step, std::size_t depth) {
        const plan::Step& step = *prepared_step.step;
        const std::span<const std::int64_t> indices(iterations.data(), depth);
        if (prepared_step.moves) {
            for (std::size_t i = 0; i < step.inputs.size(); ++i) {
                prepared_step.inputs[i] = memory.data() + offset_of(step.inputs[i], indices);
            }
            for (std::size_t i = 0; i < step.outputs.size(); ++i) {
                prepared_step.outputs[i] = memory.data() + offset_of(step.outputs[i], indices);
            }
        }
        if (prepared_step.writes_state && !state_written) {
            if (vote != nullptr && !vote->write()) {
                return false;
            }
            state_written = true;
        }
        if (prepared_step.beside && !is_looked_at()) {
            lane->begin(prepared_step);
            return true;
        }
        if (monitor) {
            watch_before(step, indices);
        }
        if (checked) {
            remember_overwritten(prepared_step, indices);
        }
        const bool timed =
            observer != nullptr || prepared_step.action >= 0 || !prepared_step.kernel;
        const double start_s = timed ? clock.steady_s() : 0.0;
        if (prepared_step.kernel) {
            prepared_step.kernel->run(prepared_step.inputs.data(), prepared_step.outputs.data(),
                                      prepared_step.workspace);
        } else {
            WEFT_CHECK(exchange != nullptr, "a plan with exchanges runs on a mesh");
            const std::size_t link = exchange->link_of(step);
            const double before_s = observer != nullptr ? exchange->traffic(link).waited_s : 0.0;
            exchange->run(step, prepared_step.inputs, prepared_step.outputs);
            if (observer != nullptr) {
                observer->waited(exchange->traffic(link).waited_s - before_s);
            }
        }
        if (timed) {
            note_time(prepared_step, start_s, clock.steady_s());
        }
        if (monitor) {
            watch_after(step, indices);
        }
        if (values != nullptr) {
            values->seen(step, ValuesInArena(memory, step, indices));
        }
        return !checked || outputs_finite(prepared_step, indices, prepared_step.outputs);
    }

    void note_time(const PreparedStep& prepared_step, double start_s, double end_s) {
        if (observer != nullptr) {
            observer->step_done(*prepared_step.step, prepared_step.position, start_s, end_s);
        }
        if (!prepared_step.kernel) {
            LinkUse& link = use.links[exchange->link_of(*prepared_step.step)];
            link.exchange_s += end_s - start_s;
            link.moved_s += end_s - start_s;
        } else if (prepared_step.action >= 0) {
            ActionUse& action = use.actions[static_cast<std::size_t>(prepared_step.action)];
            action.start_s = action.end_s > 0 ? action.start_s : start_s;
            action.end_s = end_s;
        }
    }

    /// Somebody wants to see what each step does before the next one goes on.
    bool is_looked_at() const { return monitor || checked || values != nullptr; }

    /// Until so many exchanges that go beside computation are done. They begin with waiting.
    void wait_beside(int count) {
        const double since_s = clock.steady_s();
        for (const ExchangeLane::Done& one : lane->wait(count)) {
            const double seen_s = std::max(since_s, one.start_s);
            const double waiting_seen_s = std::max(0.0, one.start_s + one.waited_s - seen_s);
            LinkUse& link = use.links[exchange->link_of(*one.step->step)];
            link.exchange_s += std::max(0.0, one.end_s - seen_s);
            link.waited_s -= one.waited_s - waiting_seen_s; // the rest is added for all of the run
            link.moved_s += one.end_s - one.start_s;
            if (observer != nullptr) {
                observer->waited(one.waited_s);
                observer->step_done(*one.step->step, one.step->position, one.start_s, one.end_s);
            }
        }
    }

    void watch_before(const plan::Step& step, std::span<const std::int64_t> indices) {
        std::vector<Span> inputs;
        for (const plan::Operand& operand : step.inputs) {
            inputs.push_back(span_of(operand, indices));
        }
        monitor->before_step(ir::op_text(step.op), inputs);
    }

    void watch_after(const plan::Step& step, std::span<const std::int64_t> indices) {
        std::vector<Span> outputs;
        for (const plan::Operand& operand : step.outputs) {
            outputs.push_back(span_of(operand, indices));
        }
        const bool works = step.workspace.buffer >= 0;
        monitor->after_step(ir::op_text(step.op), outputs,
                            works ? span_of(step.workspace, {}) : Span{0, 0});
    }

    bool holds_finite(const ir::Type& type, std::int64_t offset) {
        return all_finite(type, HostPart(memory, offset, type.bytes(), HostPart::Use::look).data());
    }

    SeenOperand seen(const plan::Operand& operand, std::int64_t offset) {
        const HostPart part(memory, offset, operand.type.bytes(), HostPart::Use::look);
        const ValueRange range = range_of(operand.type, part.data());
        return {operand.type, range, histogram_of(operand.type, part.data(), range),
                name_of(operand)};
    }

    std::string name_of(const plan::Operand& operand) const {
        return operand.buffer < 0 ? std::string()
                                  : running->buffers[static_cast<std::size_t>(operand.buffer)].name;
    }

    /// What an op over many tensors read, where it is asked for.
    void note_squares(const plan::Step& step, std::span<const std::int64_t> indices) {
        if (checking.squares_of.empty() || step.op.kind != checking.squares_of ||
            step.op.phase != ir::Phase::update) {
            return;
        }
        for (const plan::Operand& operand : step.inputs) {
            const HostPart part(memory, offset_of(operand, indices), operand.type.bytes(),
                                HostPart::Use::look);
            report.squares.push_back(
                {name_of(operand), operand.type, sum_of_squares(operand.type, part.data())});
        }
    }

    /// What a step reads where it writes, which is not to be seen afterwards.
    void remember_overwritten(const PreparedStep& prepared_step,
                              std::span<const std::int64_t> indices) {
        const plan::Step& step = *prepared_step.step;
        overwritten.clear();
        for (std::size_t i = 0; i < step.inputs.size(); ++i) {
            const std::int64_t offset = offset_of(step.inputs[i], indices);
            for (const plan::Operand& output : step.outputs) {
                if (offset_of(output, indices) == offset) {
                    overwritten[i] = seen(step.inputs[i], offset);
                    break;
                }
            }
        }
    }

    void report_operands(const plan::Step& step, std::span<const std::int64_t> indices,
                         std::size_t output, std::int64_t output_offset) {
        for (std::size_t i = 0; i < step.inputs.size(); ++i) {
            const auto known = overwritten.find(i);
            report.inputs.push_back(known != overwritten.end()
                                        ? known->second
                                        : seen(step.inputs[i], offset_of(step.inputs[i], indices)));
        }
        report.output = seen(step.outputs[output], output_offset);
        for (const ir::Block& body : step.op.body) {
            for (const ir::Op& op : body.ops) {
                report.group.emplace_back(op.kind);
            }
        }
    }

    bool outputs_finite(const PreparedStep& prepared_step, std::span<const std::int64_t> indices,
                        std::span<void* const> outputs) {
        const plan::Step& step = *prepared_step.step;
        note_squares(step, indices);
        for (std::size_t i = 0; i < step.outputs.size(); ++i) {
            const auto offset = static_cast<const std::byte*>(outputs[i]) - memory.data();
            if (holds_finite(step.outputs[i].type, offset)) {
                continue;
            }
            if (!report.finite) {
                return true; // the first one counts
            }
            report.finite = false;
            report.kind = step.op.kind;
            report.path = path_of(step, i);
            report.phase = step.op.phase;
            report.iterations = {indices.begin(), indices.end()};
            report.step = prepared_step.position;
            report_operands(step, indices, i, offset);
            return goes_to_its_end();
        }
        return true;
    }

    /// Of a step over many tensors: the one that the output belongs to.
    std::string path_of(const plan::Step& step, std::size_t output) const {
        if (ir::tensors_of(step.op) == 1) {
            return step.op.path;
        }
        const auto buffer = static_cast<std::size_t>(step.outputs[output].buffer);
        return running->buffers[buffer].name;
    }

    /// Others wait for what this device has to give, or all of the run is to be seen.
    bool goes_to_its_end() const {
        return plan->mesh.devices() > 1 || !checking.squares_of.empty();
    }

    bool arguments_finite(const PreparedProgram& program) {
        for (const plan::PlannedPort& argument : program.plan->arguments) {
            if (!holds_finite(argument.operand.type, argument.operand.offset)) {
                report.finite = false;
                report.kind = "argument";
                report.path = argument.name;
                report.output = seen(argument.operand, argument.operand.offset);
                return false;
            }
        }
        return true;
    }

    std::shared_ptr<const plan::ExecutionPlan> plan;
    const int place;
    const int stage;
    std::vector<const weft_backend*> backends;
    ExecutorOptions options;
    Exchange* exchange;
    OpenDevice memory;
    // GPUs need no team, and the user's choice is left alone.
    bool watches_team = memory.on_host() && read_team_wait().chosen_here;
    std::optional<ArgumentFeed> feed;                // of a device that works by itself
    std::unique_ptr<QueuedExchange> queued_exchange; // likewise, once it has joined
    std::optional<ArenaMonitor> monitor;
    std::map<std::string, PreparedProgram, std::less<>> programs;
    std::map<const PreparedProgram*, std::unique_ptr<QueuedProgram>> queues; // of devices
    std::optional<ExchangeLane> lane; // of one with a process of its own
    StepObserver* observer = nullptr;
    ValueObserver* values = nullptr;
    SystemClock clock;
    std::int64_t library_bytes = 0;

    DeviceUse use; // on a mesh
    const PreparedProgram* last_run = nullptr; // of a device that works by itself

    // Of the run in progress.
    const plan::PlannedProgram* running = nullptr;
    std::vector<std::int64_t> iterations; // of the loops around the step, outermost first
    std::stop_token stop;
    StopVote* vote = nullptr; // of this run
    bool state_written = false;
    bool checked = false;
    Checking checking;
    RunReport report;
    std::map<std::size_t, SeenOperand> overwritten; // inputs of the step that runs, when checked
};

LocalDevice::LocalDevice(std::shared_ptr<const plan::ExecutionPlan> plan, int place,
                         const Compute& compute, ExecutorOptions options, Exchange* exchange)
    : state_(std::make_unique<State>(std::move(plan), place, compute, options, exchange)) {}

/// What is still queued uses the kernels.
LocalDevice::~LocalDevice() {
    if (!state_->memory.on_host() && !state_->memory.settle()) {
        abandon(std::move(state_));
    }
}

void LocalDevice::join(QueuedWorld& world) {
    state_->memory.enter();
    state_->queued_exchange = world.join(state_->memory);
}

HostPart LocalDevice::slot(std::string_view name, HostPart::Use use) {
    const plan::StateSlot* slot = state_->plan->find_slot(name);
    WEFT_CHECK(slot != nullptr && slot->stage == state_->stage,
               "the device has no state slot " + std::string(name));
    return {state_->memory, slot->offset, slot->type.bytes(), use};
}

HostPart LocalDevice::argument(std::string_view program, std::string_view name) {
    const plan::PlannedProgram& planned = state_->planned(program);
    return state_->feed ? HostPart(state_->feed->room(planned, name))
                        : state_->part(State::port(planned.arguments, name), HostPart::Use::fill);
}

HostPart LocalDevice::result(std::string_view program, std::string_view name) {
    return state_->part(State::port(state_->planned(program).results, name), HostPart::Use::look);
}

void LocalDevice::want_result(std::string_view program, std::string_view name, Handover& handover) {
    const plan::Operand& operand = State::port(state_->planned(program).results, name);
    handover.want(state_->memory, operand.offset, operand.type.bytes());
}

void LocalDevice::prepare(std::string_view program) {
    weft_set_threads(state_->options.threads);
    state_->memory.enter();
    state_->prepared(program);
}

RunOutcome LocalDevice::run(std::string_view program, std::stop_token stop, StopVote* vote) {
    weft_set_threads(state_->options.threads);
    state_->memory.enter();
    PreparedProgram& prepared = state_->prepared(program);
    state_->begin(prepared);
    state_->stop = std::move(stop);
    state_->vote = vote;
    state_->checked = false;
    return state_->run_program(prepared) ? RunOutcome::finished : RunOutcome::stopped;
}

RunReport LocalDevice::run_checked(std::string_view program, const Checking& checking) {
    weft_set_threads(state_->options.threads);
    state_->memory.enter();
    PreparedProgram& prepared = state_->prepared(program);
    state_->begin(prepared);
    state_->stop = {};
    state_->vote = nullptr;
    state_->checked = true;
    state_->checking = checking;
    state_->run_checked(prepared);
    return state_->report;
}

void LocalDevice::set_observer(StepObserver* observer) {
    state_->observer = observer;
}

void LocalDevice::set_value_observer(ValueObserver* observer) {
    state_->values = observer;
}

DeviceUse LocalDevice::last_use() const {
    return state_->last_run == nullptr
               ? state_->use
               : state_->queues.at(state_->last_run)->last_use(state_->last_run->actions);
}

std::int64_t LocalDevice::resident_bytes() const {
    return state_->memory.taken_bytes();
}

std::int64_t LocalDevice::library_bytes() const {
    return std::max<std::int64_t>(0, state_->library_bytes);
}

void LocalDevice::finish() {
    state_->memory.enter();
    state_->memory.finish();
}

bool LocalDevice::look(double waited_s) {
    return state_->memory.look_after(waited_s);
}

ArenaReport LocalDevice::arena_report() const {
    if (!state_->monitor) {
        return {};
    }
    return {state_->monitor->highest_touched_byte(), state_->monitor->violations()};
}

} // namespace weft::exec
