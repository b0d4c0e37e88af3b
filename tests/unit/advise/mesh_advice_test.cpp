// SPDX-License-Identifier: Apache-2.0
// The search for a mesh: its estimates against complete plans, its finalists, its reasons.
#include "core/advise/mesh_advice.h"
#include "core/base/text.h"
#include "core/compile/programs/programs.h"
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "tests/unit/plan/plan_models.h"

#include <algorithm>
#include <cmath>

using namespace weft;
using test::kPlenty;

namespace {

/// Wide enough that layers weigh more than what is beside them.
compile::RunConfig deep_run() {
    return test::model_run("gpt", {"mesh.devices=h200:8", "model.layers=8", "model.width=256",
                                   "model.heads=4", "model.context=128", "data.train.samples=4096",
                                   "training.global_batch_size=64"});
}

class Fixture {
public:
    explicit Fixture(const compile::RunConfig& config)
        : config_(config), cost_(*cost::find_hardware("h200")),
          target_(train::planned_hardware(*cost::find_hardware("h200"), &cost_)),
          planner_(train::step_planner(train::outline_run_data(config, target_), target_, {})) {}

    plan::ExecutionPlan plan(const std::vector<std::string>& overrides = {}) const {
        return planner_(*compile::with_overrides(config_, overrides));
    }
    std::vector<advise::MeshCandidate> estimates(std::int64_t limit_bytes,
                                                 advise::MeshAdvice& notes) const {
        return advise::estimate_meshes(config_, planner_, cost_, plan().parameters, limit_bytes,
                                       notes, {});
    }
    advise::MeshAdvice advice(std::int64_t limit_bytes, int threads = 1) const {
        return advise::search_meshes(config_, planner_, cost_, parameters(), limit_bytes, {},
                                     threads);
    }
    std::int64_t parameters() const {
        return compile::count_parameters(config_, train::outline_run_data(config_, target_).sample);
    }

private:
    const compile::RunConfig config_;
    const cost::CostModel cost_;
    const train::PlanTarget target_;
    const advise::Planner planner_;
};

int sum(const plan::Rejections& others) {
    int count = 0;
    for (const auto& [reason, number] : others) {
        count += number;
    }
    return count;
}

} // namespace

class MeshAdviceTest : public QObject {
    Q_OBJECT

private slots:
    // A sixth of all candidates. Planes through a few layers and samples leave out what does not
    // grow with them, such as a step without activations worth naming; within a third the order of
    // candidates serves to choose what is planned completely, and no more is asked of it.
    void estimates_are_near_complete_plans() {
        const Fixture fixture(deep_run());
        advise::MeshAdvice notes;
        const auto all = fixture.estimates(kPlenty, notes);
        QVERIFY(all.size() > 30);
        for (std::size_t i = 0; i < all.size(); i += 6) {
            const plan::ExecutionPlan plan = fixture.plan(all[i].overrides());
            const double time = all[i].step_ms / *plan.predicted_step_ms;
            const double memory =
                static_cast<double>(all[i].bytes) / static_cast<double>(plan.memory_bytes());
            const std::string where = all[i].text() + ": time " + std::to_string(time) +
                                      ", memory " + std::to_string(memory) + ", exchanges " +
                                      std::to_string(all[i].communication_ms) + " for " +
                                      std::to_string(plan.communication_ms) + " of " +
                                      std::to_string(*plan.predicted_step_ms) + " ms";
            QVERIFY2(std::abs(time - 1) < 0.34, where.c_str());
            // Of a recomputing pipeline with few samples, gradients on their way to their sums are
            // most of the memory, and the planes know nothing of them.
            const bool coarse = all[i].pipeline > 1 && all[i].recomputes;
            QVERIFY2(std::abs(memory - 1) < (coarse ? 0.7 : 0.34), where.c_str());
        }
    }

    void ways_are_complete_plans_that_fit_fastest_first() {
        const Fixture fixture(deep_run());
        const advise::MeshAdvice advice = fixture.advice(kPlenty);
        QVERIFY(!advice.ways.empty() && advice.ways.size() <= 3);
        double before = 0;
        for (const plan::Alternative& way : advice.ways) {
            const plan::ExecutionPlan plan = fixture.plan(way.overrides);
            // Of a pipeline not all microbatches were planned.
            const bool exact = !plan.pipeline;
            const double memory =
                static_cast<double>(way.peak_bytes) / static_cast<double>(plan.memory_bytes());
            const double time = *way.predicted_step_ms / *plan.predicted_step_ms;
            QVERIFY2(std::abs(memory - 1) <= (exact ? 0 : 0.05), way.change.c_str());
            QVERIFY2(std::abs(time - 1) <= (exact ? 0 : 0.05), way.change.c_str());
            QCOMPARE(plan.mesh.devices(), 8);
            QVERIFY(way.fits && *way.predicted_step_ms >= before);
            before = *way.predicted_step_ms;
        }
        QCOMPARE(sum(advice.others) + static_cast<int>(advice.ways.size()), advice.candidates);
    }

    void threads_change_nothing() {
        const Fixture fixture(deep_run());
        const advise::MeshAdvice alone = fixture.advice(kPlenty);
        const advise::MeshAdvice together = fixture.advice(kPlenty, 3);
        QCOMPARE(plan::to_json(together.ways).dump(), plan::to_json(alone.ways).dump());
        QVERIFY(together.others == alone.others);
    }

    void parameters_are_counted_without_a_plan() {
        const Fixture fixture(deep_run());
        QCOMPARE(fixture.parameters(), fixture.plan().parameters);
    }

    void what_does_not_fit_is_counted_with_what_it_needs() {
        const Fixture fixture(deep_run());
        const advise::MeshAdvice advice = fixture.advice(1'000'000);
        QVERIFY(advice.ways.empty());
        QCOMPARE(sum(advice.others), advice.candidates);
        QVERIFY(std::any_of(advice.others.begin(), advice.others.end(), [](const auto& other) {
            return other.first.starts_with("do not fit with model=1: ") &&
                   other.first.find("ZeRO 3") != std::string::npos;
        }));
    }

    // With products in bf16, exchanges between hosts make a chain of stages the best of a deep
    // model.
    void a_pipeline_is_proposed_where_links_are_slow() {
        const Fixture fixture(
            test::model_run("gpt", {"mesh.devices=h200:32", "model.layers=16", "model.width=4096",
                                    "training.precision=bf16", "model.heads=4", "model.context=128",
                                    "data.train.samples=4096", "training.global_batch_size=256"}));
        const advise::MeshAdvice advice = fixture.advice(kPlenty);
        const auto found =
            std::find_if(advice.ways.begin(), advice.ways.end(), [](const plan::Alternative& way) {
                return way.change.find("pipeline=") != std::string::npos;
            });
        QVERIFY(found != advice.ways.end());
        const plan::ExecutionPlan plan = fixture.plan(found->overrides);
        QVERIFY(plan.pipeline.has_value());
        QVERIFY2(std::abs(*found->predicted_step_ms / *plan.predicted_step_ms - 1) < 0.05,
                 found->change.c_str());
        QVERIFY2(std::abs(found->communication_ms / plan.communication_ms - 1) < 0.05,
                 found->change.c_str());
        QVERIFY2(std::abs(static_cast<double>(found->peak_bytes) /
                              static_cast<double>(plan.memory_bytes()) -
                          1) < 0.05,
                 found->change.c_str());
    }

    // Four heads over eight devices.
    void layers_that_cannot_be_split_are_named() {
        advise::MeshAdvice notes;
        Fixture(deep_run()).estimates(kPlenty, notes);
        QVERIFY(std::any_of(notes.others.begin(), notes.others.end(), [](const auto& other) {
            return other.first.starts_with("model=8: ") &&
                   other.first.find("attention") != std::string::npos;
        }));
    }

    // Less memory asks for more of ZeRO, more devices along model, recompute or fewer samples.
    void less_memory_never_makes_the_best_faster() {
        const Fixture fixture(deep_run());
        advise::MeshAdvice notes;
        const auto all = fixture.estimates(kPlenty, notes);
        double before = all.front().step_ms;
        for (const std::int64_t limit : {all.front().bytes, all.front().bytes * 3 / 4,
                                         all.front().bytes / 2, all.front().bytes / 4}) {
            const auto found = fixture.estimates(limit, notes);
            if (found.empty()) {
                break;
            }
            QVERIFY(found.front().step_ms >= before);
            QVERIFY(found.front().bytes <= limit);
            before = found.front().step_ms;
        }
    }

    void a_model_without_layers_of_a_kind_is_searched_too() {
        const Fixture fixture(test::model_run("cnn", {"mesh.devices=h200:4"}));
        const advise::MeshAdvice advice = fixture.advice(kPlenty);
        QVERIFY(!advice.ways.empty());
    }
};

WEFT_TEST(MeshAdviceTest)
#include "mesh_advice_test.moc"
