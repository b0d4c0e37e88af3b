// SPDX-License-Identifier: GPL-3.0-or-later
// Collectives and pipeline of the mesh page: rows against the plan's own collectives, the chart
// against the schedules of the papers.
#include "core/pipeline/schedule_list.h"
#include "tests/support/weft_test.h"
#include "tests/ui/small_gpt.h"
#include "ui/bridge/plan/pipeline_chart.h"
#include "ui/models/collective_model.h"
#include "ui/pages/plan/mesh/step/collective_panel.h"
#include "ui/pages/plan/mesh/step/pipeline_panel.h"
#include "ui/plurals.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/theme_controller.h"

#include <QAbstractItemModelTester>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>

#include <numeric>

namespace {

using namespace weft;
using test::digest_of;
using test::kGpipe;
using test::kTwoByTwo;
using test::small_gpt;

QString label_text(const QWidget& part, const char* name) {
    return part.findChild<widgets::ElidedLabel*>(name)->text();
}

/// What the header of a part says, all of its labels.
QString header_of(const QWidget& part) {
    QString out;
    for (const auto* label : part.findChildren<widgets::ElidedLabel*>()) {
        out += label->text() + '\n';
    }
    for (const auto* label : part.findChildren<widgets::TextLabel*>()) {
        out += label->text() + '\n';
    }
    return out;
}

} // namespace

class MeshPartsTest : public QObject {
    Q_OBJECT

    std::unique_ptr<widgets::ThemeController> controller_;

private slots:
    void initTestCase() {
        ui::installEnglishPlurals(*QCoreApplication::instance());
        controller_ = std::make_unique<widgets::ThemeController>();
    }
    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void rows_are_the_plans_collectives_added_up() {
        const auto digest = digest_of(small_gpt(kTwoByTwo));
        ui::CollectiveModel model;
        const QAbstractItemModelTester tester(&model);
        model.setDigest(digest);
        const auto all = plan::collectives(*digest->plan->find("train_step"));
        QVERIFY(!all.empty());
        double executions = 0;
        std::int64_t sent = 0;
        for (const plan::Collective& one : all) {
            executions += one.count;
            sent += one.sent_bytes;
            const int row = model.rowOf(one.position);
            QVERIFY(row >= 0);
            QCOMPARE(model.row(row).first.kind, one.kind);
            QCOMPARE(model.row(row).first.axes, one.axes);
        }
        QCOMPARE(model.executions(), executions);
        QCOMPARE(model.sentBytes(), sent);
        double row_executions = 0;
        std::int64_t row_sent = 0;
        for (int row = 0; row < model.rowCount(); ++row) {
            row_executions += model.row(row).count;
            row_sent += model.row(row).sent_bytes;
        }
        QCOMPARE(row_executions, executions);
        QCOMPARE(row_sent, sent);
        QVERIFY(!model.timed()); // nothing was predicted
    }

    // Every block adds up what its two matrix products split over "model" have (Shoeybi et al.
    // 2019, "Megatron-LM", figure 4), once a layer and microstep.
    void layers_are_one_row() {
        ui::CollectiveModel model;
        const auto digest = digest_of(small_gpt(kTwoByTwo));
        model.setDigest(digest);
        constexpr double kLayers = 4;
        constexpr double kMicrosteps = 2; // 16 samples over 2 data ranks in microbatches of 4
        constexpr double kOfALayer = 4;   // two forward, two backward
        double executions = 0;
        int rows = 0;
        for (int row = 0; row < model.rowCount(); ++row) {
            const ui::CollectiveRow& one = model.row(row);
            QVERIFY(!one.what.contains(QRegularExpression("blocks\\.\\d")));
            if (one.first.axes == std::vector<std::string>{"model"} &&
                one.what.contains("blocks.*")) {
                executions += one.count;
                ++rows;
            }
        }
        QCOMPARE(executions, kOfALayer * kLayers * kMicrosteps);
        QVERIFY(rows >= 1 && rows <= static_cast<int>(kOfALayer));
    }

    void a_pipelines_messages_are_grouped_over_microbatches_and_stages() {
        ui::CollectiveModel model;
        const auto digest = digest_of(small_gpt(kGpipe));
        model.setDigest(digest);
        double forward = 0; // activations between neighbours
        for (int row = 0; row < model.rowCount(); ++row) {
            const ui::CollectiveRow& one = model.row(row);
            if (one.what == "blocks.* output") {
                forward += one.count;
                QCOMPARE(ui::collectiveName(one.first.kind), "send");
            }
        }
        QCOMPARE(forward, 3.0 * 4.0); // three borders, four microbatches
    }

    void choosing_a_row_says_why_and_asks_for_its_op() {
        const auto digest = digest_of(small_gpt(kTwoByTwo));
        ui::CollectivePanel part;
        part.resize(720, 200);
        part.setPlan({digest});
        auto* table = part.findChild<QTableView*>("collectiveTable");
        auto* why = part.findChild<widgets::TextLabel*>("collectiveWhy");
        QVERIFY(why->isHidden());
        QSignalSpy chosen(&part, &ui::CollectivePanel::opChosen);
        table->selectRow(1);
        QCOMPARE(chosen.count(), 1);
        const int op = chosen.front().front().toInt();
        const auto one = plan::collective_of(*plan::step_at(*digest->plan->find("train_step"), op));
        QVERIFY(one.has_value());
        QVERIFY(!why->isHidden());
        QVERIFY(why->text().contains(QString::fromStdString(one->path).section('.', -1)));
        QVERIFY(
            why->text().contains("2 devices along " + QString::fromStdString(one->axes.front())));
    }

    void the_one_that_runs_is_marked_and_the_choice_stays() {
        const auto digest = digest_of(small_gpt(kTwoByTwo));
        ui::CollectivePanel part;
        part.resize(720, 200);
        part.setPlan({digest});
        auto* table = part.findChild<QTableView*>("collectiveTable");
        table->selectRow(1);
        QSignalSpy chosen(&part, &ui::CollectivePanel::opChosen);
        const auto running = [&] {
            QStringList out;
            for (int row = 0; row < table->model()->rowCount(); ++row) {
                const QModelIndex index =
                    table->model()->index(row, ui::CollectiveModel::KindColumn);
                if (index.data(ui::CollectiveModel::kRunningRole).toInt() != 0) {
                    out.append(index.data(Qt::AccessibleTextRole).toString());
                }
            }
            return out;
        };
        const auto last = plan::collectives(*digest->plan->find("train_step")).back();
        part.showOp(last.position);
        QCOMPARE(running().size(), 1);
        QVERIFY(running().front().startsWith("Runs now. " + ui::collectiveName(last.kind)));
        part.showOp(0); // is none
        QVERIFY(running().isEmpty());
        QVERIFY(table->selectionModel()->isRowSelected(1, {}));
        QCOMPARE(chosen.count(), 0);
    }

    void columns_sort_by_value() {
        ui::CollectivePanel part;
        part.setPlan({digest_of(small_gpt(kTwoByTwo))});
        auto* table = part.findChild<QTableView*>("collectiveTable");
        table->sortByColumn(ui::CollectiveModel::BytesColumn, Qt::AscendingOrder);
        qlonglong before = 0;
        for (int row = 0; row < table->model()->rowCount(); ++row) {
            const qlonglong bytes = table->model()
                                        ->index(row, ui::CollectiveModel::BytesColumn)
                                        .data(ui::CollectiveModel::kSortRole)
                                        .toLongLong();
            QVERIFY(bytes >= before);
            before = bytes;
        }
    }

    void the_header_adds_up_count_bytes_and_predicted_time() {
        const auto digest = digest_of(small_gpt(kTwoByTwo), true);
        ui::CollectivePanel part;
        part.setPlan({digest});
        const QString header = header_of(part);
        QVERIFY(header.contains("in a step"));
        QVERIFY(header.contains("sent by each device"));
        QVERIFY(header.contains(ui::formatMilliseconds(digest->plan->communication_ms) + " ms"));
        QVERIFY(!part.findChild<QTableView*>("collectiveTable")
                     ->isColumnHidden(ui::CollectiveModel::MsColumn));
    }

    void one_device_offers_to_simulate_several() {
        ui::CollectivePanel part;
        part.resize(720, 200);
        part.setPlan({digest_of(small_gpt(nullptr))});
        auto* button = part.findChild<QPushButton*>("collectiveSimulate");
        QVERIFY(!button->isHidden());
        QSignalSpy asked(&part, &ui::CollectivePanel::simulateRequested);
        button->click();
        QCOMPARE(asked.count(), 1);
    }

    // Huang et al. 2019, figure 2c: stage s forwards microbatch m from s + m on, stages wait
    // (p - 1) / (m + p - 1) of the time.
    void gpipe_of_four_stages_starts_each_stage_one_forward_later() {
        ui::PipelinePanel part;
        part.resize(760, 200);
        part.setPlan({digest_of(small_gpt(kGpipe))});
        const widgets::GanttView& chart = *part.chart();
        QCOMPARE(chart.data().rows.size(), std::size_t{4});
        for (int stage = 0; stage < 4; ++stage) {
            for (int microbatch = 0; microbatch < 4; ++microbatch) {
                const int start = stage + microbatch;
                QCOMPARE(chart.item(chart.itemOf(stage, microbatch)).name,
                         QString("stage %1: forward of microbatch %2, %3.0 to %4.0 forwards")
                             .arg(stage)
                             .arg(microbatch)
                             .arg(start)
                             .arg(start + 1));
            }
        }
        QCOMPARE(chart.makespan(), 7.0 + 7.0 * 2.0);
        QVERIFY(header_of(part).contains("gpipe · 4 stages · 4 microbatches"));
        QVERIFY(header_of(part).contains("bubbles 42.9 %")); // 3 / 7
        QCOMPARE(label_text(part, "pipelineBasis"), "even stages, backward = 2 forwards");
        QVERIFY(part.findChild<QPushButton*>("pipelineUse")->isHidden());
    }

    // Forwards of 1 ms, backwards of 2, each as early as the stages before it allow: as the drawing
    // above, in milliseconds.
    void measured_actions_are_drawn_where_the_run_has_this_pipeline() {
        ui::PipelinePanel part;
        part.resize(760, 200);
        const auto digest = digest_of(small_gpt(kGpipe));
        part.setPlan({digest});
        auto* times = part.findChild<widgets::SegmentedControl*>("pipelineTimes");
        auto* measured = times->findChildren<QAbstractButton*>().last();
        QVERIFY(!measured->isEnabled());
        QCOMPARE(times->currentIndex(), 1); // nothing is predicted: even stages are what is shown
        train::DevicesEvent told;
        told.step = 7;
        for (int stage = 0; stage < 4; ++stage) {
            auto& actions = told.stages.emplace_back();
            for (int i = 0; i < 8; ++i) {
                const bool forward = i < 4;
                const double start = forward ? stage + i : 7 + 2 * (3 - stage) + 2 * (i - 4);
                actions.push_back({digest->plan->pipeline->actions[static_cast<std::size_t>(stage)]
                                                                  [static_cast<std::size_t>(i)],
                                   start, start + (forward ? 1 : 2)});
            }
        }
        part.setMeasured(told);
        QVERIFY(measured->isEnabled());
        measured->click();
        QCOMPARE(part.chart()->makespan(), 21.0);
        QCOMPARE(part.chart()->data().unit, QString("ms"));
        QVERIFY(header_of(part).contains("bubbles 42.9 %")); // 3 / 7
        QVERIFY(label_text(part, "pipelineBasis").contains("measured at step 7"));
        // Another pipeline's times are not this one's.
        told.stages[0].front().action = "F3";
        part.setMeasured(told);
        QVERIFY(!measured->isEnabled());
        QVERIFY(label_text(part, "pipelineBasis").startsWith("even stages"));
        QCOMPARE(times->currentIndex(), 1);
    }

    void a_stage_says_which_layers_it_holds() {
        ui::PipelinePanel part;
        part.resize(760, 200);
        const auto digest = digest_of(small_gpt(kGpipe));
        part.setPlan({digest});
        for (std::size_t stage = 0; stage < 4; ++stage) {
            QCOMPARE(part.chart()->data().rows[stage].note,
                     QString::fromStdString(digest->plan->stages[stage].layers));
            QVERIFY(!part.chart()->data().rows[stage].note.isEmpty());
        }
    }

    void a_plan_without_a_pipeline_shows_the_one_it_could_have() {
        ui::PipelinePanel part;
        part.resize(760, 200);
        part.setPlan({digest_of(small_gpt(nullptr))});
        QVERIFY(header_of(part).contains("pipeline=4 · 1f1b · 8 microbatches"));
        QVERIFY(header_of(part).contains("bubbles 27.3 %")); // (4 - 1) / (8 + 4 - 1)
        QCOMPARE(part.chart()->data().rows.size(), std::size_t{4});
        QSignalSpy asked(&part, &ui::PipelinePanel::useRequested);
        part.findChild<QPushButton*>("pipelineUse")->click();
        QCOMPARE(asked.count(), 1);
        QCOMPARE(asked.front().front().toString(), "pipeline=4");
    }

    void as_many_stages_are_offered_as_layers_and_devices_allow() {
        plan::ExecutionPlan plan;
        QVERIFY(!ui::possibleSchedule(plan)); // no layers
        const auto layers = [&](int count) {
            plan.state_slots.clear();
            for (int i = 0; i < count; ++i) {
                plan::StateSlot slot;
                slot.name = "blocks." + std::to_string(i) + ".weight";
                plan.state_slots.push_back(slot);
                slot.name = "blocks." + std::to_string(i) + ".bias";
                plan.state_slots.push_back(slot);
            }
            const auto found = ui::possibleSchedule(plan);
            return found ? found->stages : 0;
        };
        QCOMPARE(layers(1), 0);
        QCOMPARE(layers(3), 3);
        QCOMPARE(layers(12), 4);
        plan.mesh.axes = {{"data", 2}, {"model", 3}};
        QCOMPARE(layers(12), 3); // six devices are three stages of two
        plan.mesh.axes = {{"data", 5}};
        QCOMPARE(layers(12), 0);
    }

    void costs_of_a_backward_change_the_times_of_even_stages() {
        ui::PipelinePanel part;
        part.resize(760, 200);
        part.setPlan({digest_of(small_gpt(kGpipe))});
        part.findChild<QSpinBox*>("costWeightGradient")->setValue(2);
        QCOMPARE(part.chart()->makespan(), 7.0 + 7.0 * 3.0);
        QCOMPARE(label_text(part, "pipelineBasis"), "even stages, backward = 3 forwards");
        part.findChild<QSpinBox*>("costForward")->setValue(3);
        QCOMPARE(part.chart()->makespan(), 7.0 + 7.0); // I + W = 3 of a forward of 3
        QCOMPARE(label_text(part, "pipelineBasis"), "even stages, backward = 1 forward");
    }

    void predicted_times_are_the_plans_own() {
        const auto digest = digest_of(small_gpt(kGpipe), true);
        QVERIFY(!digest->plan->pipeline->times.empty());
        ui::PipelinePanel part;
        part.resize(760, 200);
        part.setPlan({digest});
        const widgets::GanttView& chart = *part.chart();
        QCOMPARE(chart.data().unit, "ms");
        for (std::size_t stage = 0; stage < 4; ++stage) {
            const auto& times = digest->plan->pipeline->times[stage];
            const auto& cells = chart.data().rows[stage].cells;
            QCOMPARE(cells.size(), times.size());
            for (std::size_t i = 0; i < times.size(); ++i) {
                QCOMPARE(cells[i].start, times[i].start_ms);
                QCOMPARE(cells[i].end, times[i].end_ms);
                QCOMPARE(cells[i].kind, times[i].action.front() == 'F'
                                            ? widgets::GanttKind::Forward
                                            : widgets::GanttKind::Backward);
                QCOMPARE(cells[i].microbatch, times[i].action[1] - '0');
            }
        }
        QCOMPARE(label_text(part, "pipelineBasis"), "as predicted");
        QVERIFY(part.findChild<QSpinBox*>("costForward")->parentWidget()->isHidden());
    }

    void chunks_of_a_stage_are_told_apart() {
        const ui::PipelineChart chart =
            ui::evenChart(pipeline::make_schedule("interleaved_1f1b", 2, 4, 2), {});
        QCOMPARE(chart.data.chunks, 2);
        const auto& cells = chart.data.rows[0].cells;
        QCOMPARE(std::accumulate(cells.begin(), cells.end(), 0,
                                 [](int sum, const auto& cell) { return sum + cell.chunk; }),
                 4 * 2); // of each microbatch the forward and the backward of chunk 1
    }
};

WEFT_TEST(MeshPartsTest)
#include "mesh_parts_test.moc"
