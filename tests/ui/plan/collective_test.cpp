// SPDX-License-Identifier: GPL-3.0-or-later
// Collectives as arrows and as patterns on small numbers: against what each collective is defined
// to do, and against what the ring algorithms send (Patarasuk and Yuan 2009).
#include "core/base/text.h"
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "tests/ui/mesh_support.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/plan/collective_arrows.h"
#include "ui/bridge/plan/pattern_steps.h"
#include "ui/models/collective_model.h"
#include "ui/pages/plan/mesh/step/collective_panel.h"
#include "ui/pages/plan/mesh/step/pattern_panel.h"
#include "ui/plurals.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/theme_controller.h"

#include <QComboBox>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTableView>

#include <map>
#include <numeric>
#include <set>

namespace {

using namespace weft;

std::shared_ptr<const ui::PlanDigest> gpt_digest(const std::vector<std::string>& overrides) {
    constexpr const char* kGpt = R"({
        "data": {"train": {"type": "synthetic", "kind": "tokens", "length": 64, "vocab": 64,
                           "samples": 512}},
        "model": {"type": "gpt2", "layers": 4, "width": 32, "heads": 4, "context": 64, "vocab": 64,
                  "dropout": 0.0},
        "training": {"length": {"steps": 50}, "global_batch_size": 16, "precision": "f32"},
        "evaluation": {"samples": 0}
    })";
    const compile::CheckedRun checked =
        compile::read_run_config(std::string_view(kGpt), "/", overrides);
    if (!checked.ok()) {
        qFatal("%s", config::to_text(checked.diagnostics.front()).c_str());
    }
    const train::PlanTarget target = train::this_machine(0, nullptr);
    return ui::digestPlan(std::make_shared<const plan::ExecutionPlan>(train::plan_run(
        checked.config, train::outline_run_data(checked.config, target), target, {})));
}

std::shared_ptr<const ui::PlanDigest> two_by_two() {
    return gpt_digest(
        {"mesh.devices=cpu:4", "mesh.strategy=2d", "mesh.axes=[[\"data\",2],[\"model\",2]]"});
}

sharding::Mesh mesh_of(const std::vector<std::pair<std::string, int>>& axes) {
    sharding::Mesh mesh;
    for (const auto& [name, size] : axes) {
        mesh.axes.push_back({name, size});
    }
    return mesh;
}

plan::ExecutionPlan plan_on(sharding::Mesh mesh) {
    plan::ExecutionPlan plan;
    plan.mesh = std::move(mesh);
    plan.stages.resize(1);
    return plan;
}

std::vector<int> first(int count) {
    std::vector<int> out(static_cast<std::size_t>(count));
    std::iota(out.begin(), out.end(), 0);
    return out;
}

/// The values of the rows from `row` on that a device has in the end; -1: nothing.
std::vector<int> end_of(const widgets::Pattern& pattern, int device, int row, int rows) {
    std::vector<int> out;
    const auto& cells = pattern.steps.back().places[static_cast<std::size_t>(device)];
    for (int i = row; i < row + rows; ++i) {
        out.push_back(cells[static_cast<std::size_t>(i)].value.value_or(-1));
    }
    return out;
}

int start_of(const widgets::Pattern& pattern, int device, int part) {
    return pattern.steps.front()
        .places[static_cast<std::size_t>(device)][static_cast<std::size_t>(part)]
        .value.value_or(-1);
}

int sum_of(const widgets::Pattern& pattern, int part) {
    int out = 0;
    for (int device = 0; device < static_cast<int>(pattern.devices.size()); ++device) {
        out += start_of(pattern, device, part);
    }
    return out;
}

int messages_of(const widgets::Pattern& pattern, int device) {
    int out = 0;
    for (const widgets::PatternStep& step : pattern.steps) {
        for (const widgets::PatternMessage& message : step.messages) {
            out += message.from == device ? 1 : 0;
        }
    }
    return out;
}

/// What one row of the table comes to, added up in the plainest way.
struct AddedUp {
    double count = 0;
    double ms = 0;
    std::int64_t sent = 0;
    std::int64_t largest = 0;
    std::set<int> stages;
    std::vector<int> ops;
};

QString without_numbers(const std::string& text) {
    return ui::toQString(text)
        .replace(QRegularExpression("for stage \\d+(?=[., ]|$)"), "for another stage")
        .replace(QRegularExpression("microbatch \\d+(?=[., ]|$)"), "microbatch *")
        .replace(QRegularExpression("\\.\\d+(?=[., ]|$)"), ".*");
}

QString key_of(const plan::Collective& one, const QString& what, const QString& why) {
    return QStringList{ui::toQString(one.kind), ui::toQString(join(one.axes, ",")), what, why}.join(
        '|');
}

std::map<QString, AddedUp> added_up(const ui::PlanDigest& digest) {
    std::map<QString, AddedUp> out;
    for (const plan::PlannedProgram* program : digest.plan->all_stages("train_step")) {
        for (const plan::Collective& one : plan::collectives(*program)) {
            AddedUp& sum = out[key_of(one, without_numbers(one.what.empty() ? one.cause : one.what),
                                      without_numbers(one.why.empty() ? one.cause : one.why))];
            sum.count += one.count;
            sum.ms += one.predicted_ms;
            sum.sent += one.sent_bytes;
            sum.largest = std::max(sum.largest, one.array_bytes);
            sum.stages.insert(program->stage);
            if (program->stage == digest.stage) {
                sum.ops.push_back(one.position);
            }
        }
    }
    return out;
}

} // namespace

class CollectiveTest : public QObject {
    Q_OBJECT
    std::unique_ptr<widgets::ThemeController> controller_;

    static void add_device_counts() {
        QTest::addColumn<int>("n");
        for (const int n : {2, 3, 4, 5, 8}) {
            QTest::newRow(std::to_string(n).c_str()) << n;
        }
    }

private slots:
    void initTestCase() {
        ui::installEnglishPlurals(*QCoreApplication::instance());
        controller_ = std::make_unique<widgets::ThemeController>();
    }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }
    void cleanup() { controller_->setReducedMotion(false); }

    // All have all sums; S = n parts, so 2 S (n - 1) / n is 2 (n - 1) parts.
    void all_reduce_gives_everybody_the_sums_data() { add_device_counts(); }
    void all_reduce_gives_everybody_the_sums() {
        QFETCH(const int, n);
        const auto pattern = ui::communicationPattern("all_reduce", first(n), {n});
        QCOMPARE(pattern.lastStep(), 2 * (n - 1));
        for (int device = 0; device < n; ++device) {
            std::vector<int> sums;
            for (int part = 0; part < n; ++part) {
                sums.push_back(sum_of(pattern, part));
            }
            QCOMPARE(end_of(pattern, device, 0, n), sums);
            QCOMPARE(messages_of(pattern, device), 2 * (n - 1));
        }
    }

    void reduce_scatter_leaves_each_with_the_sum_of_its_part_data() { add_device_counts(); }
    void reduce_scatter_leaves_each_with_the_sum_of_its_part() {
        QFETCH(const int, n);
        const auto pattern = ui::communicationPattern("reduce_scatter", first(n), {n});
        for (int device = 0; device < n; ++device) {
            std::vector<int> wanted(static_cast<std::size_t>(n), -1);
            wanted[static_cast<std::size_t>(device)] = sum_of(pattern, device);
            QCOMPARE(end_of(pattern, device, 0, n), wanted);
            QCOMPARE(messages_of(pattern, device), n - 1);
        }
    }

    void all_gather_puts_the_parts_of_all_together_data() { add_device_counts(); }
    void all_gather_puts_the_parts_of_all_together() {
        QFETCH(const int, n);
        const auto pattern = ui::communicationPattern("all_gather", first(n), {n});
        for (int device = 0; device < n; ++device) {
            std::vector<int> wanted;
            for (int part = 0; part < n; ++part) {
                wanted.push_back(start_of(pattern, part, part));
                QVERIFY(part == device || start_of(pattern, device, part) == -1);
            }
            QCOMPARE(end_of(pattern, device, 0, n), wanted);
            QCOMPARE(messages_of(pattern, device), n - 1);
        }
    }

    // What device i had for device d stands at place i of device d.
    void all_to_all_is_a_transpose() {
        for (const int n : {2, 3, 4}) {
            const auto pattern = ui::communicationPattern("all_to_all", first(n), {n});
            for (int device = 0; device < n; ++device) {
                std::vector<int> wanted;
                for (int from = 0; from < n; ++from) {
                    wanted.push_back(start_of(pattern, from, device));
                }
                QCOMPARE(end_of(pattern, device, n, n), wanted);
                QCOMPARE(messages_of(pattern, device), n - 1);
            }
        }
    }

    void permute_broadcast_and_send_do_as_they_say() {
        const auto permute = ui::communicationPattern("permute", first(4), {4});
        const auto broadcast = ui::communicationPattern("broadcast", first(6), {6});
        const auto send = ui::communicationPattern("send_recv", first(3), {3});
        for (int device = 0; device < 4; ++device) {
            QCOMPARE(end_of(permute, (device + 1) % 4, 1, 1).front(), start_of(permute, device, 0));
        }
        QCOMPARE(broadcast.lastStep(), 3); // 1, 2, 4, all
        for (int device = 0; device < 6; ++device) {
            QCOMPARE(end_of(broadcast, device, 0, 2), end_of(broadcast, 0, 0, 2));
        }
        QCOMPARE(end_of(send, 2, 0, 1).front(), start_of(send, 0, 0));
    }

    // What moves in a step is what its messages say.
    void messages_carry_what_the_sender_has_and_arrive_as_they_say() {
        for (const char* kind :
             {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "permute", "broadcast"}) {
            const auto pattern = ui::communicationPattern(kind, first(4), {4});
            for (std::size_t step = 1; step < pattern.steps.size(); ++step) {
                const auto& before = pattern.steps[step - 1].places;
                for (const widgets::PatternMessage& one : pattern.steps[step].messages) {
                    const auto at = [](const auto& places, int device, int row) {
                        return places[static_cast<std::size_t>(device)]
                                     [static_cast<std::size_t>(row)]
                                         .value;
                    };
                    QCOMPARE(at(before, one.from, one.from_row), std::optional(one.value));
                    const auto now = at(pattern.steps[step].places, one.to, one.to_row);
                    // A reduce-scatter forgets in its last step what it needs no longer.
                    const bool forgotten = step + 1 == pattern.steps.size() && !now;
                    QVERIFY(forgotten ||
                            *now == one.value + (one.adds ? *at(before, one.to, one.to_row) : 0));
                }
            }
        }
    }

    void large_groups_are_shown_by_eight_of_their_devices() {
        const auto pattern = ui::communicationPattern("all_gather", first(64), {64});
        QCOMPARE(static_cast<int>(pattern.devices.size()), ui::kMostPatternDevices);
    }

    void a_ring_sends_to_the_next_of_its_group() {
        const auto plan = plan_on(mesh_of({{"data", 2}, {"model", 3}}));
        const ui::CollectiveShare share{"all_reduce", {"model"}, 0, -1, 300, 6};
        const auto graph = ui::collectiveGraph(plan, {{share}});
        std::map<std::pair<int, int>, qint64> sent;
        for (const auto& arrow : graph.arrows) {
            sent[{arrow.from, arrow.to}] = arrow.bytes;
            QCOMPARE(graph.axes[arrow.axes], QString("model"));
        }
        const std::map<std::pair<int, int>, qint64> wanted = {{{0, 1}, 300}, {{1, 2}, 300},
                                                              {{2, 0}, 300}, {{3, 4}, 300},
                                                              {{4, 5}, 300}, {{5, 3}, 300}};
        QCOMPARE(sent, wanted);
        QCOMPARE(graph.arrows.front().name,
                 QString("0 → 1: 300 B a step, 6 times, all-reduce over model"));
    }

    void an_all_to_all_sends_to_all_others_alike() {
        const auto plan = plan_on(mesh_of({{"expert", 4}}));
        const auto graph = ui::collectiveGraph(
            plan, {{ui::CollectiveShare{"all_to_all", {"expert"}, 0, -1, 300, 1}}});
        QCOMPARE(graph.arrows.size(), std::size_t{12});
        for (const auto& arrow : graph.arrows) {
            QCOMPARE(arrow.bytes, qint64{100});
        }
    }

    void messages_go_to_the_same_place_of_the_next_stage() {
        auto plan = plan_on(mesh_of({{"pipeline", 2}, {"data", 2}}));
        plan.stages.resize(2);
        plan.pipeline_axis = 0;
        const auto graph = ui::collectiveGraph(
            plan, {{ui::CollectiveShare{"send_recv", {"pipeline"}, 0, 1, 64, 2}}});
        QCOMPARE(graph.arrows.size(), std::size_t{2});
        QCOMPARE(graph.arrows[0].from, 0);
        QCOMPARE(graph.arrows[0].to, 2);
        QCOMPARE(graph.arrows[1].from, 1);
        QCOMPARE(graph.arrows[1].to, 3);
    }

    void of_thousands_of_devices_one_group_is_drawn() {
        const auto plan = plan_on(mesh_of({{"data", 128}, {"pipeline", 8}, {"model", 8}}));
        const auto graph = ui::collectiveGraph(
            plan, {{ui::CollectiveShare{"all_reduce", {"model"}, 0, -1, 8, 1}}});
        QCOMPARE(graph.devices, first(64));
        const auto far = ui::collectiveGraph(
            plan, {{ui::CollectiveShare{"all_reduce", {"pipeline", "model"}, 0, -1, 8, 1}}});
        QCOMPARE(far.devices, first(64));
        const auto line =
            ui::collectiveGraph(plan_on(mesh_of({{"data", 1000}})),
                                {{ui::CollectiveShare{"all_reduce", {"data"}, 0, -1, 8, 1}}});
        QCOMPARE(line.devices.size(), std::size_t{ui::kMostDrawn});
    }

    // What leaves a device by arrows is what the plan says that it sends.
    void arrows_add_up_to_what_the_plan_sends() {
        const auto digest = two_by_two();
        ui::CollectivePanel part;
        part.resize(720, 240);
        part.setPlan({digest});
        part.findChild<widgets::SegmentedControl*>("collectiveForm")->setCurrentIndex(1);
        std::int64_t sent = 0;
        for (const plan::Collective& one : plan::collectives(*digest->plan->find("train_step"))) {
            sent += one.sent_bytes;
        }
        std::map<int, qint64> leaving;
        for (const widgets::CollectiveArrow& arrow : part.arrows()->graph().arrows) {
            leaving[arrow.from] += arrow.bytes;
        }
        QCOMPARE(leaving.size(), std::size_t{4});
        for (const auto& [device, bytes] : leaving) {
            QCOMPARE(bytes, qint64{sent});
        }
    }

    void one_collective_can_be_drawn_alone() {
        ui::CollectivePanel part;
        part.resize(720, 240);
        part.setPlan({two_by_two()});
        part.findChild<widgets::SegmentedControl*>("collectiveForm")->setCurrentIndex(1);
        auto* which = part.findChild<QComboBox*>("collectiveWhich");
        QCOMPARE(which->currentIndex(), 0);
        const std::size_t all = part.arrows()->graph().arrows.size();
        which->setFocus();
        QTest::keyClick(which, Qt::Key_Down);
        QCOMPARE(which->currentIndex(), 1);
        QVERIFY(part.arrows()->graph().arrows.size() < all);
        auto* table = part.findChild<QTableView*>("collectiveTable");
        QVERIFY(table->selectionModel()->hasSelection()); // the same choice
    }

    void a_reason_leads_to_its_tensor_by_click_and_by_key() {
        const auto digest = two_by_two();
        ui::CollectivePanel part;
        part.resize(900, 300);
        part.show();
        part.setPlan({digest});
        auto* table = part.findChild<QTableView*>("collectiveTable");
        QSignalSpy tensor(&part, &ui::CollectivePanel::tensorChosen);
        QSignalSpy op(&part, &ui::CollectivePanel::opChosen);
        int row = 0;
        const auto why = [&] { return table->model()->index(row, ui::CollectiveModel::WhyColumn); };
        while (why().data().toString() != "mlp.down is split over its rows") {
            QVERIFY(++row < table->model()->rowCount());
        }
        table->scrollTo(why());
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(why()).center());
        QCOMPARE(tensor.count(), 1);
        QCOMPARE(tensor.front().front().toString(), QString("blocks.0.mlp.down.weight"));
        QVERIFY(op.count() >= 1);
        table->setCurrentIndex(why());
        QTest::keyClick(table, Qt::Key_Return);
        QCOMPARE(tensor.count(), 2);
        // The rest of the row chooses the collective alone.
        QTest::mouseClick(
            table->viewport(), Qt::LeftButton, {},
            table->visualRect(table->model()->index(row, ui::CollectiveModel::KindColumn))
                .center());
        QCOMPARE(tensor.count(), 2);
    }

    void how_it_works_is_shown_step_by_step_by_keys() {
        controller_->setReducedMotion(true);
        ui::CollectivePanel part;
        part.resize(720, 260);
        part.show();
        part.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&part)); // or no shortcut works
        part.setPlan({two_by_two()});
        auto* form = part.findChild<widgets::SegmentedControl*>("collectiveForm");
        form->setCurrentIndex(2);
        auto* pattern = part.findChild<ui::PatternPanel*>();
        QVERIFY(pattern->isVisible());
        auto* text = pattern->findChild<widgets::TextLabel*>("patternText");
        QCOMPARE(pattern->view()->step(), 0);
        QTest::keyClick(pattern->view(), Qt::Key_PageDown);
        QVERIFY2(text->text().startsWith("Step 1 of 2: each device sends"),
                 qPrintable(text->text())); // two devices
        QTest::keyClick(pattern->view(), Qt::Key_PageDown);
        QVERIFY(!pattern->findChild<QPushButton*>("patternStep")->isEnabled());
        QTest::keyClick(pattern->view(), Qt::Key_PageUp);
        QCOMPARE(pattern->view()->step(), 1);
        form->setCurrentIndex(0);
        QVERIFY(!pattern->isVisible());
    }

    void a_play_ends_at_the_last_step() {
        controller_->setReducedMotion(true);
        ui::PatternPanel part;
        part.resize(600, 240);
        part.show();
        part.setPattern(ui::communicationPattern("permute", first(4), {4}));
        part.findChild<widgets::SegmentedControl*>("patternSpeed")->setCurrentIndex(2);
        auto* play = part.findChild<QPushButton*>("patternPlay");
        play->click();
        QTRY_COMPARE(part.view()->step(), part.view()->pattern().lastStep());
        QTRY_COMPARE(play->accessibleName(), QString("Play"));
    }

    void the_rows_come_to_what_the_plan_has_data() {
        QTest::addColumn<QStringList>("mesh");
        QTest::newRow("data and model") << QStringList{"mesh.devices=h200:4", "mesh.strategy=2d",
                                                       "mesh.axes=[[\"data\",2],[\"model\",2]]"};
        QTest::newRow("a pipeline of several microbatches")
            << QStringList{"mesh.devices=h200:8", "mesh.strategy=3d",
                           "mesh.axes=[[\"pipeline\",4],[\"data\",2],[\"model\",1]]",
                           "training.micro_batch_size=1"};
        QTest::newRow("one device") << QStringList{};
    }

    void the_rows_come_to_what_the_plan_has() {
        QFETCH(QStringList, mesh);
        std::vector<std::string> overrides;
        for (const QString& one : mesh) {
            overrides.push_back(one.toStdString());
        }
        const std::shared_ptr<const ui::PlanDigest> digest =
            test::mesh_digest(test::mesh_config(overrides));
        const std::map<QString, AddedUp> expected = added_up(*digest);
        QCOMPARE(expected.empty(), mesh.isEmpty());
        ui::CollectiveModel model;
        model.setDigest(digest);
        QCOMPARE(model.rowCount(), static_cast<int>(expected.size()));
        double executions = 0;
        for (int i = 0; i < model.rowCount(); ++i) {
            const ui::CollectiveRow& row = model.row(i);
            const QString key = key_of(row.first, row.what, row.why);
            QVERIFY2(expected.contains(key), qPrintable(key));
            const AddedUp& sum = expected.at(key);
            QCOMPARE(row.count, sum.count);
            QCOMPARE(row.predicted_ms, sum.ms);
            QCOMPARE(row.sent_bytes, sum.sent);
            QCOMPARE(row.array_bytes, sum.largest);
            QCOMPARE(row.many_stages, sum.stages.size() > 1);
            QCOMPARE(row.ops, sum.ops);
            QVERIFY(i == 0 || row.predicted_ms <= model.row(i - 1).predicted_ms);
            QCOMPARE(std::accumulate(
                         row.shares.begin(), row.shares.end(), std::int64_t{0},
                         [](std::int64_t all, const auto& one) { return all + one.sent_bytes; }),
                     sum.sent);
            executions += sum.count;
        }
        QCOMPARE(model.executions(), executions);
    }

    // The rest of a plan says nothing new about its step.
    void a_completed_plan_keeps_the_rows_of_its_step() {
        const std::shared_ptr<const ui::PlanDigest> step = two_by_two();
        QVERIFY(!step->collectives->rows.empty());
        QCOMPARE(ui::digestPlan(step->plan, step.get())->collectives, step->collectives);
    }
};

WEFT_TEST(CollectiveTest)
#include "collective_test.moc"
