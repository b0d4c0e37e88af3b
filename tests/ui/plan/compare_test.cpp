// SPDX-License-Identifier: GPL-3.0-or-later
// Two meshes side by side: figures against the plans' own, and the part by mouse and keys.
#include "core/advise/alternatives.h"
#include "tests/support/weft_test.h"
#include "tests/ui/mesh_support.h"
#include "tests/ui/patience.h"
#include "ui/models/compare_model.h"
#include "ui/pages/plan/mesh/others/plan_compare_panel.h"
#include "ui/plurals.h"
#include "widgets/look/theme_controller.h"
#include "widgets/views/memory_bar.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QPushButton>
#include <QTableView>

#include <numeric>

namespace {

using namespace weft;
using test::kPatienceMs;

std::vector<std::string> with_more(std::vector<std::string> all,
                                   const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

const ui::ComparedFigure* figure(const ui::PlanComparison& all, const QString& group,
                                 const QString& name) {
    for (const ui::ComparedFigure& one : all.figures) {
        if (one.group == group && one.name == name) {
            return &one;
        }
    }
    return nullptr;
}

qint64 sum(const std::vector<widgets::MemorySegment>& segments) {
    return std::accumulate(segments.begin(), segments.end(), qint64{0},
                           [](qint64 all, const auto& one) { return all + one.bytes; });
}

class ShownComparison {
public:
    ShownComparison() : part(ui::enginePlanner({}).step) {
        part.resize(1280, 300);
        part.show();
        give(test::mesh_config(test::kThere));
    }

    void give(const compile::RunConfig& config) {
        part.setPlan({test::mesh_digest(config),
                      std::make_shared<const ui::MeshRun>(ui::MeshRun{config, nullptr})});
    }
    QComboBox& box() { return *part.findChild<QComboBox*>("compareWith"); }
    QTableView& figures() { return *part.findChild<QTableView*>("compareFigures"); }
    QTableView& tensors() { return *part.findChild<QTableView*>("compareTensors"); }
    widgets::MemoryBar& bar() { return *part.findChild<widgets::MemoryBar*>(); }
    QPushButton& button(const char* name) { return *part.findChild<QPushButton*>(name); }
    bool choose(const QString& title) {
        const int index = box().findText(title, Qt::MatchStartsWith);
        box().setCurrentIndex(index);
        return index >= 0;
    }

    ui::PlanComparePanel part;
};

} // namespace

class CompareTest : public QObject {
    Q_OBJECT

    std::unique_ptr<widgets::ThemeController> controller_;

private slots:
    void initTestCase() {
        ui::installEnglishPlurals(*QCoreApplication::instance());
        controller_ = std::make_unique<widgets::ThemeController>();
    }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void a_plan_beside_itself_differs_in_nothing() {
        const auto digest = test::mesh_digest(test::mesh_config(test::kThere));
        const ui::PlanComparison same = ui::comparePlans(*digest, *digest, test::kJax);
        QVERIFY(same.tensors.empty());
        QCOMPARE(std::size_t(same.equal_tensors), digest->plan->state_slots.size());
        for (const ui::ComparedFigure& one : same.figures) {
            QCOMPARE(one.a, one.b);
            QVERIFY(one.difference.isEmpty() && one.better == ui::Better::Neither);
        }
        QVERIFY(ui::verdictOn(*digest, *digest).isEmpty());
    }

    // What is more for the one is less for the other.
    void sides_change_places() {
        const auto a = test::mesh_digest(test::mesh_config(test::kThere));
        const auto b =
            test::mesh_digest(test::mesh_config({"mesh.devices=h200:4", "mesh.strategy=fsdp"}));
        const ui::PlanComparison ab = ui::comparePlans(*a, *b, test::kJax);
        const ui::PlanComparison ba = ui::comparePlans(*b, *a, test::kJax);
        QCOMPARE(ab.figures.size(), ba.figures.size());
        for (std::size_t i = 0; i < ab.figures.size(); ++i) {
            const ui::ComparedFigure& one = ab.figures[i];
            const ui::ComparedFigure& other = ba.figures[i];
            QCOMPARE(one.a, other.b);
            QCOMPARE(one.b, other.a);
            QVERIFY((one.better == ui::Better::A) == (other.better == ui::Better::B));
            if (!one.difference.isEmpty()) {
                QVERIFY(one.difference.front() != other.difference.front()); // the sign
                QCOMPARE(one.difference.mid(1), other.difference.mid(1));
            }
        }
        QCOMPARE(ab.tensors.size(), ba.tensors.size());
    }

    // ZeRO 3 on four devices keeps a quarter of what lies whole on each in data parallel, but for
    // arrays that do not divide (Rajbhandari et al. 2020).
    void zero_holds_less_and_says_more() {
        const auto whole = test::mesh_digest(test::mesh_config({"mesh.devices=h200:4"}));
        const auto split =
            test::mesh_digest(test::mesh_config({"mesh.devices=h200:4", "mesh.strategy=fsdp"}));
        const ui::PlanComparison found = ui::comparePlans(*whole, *split, test::kJax);
        for (const char* name : {"Parameters", "Optimizer"}) {
            const auto* row = figure(found, "memory", name);
            QVERIFY2(row != nullptr && row->better == ui::Better::B, name);
        }
        const auto* gathered = figure(found, "collectives", "all-gather sent");
        QVERIFY(gathered != nullptr && gathered->better == ui::Better::A);
        QVERIFY(!found.tensors.empty());
        for (const ui::ComparedTensor& one : found.tensors) {
            QVERIFY2(one.a_spec == "P()" && one.b_bytes < one.a_bytes, qPrintable(one.name));
        }
        QCOMPARE(sum(found.a.segments) - sum(found.b.segments) > 0, true);
        QVERIFY(ui::verdictOn(*whole, *split).contains("less on a device"));
    }

    void figures_are_those_of_the_plans() {
        const auto a = test::mesh_digest(test::mesh_config(test::kThere));
        const auto b = test::mesh_digest(test::mesh_config(
            {"mesh.devices=h200:4", "mesh.strategy=pipeline", "training.micro_batch_size=4"}));
        const ui::PlanComparison found = ui::comparePlans(*a, *b, test::kJax);
        const auto* time = figure(found, "step", "time");
        QCOMPARE(time->a, ui::formatMilliseconds(*a->plan->predicted_step_ms) + " ms");
        const auto* bubbles = figure(found, "step", "bubbles");
        QCOMPARE(bubbles->b,
                 QString::number(100 * b->plan->pipeline->bubble_fraction, 'f', 1) + " %");
        double count = 0;
        for (const plan::Collective& one : plan::collectives(*a->plan->find("train_step"))) {
            count += one.count;
        }
        QCOMPARE(figure(found, "collectives", "how many")->a,
                 widgets::formatCount(std::llround(count)));
        QCOMPARE(found.a.limit, a->plan->limit_bytes);
    }

    // Simulated devices: the memory of one, as its card shows it, and not what the host keeps.
    void memory_is_that_of_one_device() {
        const auto digest = test::mesh_digest(test::mesh_config(test::kHere));
        const ui::PlanComparison same = ui::comparePlans(*digest, *digest, test::kJax);
        // Less the holes of the arena.
        const std::int64_t arena = digest->plan->arena_bytes;
        QVERIFY(sum(same.a.segments) <= arena && sum(same.a.segments) > arena / 2);
        QVERIFY(!digest->plan->limit_bytes || same.a.limit < digest->plan->limit_bytes);
    }

    // A stage keeps its own layers; without a pipeline every device keeps all of them.
    void what_lies_on_one_stage_only_is_held_otherwise() {
        const auto whole = test::mesh_digest(test::mesh_config({"mesh.devices=h200:4"}));
        const auto staged = test::mesh_digest(test::mesh_config(
            {"mesh.devices=h200:4", "mesh.strategy=pipeline", "training.micro_batch_size=4"}));
        const ui::PlanComparison found = ui::comparePlans(*whole, *staged, test::kJax);
        QVERIFY(!found.tensors.empty());
        QCOMPARE(found.equal_tensors, 0);
        for (const ui::ComparedTensor& one : found.tensors) {
            QVERIFY2(one.a_spec == "P()", qPrintable(one.a_spec));
            QVERIFY2(one.b_spec.startsWith("P() on stage"), qPrintable(one.b_spec));
        }
        QCOMPARE(std::size_t(ui::comparePlans(*staged, *staged, test::kJax).equal_tensors),
                 staged->plan->state_slots.size());
    }

    void models_hold_together() {
        ui::FigureModel figures;
        ui::TensorCompareModel tensors;
        const QAbstractItemModelTester one(&figures);
        const QAbstractItemModelTester two(&tensors);
        const auto a = test::mesh_digest(test::mesh_config(test::kHere));
        const auto b =
            test::mesh_digest(test::mesh_config(with_more(test::kHere, {"mesh.zero_stage=1"})));
        ui::PlanComparison found = ui::comparePlans(*a, *b, test::kJax);
        figures.setFigures(found.figures);
        tensors.setTensors(found.tensors);
        QVERIFY(figures.rowCount() > 5 && tensors.rowCount() > 0);
        // Who is better is said in words too.
        bool said = false;
        for (int row = 0; row < figures.rowCount(); ++row) {
            said = said || figures.index(row, 0)
                               .data(Qt::AccessibleTextRole)
                               .toString()
                               .contains("B is better");
        }
        QVERIFY(said);
    }

    void a_strategy_is_planned_beside_the_draft_and_taken_over() {
        ShownComparison shown;
        QVERIFY(shown.choose("Strategy: fsdp"));
        QTRY_VERIFY_WITH_TIMEOUT(shown.figures().isVisible() && shown.figures().isEnabled(),
                                 kPatienceMs);
        QVERIFY(shown.bar().measuredBytes() > shown.bar().plannedBytes());
        const QSignalSpy adopted(&shown.part, &ui::PlanComparePanel::adopted);
        shown.button("compareUse").setFocus();
        QTest::keyClick(&shown.button("compareUse"), Qt::Key_Space);
        QCOMPARE(adopted.count(), 1);
        const auto config = compile::with_overrides(
            test::mesh_config(test::kThere), adopted.at(0).at(0).value<std::vector<std::string>>());
        QVERIFY(config.has_value());
        QCOMPARE(config->section("mesh").at("strategy").get<std::string>(), std::string("fsdp"));
    }

    void what_was_kept_and_what_was_before_come_back_whole() {
        ShownComparison shown;
        const compile::RunConfig first = test::mesh_config(test::kThere);
        QTest::mouseClick(&shown.button("compareKeep"), Qt::LeftButton);
        QVERIFY(shown.box().currentText().startsWith("Kept: data=2 × model=2"));
        // Another edit: more than the mesh differs from what was kept.
        const compile::RunConfig second = test::mesh_config(
            {"mesh.devices=h200:8", "mesh.strategy=fsdp", "training.recompute=blocks"});
        shown.give(second);
        QVERIFY(shown.box().currentText().startsWith("Kept:"));
        const QSignalSpy adopted(&shown.part, &ui::PlanComparePanel::adopted);
        for (const char* title : {"Kept:", "The draft before the last edit"}) {
            QVERIFY(shown.choose(title));
            // Its plan is known: nothing is planned anew.
            QVERIFY(shown.figures().isVisible() && shown.figures().isEnabled());
            QTest::mouseClick(&shown.button("compareUse"), Qt::LeftButton);
            const auto back = compile::with_overrides(
                second, adopted.back().at(0).value<std::vector<std::string>>());
            QVERIFY(back.has_value());
            QVERIFY(back->document == first.document);
        }
    }

    void the_draft_itself_cannot_be_taken_over() {
        ShownComparison shown;
        QTest::mouseClick(&shown.button("compareKeep"), Qt::LeftButton);
        QVERIFY(shown.part.findChild<QWidget*>("compareAlike")->isVisible());
        QVERIFY(!shown.button("compareUse").isEnabled());
        QVERIFY(!shown.button("compareUse").toolTip().isEmpty());
        shown.give(test::mesh_config({"mesh.devices=h200:4", "mesh.strategy=fsdp"}));
        QVERIFY(shown.choose("Kept:"));
        QVERIFY(shown.button("compareUse").isEnabled());
        QVERIFY(shown.button("compareUse").toolTip().isEmpty());
    }

    void proposals_of_the_advisor_are_listed() {
        ShownComparison shown;
        plan::Alternative way;
        way.change = "data=4 x model=1, ZeRO 1, micro batch 4";
        way.overrides = {"mesh.axes=[[\"data\",4],[\"model\",1]]", "mesh.zero_stage=1"};
        shown.part.setProposals({{way, "data=4", std::nullopt}});
        QVERIFY(shown.choose("Advice: data=4"));
        QTRY_VERIFY_WITH_TIMEOUT(shown.figures().isVisible() && shown.figures().isEnabled(),
                                 kPatienceMs);
        QVERIFY(shown.tensors().model()->rowCount() > 0);
    }
};

WEFT_TEST(CompareTest)
#include "compare_test.moc"
