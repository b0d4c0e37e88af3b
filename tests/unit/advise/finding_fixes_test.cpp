// SPDX-License-Identifier: Apache-2.0
// Every fix of a finding does what it says: the plan of the changed configuration lacks the
// finding.
#include "core/advise/alternatives.h"
#include "core/advise/finding_fixes.h"
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "tests/unit/plan/plan_models.h"

#include <algorithm>

using namespace weft;
using test::finding_of;

namespace {

plan::ExecutionPlan planned_step(const compile::RunConfig& config) {
    train::PlanTarget target;
    target.threads = 1;
    return train::plan_run(config, train::outline_run_data(config, target), target, {},
                           compile::Scope::step);
}

} // namespace

class FindingFixesTest : public QObject {
    Q_OBJECT

private slots:
    void every_fix_makes_its_finding_disappear_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QStringList>("overrides");
        QTest::addColumn<QString>("array");
        QTest::addColumn<int>("least");
        const QString tensor = "mesh.strategy=tensor_parallel";
        QTest::newRow("batch") << "mlp"
                               << QStringList{"mesh.devices=cpu:4", "training.global_batch_size=30"}
                               << "inputs" << 2;
        QTest::newRow("padded vocabulary")
            << "gpt"
            << QStringList{"mesh.devices=cpu:2", tensor, "model.vocab=33", "data.train.vocab=33"}
            << "wte.weight" << 2;
        QTest::newRow("heads too few") << "gpt" << QStringList{"mesh.devices=cpu:4", tensor}
                                       << "blocks.0.attention.qkv.weight" << 2;
        QTest::newRow("its optimizer state") << "gpt" << QStringList{"mesh.devices=cpu:4", tensor}
                                             << "optimizer.m/blocks.0.attention.qkv.weight" << 2;
        QTest::newRow("heads too few, samples to spare")
            << "gpt"
            << QStringList{"mesh.devices=cpu:8", "mesh.strategy=2d",
                           "mesh.axes=[[\"data\",2],[\"model\",4]]"}
            << "blocks.0.attention.qkv.weight" << 3;
        QTest::newRow("a spec that pads")
            << "mlp"
            << QStringList{"mesh.devices=cpu:5", tensor,
                           R"x(mesh.specs={"*.weight": "P('model')"})x"}
            << "layers.0.weight" << 1;
    }
    void every_fix_makes_its_finding_disappear() {
        QFETCH(const QString, model);
        QFETCH(const QStringList, overrides);
        QFETCH(const QString, array);
        QFETCH(const int, least);
        std::vector<std::string> set;
        for (const QString& one : overrides) {
            set.push_back(one.toStdString());
        }
        const compile::RunConfig config = test::model_run(model.toStdString(), set);
        const plan::ExecutionPlan plan = planned_step(config);
        const sharding::Finding* found = finding_of(plan, array.toStdString());
        QVERIFY(found != nullptr);
        QVERIFY(static_cast<int>(found->fixes.size()) >= least);
        for (const sharding::FindingFix& fix : found->fixes) {
            const auto changed = compile::with_overrides(config, fix.overrides);
            QVERIFY2(changed.has_value(), fix.change.c_str());
            const plan::ExecutionPlan fixed = planned_step(*changed);
            QVERIFY2(finding_of(fixed, array.toStdString()) == nullptr, fix.change.c_str());
        }
    }

    // Specs that are there stay, and count after the new one.
    void a_fix_keeps_the_specs_of_the_configuration() {
        const compile::RunConfig config =
            test::model_run("gpt", {"mesh.devices=cpu:4", "mesh.strategy=tensor_parallel",
                                    R"x(mesh.specs={"wpe.weight": "P('model')"})x"});
        const plan::ExecutionPlan plan = planned_step(config);
        const sharding::Finding* found = finding_of(plan, "blocks.0.attention.qkv.weight");
        QVERIFY(found != nullptr && !found->fixes.empty());
        const auto changed = compile::with_overrides(config, found->fixes.front().overrides);
        QVERIFY(changed.has_value());
        const auto& specs = changed->section("mesh").at("specs");
        QCOMPARE(specs.size(), std::size_t{2});
        QVERIFY(specs.contains("wpe.weight") && specs.contains("blocks.*.attention.qkv.weight"));
    }

    void the_pages_of_the_plan_print_the_settings() {
        const plan::ExecutionPlan plan = planned_step(
            test::model_run("mlp", {"mesh.devices=cpu:4", "training.global_batch_size=30"}));
        const std::string page = plan::to_text(plan);
        QVERIFY2(page.find("fix: a batch of 32 instead of 30: "
                           "--set 'training.global_batch_size=32'") != std::string::npos,
                 page.c_str());
        const auto document = plan::to_json(plan);
        QVERIFY(std::any_of(
            document["diagnostics"].begin(), document["diagnostics"].end(), [](const auto& one) {
                return one.contains("fixes") && one["tensor"] == "inputs" &&
                       one["fixes"][0]["overrides"][0] == "training.global_batch_size=32";
            }));
    }
};

WEFT_TEST(FindingFixesTest)
#include "finding_fixes_test.moc"
