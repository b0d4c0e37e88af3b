// SPDX-License-Identifier: Apache-2.0
// Verdict, fixes, host memory and planned-for hardware; and that a plan's bytes are what a run
// touches.
#include "core/base/error.h"
#include "core/data/loader.h"
#include "core/memory/arena.h"
#include "core/plan/frozen.h"
#include "core/train/engine.h"
#include "core/train/planning.h"
#include "core/train/program_io.h"
#include "core/train/update.h"
#include "tests/support/weft_test.h"
#include "tests/unit/plan/plan_models.h"

#include <algorithm>
#include <set>

using namespace weft;
using test::kPlenty;
using test::target_of;

namespace {

plan::ExecutionPlan planned(const compile::RunConfig& config, const train::PlanTarget& target) {
    return train::plan_run(config, train::outline_run_data(config, target), target, {});
}

std::vector<plan::Alternative> fixes_of(const compile::RunConfig& config,
                                        const train::PlanTarget& target) {
    return train::find_fixes(config, train::outline_run_data(config, target), target, {});
}

} // namespace

class Planning : public QObject {
    Q_OBJECT

private slots:
    void a_plan_leaves_the_team_of_its_caller_as_it_was() {
        if (qEnvironmentVariableIsSet("OMP_THREAD_LIMIT")) {
            QSKIP("the team is limited from outside"); // as tests/sanitizers/run does it
        }
        const int before = weft_threads();
        weft_set_threads(before + 1);
        planned(test::model_run("mlp", {}), target_of(kPlenty));
        QCOMPARE(weft_threads(), before + 1);
        weft_set_threads(before);
    }

    void what_is_not_trained_spares_its_gradients_and_optimizer_state() {
        const std::string adam = R"(optimizer={"type":"adamw"})";
        const auto all = planned(test::model_run("gpt", {adam}), target_of(kPlenty));
        const auto factors =
            planned(test::model_run("gpt", {adam, R"(init.lora={"rank":2})"}), target_of(kPlenty));
        QCOMPARE(plan::frozen_part(all).parameters, std::int64_t{0});
        QCOMPARE(plan::frozen_part(all).spared_bytes, std::int64_t{0});
        const plan::Frozen frozen = plan::frozen_part(factors);
        QCOMPARE(frozen.parameters, all.parameters);
        QCOMPARE(frozen.spared_bytes, 3 * 4 * all.parameters); // a gradient and two moments in f32
        // Rank 2 of 4 layers a block is little beside them: so the state shrinks as is said.
        QVERIFY(all.state_bytes - factors.state_bytes > frozen.spared_bytes / 2);
        QVERIFY(plan::to_text(factors).find("not trained") != std::string::npos);
        QVERIFY(plan::to_text(all).find("not trained") == std::string::npos);
    }

    void an_instrumented_run_touches_what_the_plan_says_and_nothing_else() {
        for (const char* model : {"mlp", "cnn", "gpt"}) {
            for (const char* recompute : {"none", "blocks"}) {
                for (const char* micro : {"null", "2"}) { // 2: eight microsteps
                    // The second class of mixed samples is planned too.
                    const bool mixes = std::string(model) == "mlp";
                    const compile::RunConfig config =
                        test::model_run(model, {std::string("training.recompute=") + recompute,
                                                std::string("training.micro_batch_size=") + micro,
                                                std::string("data.mix=") +
                                                    (mixes ? R"([{"type": "mixup"}])" : "[]")});
                    const data::DataSet data = train::open_run_data(config);
                    const auto plan = std::make_shared<const plan::ExecutionPlan>(
                        planned(config, target_of(kPlenty)));
                    exec::Executor executor(plan, train::backends(),
                                            {.threads = 1, .instrument = true});
                    train::initialise(executor, config);
                    data::LoaderOptions options;
                    options.batch_size = config.global_batch_size;
                    options.mixing = data::mixing_of(config.section("data").at("mix"),
                                                     data.train->info(), config.seed);
                    data::Loader loader(data.train, data::Sampler(data.train->samples(), true, 0),
                                        options, {});
                    train::Update update(executor, config, 4);
                    for (int step = 0; step < 2; ++step) {
                        update.start(*loader.next(), step, 1, {});
                        QVERIFY(update.numbers().finite);
                    }
                    const exec::ArenaReport report = executor.arena_report();
                    const std::string where =
                        std::string(model) + ", recompute " + recompute + ", micro " + micro;
                    QVERIFY2(report.violations.empty(),
                             (where + ": " +
                              (report.violations.empty() ? "" : report.violations.front()))
                                 .c_str());
                    const std::int64_t gap =
                        plan->find("train_step")->peak_bytes - report.highest_touched_byte;
                    QVERIFY2(gap >= 0 && gap < memory::kAlignment,
                             (where + ": gap " + std::to_string(gap)).c_str());
                    // An evaluation has batches of its own, of samples that are not mixed.
                    QCOMPARE(loader.buffer_bytes(),
                             plan->host.prefetch_bytes -
                                 loader.buffer_bytes() *
                                     data::row_bytes(data.train->info(), false) /
                                     data::row_bytes(data.train->info(), mixes) *
                                     compile::plan_batch(config).micro_batch_size /
                                     config.global_batch_size);
                }
            }
        }
    }

    void prepared_programs_take_their_part_of_the_arena_and_no_more() {
        const compile::RunConfig config = test::model_run("gpt");
        const auto plan =
            std::make_shared<const plan::ExecutionPlan>(planned(config, target_of(kPlenty)));
        exec::Executor executor(plan, train::backends(), {.threads = 1});
        QCOMPARE(executor.resident_bytes(), 0);
        executor.prepare("init");
        const std::int64_t init = executor.resident_bytes();
        constexpr std::int64_t kPage = 4096;
        QVERIFY(init >= plan->find("init")->peak_bytes);
        QVERIFY(init < plan->find("init")->peak_bytes + kPage);
        executor.prepare("train_step");
        QVERIFY(executor.resident_bytes() >= plan->find("train_step")->peak_bytes);
        QVERIFY(executor.resident_bytes() <= plan->arena_bytes + kPage);
    }

    void the_limit_decides_to_the_byte() {
        const compile::RunConfig config = test::model_run("mlp");
        const std::int64_t need = planned(config, target_of(kPlenty)).device_bytes();
        QVERIFY(planned(config, target_of(need)).fits());
        QVERIFY(!planned(config, target_of(need - 1)).fits());
    }

    void a_budget_lowers_the_limit_and_never_raises_it() {
        const compile::RunConfig low = test::model_run("mlp", {"training.memory_budget=1000"});
        const plan::ExecutionPlan plan = planned(low, target_of(kPlenty));
        QCOMPARE(*plan.limit_bytes, 1000);
        QCOMPARE(plan.limit_basis, std::string("training.memory_budget"));
        QVERIFY(!plan.fits());
        const compile::RunConfig high =
            test::model_run("mlp", {"training.memory_budget=1000000000000"});
        QCOMPARE(*planned(high, target_of(5000)).limit_bytes, 5000);
    }

    void fixes_fit_divide_the_batch_and_say_what_they_change() {
        for (const char* model : {"cnn", "gpt"}) {
            const compile::RunConfig config = test::model_run(model);
            const plan::ExecutionPlan plan = planned(config, target_of(kPlenty));
            const std::int64_t state = plan.state_bytes + plan.host.bytes();
            // A third of what is beside the state.
            const auto target = target_of(state + (plan.device_bytes() - state) / 3);
            const auto fixes = fixes_of(config, target);
            QVERIFY(!fixes.empty() && fixes.size() <= 3);
            std::set<std::vector<std::string>> different;
            for (const plan::Alternative& fix : fixes) {
                QVERIFY(!fix.change.empty() && !fix.overrides.empty());
                const auto changed = compile::with_overrides(config, fix.overrides);
                QVERIFY(changed.has_value());
                const plan::ExecutionPlan again = planned(*changed, target);
                QVERIFY(again.fits());
                QCOMPARE(again.device_bytes(), fix.peak_bytes);
                different.insert(fix.overrides);
            }
            QCOMPARE(different.size(), fixes.size());
        }
    }

    void what_no_change_can_fit_has_no_fixes() {
        const compile::RunConfig config = test::model_run("mlp");
        QVERIFY(fixes_of(config, target_of(1000)).empty());
    }

    void a_run_that_does_not_fit_is_refused_with_need_limit_peak_and_ways_on() {
        const compile::RunConfig config = test::model_run("gpt");
        const plan::ExecutionPlan plan = planned(config, target_of(kPlenty));
        const auto target = target_of(plan.device_bytes() - plan.arena_bytes / 4);
        try {
            train::plan_to_run(config, train::outline_run_data(config, target), target, 7, {});
            QFAIL("a run that does not fit was let through");
        } catch (const train::DoesNotFit& refused) {
            const train::ErrorEvent& event = refused.event();
            QCOMPARE(refused.kind(), ErrorKind::memory);
            QCOMPARE(event.kind, std::string("memory"));
            QVERIFY2(event.where.starts_with("train_step, "), event.where.c_str());
            QVERIFY2(event.message.find("a test") != std::string::npos, event.message.c_str());
            QVERIFY(!event.ways_on.empty());
            for (const train::WayOn& way : event.ways_on) {
                QCOMPARE(way.from_step, 7);
                for (const std::string& assignment : way.overrides) {
                    QVERIFY2(event.hint.find("--set " + assignment) != std::string::npos,
                             event.hint.c_str());
                }
            }
        }
    }

    void advice_covers_every_combination_and_marks_what_nothing_beats() {
        const compile::RunConfig config = test::model_run("gpt"); // batch 16: five micro batches
        const auto target = target_of(kPlenty);
        const auto planner =
            train::step_planner(train::outline_run_data(config, target), target, {});
        const auto advice = advise::alternatives(config, planner, {});
        QCOMPARE(advice.size(), 2U * 2U * 5U);
        QVERIFY(std::is_sorted(advice.begin(), advice.end(), [](const auto& a, const auto& b) {
            return a.peak_bytes < b.peak_bytes;
        }));
        QVERIFY(std::any_of(advice.begin(), advice.end(),
                            [](const plan::Alternative& way) { return way.on_front; }));
        for (const plan::Alternative& way : advice) {
            const auto changed = compile::with_overrides(config, way.overrides);
            QCOMPARE(planner(*changed).device_bytes(), way.peak_bytes);
        }
    }

    void hardware_that_is_not_here_is_planned_without_data_and_kernels() {
        const cost::Hardware& hardware = *cost::find_hardware("h200");
        const cost::CostModel cost(hardware);
        const auto target = train::planned_hardware(hardware, &cost);
        const compile::RunConfig config =
            test::model_run("gpt", {R"(data.train={"type": "text", "path": "/nowhere/at/all.txt"})",
                                    "model.vocab=256"});
        const plan::ExecutionPlan plan = planned(config, target);
        QCOMPARE(plan.device, std::string("cuda"));
        QCOMPARE(*plan.limit_bytes, hardware.memory_bytes);
        QCOMPARE(plan.device_bytes(), // the host's memory is another
                 memory::align(plan.arena_bytes) + plan.landing_bytes());
        QVERIFY(plan.predicted_step_ms && *plan.predicted_step_ms > 0);
        QVERIFY(plan.assumptions.size() >= 3);
        for (const plan::Step& step : plan.find("train_step")->steps) {
            QVERIFY(step.kernel.empty());
        }
    }

    void data_that_is_not_here_is_an_error_where_it_will_be_read() {
        const compile::RunConfig config =
            test::model_run("gpt", {R"(data.train={"type": "text", "path": "/nowhere/at/all.txt"})",
                                    "model.vocab=256"});
        try {
            planned(config, target_of(kPlenty));
            QFAIL("absent data was planned");
        } catch (const Error& error) {
            QCOMPARE(error.kind(), ErrorKind::data);
            QVERIFY(error.where().find("/nowhere/at/all.txt") != std::string::npos);
        }
    }
};

WEFT_TEST(Planning)
#include "planning_test.moc"
