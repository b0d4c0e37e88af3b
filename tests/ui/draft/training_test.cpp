// SPDX-License-Identifier: GPL-3.0-or-later
// The Training page: what follows from batch and length, the learning-rate curve and its handles,
// the optimizer's groups, and what will be on disk.
#include "core/checkpoint/checkpoint.h"
#include "core/optim/schedule.h"
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/draft/command_text.h"
#include "ui/bridge/draft/group_counts.h"
#include "ui/bridge/draft/retention_preview.h"
#include "ui/bridge/draft/schedule_edit.h"
#include "ui/forms/form_source.h"
#include "ui/forms/number_input.h"
#include "ui/models/problem_model.h"
#include "ui/pages/recipe/recipe_page.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/figure_strip.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/curve_editor.h"
#include "widgets/views/lifeline_chart.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStyleOptionFrame>
#include <QTableView>

namespace {

using namespace weft;
using config::Json;

compile::RunConfig config_with(const Json& changes) {
    Json document = config::json_of(test::tiny_config());
    for (const auto& [key, value] : changes.items()) {
        document[Json::json_pointer(key)] = value;
    }
    compile::CheckedRun checked = compile::read_run_config(document, "/tmp");
    for (const auto& one : checked.diagnostics) {
        qWarning("%s", config::to_text(one).c_str());
    }
    return checked.config;
}

ui::RunCounts counts_of(const compile::RunConfig& config) {
    return *ui::countRun(config, train::outline_run_data(config, train::PlanTarget{}));
}

std::vector<std::int64_t> range(std::int64_t from, std::int64_t to, std::int64_t step) {
    std::vector<std::int64_t> out;
    for (; from <= to; from += step) {
        out.push_back(from);
    }
    return out;
}

Json schedule(const std::string& type, const Json& settings = Json::object()) {
    Json out = {{"type", type}};
    out.update(settings);
    return out;
}

} // namespace

class TrainingTest : public QObject {
    Q_OBJECT

    static void show(test::StudioFixture& fixture, const Json& changes = Json::object()) {
        Json document = config::json_of(test::tiny_config());
        for (const auto& [key, value] : changes.items()) {
            document[Json::json_pointer(key)] = value;
        }
        fixture.studio().draft().setDocument(document, fixture.root());
        QVERIFY(fixture.studio().draft().isValid());
        fixture.window().showPage("training");
        fixture.window().resize(1440, 900);
    }

    static ui::RecipePage* page(test::StudioFixture& fixture) {
        return static_cast<ui::RecipePage*>(fixture.window().page("training"));
    }

    static const Json& at(test::StudioFixture& fixture, const char* pointer) {
        return fixture.studio().draft().document().at(Json::json_pointer(pointer));
    }

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void no_digit_of_a_number_is_out_of_sight() {
        test::StudioFixture fixture;
        show(fixture, {{"/training/precision", "f16"}}); // whose greatest scale is 16777216
        for (const QSize size : {QSize(1440, 900), QSize(1024, 680)}) {
            fixture.window().resize(size);
            int longest = 0;
            for (const auto* number : page(fixture)->findChildren<ui::NumberInput*>()) {
                if (number->isVisible()) {
                    const auto* line = number->findChild<QLineEdit*>();
                    const QString text = line->text();
                    longest = std::max(longest, static_cast<int>(text.size()));
                    const auto room = [line] {
                        QStyleOptionFrame option;
                        option.initFrom(line);
                        constexpr int kMargins = 4; // two pixels on either side are QLineEdit's own
                        return line->style()
                                   ->subElementRect(QStyle::SE_LineEditContents, &option, line)
                                   .width() -
                               kMargins;
                    };
                    QTRY_VERIFY2(line->fontMetrics().horizontalAdvance(text) <= room(),
                                 qPrintable(text));
                }
            }
            QVERIFY(longest >= 8);
        }
    }

    void what_is_made_of_fields_is_found_at_its_first() {
        test::StudioFixture fixture;
        show(fixture);
        QVERIFY(!page(fixture)->showField("/training/loss_scale")); // f32 has none
        show(fixture, {{"/training/precision", "f16"}});
        fixture.window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&fixture.window()));
        QVERIFY(page(fixture)->showField("/training/loss_scale"));
        QTRY_VERIFY(fixture.find("field:/training/loss_scale/initial")->hasFocus());
    }

    void updates_epochs_and_samples_are_the_engines() {
        // 4096 synthetic samples, a tenth of them for validation.
        const compile::RunConfig two_epochs = config_with(
            {{"/training/length", {{"epochs", 2}}}, {"/training/global_batch_size", 100}});
        const ui::RunCounts counts = counts_of(two_epochs);
        const std::int64_t samples = counts.pace.samples_per_epoch;
        QVERIFY(samples > 3600 && samples < 3800);
        QCOMPARE(counts.pace.steps_per_epoch, (samples + 99) / 100);
        QCOMPARE(counts.steps, 2 * counts.pace.steps_per_epoch);
        QCOMPARE(counts.epochs(counts.steps), 2.0);
        QCOMPARE(counts_of(config_with({{"/training/length", {{"minutes", 2}}}})).steps,
                 std::int64_t{0});
    }

    void the_curve_is_the_engines_schedule_data() {
        QTest::addColumn<QString>("type");
        for (const optim::ScheduleDef* def : optim::kSchedules) {
            QTest::newRow(std::string(def->name).c_str()) << QString::fromUtf8(def->name.data());
        }
    }

    void the_curve_is_the_engines_schedule() {
        QFETCH(QString, type);
        const compile::RunConfig config =
            config_with({{"/lr_schedule", schedule(type.toStdString())},
                         {"/optimizer", {{"type", "adamw"}, {"learning_rate", 0.004}}}});
        const ui::ScheduleCurve curve = ui::scheduleCurve(config, 1000, false);
        QVERIFY(curve.x.size() > 400);
        QCOMPARE(curve.x.front(), 0.0);
        QCOMPARE(curve.x.back(), 1000.0);
        for (std::size_t i = 0; i < curve.x.size(); ++i) {
            QCOMPARE(curve.y[i],
                     0.004 * optim::schedule_factor(config.section("lr_schedule"),
                                                    static_cast<std::int64_t>(curve.x[i]), 1000));
        }
        // Handles lie on the curve; the one where the decay begins is of a flat stretch.
        for (const ui::ScheduleHandle& handle : curve.handles) {
            const auto place = std::find(curve.x.begin(), curve.x.end(), handle.x);
            QVERIFY(place != curve.x.end());
            QCOMPARE(handle.y, curve.y[static_cast<std::size_t>(place - curve.x.begin())]);
        }
    }

    void a_moved_handle_is_where_it_was_put_data() {
        QTest::addColumn<QString>("type");
        QTest::addColumn<int>("handle");
        for (const optim::ScheduleDef* def : optim::kSchedules) {
            const compile::RunConfig config =
                config_with({{"/lr_schedule", schedule(std::string(def->name))}});
            const ui::ScheduleCurve curve = ui::scheduleCurve(config, 2000, false);
            for (int i = 0; i < static_cast<int>(curve.handles.size()); ++i) {
                QTest::addRow("%s %d", std::string(def->name).c_str(), i)
                    << QString::fromUtf8(def->name.data()) << i;
            }
        }
    }

    void a_moved_handle_is_where_it_was_put() {
        QFETCH(QString, type);
        QFETCH(int, handle);
        ui::Draft draft;
        Json document = config::json_of(test::tiny_config());
        document["lr_schedule"] = schedule(type.toStdString());
        draft.setDocument(document, "/tmp");
        const auto before = ui::scheduleCurve(draft.config(), 2000, false);
        const ui::ScheduleHandle held = before.handles[static_cast<std::size_t>(handle)];
        const double x = held.moves_x ? 700 : held.x;
        const double y = held.moves_y ? 2.5e-4 : held.y;
        draft.edit(ui::moveHandle(draft.config(), 2000, held, x, y));
        QVERIFY(draft.isValid());
        const auto after = ui::scheduleCurve(draft.config(), 2000, false);
        const ui::ScheduleHandle& moved = after.handles[static_cast<std::size_t>(handle)];
        QVERIFY(moved.kind == held.kind);
        QCOMPARE(moved.x, x); // a multiple of the rounding, 10 steps
        // Factors of the rate are written with two digits.
        QVERIFY2(std::abs(moved.y - y) <= 0.02 * y, qPrintable(QString::number(moved.y)));
    }

    void a_length_in_minutes_has_no_end_to_fall_to() {
        const compile::RunConfig config = config_with({{"/training/length", {{"minutes", 5}}}});
        const ui::ScheduleCurve curve = ui::scheduleCurve(config, 1000, true);
        QCOMPARE(curve.y.back(), config.section("optimizer").at("learning_rate").get<double>());
        for (const ui::ScheduleHandle& handle : curve.handles) {
            QVERIFY(handle.kind != ui::ScheduleHandle::Kind::End);
        }
    }

    void the_groups_take_what_the_engine_gives_them() {
        const compile::RunConfig config = config_with(
            {{"/optimizer",
              {{"type", "adamw"},
               {"weight_decay", 0.1},
               {"groups", Json::array({{{"match", "*.bias"}, {"weight_decay", 0.0}}})}}},
             {"/model", {{"type", "mlp"}, {"hidden", {32, 16}}}}});
        const plan::ExecutionPlan plan =
            train::plan_run(config, train::outline_run_data(config, train::PlanTarget{}),
                            train::PlanTarget{}, {}, compile::Scope::layout);
        const ui::GroupCounts counts = ui::countGroups(config, plan);
        QCOMPARE(counts.groups.size(), std::size_t{2});
        QCOMPARE(counts.groups[0].tensors, std::int64_t{3});
        QCOMPARE(counts.groups[0].parameters, std::int64_t{32 + 16 + 4});
        QCOMPARE(counts.groups[1].tensors, std::int64_t{3});
        QCOMPARE(counts.groups[1].parameters, std::int64_t{16 * 32 + 32 * 16 + 16 * 4});
        QVERIFY(!counts.warns());
    }

    void decay_of_biases_is_said_and_can_be_taken_out() {
        const Json all = {{"type", "adamw"}, {"weight_decay", 0.1}, {"weight_decay_on", "all"}};
        compile::RunConfig config = config_with({{"/optimizer", all}});
        const auto plan_of = [](const compile::RunConfig& run) {
            return train::plan_run(run, train::outline_run_data(run, train::PlanTarget{}),
                                   train::PlanTarget{}, {}, compile::Scope::layout);
        };
        ui::GroupCounts counts = ui::countGroups(config, plan_of(config));
        QVERIFY(counts.warns());
        QCOMPARE(counts.decayed_vectors.size(), std::size_t{2});
        QCOMPARE(counts.decay, 0.1);
        config = config_with({{"/optimizer",
                               {{"type", "adamw"},
                                {"weight_decay", 0.1},
                                {"weight_decay_on", "all"},
                                {"groups", exemptGroups(config, counts)}}}});
        counts = ui::countGroups(config, plan_of(config));
        QVERIFY(!counts.warns());
        QCOMPARE(counts.groups[0].tensors, std::int64_t{2});
    }

    void what_retention_leaves_is_what_a_run_leaves() {
        test::StudioFixture fixture;
        show(fixture, {{"/training/length", {{"steps", 60}}},
                       {"/evaluation/every", {{"steps", 15}}},
                       {"/checkpoint",
                        {{"every", {{"steps", 10}}},
                         {"on_improvement", false},
                         {"keep_latest", 2},
                         {"keep_best", 0},
                         {"keep_every", 20}}}});
        const compile::RunConfig config = fixture.studio().draft().config();
        const ui::RetentionPreview preview =
            ui::previewRetention(config, counts_of(config), 60, 30, 0);
        QVERIFY(fixture.studio().control().startDraft().started);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().state() == train::RunState::finished,
                                 30000);
        std::vector<std::int64_t> left;
        for (const checkpoint::Entry& entry :
             checkpoint::list_checkpoints(fixture.studio().run().folder() / "checkpoints")) {
            left.push_back(entry.step);
        }
        QCOMPARE(left, (std::vector<std::int64_t>{20, 40, 50, 60}));
        QCOMPARE(preview.at(60), left);
        QCOMPARE(preview.at(30), (std::vector<std::int64_t>{20, 30}));
    }

    void the_best_stay_besides_the_newest() {
        const compile::RunConfig config = config_with(
            {{"/training/length", {{"steps", 100}}},
             {"/evaluation/every", {{"steps", 10}}},
             {"/checkpoint", {{"every", {{"steps", 10}}}, {"keep_latest", 1}, {"keep_best", 2}}}});
        // The metric is best at 40; the two evaluations nearest to it are the best two.
        const ui::RetentionPreview preview =
            ui::previewRetention(config, counts_of(config), 100, 41, 0);
        QCOMPARE(preview.best_step, std::int64_t{40});
        QCOMPARE(preview.at(100), (std::vector<std::int64_t>{40, 50, 100}));
        for (const ui::CheckpointLife& life : preview.lives) {
            QCOMPARE(life.best, life.saved == 40);
            QCOMPARE(life.removed < 0, life.saved == 40 || life.saved == 50 || life.saved == 100);
        }
        QCOMPARE(preview.lives.size(), range(10, 100, 10).size());
    }

    // Steps of 4 s: the eighth is the first that ends after 30 s.
    void an_early_first_checkpoint_is_foreseen_where_the_run_saves() {
        const auto saves = [](const Json& checkpoint) {
            const compile::RunConfig config = config_with({{"/training/length", {{"steps", 60}}},
                                                           {"/evaluation/every", {{"steps", 30}}},
                                                           {"/checkpoint", checkpoint}});
            std::vector<std::int64_t> steps;
            for (const ui::CheckpointLife& life :
                 ui::previewRetention(config, counts_of(config), 60, 60, 4000).lives) {
                steps.push_back(life.saved);
            }
            return steps;
        };
        QCOMPARE(saves({{"every", {{"steps", 20}}}, {"on_improvement", false}}),
                 (std::vector<std::int64_t>{8, 20, 40, 60}));
        QCOMPARE(saves({{"every", nullptr}, {"on_improvement", false}}),
                 (std::vector<std::int64_t>{60}));
    }

    void the_page_shows_what_follows_from_the_batch() {
        test::StudioFixture fixture;
        show(fixture, {{"/training/length", {{"epochs", 2}}},
                       {"/training/global_batch_size", 64},
                       {"/training/micro_batch_size", 16}});
        QCOMPARE(static_cast<QLineEdit*>(fixture.find("derivedAccumulation"))->text(),
                 QString("4"));
        QCOMPARE(static_cast<QLineEdit*>(fixture.find("derivedRanks"))->text(), QString("1"));
        auto* figures = static_cast<widgets::FigureStrip*>(fixture.find("batchFigures"));
        const auto figure = [figures](const QString& caption) {
            for (const widgets::Figure& one : figures->figures()) {
                if (one.caption == caption) {
                    return one.value;
                }
            }
            return QString("missing");
        };
        const ui::RunCounts counts = counts_of(fixture.studio().draft().config());
        QTRY_COMPARE(figure("updates"), widgets::formatCount(counts.steps));
        QCOMPARE(figure("epochs"), QString("2.00"));
        QCOMPARE(figure("samples an update"), QString("64"));
        QCOMPARE(figure("updates an epoch"), widgets::formatCount(counts.pace.steps_per_epoch));
    }

    void settings_leave_no_holes() {
        test::StudioFixture fixture;
        show(fixture, {{"/optimizer", {{"type", "adamw"}}}});
        const auto place = [&](const char* name) {
            const QWidget* part = fixture.find(name);
            return QRect(part->mapTo(page(fixture), QPoint()), part->size());
        };
        // The limit of gradients goes on where the optimizer's own settings end, of every type.
        const QRect last = place("box:/optimizer/weight_decay_on");
        const QRect limit = place("box:/training/max_grad_norm");
        QCOMPARE(limit.top(), last.top());
        QVERIFY(limit.left() > last.right() && limit.left() < last.right() + 40);
        auto* edit = fixture.find("field:/training/max_grad_norm");
        edit->setFocus();
        QTest::keyClick(edit, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(edit, "0.5");
        QTest::keyClick(edit, Qt::Key_Return);
        QCOMPARE(at(fixture, "/training/max_grad_norm"), Json(0.5));
        fixture.studio().draft().edit({{"/optimizer", Json::object({{"type", "sgd"}})}});
        QTRY_VERIFY(page(fixture)->findChild<QWidget*>("box:/optimizer/momentum") != nullptr);
        QTRY_VERIFY(place("box:/training/max_grad_norm").top() >=
                    place("box:/optimizer/momentum").top());
    }

    void a_handle_is_dragged_by_mouse_and_one_undo_takes_it_back() {
        test::StudioFixture fixture;
        show(fixture, {{"/training/length", {{"steps", 2000}}},
                       {"/lr_schedule", {{"type", "warmup_cosine"}, {"warmup_steps", 100}}},
                       {"/optimizer", {{"type", "adamw"}, {"learning_rate", 0.001}}}});
        auto* curve = static_cast<widgets::CurveEditor*>(fixture.find("scheduleCurve"));
        QTRY_VERIFY(curve->handles().size() == 3 && curve->handles()[1].x == 100);
        const auto place = [curve](double x, double y) {
            return curve->toView(x, y, curve->size()).toPoint();
        };
        const QPoint from = place(100, 0.001);
        const QPoint to = place(500, 0.0005);
        QTest::mousePress(curve, Qt::LeftButton, {}, from);
        QTest::mouseMove(curve, (from + to) / 2);
        QTest::mouseMove(curve, to);
        QTest::mouseRelease(curve, Qt::LeftButton, {}, to);
        // A pixel is some four steps here; the warm-up moves in tens.
        QVERIFY(std::abs(at(fixture, "/lr_schedule/warmup_steps").get<double>() - 500) <= 10);
        QVERIFY(std::abs(at(fixture, "/optimizer/learning_rate").get<double>() - 0.0005) < 2e-5);
        fixture.studio().draft().undo();
        QCOMPARE(at(fixture, "/lr_schedule/warmup_steps"), Json(100));
        QCOMPARE(at(fixture, "/optimizer/learning_rate"), Json(0.001));
    }

    void a_handle_is_moved_by_keys() {
        test::StudioFixture fixture;
        show(fixture, {{"/training/length", {{"steps", 2000}}},
                       {"/lr_schedule", {{"type", "warmup_cosine"}, {"warmup_steps", 100}}}});
        auto* curve = static_cast<widgets::CurveEditor*>(fixture.find("scheduleCurve"));
        QTRY_VERIFY(curve->handles().size() == 3 && curve->handles()[1].x == 100);
        curve->setFocus(Qt::TabFocusReason);
        QTest::keyClick(curve, Qt::Key_Home);
        QTest::keyClick(curve, Qt::Key_Right);
        QCOMPARE(curve->cursorItem(), 1);
        QTest::keyClick(curve, Qt::Key_Right, Qt::ShiftModifier); // a hundredth of 2000
        QCOMPARE(at(fixture, "/lr_schedule/warmup_steps"), Json(120));
    }

    void the_moment_of_the_retention_chart_follows_keys() {
        test::StudioFixture fixture;
        show(fixture, {{"/training/length", {{"steps", 100}}},
                       {"/checkpoint", {{"every", {{"steps", 10}}}}}});
        auto* chart = static_cast<widgets::LifelineChart*>(fixture.find("retentionChart"));
        QTRY_COMPARE(chart->itemCount(), 10);
        chart->setFocus(Qt::TabFocusReason);
        QTest::keyClick(chart, Qt::Key_Home);
        QTest::keyClick(chart, Qt::Key_Right);
        QCOMPARE(chart->moment(), 20.0);
        QVERIFY(chart->accessibleDescription().contains("20"));
    }

    void groups_are_added_moved_and_removed_on_the_page() {
        test::StudioFixture fixture;
        show(fixture, {{"/optimizer",
                        {{"type", "adamw"}, {"groups", Json::array({{{"match", "*.bias"}}})}}}});
        fixture.click("addGroup");
        QCOMPARE(at(fixture, "/optimizer/groups").size(), std::size_t{2});
        auto* match = fixture.find("field:/optimizer/groups/1/match");
        match->setFocus();
        QTest::keyClick(match, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(match, "layers.0.*");
        QCOMPARE(at(fixture, "/optimizer/groups/1/match"), Json("layers.0.*"));
        fixture.click("groupUp1");
        QCOMPARE(at(fixture, "/optimizer/groups/0/match"), Json("layers.0.*"));
        fixture.click("groupRemove0");
        QCOMPARE(at(fixture, "/optimizer/groups").size(), std::size_t{1});
        QCOMPARE(at(fixture, "/optimizer/groups/0/match"), Json("*.bias"));
    }

    void a_group_is_dragged_above_another() {
        test::StudioFixture fixture;
        show(fixture, {{"/optimizer",
                        {{"type", "adamw"},
                         {"groups", Json::array({{{"match", "a*"}}, {{"match", "b*"}}})}}}});
        auto* lower = fixture.find("groupGrip1");
        auto* upper = fixture.find("groupGrip0");
        const QPoint target = lower->mapFromGlobal(upper->mapToGlobal(upper->rect().center()));
        QTest::mousePress(lower, Qt::LeftButton, {}, lower->rect().center());
        QTest::mouseMove(lower, target);
        QTest::mouseRelease(lower, Qt::LeftButton, {}, target);
        QCOMPARE(at(fixture, "/optimizer/groups/0/match"), Json("b*"));
        fixture.studio().draft().undo();
        QCOMPARE(at(fixture, "/optimizer/groups/0/match"), Json("a*"));
    }

    void early_stopping_is_auto_on_or_off_with_rules_of_ones_own() {
        test::StudioFixture fixture;
        show(fixture);
        const Json::json_pointer rules("/training/early_stopping");
        const auto& document = fixture.studio().draft().document();
        auto* choice =
            static_cast<widgets::SegmentedControl*>(fixture.find("field:/training/early_stopping"));
        const auto places = choice->findChildren<QPushButton*>();
        auto* words = static_cast<widgets::TextLabel*>(fixture.find("stoppingWords"));
        auto* patience = fixture.find("field:/training/early_stopping/patience");
        QCOMPARE(choice->currentIndex(), 0);
        QVERIFY(words->text().contains("off here"));
        QVERIFY(!patience->isVisible());
        QTest::mouseClick(places[1], Qt::LeftButton);
        QVERIFY(document.at(rules).is_object());
        QVERIFY(patience->isVisible());
        QCOMPARE(fixture.studio().draft().config().early_stopping->patience, std::int64_t{20});
        patience->setFocus();
        QTest::keyClick(patience, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(patience, "0");
        QTest::keyClick(patience, Qt::Key_Return);
        QTRY_VERIFY(page(fixture)->findChild<QLabel*>("fieldProblem") != nullptr);
        fixture.studio().draft().undo();
        QVERIFY(fixture.studio().draft().isValid());
        QTest::mouseClick(places[2], Qt::LeftButton);
        QVERIFY(document.at(rules).is_null());
        QVERIFY(!patience->isVisible());
        fixture.studio().draft().undo();
        QCOMPARE(choice->currentIndex(), 1);
        fixture.studio().draft().undo();
        QCOMPARE(choice->currentIndex(), 0);
        QVERIFY(!document.contains(rules));
    }

    void early_stopping_says_what_a_small_table_gets_by_itself() {
        test::StudioFixture fixture;
        Json document = config::json_of(test::tiny_config());
        document["data"]["train"]["samples"] = 512;
        document["training"].erase("length");
        fixture.studio().draft().setDocument(document, fixture.root());
        fixture.window().showPage("training");
        auto* words = static_cast<widgets::TextLabel*>(fixture.find("stoppingWords"));
        QTRY_VERIFY2(words->text().contains("on here"), qPrintable(words->text()));
        QVERIFY(fixture.find("field:/training/early_stopping/metric")->isVisible());
    }

    void a_metric_is_chosen_among_those_reported_and_brings_its_direction() {
        test::StudioFixture fixture;
        show(fixture, {{"/metrics", Json::array({"accuracy"})}});
        auto* metric = static_cast<QComboBox*>(fixture.find("field:/checkpoint/metric"));
        QStringList names;
        for (int i = 0; i < metric->count(); ++i) {
            names.append(metric->itemText(i));
        }
        QCOMPARE(names, QStringList({"validation/loss", "validation/accuracy", "train/loss",
                                     "train/accuracy"}));
        metric->setFocus();
        QTest::keyClick(metric, Qt::Key_Down);
        QCOMPARE(at(fixture, "/checkpoint/metric"), Json("validation/accuracy"));
        QCOMPARE(at(fixture, "/checkpoint/mode"), Json("max"));
        QVERIFY(fixture.studio().draft().diagnostics().empty());
        fixture.studio().draft().undo(); // both
        QVERIFY(!fixture.studio().draft().document().at("checkpoint").contains("mode"));
        QCOMPARE(metric->currentText(), QString("validation/loss"));
    }

    void a_group_shows_what_it_inherits_and_which_tensors_it_takes() {
        test::StudioFixture fixture;
        show(fixture,
             {{"/optimizer",
               {{"type", "adamw"},
                {"learning_rate", 0.004},
                {"groups", Json::array({{{"match", "*.bias"}, {"weight_decay", 0.0}}})}}}});
        auto* rate =
            static_cast<ui::NumberInput*>(fixture.find("field:/optimizer/groups/0/learning_rate"));
        const auto* edit = rate->findChild<QLineEdit*>();
        QCOMPARE(edit->text(), QString());
        QCOMPARE(edit->placeholderText(), QString("0.004"));
        auto* tensors = static_cast<widgets::TextLabel*>(fixture.find("groupTensors0"));
        QTRY_COMPARE(tensors->text(), QString("2"));
        QCOMPARE(tensors->toolTip(), QString("layers.0.bias\nlayers.1.bias"));
        rate->setFocus();
        QTest::keyClick(rate, Qt::Key_Down); // steps from what is inherited
        const double stepped = at(fixture, "/optimizer/groups/0/learning_rate").get<double>();
        QVERIFY(stepped > 0 && stepped < 0.004);
        QTest::keyClick(rate, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClick(rate, Qt::Key_Delete);
        QVERIFY(at(fixture, "/optimizer/groups/0/learning_rate").is_null());
        QCOMPARE(edit->placeholderText(), QString("0.004"));
    }

    void every_setting_of_a_group_can_be_reached() {
        test::StudioFixture fixture;
        show(fixture, {{"/optimizer",
                        {{"type", "adamw"}, {"groups", Json::array({{{"match", "*.bias"}}})}}}});
        QWidget* others = fixture.find("groupOthers0");
        QVERIFY(!others->isVisible());
        fixture.click("groupMore0");
        QVERIFY(others->isVisible());
        QVERIFY(!fixture.find("box:/optimizer/groups/0/momentum")->isVisible()); // not adamw's
        auto* eps = fixture.find("field:/optimizer/groups/0/eps");
        eps->setFocus();
        QTest::keyClicks(eps, "1e-6");
        QTest::keyClick(eps, Qt::Key_Return);
        QCOMPARE(at(fixture, "/optimizer/groups/0/eps"), Json(1e-6));
        QVERIFY(!fixture.find("groupMore0")->isEnabled()); // what is given is always seen
        fixture.studio().draft().undo();
        QVERIFY(fixture.find("groupMore0")->isEnabled());
        fixture.click("groupMore0");
        QVERIFY(!others->isVisible());
    }

    void the_copied_command_is_the_draft() {
        test::StudioFixture fixture;
        fixture.studio().opener().open(fixture.preset());
        ui::Draft& draft = fixture.studio().draft();
        fixture.window().showPage("training");
        fixture.click("copyCommand");
        QCOMPARE(QApplication::clipboard()->text(),
                 "weft train " + ui::shellQuoted(QString::fromStdString(fixture.preset())));
        draft.edit({{"/seed", 11}, {"/name", "it's mine"}, {"/training/max_grad_norm", nullptr}});
        QVERIFY(draft.isValid());
        const QString command = ui::trainCommand(draft);
        QVERIFY2(command.contains("'name=\"it'\\''s mine\"'"), qPrintable(command));
        std::vector<std::string> overrides;
        for (const auto& change :
             draft.differencesFrom(compile::read_run_config_file(fixture.preset()).config)) {
            overrides.push_back(change.path + "=" + change.after.dump());
        }
        const auto again = compile::read_run_config_file(fixture.preset(), overrides);
        QVERIFY(again.ok());
        QCOMPARE(again.config.document, draft.config().document);
        QCOMPARE(command.count("--set"), static_cast<int>(overrides.size()));
    }

    void a_problem_of_the_page_leads_to_its_field() {
        test::StudioFixture fixture;
        show(fixture);
        fixture.window().showPage("home");
        fixture.studio().draft().edit({{"/training/ema_decay", 3}});
        auto* table = static_cast<QTableView*>(fixture.find("problemsTable"));
        table->setCurrentIndex(table->model()->index(0, 0));
        QTest::keyClick(table, Qt::Key_Return);
        QCOMPARE(fixture.window().currentPage(), QString("training"));
        QVERIFY(fixture.find("field:/training/ema_decay")->isVisible());
        QVERIFY(page(fixture)->navState() == widgets::NavState::Error);
    }

    void an_unknown_name_in_a_section_is_said_on_the_page() {
        test::StudioFixture fixture;
        show(fixture);
        fixture.studio().draft().edit({{"/training/batch", 3}});
        fixture.click("remove:/training/batch");
        QVERIFY(fixture.studio().draft().isValid());
    }
};

WEFT_TEST(TrainingTest)
#include "training_test.moc"
