// SPDX-License-Identifier: Apache-2.0
// From what a person asks for to checked trials: what is wrong is said before anything is queued.
#include "core/queue/plan_sweep.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

namespace {

using namespace weft;
using namespace weft::queue;
using config::Json;

Json small_document() {
    return config::json_of(R"({
        "name": "small",
        "data": {"train": {"type": "synthetic", "kind": "classification", "features": 12,
                           "classes": 4, "samples": 180, "seed": 1}, "validation": {"split": 0.2}},
        "model": {"type": "mlp", "hidden": [24]},
        "lr_schedule": {"type": "warmup_cosine", "warmup_steps": 2},
        "training": {"length": {"steps": 81}, "global_batch_size": 32}})");
}

ReadRun reader_of(Json document) {
    return [document = std::move(document)](const std::vector<std::string>& overrides) {
        return compile::read_run_config(document, "/", overrides);
    };
}

std::int64_t steps_said(const compile::RunConfig& config) {
    return config.length.unit == compile::Cadence::Unit::steps
               ? static_cast<std::int64_t>(config.length.amount)
               : 0;
}

SweepRequest request_for(Method method, std::vector<std::string> vary) {
    SweepRequest out;
    out.method = method;
    out.vary = std::move(vary);
    return out;
}

PlannedSweep planned_of(const SweepRequest& request, const Json& document = small_document()) {
    return plan_sweep(request, reader_of(document), steps_said);
}

void is_refused(const SweepRequest& request, const char* where,
                const Json& document = small_document()) {
    try {
        planned_of(request, document);
        QFAIL("it was taken");
    } catch (const Error& fault) {
        QVERIFY(fault.kind() == ErrorKind::usage);
        QVERIFY2(fault.where().find(where) != std::string::npos, fault.message().c_str());
    }
}

class PlanSweepTest : public QObject, private weft::test::TestFolder {
    Q_OBJECT

    const std::vector<std::string> rate_ = {"optimizer.learning_rate=log:1e-4..1e-1"};

private slots:
    void trials_differ_in_what_is_varied_and_nothing_else() {
        const PlannedSweep planned = planned_of(
            request_for(Method::grid, {"optimizer.learning_rate=0.1,0.01", "seed=1,2,3"}));
        QVERIFY(planned.ok());
        QCOMPARE(planned.trials.size(), std::size_t{6});
        const auto checked = reader_of(small_document())({});
        for (const PlannedTrial& trial : planned.trials) {
            for (const auto& change : compile::compare(checked.config, trial.config)) {
                QVERIFY(change.path == "optimizer.learning_rate" || change.path == "seed");
            }
        }
        QCOMPARE(planned.trials[5].config.seed, std::uint64_t{3});
        QCOMPARE(planned.sweep.rungs, (std::vector<std::int64_t>{81}));
        QCOMPARE(planned.sweep.metric, std::string("validation/loss"));
    }

    void a_setting_that_does_not_exist_is_a_diagnostic() {
        const PlannedSweep planned =
            planned_of(request_for(Method::grid, {"optimizer.leaning_rate=0.1,0.01"}));
        QVERIFY(!planned.ok());
        QVERIFY(planned.trials.empty());
        QCOMPARE(planned.diagnostics.front().pointer, std::string("/optimizer/leaning_rate"));
    }

    // The first value is sound, the last is not.
    void a_value_that_no_trial_may_have_is_a_diagnostic() {
        const PlannedSweep planned =
            planned_of(request_for(Method::grid, {"training.global_batch_size=32,-1"}));
        QVERIFY(!planned.ok());
        QVERIFY(planned.trials.empty());
        QCOMPARE(planned.diagnostics.front().pointer, std::string("/training/global_batch_size"));
    }

    void a_metric_that_is_not_reported_is_a_diagnostic() {
        SweepRequest request = request_for(Method::random, rate_);
        request.metric = "validation/beauty";
        const PlannedSweep planned = planned_of(request);
        QVERIFY(!planned.ok());
        QCOMPARE(planned.diagnostics.front().pointer, std::string("/checkpoint/metric"));
    }

    void a_metric_has_its_own_direction() {
        SweepRequest request = request_for(Method::random, rate_);
        request.metric = "validation/accuracy";
        const PlannedSweep planned = planned_of(request);
        QVERIFY(planned.ok());
        QVERIFY(!planned.sweep.smaller_is_better);
        QCOMPARE(planned.trials[0].config.checkpoint_metric, std::string("validation/accuracy"));
        request.mode = "min";
        QVERIFY(planned_of(request).sweep.smaller_is_better);
    }

    // 12 trials and a third of them each time: 12, 4, 1 at 81 / 9, 81 / 3, 81.
    void halving_lays_rungs_up_to_the_full_length() {
        PlannedSweep planned = planned_of(request_for(Method::halving, rate_));
        QVERIFY(planned.ok());
        QCOMPARE(planned.trials.size(), std::size_t{12});
        QCOMPARE(planned.sweep.rungs, (std::vector<std::int64_t>{9, 27, 81}));
        for (const PlannedTrial& trial : planned.trials) {
            QCOMPARE(trial.config.evaluation_every.amount, 9.0); // an epoch is 5 steps
            QCOMPARE(trial.config.length.amount, 81.0);
        }
        SweepRequest request = request_for(Method::halving, rate_);
        request.eta = 2;
        request.min_steps = 4;
        request.max_steps = 20;
        planned = planned_of(request);
        QCOMPARE(planned.sweep.rungs, (std::vector<std::int64_t>{4, 8, 20}));
        QCOMPARE(planned.trials[0].config.length.amount, 20.0);
    }

    void a_cadence_that_meets_the_rungs_stays() {
        Json document = small_document();
        document["evaluation"] = {{"every", {{"steps", 3}}}};
        const PlannedSweep planned = planned_of(request_for(Method::halving, rate_), document);
        QCOMPARE(planned.trials[0].config.evaluation_every.amount, 3.0);
    }

    void what_cannot_be_a_sweep_is_refused() {
        is_refused(request_for(Method::random, {}), "--vary");
        is_refused(request_for(Method::random, {"seed=1,2", "seed=3"}), "seed");
        is_refused(request_for(Method::halving, {"training.length={\"steps\":3}"}), "length");
        SweepRequest request = request_for(Method::halving, rate_);
        request.eta = 1;
        is_refused(request, "--eta");
        request.eta = 3;
        request.min_steps = 100;
        is_refused(request, "--min-steps");
        request.min_steps = 0;
        is_refused(request, "--min-steps");
        request = request_for(Method::random, rate_);
        request.min_steps = 3;
        is_refused(request, "--min-steps");
        request = request_for(Method::grid, {"seed=1,2"});
        request.trials = 3;
        is_refused(request, "--trials");
        request = request_for(Method::random, {"seed=1,2"});
        request.trials = 3;
        is_refused(request, "--trials");
        Json document = small_document();
        document["training"]["length"] = {{"minutes", 5}};
        document.erase("lr_schedule");
        is_refused(request_for(Method::halving, rate_), "training.length", document);
    }

    void a_small_space_is_taken_as_a_whole() {
        QCOMPARE(planned_of(request_for(Method::random, {"seed=1,2,3"})).trials.size(),
                 std::size_t{3});
    }

    void a_queued_sweep_trains_what_was_planned() {
        const PlannedSweep planned = planned_of(request_for(Method::halving, rate_));
        const Path folder = path("queue");
        QCOMPARE(add_sweep(folder, planned, 5), std::string("small"));
        QCOMPARE(add_sweep(folder, planned, 6), std::string("small-2"));
        const Book book = read_book(folder);
        QCOMPARE(book.entries.size(), std::size_t{24});
        for (std::size_t trial = 0; trial < 12; ++trial) {
            const Entry& entry = book.entries[trial];
            QCOMPARE(entry.until_step, std::optional<std::int64_t>(9));
            const auto frozen = compile::read_run_config_file(folder / entry.config);
            QVERIFY(frozen.ok());
            QVERIFY(compile::compare(frozen.config, planned.trials[trial].config).empty());
            QCOMPARE(entry.settings.at("optimizer.learning_rate"),
                     frozen.config.section("optimizer").at("learning_rate"));
        }
    }
};

} // namespace

WEFT_TEST(PlanSweepTest)
#include "plan_sweep_test.moc"
