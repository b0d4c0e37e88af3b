// SPDX-License-Identifier: GPL-3.0-or-later
// Mesh & Plan: what is shown against the plan's own figures, the newest draft winning, and the page
// by mouse and keys.
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/small_gpt.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/plan/plan_preview.h"
#include "ui/bridge/plan/program_trace.h"
#include "ui/models/op_model.h"
#include "ui/models/tensor_model.h"
#include "ui/pages/plan/memory/verdict_panel.h"
#include "ui/pages/plan/plan_page.h"
#include "widgets/controls/line_view.h"
#include "widgets/controls/text_label.h"
#include "widgets/views/memory_timeline.h"

#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>

#include <condition_variable>
#include <mutex>

namespace {

using namespace weft;
using test::kPatienceMs;
using test::plan_of;

/// Four blocks, so that recompute has something to save.
config::Json gpt_document() {
    return config::json_of(R"({
      "schema_version": 1, "name": "small-gpt", "seed": 3,
      "data": {"train": {"type": "synthetic", "kind": "tokens", "length": 64, "vocab": 64, "samples": 512},
               "validation": {"split": 0.1}},
      "model": {"type": "gpt2", "layers": 4, "width": 32, "heads": 2, "context": 64, "vocab": 64,
                "dropout": 0.0},
      "training": {"length": {"steps": 50}, "global_batch_size": 16, "precision": "f32"},
      "evaluation": {"samples": 0}
    })");
}

compile::RunConfig gpt_config() {
    const compile::CheckedRun checked = compile::read_run_config(gpt_document(), ".");
    return checked.config;
}

/// Plans that wait at a gate until it opens or they are stopped.
class Gate {
public:
    /// Training steps are planned at this gate, whole runs at `whole`; null: at once.
    ui::Planner planner(Gate* whole = nullptr) {
        ui::Planner made;
        const auto planned_at = [](Gate* gate) {
            return [gate](const compile::RunConfig& config, const cost::Hardware*,
                          const std::stop_token& stop) {
                if (gate != nullptr) {
                    gate->wait(stop);
                }
                auto plan = std::make_shared<plan::ExecutionPlan>();
                plan->arena_bytes = config.global_batch_size; // tells whose plan it is
                return plan;
            };
        };
        made.step = planned_at(this);
        made.plan = planned_at(whole);
        made.fixes = made.curve =
            made.advice = [](const compile::RunConfig&, const cost::Hardware*,
                             const std::stop_token&) { return ui::PlanPreview::Alternatives{}; };
        return made;
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    void close() {
        const std::lock_guard lock(mutex_);
        open_ = false;
    }
    int started() {
        const std::lock_guard lock(mutex_);
        return started_;
    }
    int stopped() {
        const std::lock_guard lock(mutex_);
        return stopped_;
    }

private:
    void wait(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        ++started_;
        changed_.wait(lock, stop, [this] { return open_; });
        if (!open_) {
            ++stopped_;
            throw Error(ErrorKind::runtime, "test", "stopped");
        }
    }

    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool open_ = false;
    int started_ = 0;
    int stopped_ = 0;
};

QString label(test::StudioFixture& fixture, const char* name) {
    return static_cast<widgets::TextLabel*>(fixture.find(name))->text();
}

ui::PlanPreview& preview_of(test::StudioFixture& fixture) {
    return static_cast<ui::PlanPage*>(fixture.window().page("plan"))->preview();
}

} // namespace

class PlanTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void bytes_over_the_ops_are_the_plans_own() {
        const auto plan = plan_of(gpt_config());
        const auto digest = ui::digestPlan(plan);
        const plan::PlannedProgram& program = *plan->find("train_step");
        QVERIFY(!program.timeline.empty());
        for (const auto& [position, alive] : program.timeline) {
            if (position < static_cast<int>(digest->totals.size())) {
                QCOMPARE(digest->totals[static_cast<std::size_t>(position)],
                         alive + plan->host.bytes());
            }
        }
        QCOMPARE(digest->peak, program.peak_step);
        std::int64_t sum = 0;
        for (const int tensor : digest->aliveAt(digest->peak)) {
            sum += digest->tensors[static_cast<std::size_t>(tensor)].bytes;
        }
        QCOMPARE(sum, digest->totals[static_cast<std::size_t>(digest->peak)]);
    }

    void ops_have_the_positions_flops_and_kernels_of_the_plan() {
        const auto plan = plan_of(gpt_config());
        const auto digest = ui::digestPlan(plan);
        const plan::PlannedProgram& program = *plan->find("train_step");
        double flops = 0;
        double share = 0;
        for (std::size_t i = 0; i < digest->ops.size(); ++i) {
            const plan::Step* step = plan::step_at(program, static_cast<int>(i));
            QVERIFY(step != nullptr);
            QCOMPARE(digest->ops[i].path.toStdString(), step->op.path);
            QCOMPARE(digest->ops[i].kernel.toStdString(), step->kernel);
            flops += digest->ops[i].is_loop ? 0 : digest->ops[i].flops;
            share += digest->ops[i].share;
        }
        QVERIFY(plan::step_at(program, static_cast<int>(digest->ops.size())) == nullptr);
        QCOMPARE(flops, plan->flops_per_step);
        QCOMPARE(share, 1.0);
    }

    void tables_keep_their_contract_and_their_sums() {
        const auto digest = ui::digestPlan(plan_of(gpt_config()));
        ui::OpModel ops;
        const QAbstractItemModelTester op_tester(&ops);
        ops.setDigest(digest);
        using Grouping = ui::OpModel::Grouping;
        for (const Grouping grouping : {Grouping::ByLayer, Grouping::ByKind, Grouping::Each}) {
            ops.setGrouping(grouping);
            double share = 0;
            for (int row = 0; row < ops.rowCount(); ++row) {
                share += ops.index(row, 0).data(ui::OpModel::kShareRole).toDouble();
                QCOMPARE(ops.rowOf(ops.opOf(row)), row);
            }
            QCOMPARE(share, 1.0);
        }
        QCOMPARE(ops.rowCount(), static_cast<int>(digest->ops.size()));
        ui::OpFilter filter;
        filter.setSourceModel(&ops);
        filter.setWords("matmul backward");
        QVERIFY(filter.rowCount() > 0 && filter.rowCount() < ops.rowCount());
        ui::TensorModel tensors;
        const QAbstractItemModelTester tensor_tester(&tensors);
        tensors.setContent(digest, digest->peak);
        QCOMPARE(tensors.totalBytes(), digest->totals[static_cast<std::size_t>(digest->peak)]);
        QVERIFY(tensors.rowCount() < tensors.tensorCount()); // four blocks are one row
    }

    void the_newest_draft_wins_and_older_work_is_stopped() {
        Gate gate;
        ui::Draft draft;
        draft.setDocument(gpt_document(), ".");
        ui::PlanPreview preview(draft, gate.planner());
        QCOMPARE(preview.state(), ui::PlanPreview::State::Planning);
        preview.setActive(true);
        QTRY_COMPARE(gate.started(), 1);
        draft.setField("training.global_batch_size", 32);
        QTRY_COMPARE(gate.stopped(), 1);
        QTRY_COMPARE(gate.started(), 2);
        QVERIFY(preview.digest() == nullptr); // what was stopped is not shown, nor an error of it
        gate.open();
        QTRY_VERIFY(preview.digest() != nullptr);
        QCOMPARE(preview.digest()->plan->arena_bytes, 32);
        QCOMPARE(preview.state(), ui::PlanPreview::State::Ready);
        QVERIFY(!preview.isStale());
        // An edit marks what is shown as old at once, and keeps showing it.
        draft.setField("training.global_batch_size", 64);
        QVERIFY(preview.isStale());
        QCOMPARE(preview.digest()->plan->arena_bytes, 32);
        QTRY_VERIFY(!preview.isStale());
        QCOMPARE(preview.digest()->plan->arena_bytes, 64);
        QCOMPARE(preview.config().global_batch_size, 64);
    }

    void a_mesh_shows_where_its_state_lies_before_its_step_is_planned() {
        Gate step;
        Gate whole;
        Gate layout;
        layout.open();
        whole.open();
        ui::Planner planner = step.planner(&whole);
        planner.layout = layout.planner().step;
        ui::Draft draft;
        draft.setDocument(gpt_document(), ".");
        ui::PlanPreview preview(draft, planner);
        preview.setActive(true);
        QTRY_COMPARE(step.started(), 1); // one device: there is nothing to lay out
        QCOMPARE(layout.started(), 0);
        step.open();
        QTRY_VERIFY(preview.isComplete());
        QVERIFY(preview.layout() == preview.digest());
        step.close();
        draft.apply(
            {R"(mesh={"devices": "cpu:4", "strategy": "fsdp"})", "training.global_batch_size=32"});
        QVERIFY(preview.isLayoutStale());
        QTRY_VERIFY(!preview.isLayoutStale());
        QCOMPARE(preview.layout()->plan->arena_bytes, 32);
        QVERIFY(preview.isStale());
        QVERIFY(preview.digest()->plan->arena_bytes != 32);
        step.open();
        QTRY_VERIFY(!preview.isStale());
        QVERIFY(preview.layout() == preview.digest());
        QCOMPARE(preview.digest()->plan->arena_bytes, 32);
    }

    void other_programs_are_planned_beside_a_step_that_asks_no_back_end() {
        Gate step;
        Gate rest;
        ui::Planner planner = step.planner();
        Gate layout;
        layout.open();
        planner.layout = layout.planner().step;
        planner.rest = rest.planner().step;
        ui::Draft draft;
        draft.setDocument(gpt_document(), ".");
        draft.apply({R"(mesh={"devices": "h100:4", "strategy": "fsdp"})"});
        ui::PlanPreview preview(draft, planner);
        preview.setActive(true);
        QTRY_COMPARE(rest.started(), 1);
        QTRY_COMPARE(step.started(), 1); // at its gate still
        rest.open();
        step.open();
        QTRY_VERIFY(preview.isComplete());
        QCOMPARE(preview.digest()->plan->arena_bytes, 16);
        // Back ends of this machine are asked for one plan after the other.
        step.close();
        draft.apply({R"(mesh={"devices": "cpu:4", "strategy": "fsdp"})"});
        QTRY_COMPARE(step.started(), 2);
        QTRY_VERIFY(!preview.isLayoutStale());
        QCOMPARE(rest.started(), 1);
        step.open();
        QTRY_VERIFY(preview.isComplete() && !preview.isStale());
        QCOMPARE(rest.started(), 2);
    }

    void the_training_step_is_shown_first_and_the_verdict_follows() {
        Gate step;
        Gate whole;
        step.open();
        ui::Draft draft;
        draft.setDocument(gpt_document(), ".");
        ui::PlanPreview preview(draft, step.planner(&whole));
        const ui::VerdictPanel verdict(preview);
        preview.setActive(true);
        QTRY_COMPARE(preview.state(), ui::PlanPreview::State::Ready);
        QVERIFY(preview.digest() != nullptr && !preview.isStale());
        QVERIFY(!preview.isComplete());
        QVERIFY(!verdict.isEnabled()); // grey
        QTRY_COMPARE(whole.started(), 1);
        // Whatever is chosen meanwhile, the rest of the draft's own plan is still to come; so it is
        // when the page is left and entered again.
        preview.setChosen("recompute.blocks", true);
        QTRY_COMPARE(whole.started(), 2);
        preview.setActive(false);
        preview.setActive(true);
        QTRY_COMPARE(whole.started(), 3);
        QCOMPARE(step.started(), 1);
        whole.open();
        QTRY_VERIFY(preview.isComplete());
        QVERIFY(verdict.isEnabled());
        QTRY_VERIFY(preview.whatIf() != nullptr);
        // An edit greys everything at once; the step comes first again.
        draft.setField("training.global_batch_size", 32);
        QVERIFY(preview.isStale() && !verdict.isEnabled());
        QTRY_VERIFY(preview.isComplete() && !preview.isStale());
        QCOMPARE(preview.digest()->plan->arena_bytes, 32);
        QCOMPARE(step.started(), 2);
    }

    void an_edit_greys_the_page_until_the_plan_is_of_it() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(gpt_document(), fixture.root());
        fixture.window().showPage("plan");
        ui::PlanPreview& preview = preview_of(fixture);
        QTRY_VERIFY_WITH_TIMEOUT(preview.isComplete(), kPatienceMs);
        const auto are_enabled = [&](bool wanted) {
            for (const char* name : {"verdict", "stepTime", "opTable", "aliveTable"}) {
                if (fixture.find(name)->isEnabled() != wanted) {
                    return false;
                }
            }
            return true;
        };
        QVERIFY(are_enabled(true));
        fixture.studio().draft().setField("training.global_batch_size", 32);
        QVERIFY(are_enabled(false));
        QTRY_VERIFY_WITH_TIMEOUT(preview.digest() != nullptr && !preview.isStale(), kPatienceMs);
        QVERIFY(fixture.find("opTable")->isEnabled()); // the layout is of the edit already
        QTRY_VERIFY_WITH_TIMEOUT(preview.isComplete(), kPatienceMs);
        QVERIFY(are_enabled(true));
    }

    void nothing_is_planned_while_nobody_looks() {
        Gate gate;
        gate.open();
        ui::Draft draft;
        ui::PlanPreview preview(draft, gate.planner());
        draft.setDocument(gpt_document(), ".");
        QCoreApplication::processEvents();
        QCOMPARE(gate.started(), 0);
        preview.setActive(true);
        QTRY_VERIFY(preview.digest() != nullptr);
    }

    void changes_of_one_group_replace_each_other() {
        Gate gate;
        gate.open();
        ui::Draft draft;
        draft.setDocument(gpt_document(), ".");
        ui::PlanPreview preview(draft, gate.planner());
        preview.setActive(true);
        QTRY_VERIFY(preview.digest() != nullptr);
        preview.setChosen("recompute.blocks", true);
        preview.setChosen("precision.bf16", true);
        QCOMPARE(preview.chosen(), (QStringList{"recompute.blocks", "precision.bf16"}));
        preview.setChosen("recompute.auto", true);
        QCOMPARE(preview.chosen(), (QStringList{"precision.bf16", "recompute.auto"}));
        QTRY_VERIFY(preview.whatIf() != nullptr);
        // Each change alone is planned too.
        for (const ui::PlanChange& change : preview.changes()) {
            QTRY_VERIFY(preview.outcome(change.id).has_value());
        }
    }

    void an_edit_of_the_draft_is_taken_back_and_made_again() {
        ui::Draft draft;
        draft.setDocument(gpt_document(), ".");
        QVERIFY(!draft.canUndo());
        draft.apply({"training.recompute=\"blocks\"", "training.micro_batch_size=4"});
        QCOMPARE(draft.config().micro_batch_size, std::optional<std::int64_t>(4));
        draft.undo();
        QCOMPARE(draft.document(), gpt_document());
        QVERIFY(!draft.canUndo() && draft.canRedo());
        draft.redo();
        QCOMPARE(draft.config().section("training").at("recompute").get<std::string>(),
                 std::string("blocks"));
        draft.setField("training.recompute", "none"); // a new edit ends what could be made again
        QVERIFY(!draft.canRedo());
    }

    void each_pass_has_its_text_and_says_how_much_it_changed() {
        const auto traces = ui::traceProgram(gpt_config(), nullptr, {});
        const auto step = std::find_if(traces.begin(), traces.end(), [](const auto& trace) {
            return trace.program == "train_step";
        });
        QVERIFY(step != traces.end());
        QCOMPARE(step->passes.front().pass, QString("as built"));
        QCOMPARE(step->passes.back().pass, QString("share memory"));
        for (std::size_t i = 1; i < step->passes.size(); ++i) {
            const ui::PassText& pass = step->passes[i];
            QCOMPARE(step->passes[i - 1].lines.size() + pass.added - pass.removed,
                     pass.lines.size());
            QVERIFY(pass.ms > 0);
        }
        const QStringList layers = ui::layersOf(step->passes.back().lines);
        QVERIFY(layers.contains("blocks.2") && layers.contains("blocks.2.mlp.up"));
        // The graph of a layer holds its ops, and dashed ones for what comes from outside.
        const widgets::Graph graph =
            ui::programGraph(step->passes.front().lines.join('\n'), "blocks.2.mlp.up");
        const auto inner = std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                         [](const auto& node) { return node.shade != 3; });
        const auto lines = std::count_if(
            step->passes.front().lines.begin(), step->passes.front().lines.end(),
            [](const QString& line) { return ui::isOfLayer(line, "blocks.2.mlp.up"); });
        QVERIFY(inner > 0);
        QCOMPARE(inner, lines);
        QVERIFY(inner < static_cast<std::ptrdiff_t>(graph.nodes.size()));
    }

    void the_page_says_why_there_is_no_plan() {
        test::StudioFixture fixture;
        fixture.window().showPage("plan");
        const auto said = [&] {
            QString all;
            for (const auto* text : fixture.find("planMessage")->findChildren<QLabel*>()) {
                all += text->text() + '\n';
            }
            return all;
        };
        QVERIFY(said().contains("No draft"));
        config::Json wrong = gpt_document();
        wrong["model"]["heads"] = 5; // 32 is no multiple of 5
        fixture.studio().draft().setDocument(wrong, ".");
        QTRY_VERIFY2(said().contains("model › heads: "), qPrintable(said()));
        // The way out leads to the page that has the field.
        QVERIFY(fixture.find("planField")->isVisible());
        fixture.click("planField");
        QCOMPARE(fixture.window().currentPage(), QString("model"));
        config::Json steep = gpt_document();
        steep["optimizer"] = {{"type", "adamw"}, {"learning_rate", -1}};
        fixture.studio().draft().setDocument(steep, ".");
        fixture.window().showPage("plan");
        QTRY_VERIFY2(said().contains("optimizer › learning_rate: "), qPrintable(said()));
        fixture.click("planField");
        QCOMPARE(fixture.window().currentPage(), QString("training"));
    }

    void verdict_toggle_adopt_undo_and_start() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(gpt_document(), fixture.root());
        fixture.window().showPage("plan");
        ui::PlanPreview& preview = preview_of(fixture);
        QTRY_VERIFY_WITH_TIMEOUT(preview.isComplete(), kPatienceMs);
        QVERIFY(label(fixture, "verdict").startsWith("Fits"));
        // Of which the scrubber's figure is one part.
        const plan::ExecutionPlan& plan = *preview.digest()->plan;
        const QString room = label(fixture, "room");
        QVERIFY2(room.contains(widgets::formatMemory(plan.arena_bytes) + " in the arena"),
                 qPrintable(room));
        QVERIFY2(room.contains("libraries " + widgets::formatMemory(plan.host.library_bytes)),
                 qPrintable(room));
        QVERIFY(fixture.find("scrubMemory")->accessibleDescription().startsWith("arena "));
        const std::int64_t before = preview.digest()->peak_bytes;

        // A switch by key: the comparison shows less memory, the draft is as it was.
        QTRY_VERIFY_WITH_TIMEOUT(fixture.window().findChild<QWidget*>("whatif.recompute.blocks") !=
                                     nullptr,
                                 kPatienceMs);
        auto* blocks = static_cast<QAbstractButton*>(fixture.find("whatif.recompute.blocks"));
        QTRY_VERIFY(blocks->isEnabled());
        QVERIFY(!fixture.find("adopt")->isEnabled());
        blocks->setFocus();
        QTest::keyClick(blocks, Qt::Key_Space);
        QTRY_VERIFY_WITH_TIMEOUT(preview.whatIf() != nullptr, kPatienceMs);
        QVERIFY(preview.whatIf()->peak_bytes < before);
        QVERIFY(label(fixture, "comparison").contains("peak"));
        QVERIFY(!fixture.studio().draft().canUndo());

        // Adopt with the mouse: the draft has it, the plan follows.
        const std::int64_t promised = preview.whatIf()->peak_bytes;
        fixture.click("adopt");
        QCOMPARE(fixture.studio()
                     .draft()
                     .config()
                     .section("training")
                     .at("recompute")
                     .get<std::string>(),
                 std::string("blocks"));
        QTRY_VERIFY_WITH_TIMEOUT(!preview.isStale() && preview.isComplete(), kPatienceMs);
        QCOMPARE(preview.digest()->peak_bytes, promised);
        QVERIFY(preview.chosen().isEmpty());

        // Undo and redo by key.
        fixture.press(Qt::Key_Z, Qt::ControlModifier);
        QTRY_VERIFY_WITH_TIMEOUT(!preview.isStale() && preview.isComplete() &&
                                     preview.digest()->peak_bytes == before,
                                 kPatienceMs);
        fixture.press(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
        QTRY_VERIFY_WITH_TIMEOUT(!preview.isStale() && preview.isComplete() &&
                                     preview.digest()->peak_bytes == promised,
                                 kPatienceMs);

        // Start trains what was adopted.
        fixture.press(Qt::Key_F5);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.studio().run().step() > 0, kPatienceMs);
        QCOMPARE(
            fixture.studio().run().config().section("training").at("recompute").get<std::string>(),
            std::string("blocks"));
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPatienceMs);
    }

    void the_cursor_and_the_selected_op_are_one() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(gpt_document(), fixture.root());
        fixture.window().showPage("plan");
        ui::PlanPreview& preview = preview_of(fixture);
        QTRY_VERIFY_WITH_TIMEOUT(preview.digest() != nullptr, kPatienceMs);
        auto* timeline = static_cast<widgets::MemoryTimeline*>(fixture.find("memoryTimeline"));
        QCOMPARE(timeline->cursorItem(), preview.digest()->peak); // it begins at the peak
        auto* segments = fixture.find("opGrouping")->findChildren<QAbstractButton*>().last();
        QTest::mouseClick(segments, Qt::LeftButton); // each op
        auto* table = static_cast<QTableView*>(fixture.find("opTable"));
        QCOMPARE(table->currentIndex().row(), preview.digest()->peak);
        QTest::keyClick(timeline, Qt::Key_Home);
        QCOMPARE(table->currentIndex().row(), 0);
        table->setFocus();
        QTest::keyClick(table, Qt::Key_Down);
        QCOMPARE(timeline->cursorItem(), 1);
        fixture.click("scrubStep");
        QCOMPARE(timeline->cursorItem(), 2);
        QCOMPARE(table->currentIndex().row(), 2);
        // The filter hides rows and never moves the cursor.
        fixture.press(Qt::Key_F, Qt::ControlModifier);
        auto* filter = static_cast<QLineEdit*>(fixture.find("opFilter"));
        QTRY_VERIFY(filter->hasFocus());
        QTest::keyClicks(filter, "adamw");
        QVERIFY(table->model()->rowCount() < static_cast<int>(preview.digest()->ops.size()));
        QCOMPARE(timeline->cursorItem(), 2);
    }

    void the_layer_has_the_room_of_kernels_where_none_is_known() {
        test::StudioFixture fixture;
        fixture.window().resize(1440, 900);
        fixture.studio().draft().setDocument(gpt_document(), fixture.root());
        fixture.window().showPage("plan");
        ui::PlanPreview& preview = preview_of(fixture);
        const auto planned = [&] { return preview.isComplete() && !preview.isStale(); };
        QTRY_VERIFY_WITH_TIMEOUT(planned(), kPatienceMs);
        auto* table = static_cast<QTableView*>(fixture.find("opTable"));
        QTRY_VERIFY(!table->isColumnHidden(ui::OpModel::KernelColumn));
        const int before = table->columnWidth(ui::OpModel::PathColumn);
        fixture.studio().draft().apply({"mesh.devices=\"h200:2\""});
        QTRY_VERIFY_WITH_TIMEOUT(planned(), kPatienceMs);
        QTRY_VERIFY(table->isColumnHidden(ui::OpModel::KernelColumn));
        QTRY_VERIFY(table->columnWidth(ui::OpModel::PathColumn) > before);
    }

    void playing_walks_to_the_end_of_the_step() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(gpt_document(), fixture.root());
        fixture.window().showPage("plan");
        QTRY_VERIFY_WITH_TIMEOUT(preview_of(fixture).digest() != nullptr, kPatienceMs);
        auto* timeline = static_cast<widgets::MemoryTimeline*>(fixture.find("memoryTimeline"));
        timeline->setCursorItem(timeline->stepCount() - 8);
        auto* play = static_cast<QAbstractButton*>(fixture.find("scrubPlay"));
        QTest::mouseClick(play, Qt::LeftButton);
        QVERIFY(play->isChecked());
        QTRY_COMPARE_WITH_TIMEOUT(timeline->cursorItem(), timeline->stepCount() - 1, kPatienceMs);
        QTRY_VERIFY(!play->isChecked());
    }

    void what_the_system_counts_stands_beside_the_plan() {
        test::StudioFixture fixture;
        ui::RunModel& run = fixture.studio().run();
        run.begin(fixture.root() / "runs" / "shown", gpt_config());
        constexpr std::int64_t kMiB = std::int64_t{1} << 20;
        train::SystemEvent system;
        system.memory = {
            {"planned_bytes", 100 * kMiB},
            {"planned_by_category", {{"parameters", 60 * kMiB}, {"library", 40 * kMiB}}},
            {"resident_bytes", 90 * kMiB},
            {"library_bytes", 37 * kMiB}};
        train::StepEvent step;
        step.step = 1;
        step.loss = 1;
        step.memory_bytes = 130 * kMiB;
        run.apply({{0, 1, system}, {1, 2, step}});
        fixture.window().showPage("train");
        QVERIFY(label(fixture, "memoryBeside").contains("37.0 MiB"));
        QString said;
        for (const auto* text : fixture.window().page("train")->findChildren<QLabel*>()) {
            said += text->text() + '\n';
        }
        QVERIFY(said.contains("measured 130.0 MiB, 30.0 % over plan"));
        // Of GPUs, whose arenas are what is planned.
        system.memory["on_device"] = {{"landing_bytes", 3 * kMiB},
                                      {"context_bytes", 420 * kMiB},
                                      {"library_bytes", 0},
                                      {"exchange_bytes", 96 * kMiB}};
        run.apply({{2, 3, system}});
        QCOMPARE(label(fixture, "memoryBeside"),
                 QString("beside the arena of each GPU, as measured: next batch 3.0 MiB, driver "
                         "420.0 MiB, groups of devices 96.0 MiB"));
    }

    void the_program_is_read_searched_and_narrowed_to_a_layer() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(gpt_document(), fixture.root());
        fixture.window().showPage("plan");
        QTRY_VERIFY_WITH_TIMEOUT(preview_of(fixture).digest() != nullptr, kPatienceMs);
        QTest::mouseClick(fixture.find("planTab")->findChildren<QAbstractButton*>().last(),
                          Qt::LeftButton);
        auto* text = static_cast<widgets::LineView*>(fixture.find("programText"));
        QTRY_VERIFY_WITH_TIMEOUT(text->lineModel()->rowCount() > 100, kPatienceMs);
        QTRY_VERIFY(text->isVisible());
        const int all = text->lineModel()->rowCount();
        fixture.press(Qt::Key_F, Qt::ControlModifier);
        auto* search = static_cast<QLineEdit*>(fixture.find("programSearch"));
        QTRY_VERIFY(search->hasFocus());
        QTest::keyClicks(search, "blocks.3");
        QVERIFY(text->currentIndex().data().toString().contains("blocks.3"));
        const int first = text->currentIndex().row();
        QTest::keyClick(search, Qt::Key_Return);
        QVERIFY(text->currentIndex().row() > first);
        auto* layer = static_cast<QComboBox*>(fixture.find("layerChoice"));
        layer->setCurrentIndex(layer->findText("blocks.1"));
        QVERIFY(text->lineModel()->rowCount() < all);
        for (int row = 0; row < text->lineModel()->rowCount(); ++row) {
            QVERIFY(text->lineModel()->index(row).data().toString().contains("blocks.1"));
        }
    }
};

WEFT_TEST(PlanTest)
#include "plan_test.moc"
