// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"
#include "core/exec/executor.h"
#include "core/exec/interpreter.h"
#include "core/ir/text.h"
#include "core/memory/arena.h"
#include "core/passes/simplify.h"
#include "tests/support/random_program.h"
#include "tests/support/weft_test.h"
#include "tests/unit/exec/tiny_training.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <execinfo.h>
#include <limits>
#include <new>

using namespace weft;

namespace {

std::atomic<std::int64_t> allocations = 0;
std::atomic<std::int64_t> own_allocations = 0;
std::atomic<bool> watching = false;

/// Whether oneDNN is on the call stack: its execute keeps books on the heap, whatever the caller
/// does.
bool inside_library() {
    void* frames[48];
    const int depth = backtrace(frames, 48);
    return std::any_of(frames, frames + depth, [](void* frame) {
        Dl_info info{};
        return dladdr(frame, &info) != 0 && info.dli_fname != nullptr &&
               std::strstr(info.dli_fname, "libdnnl") != nullptr;
    });
}

/// Counts allocations outside of oneDNN while it lives.
class AllocationWatch {
public:
    AllocationWatch() {
        own_allocations = 0;
        watching = true;
    }
    ~AllocationWatch() { watching = false; }
    AllocationWatch(const AllocationWatch&) = delete;
    AllocationWatch& operator=(const AllocationWatch&) = delete;
    std::int64_t ours() const { return own_allocations; }
};

} // namespace

// Every allocation of this binary is counted.
void* operator new(std::size_t bytes) {
    ++allocations;
    if (watching && !inside_library()) {
        ++own_allocations;
    }
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) {
        return memory;
    }
    throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    try {
        return operator new(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace {

using Backends = std::vector<const weft_backend*>;
const Backends kReference{weft_reference_backend()};

std::shared_ptr<const plan::ExecutionPlan> plan_of(compile::ProgramSet programs,
                                                   ir::DType dtype = ir::DType::f32,
                                                   const Backends& backends = kReference,
                                                   int threads = 1) {
    compile::PipelineOptions options;
    options.threads = threads;
    options.backends = backends;
    options.compute_dtype = dtype;
    return std::make_shared<plan::ExecutionPlan>(compile::build_plan(std::move(programs), options));
}

std::span<float> floats(std::span<std::byte> bytes) {
    return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}
compile::ProgramSet with_slots(ir::Program program) {
    compile::ProgramSet out;
    for (const ir::Port& port : program.arguments) {
        if (port.role == ir::Role::state) {
            plan::StateSlot slot;
            slot.name = port.name;
            slot.type = program.type(port.value);
            out.state_slots.push_back(slot);
        }
    }
    out.programs.push_back(std::move(program));
    return out;
}

/// Fills the arguments of train_step and runs init.
class Trainer {
public:
    Trainer(const test::TinyTraining& sizes, exec::ExecutorOptions options,
            ir::DType dtype = ir::DType::f32, const Backends& backends = kReference)
        : executor(plan_of(sizes.programs(), dtype, backends, options.threads), backends, options),
          sizes_(sizes) {
        const std::int64_t random[3] = {7, 0, 0};
        std::memcpy(executor.argument("init", "random").data(), random, sizeof random);
        executor.run("init");
    }

    void write_batch(std::uint64_t seed) {
        test::fill_random(floats(executor.argument("train_step", "inputs")), seed);
        const auto bytes = executor.argument("train_step", "targets");
        for (std::size_t i = 0; i < bytes.size() / 4; ++i) {
            const auto label =
                static_cast<std::int32_t>(i % static_cast<std::size_t>(sizes_.classes));
            std::memcpy(bytes.data() + i * 4, &label, 4);
        }
        floats(executor.argument("train_step", "learning_rate"))[0] = 0.5F;
    }
    float loss() { return floats(executor.result("train_step", "loss"))[0]; }

    exec::Executor executor;

private:
    test::TinyTraining sizes_;
};

int count_steps(const std::vector<plan::Step>& steps, std::string_view kind) {
    int count = 0;
    for (const plan::Step& step : steps) {
        count += step.op.kind == kind ? 1 : 0;
        count += count_steps(step.steps, kind);
    }
    return count;
}

/// The OpenMP team starts in the first run; the process's memory is read until libraries have
/// settled.
void settle(Trainer& trainer) {
    for (int run = 0; run < exec::kSettlingRuns; ++run) {
        trainer.write_batch(1);
        trainer.executor.run("train_step");
    }
}

} // namespace

class PlannedExecution : public QObject {
    Q_OBJECT

private slots:
    void random_programs_give_what_the_interpreter_gives() {
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            const ir::Program program = test::RandomProgram(seed).make();
            const auto plan = plan_of(with_slots(program));
            exec::Executor executor(plan, kReference, {.threads = 1, .instrument = true});
            std::vector<exec::Tensor> arguments;
            for (int run = 0; run < 2; ++run) { // the second run reads what the first left behind
                arguments.clear();
                for (const ir::Port& port : program.arguments) {
                    const auto bytes = port.role == ir::Role::state
                                           ? executor.slot(port.name)
                                           : executor.argument("random", port.name);
                    if (run == 0 || port.role != ir::Role::state) {
                        test::fill_random(floats(bytes), seed + arguments.size());
                    }
                    exec::Tensor& tensor = arguments.emplace_back(program.type(port.value));
                    std::memcpy(tensor.data.data(), bytes.data(), bytes.size());
                }
                const auto expected = exec::interpret(program, arguments);
                QVERIFY(executor.run("random") == exec::RunOutcome::finished);
                for (std::size_t i = 0; i < expected.size(); ++i) {
                    const ir::Port& port = program.results[i];
                    QVERIFY2(test::same_numbers(floats(executor.result("random", port.name)),
                                                expected[i].span<float>()),
                             qPrintable(QString("seed %1, result %2").arg(seed).arg(i)));
                }
            }
            const exec::ArenaReport report = executor.arena_report();
            QVERIFY2(report.violations.empty(),
                     report.violations.empty() ? "" : report.violations.front().c_str());
            const std::int64_t gap = plan->arena_bytes - report.highest_touched_byte;
            QVERIFY2(gap >= 0 && gap < memory::kAlignment,
                     qPrintable(QString("seed %1, gap %2").arg(seed).arg(gap)));
        }
    }

    void training_lowers_the_loss_and_matches_the_interpreter() {
        const test::TinyTraining sizes;
        Trainer trainer(sizes, {.threads = 1, .instrument = true});
        const ir::Program program = sizes.train_step();
        float first = 0;
        for (int step = 0; step < 20; ++step) {
            trainer.write_batch(3);
            std::vector<exec::Tensor> arguments;
            for (const ir::Port& port : program.arguments) {
                exec::Tensor& tensor = arguments.emplace_back(program.type(port.value));
                const auto bytes = trainer.executor.argument("train_step", port.name);
                std::memcpy(tensor.data.data(), bytes.data(), bytes.size());
            }
            trainer.executor.run("train_step");
            first = step == 0 ? trainer.loss() : first;
            if (step < 3) {
                const auto expected = exec::interpret(program, arguments);
                for (std::size_t i = 0; i < expected.size(); ++i) {
                    QVERIFY(test::same_numbers(
                        floats(trainer.executor.result("train_step", program.results[i].name)),
                        expected[i].span<float>()));
                }
            }
        }
        // Random weights know nothing of four classes: ln 4 within their spread.
        QVERIFY2(std::abs(first - std::log(4.0F)) < 0.5F, qPrintable(QString::number(first)));
        QVERIFY2(trainer.loss() < 0.7F * first, qPrintable(QString::number(trainer.loss())));
        QCOMPARE(trainer.executor.arena_report().violations.size(), 0U);
    }

    void low_precision_training_follows_full_precision() {
        Trainer full({}, {.threads = 1});
        Trainer low({}, {.threads = 1, .instrument = true}, ir::DType::bf16);
        for (int step = 0; step < 5; ++step) {
            full.write_batch(3);
            low.write_batch(3);
            full.executor.run("train_step");
            low.executor.run("train_step");
            // bf16 has 8 bits of precision; a mean over 16 samples keeps about 2 digits.
            QVERIFY2(std::abs(full.loss() - low.loss()) < 0.02F * full.loss(),
                     qPrintable(QString("%1 %2").arg(full.loss()).arg(low.loss())));
        }
        QCOMPARE(low.executor.arena_report().violations.size(), 0U);
    }

    void accumulators_and_parameters_are_updated_in_place() {
        for (const std::int64_t microsteps : {1, 4}) {
            test::TinyTraining sizes;
            sizes.microsteps = microsteps;
            const auto plan = plan_of(sizes.programs());
            const plan::PlannedProgram& program = *plan->find("train_step");
            QCOMPARE(count_steps(program.steps, "copy"), 0);
            QCOMPARE(count_steps(program.steps, "repeat"), microsteps > 1 ? 1 : 0);
            for (const plan::PlannedPort& port : program.results) {
                if (port.role == ir::Role::state) {
                    QCOMPARE(port.operand.offset, plan->find_slot(port.name)->offset);
                }
            }
        }
    }

    void accumulation_costs_constant_memory() {
        test::TinyTraining sizes;
        const auto peak_without_batch = [&](std::int64_t microsteps) {
            sizes.microsteps = microsteps;
            const auto plan = plan_of(sizes.programs());
            const auto bytes = plan::bytes_by_category(*plan, *plan->find("train_step"));
            std::int64_t sum = 0;
            for (int i = 0; i < plan::kCategories; ++i) {
                sum += i == static_cast<int>(plan::Category::batch)
                           ? 0
                           : bytes[static_cast<std::size_t>(i)];
            }
            return sum;
        };
        QCOMPARE(peak_without_batch(16), peak_without_batch(4));
    }

    void no_memory_is_allocated_during_a_run() {
        Trainer trainer({}, {.threads = 1});
        settle(trainer);
        trainer.write_batch(2);
        const std::int64_t before = allocations;
        trainer.executor.run("train_step");
        QCOMPARE(allocations - before, 0);
    }

    void the_fast_back_end_allocates_only_inside_its_library() {
        const Backends fast{weft_cpu_backend(), weft_reference_backend()};
        Trainer trainer({}, {.threads = 2}, ir::DType::f32, fast);
        settle(trainer);
        trainer.write_batch(2);
        inside_library(); // loads what unwinding needs
        const AllocationWatch watch;
        trainer.executor.run("train_step");
        QCOMPARE(watch.ours(), 0);
    }

    void what_libraries_take_and_give_back_is_not_booked_as_kept() {
#ifdef __SANITIZE_THREAD__
        QSKIP("ThreadSanitizer keeps memory of its own for all that is touched");
#endif
        constexpr std::size_t kBytes = std::size_t{32} << 20;
        struct Library final : exec::StepObserver {
            std::unique_ptr<char[]> memory;
            int runs = 0;
            void step_done(const plan::Step&, int position, double, double) override {
                if (position == 0) {
                    memory = ++runs % 2 == 1 ? std::make_unique<char[]>(kBytes) : nullptr;
                }
            }
        } library;
        Trainer trainer({}, {.threads = 1});
        trainer.executor.prepare("train_step");
        trainer.executor.set_observer(&library);
        const std::int64_t before = trainer.executor.library_bytes();
        trainer.write_batch(1);
        trainer.executor.run("train_step");
        // The kernel counts pages in batches.
        QVERIFY(std::abs(trainer.executor.library_bytes() - before -
                         static_cast<std::int64_t>(kBytes)) <
                static_cast<std::int64_t>(kBytes / 8));
        for (int run = 1; run < exec::kSettlingRuns; ++run) {
            trainer.write_batch(1);
            trainer.executor.run("train_step");
        }
        QVERIFY(library.memory == nullptr);
        QVERIFY(trainer.executor.library_bytes() - before < static_cast<std::int64_t>(kBytes / 8));
    }

    void a_stopped_run_leaves_the_state_as_it_was() {
        Trainer trainer({}, {.threads = 1});
        const std::span<std::byte> slot = trainer.executor.slot("0.weight");
        const std::vector<std::byte> before(slot.begin(), slot.end());
        trainer.write_batch(1);
        std::stop_source source;
        source.request_stop();
        QVERIFY(trainer.executor.run("train_step", source.get_token()) ==
                exec::RunOutcome::stopped);
        QVERIFY(std::equal(before.begin(), before.end(), slot.begin()));
    }

    void a_checked_run_names_the_first_bad_op() {
        Trainer trainer({.microsteps = 3}, {.threads = 1});
        trainer.write_batch(1);
        QVERIFY(trainer.executor.run_checked("train_step").finite);
        trainer.write_batch(1);
        // Large but finite inputs in the second microbatch only: the product overflows.
        const auto inputs = floats(trainer.executor.argument("train_step", "inputs"));
        std::fill_n(inputs.begin() + static_cast<std::ptrdiff_t>(inputs.size() / 3), 16,
                    std::numeric_limits<float>::max());
        test::fill_random(floats(trainer.executor.slot("0.weight")), 5);
        for (float& weight : floats(trainer.executor.slot("0.weight"))) {
            weight = 2.0F;
        }
        const exec::RunReport report = trainer.executor.run_checked("train_step");
        QVERIFY(!report.finite);
        QCOMPARE(report.kind, std::string("linear"));
        QCOMPARE(report.path, std::string("0"));
        QVERIFY(report.phase == ir::Phase::forward);
        QCOMPARE(report.iterations, std::vector<std::int64_t>{1});
    }

    void a_checked_run_names_the_parameter_of_a_sweep() {
        exec::Executor executor(plan_of(with_slots(ir::parse(R"(program train_step {
  in %0 state "a" : f32[8]
  in %1 state "b" : f32[2,2]
  in %2 batch "da" : f32[8]
  in %3 batch "db" : f32[2,2]
  %4 = add(%0, %2) : f32[8] @ "layer a" update
  %5 = add(%1, %3) : f32[2,2] @ "layer b" update
  out %4 state "a"
  out %5 state "b"
})"))),
                                kReference, {.threads = 1});
        for (const char* name : {"a", "b", "da", "db"}) {
            const std::span<std::byte> bytes = std::strlen(name) == 1
                                                   ? executor.slot(name)
                                                   : executor.argument("train_step", name);
            std::fill_n(floats(bytes).begin(), 4, 1.0F);
        }
        QVERIFY(executor.run_checked("train_step").finite);
        floats(executor.slot("b"))[3] = std::numeric_limits<float>::max();
        floats(executor.argument("train_step", "db"))[3] = std::numeric_limits<float>::max();
        const exec::RunReport report = executor.run_checked("train_step");
        QVERIFY(!report.finite);
        QCOMPARE(report.kind, std::string("sweep"));
        QCOMPARE(report.path, std::string("b"));
    }

    void a_checked_run_blames_bad_data_first() {
        Trainer trainer({}, {.threads = 1});
        trainer.write_batch(1);
        floats(trainer.executor.argument("train_step", "inputs"))[5] = NAN;
        const exec::RunReport report = trainer.executor.run_checked("train_step");
        QCOMPARE(report.kind, std::string("argument"));
        QCOMPARE(report.path, std::string("inputs"));
    }

    void an_observer_sees_every_kernel_call_in_order() {
        struct Observer : exec::StepObserver {
            void step_done(const plan::Step& step, int position, double start_s,
                           double end_s) override {
                positions.push_back(position);
                ordered = ordered && end_s >= start_s && !step.is_loop();
            }
            std::vector<int> positions;
            bool ordered = true;
        };
        Trainer trainer({.microsteps = 3}, {.threads = 1});
        trainer.write_batch(1);
        Observer observer;
        trainer.executor.set_observer(&observer);
        trainer.executor.run("train_step");
        const auto& program = *trainer.executor.plan().find("train_step");
        const auto loop = std::find_if(program.steps.begin(), program.steps.end(),
                                       [](const plan::Step& step) { return step.is_loop(); });
        QCOMPARE(observer.positions.size(), program.steps.size() - 1 + 3 * loop->steps.size());
        QVERIFY(observer.ordered);
        QCOMPARE(plan::step_at(program, observer.positions.back())->op.kind,
                 program.steps.back().op.kind);
    }

    void the_plan_says_what_runs_how_often() {
        const auto plan = plan_of(test::TinyTraining{.microsteps = 4}.programs());
        const plan::PlannedProgram& program = *plan->find("train_step");
        QCOMPARE(program.segments.size(), 3U);
        QCOMPARE(program.segments[0].name, std::string("setup"));
        QCOMPARE(program.segments[1].name, std::string("microstep"));
        QCOMPARE(program.segments[1].repeat, 4);
        QCOMPARE(program.segments[2].name, std::string("update"));
        QCOMPARE(plan->parameters, 16 * 32 + 32 + 32 * 4 + 4);
        const auto bytes = plan::bytes_by_category(*plan, *plan->find("train_step"));
        const std::int64_t parameter_bytes =
            (16 * 32 + 32 + 32 * 4) * 4 + 64; // the last one padded
        QCOMPARE(bytes[0], parameter_bytes);
        QCOMPARE(bytes[1] >= parameter_bytes, true); // accumulators, and what arrives at them
    }

    void a_plan_without_back_ends_cannot_run() {
        compile::PipelineOptions options;
        const auto plan = std::make_shared<plan::ExecutionPlan>(
            compile::build_plan(test::TinyTraining().programs(), options));
        exec::Executor executor(plan, kReference);
        QVERIFY_THROWS_EXCEPTION(Error, executor.run("init"));
    }
};

WEFT_TEST(PlannedExecution)
#include "executor_test.moc"
