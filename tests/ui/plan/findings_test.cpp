// SPDX-License-Identifier: GPL-3.0-or-later
// The list of findings: what it says of a plan, and that its buttons change the draft so that the
// finding is gone.
#include "core/advise/alternatives.h"
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "ui/models/finding_model.h"
#include "ui/pages/plan/mesh/findings_panel.h"
#include "widgets/look/theme_controller.h"

#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>

namespace {

using namespace weft;

compile::RunConfig configOf(const std::vector<std::string>& overrides) {
    constexpr const char* kGpt = R"({
        "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 33, "samples": 200}},
        "model": {"type": "gpt2", "layers": 3, "width": 16, "heads": 2, "context": 8, "vocab": 33,
                  "dropout": 0.1},
        "training": {"length": {"steps": 4}, "global_batch_size": 16, "precision": "f32"}
    })";
    compile::CheckedRun checked = compile::read_run_config(std::string_view(kGpt), "/", overrides);
    if (!checked.ok()) {
        qFatal("%s", config::to_text(checked.diagnostics.front()).c_str());
    }
    return std::move(checked.config);
}

std::shared_ptr<const ui::PlanDigest> digestOf(const compile::RunConfig& config) {
    const train::PlanTarget target = train::this_machine(0, nullptr);
    return ui::digestPlan(std::make_shared<const plan::ExecutionPlan>(
        train::plan_run(config, train::outline_run_data(config, target), target, {})));
}

} // namespace

class FindingsTest : public QObject {
    Q_OBJECT
    std::unique_ptr<widgets::ThemeController> controller_;

private slots:
    void initTestCase() { controller_ = std::make_unique<widgets::ThemeController>(); }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void layers_and_their_state_are_one_row() {
        const auto digest =
            digestOf(configOf({"mesh.devices=cpu:4", "mesh.strategy=tensor_parallel"}));
        ui::FindingModel model;
        const QAbstractItemModelTester tester(&model);
        model.setDigest(digest);
        int arrays = 0;
        bool found = false;
        for (int row = 0; row < model.rowCount(); ++row) {
            const ui::FindingRow& one = model.row(row);
            arrays += one.count;
            if (one.where == "blocks.*.attention.qkv.weight") {
                found = true;
                QCOMPARE(one.count, 3 * 3); // three layers; a weight and two of Adam
                QCOMPARE(one.bytes, qint64{9 * 16 * 48 * 4 * 3 / 4});
                QCOMPARE(one.why, QString("2 cannot be split over 4 devices (model)"));
            }
        }
        QVERIFY(found);
        QCOMPARE(arrays, static_cast<int>(digest->plan->findings.size()));
    }

    void choosing_a_finding_chooses_its_tensor_and_a_fix_is_one_click() {
        const compile::RunConfig config =
            configOf({"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"});
        ui::FindingsPanel part;
        part.resize(900, 220);
        part.show();
        QSignalSpy counted(&part, &ui::FindingsPanel::countChanged);
        QSignalSpy chosen(&part, &ui::FindingsPanel::tensorChosen);
        part.setPlan({digestOf(config)});
        QCOMPARE(counted.count(), 1);
        QCOMPARE(chosen.count(), 0); // the first one is selected by itself
        auto* table = part.findChild<QTableView*>("findingsTable");
        table->clearSelection();
        QTest::keyClick(table, Qt::Key_Home);
        table->selectRow(0);
        QVERIFY(chosen.count() >= 1);
        QCOMPARE(chosen.back().front().toString(), QString("wte.weight")); // 33 over 2
        std::vector<std::string> overrides;
        connect(&part, &ui::FindingsPanel::adopted, this,
                [&](const std::vector<std::string>& what, const QString&) { overrides = what; });
        auto* fix = part.findChild<QPushButton*>("findingFix");
        QVERIFY(fix != nullptr);
        QTest::keyClick(fix, Qt::Key_Space);
        QVERIFY(!overrides.empty());
        const auto changed = compile::with_overrides(config, overrides);
        QVERIFY(changed.has_value());
        const auto digest = digestOf(*changed);
        for (const sharding::Finding& one : digest->plan->findings) {
            QVERIFY2(one.array != "wte.weight", one.array.c_str());
        }
    }

    void a_plan_that_does_not_fit_leads_the_list() {
        plan::ExecutionPlan plan = *digestOf(configOf({}))->plan;
        plan.limit_bytes = plan.memory_bytes() / 2;
        ui::FindingsPanel part;
        part.resize(900, 220);
        part.show();
        part.setPlan({ui::digestPlan(std::make_shared<const plan::ExecutionPlan>(plan))});
        QCOMPARE(part.count(), 1);
        QVERIFY(part.findChild<QPushButton*>("findingFix") == nullptr);
        plan::Alternative fix;
        fix.change = "recompute blocks";
        fix.overrides = {"training.recompute=\"blocks\""};
        part.setMemoryFixes({fix});
        QCOMPARE(part.findChild<QPushButton*>("findingFix")->text(), QString("recompute blocks"));
    }

    void names_are_whole_as_soon_as_there_is_something_to_list() {
        ui::FindingsPanel part;
        part.resize(1200, 220);
        part.show();
        part.setPlan({digestOf(configOf({"mesh.devices=cpu:2"}))});
        QCOMPARE(part.count(), 0);
        part.setPlan({digestOf(configOf({"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"}))});
        auto* table = part.findChild<QTableView*>("findingsTable");
        QTRY_VERIFY(table->isVisible() && table->width() > part.width() / 2);
        const QModelIndex where = table->model()->index(0, ui::FindingModel::WhereColumn);
        const QFont font = where.data(Qt::FontRole).value<QFont>();
        QVERIFY(table->columnWidth(ui::FindingModel::WhereColumn) >
                widgets::textWidth(font, where.data().toString()));
    }

    void nothing_found_is_said() {
        ui::FindingsPanel part;
        part.setPlan({digestOf(configOf({"mesh.devices=cpu:2"}))});
        QCOMPARE(part.count(), 0);
        QVERIFY(!part.findChild<QWidget*>("findingsMessage")->isHidden());
    }
};

WEFT_TEST(FindingsTest)
#include "findings_test.moc"
