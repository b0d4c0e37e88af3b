// SPDX-License-Identifier: GPL-3.0-or-later
// Sharding by hand: axes, rules, overrides of single tensors and stages, as pure edits and on the
// page by mouse and keys. What the draft gets is what the engine plans.
#include "core/compile/mesh/mesh_config.h"
#include "tests/support/weft_test.h"
#include "tests/ui/mesh_support.h"
#include "tests/ui/patience.h"
#include "tests/ui/small_gpt.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/draft/override_edit.h"
#include "ui/bridge/draft/spec_edit.h"
#include "ui/bridge/draft/stage_edit.h"
#include "ui/models/tensor_tree_model.h"
#include "ui/pages/plan/mesh/mesh_bar.h"
#include "ui/pages/plan/mesh/rules/dimension_row.h"
#include "ui/pages/plan/mesh/rules/rules_panel.h"
#include "ui/pages/plan/mesh/rules/tensor_tree.h"
#include "ui/pages/plan/plan_page.h"
#include "ui/plurals.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/mesh/axis_chip.h"
#include "widgets/mesh/stage_strip.h"
#include "widgets/mesh/tile_view.h"

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QDropEvent>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QTreeView>

namespace {

using namespace weft;
using test::kPatienceMs;
using test::kTwoByTwo;
using test::plan_of;
using ui::MeshEdit;
using ui::SplitScope;

const std::string kUp = "blocks.0.mlp.up.weight";

/// A small GPT of four layers on a mesh of two by two.
config::Json document_of(const char* mesh) {
    config::Json document = config::json_of(R"({
      "schema_version": 1, "name": "small-gpt", "seed": 3,
      "data": {"train": {"type": "synthetic", "kind": "tokens", "length": 16, "vocab": 64, "samples": 512}},
      "model": {"type": "gpt2", "layers": 4, "width": 32, "heads": 2, "context": 16, "vocab": 64,
                "dropout": 0.0},
      "training": {"length": {"steps": 10}, "global_batch_size": 16, "micro_batch_size": 2,
                   "precision": "f32"},
      "evaluation": {"samples": 0}
    })");
    document["mesh"] = config::json_of(mesh);
    return document;
}

constexpr const char* kTwoStages =
    R"({"devices": "cpu:2", "strategy": "pipeline", "axes": [["pipeline", 2]]})";

compile::RunConfig config_of(const config::Json& document,
                             const std::vector<std::string>& overrides = {}) {
    compile::CheckedRun checked = compile::read_run_config(document, ".", overrides);
    WEFT_CHECK(checked.ok(), config::to_text(checked.diagnostics.front()));
    return std::move(checked.config);
}

std::shared_ptr<const ui::PlanDigest> digest_of_run(const compile::RunConfig& config) {
    return ui::digestPlan(plan_of(config));
}

/// The configuration with assignments made.
compile::RunConfig with(const compile::RunConfig& config,
                        const std::vector<std::string>& assignments) {
    return config_of(config.document, assignments);
}

/// A field of the mesh as text: "specs", "rules".
QString mesh_text(const compile::RunConfig& config, const char* field) {
    return QString::fromStdString(config.section("mesh").at(field).dump());
}
QString specs_of(const compile::RunConfig& config) {
    return mesh_text(config, "specs");
}

/// The spec under which a plan keeps a slot.
std::string spec_in(const plan::ExecutionPlan& plan, const std::string& name) {
    return ui::specText(plan, *plan.find_slot(name), test::kJax).toStdString();
}

/// What a drag of an axis from the bar does, without the drag's own event loop, which the offscreen
/// platform has not.
void drop_axis(QWidget* target, const QString& axis, const QPoint& at = {4, 4}) {
    const std::unique_ptr<QMimeData> data(widgets::axisMime(axis));
    QDragEnterEvent enter(at, Qt::MoveAction, data.get(), Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(target, &enter);
    QVERIFY(enter.isAccepted());
    QDragMoveEvent move(at, Qt::MoveAction, data.get(), Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(target, &move);
    QDropEvent drop(at, Qt::MoveAction, data.get(), Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(target, &drop);
}

/// Chooses an entry of the menu that is open; "layers/model": of one of its menus. The arrow keys
/// lead there.
void choose_entry(const QString& path) {
    QTRY_VERIFY(QApplication::activePopupWidget() != nullptr);
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    for (const QString& id : path.split('/')) {
        QAction* action = nullptr;
        for (QAction* one : menu->actions()) {
            action = one->objectName() == id ? one : action;
        }
        QVERIFY2(action != nullptr, qPrintable(id));
        QVERIFY2(action->isEnabled(), qPrintable(id));
        menu->setActiveAction(action);
        QTest::keyClick(menu, action->menu() != nullptr ? Qt::Key_Right : Qt::Key_Return);
        menu = action->menu();
    }
}

/// Opens the menu of a button and chooses an entry. The button itself would wait in the menu's own
/// event loop.
void choose_from(QWidget* button, const QString& path) {
    QMenu* menu = static_cast<QPushButton*>(button)->menu();
    menu->popup(button->mapToGlobal(QPoint(0, button->height())));
    choose_entry(path);
}

void open_tensor(test::StudioFixture& fixture, const char* mesh) {
    fixture.studio().draft().setDocument(document_of(mesh), fixture.root());
    fixture.window().resize(1440, 900);
    fixture.window().showPage("plan");
    QTRY_VERIFY_WITH_TIMEOUT(fixture.find("planTab")->isVisible(), kPatienceMs);
    QTest::mouseClick(fixture.find("planTab")->findChildren<QAbstractButton*>().first(),
                      Qt::LeftButton);
    auto* tree = fixture.window().findChild<ui::TensorTree*>();
    QTRY_VERIFY_WITH_TIMEOUT(!tree->chosen().isEmpty(), kPatienceMs);
    auto* view = static_cast<QTreeView*>(fixture.find("tensorTree"));
    view->setCurrentIndex(
        static_cast<ui::TensorTreeModel*>(view->model())->indexOf(QString::fromStdString(kUp)));
    QCOMPARE(tree->chosen(), QString::fromStdString(kUp));
}

std::shared_ptr<const ui::PlanDigest> shown_digest(test::StudioFixture& fixture) {
    return fixture.window().findChild<ui::PlanPage*>()->preview().digest();
}

} // namespace

class MeshEditTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }

    // What the selector shows is the stage that is planned, whatever brings it.
    void the_zero_stage_shown_is_the_one_planned() {
        const compile::RunConfig config = config_of(document_of(kTwoByTwo));
        for (const char* strategy : {"data_parallel", "fsdp", "hybrid_fsdp", "2d"}) {
            const MeshEdit chosen = ui::withStrategy({4, strategy, {}, 0}, strategy);
            for (int stage = 0; stage <= 3; ++stage) {
                const MeshEdit edit = ui::withZeroStage(chosen, stage);
                const compile::CheckedRun checked =
                    compile::read_run_config(config.document, ".", ui::assignmentsOf(edit, config));
                QVERIFY2(checked.ok(), strategy);
                QCOMPARE(compile::placement_of(checked.config.section("mesh")).zero_stage, stage);
                QCOMPARE(MeshEdit::of(checked.config).zero_stage, stage);
            }
        }
        QCOMPARE(ui::withStrategy({4, "2d", {}, 0}, "fsdp").zero_stage, 3);
        QCOMPARE(ui::withZeroStage(ui::withStrategy({4, "2d", {}, 0}, "fsdp"), 1).strategy,
                 std::string("data_parallel"));
    }

    // Sizes that a slip of the hand makes: the draft has them, and says what is wrong.
    void more_devices_than_there_can_be_are_told_of_the_draft() {
        const compile::RunConfig config = config_of(document_of(kTwoByTwo));
        MeshEdit edit = ui::withStrategy({4, "2d", {}, 0}, "2d");
        for (const int size : {3216, 1 << 20}) {
            for (std::size_t axis = 0; axis < edit.axes.size(); ++axis) {
                edit = ui::withAxisSize(edit, axis, size);
                QVERIFY(edit.devices >= size);
                const compile::CheckedRun checked =
                    compile::read_run_config(config.document, ".", ui::assignmentsOf(edit, config));
                QVERIFY(!checked.ok());
                QCOMPARE(checked.diagnostics.front().pointer, std::string("/mesh/devices"));
            }
        }
        const MeshEdit joined = ui::withAxisRemoved(edit, 1);
        QVERIFY(joined.axes.front().size >= 1 << 20);
        QVERIFY(ui::withAxisAdded(edit, "expert").devices >= 1 << 20);
    }

    // Whatever is added, the draft is right, has as many devices as its axes make up, and the new
    // axis splits what its name promises.
    void an_axis_is_added_to_every_strategy() {
        for (const char* strategy : {"replicated", "data_parallel", "fsdp", "tensor_parallel", "2d",
                                     "pipeline", "context_parallel", "hybrid_fsdp"}) {
            const MeshEdit before = ui::withStrategy({4, strategy, {}, 0}, strategy);
            const compile::RunConfig config = config_of(document_of(kTwoByTwo));
            for (const ui::AxisOffer& offer : ui::axisOffers()) {
                if (!ui::axisNameProblem(before, offer.name).empty()) {
                    continue; // it is there
                }
                const MeshEdit after = ui::withAxisAdded(before, offer.name);
                const std::string label = std::string(strategy) + " and " + offer.name;
                const compile::CheckedRun checked = compile::read_run_config(
                    config.document, ".", ui::assignmentsOf(after, config));
                QVERIFY2(checked.ok(), label.c_str());
                QVERIFY2(MeshEdit::of(checked.config) == after, label.c_str());
                int product = 1;
                for (const ui::MeshAxis& axis : after.axes) {
                    product *= axis.size;
                }
                QCOMPARE(product, after.devices);
                const sharding::Placement placement =
                    compile::placement_of(checked.config.section("mesh"));
                const std::string first = offer.splits.substr(0, offer.splits.find(','));
                const auto axes = placement.axes_of(first);
                const bool splits =
                    std::count(axes.begin(), axes.end(), placement.mesh.find(offer.name)) > 0;
                QVERIFY2(splits, label.c_str());
            }
        }
    }

    void a_new_axis_takes_devices_from_one_that_can_spare_them() {
        const MeshEdit four{4, "data_parallel", {{"data", 4}}, 0};
        const MeshEdit split = ui::withAxisAdded(four, "model");
        QVERIFY((split.axes == std::vector<ui::MeshAxis>{{"data", 2}, {"model", 2}}));
        QCOMPARE(split.strategy, std::string("2d")); // knows both
        // Pipelines stand before the near devices of "model"; two by two can spare none.
        const MeshEdit deeper = ui::withAxisAdded(split, "pipeline");
        QVERIFY(
            (deeper.axes == std::vector<ui::MeshAxis>{{"data", 2}, {"pipeline", 2}, {"model", 2}}));
        QCOMPARE(deeper.devices, 8);
        QCOMPARE(deeper.strategy, std::string("3d"));
        // No strategy knows data, model and context: all rules are written out.
        const MeshEdit own = ui::withAxisAdded(split, "context");
        QCOMPARE(own.strategy, std::string("custom"));
        const std::vector<sharding::Rule> rules = {
            {"batch", {"data"}}, {"heads", {"model"}}, {"kv_heads", {"model"}},
            {"mlp", {"model"}},  {"vocab", {"model"}}, {"sequence", {"context"}}};
        QVERIFY(own.rules == rules);
        // A name of one's own splits nothing yet.
        const MeshEdit named = ui::withAxisAdded(own, "rack");
        QVERIFY(named.rules == rules);
        QCOMPARE(named.axes.back().name, std::string("rack"));
    }

    void a_removed_axis_leaves_nothing_behind() {
        const compile::RunConfig config = with(
            config_of(document_of(kTwoByTwo)),
            {R"(mesh.rules=[["embed",["data","model"]],["norm","model"]])",
             R"x(mesh.specs={"wpe.weight":"P('model')","wte.weight":"P(('data', 'model'))"})x"});
        const MeshEdit edit = ui::withAxisRemoved(MeshEdit::of(config), 1);
        QCOMPARE(edit.devices, 4);
        QVERIFY((edit.axes == std::vector<ui::MeshAxis>{{"data", 4}}));
        const compile::RunConfig after = with(config, ui::assignmentsOf(edit, config));
        QCOMPARE(mesh_text(after, "rules"), R"([["embed","data"]])");
        QCOMPARE(specs_of(after), R"x({"wte.weight":"P('data')"})x");
    }

    void gpus_keep_their_numbers_through_edits() {
        const compile::RunConfig config =
            with(config_of(document_of(kTwoByTwo)), {R"(mesh.devices="cuda:0,2,3,5")"});
        const MeshEdit edit = MeshEdit::of(config);
        QCOMPARE(edit.kind, std::string("cuda"));
        QCOMPARE(edit.gpus, (std::vector<int>{0, 2, 3, 5}));
        const auto devices = [&](const MeshEdit& changed) {
            return mesh_text(with(config, ui::assignmentsOf(changed, config)), "devices");
        };
        QCOMPARE(devices(ui::withAxisMoved(edit, 0, 1)), R"("cuda:0,2,3,5")");
        QCOMPARE(devices(ui::withDevices(edit, 2)), R"("cuda:0,2")");
        QCOMPARE(devices(ui::withDevices(edit, 6)), R"("cuda:0,2,3,5,1,4")"); // the lowest join
        QCOMPARE(devices(ui::withGpus(edit, {0, 1, 2, 3})), R"("cuda:4")");
        QCOMPARE(devices(ui::withGpus(edit, {3})), R"("cuda:3,")");
        QCOMPARE(devices(ui::withGpus(edit, {})), R"("cpu:4")");
        // A number alone would be how many.
        const compile::RunConfig third =
            with(config, ui::assignmentsOf(ui::withGpus(edit, {3}), config));
        QCOMPARE(MeshEdit::of(third).gpus, std::vector<int>{3});
    }

    void one_device_keeps_nothing_of_the_mesh() {
        const compile::RunConfig config =
            with(config_of(document_of(kTwoByTwo)),
                 {R"(mesh.rules=[["embed","model"]])", R"x(mesh.specs={"*":"P('model')"})x"});
        const compile::RunConfig one = with(config, ui::oneDeviceAssignments(config));
        QVERIFY(MeshEdit::of(one).single());
        QCOMPARE(specs_of(one), "{}");
        QCOMPARE(mesh_text(one, "rules"), "[]");
    }

    void a_tensor_says_what_splits_it() {
        const compile::RunConfig config = config_of(document_of(kTwoByTwo));
        const auto plan = plan_of(config);
        const plan::StateSlot& up = *plan->find_slot(kUp);
        const ui::TensorEdit by_strategy = ui::tensorEdit(config, up);
        QVERIFY(by_strategy.dims[0].axes.empty());
        QCOMPARE(by_strategy.dims[1].axes.front().axis, std::string("model"));
        QVERIFY(by_strategy.dims[1].axes.front().source == ui::SplitSource::Strategy);
        QCOMPARE(by_strategy.because, QString("2d: mlp → model"));
        const compile::RunConfig ruled = with(config, {R"(mesh.rules=[["mlp","data"]])"});
        const ui::TensorEdit by_rule = ui::tensorEdit(ruled, up);
        QCOMPARE(by_rule.dims[1].axes.front().axis, std::string("data"));
        QVERIFY(by_rule.dims[1].axes.front().source == ui::SplitSource::Rule);
        QCOMPARE(by_rule.because, QString("rule mlp → data"));
        const compile::RunConfig named =
            with(config, {R"x(mesh.specs={"*.up.weight":"P('model')"})x"});
        const ui::TensorEdit by_override = ui::tensorEdit(named, up);
        QCOMPARE(by_override.pattern, std::string("*.up.weight"));
        QVERIFY(by_override.dims[0].axes.front().source == ui::SplitSource::Override);
        // ZeRO 3 splits what is left; rules and overrides do not decide that.
        const compile::RunConfig zero = with(config, {"mesh.zero_stage=3"});
        const ui::TensorEdit by_zero = ui::tensorEdit(zero, up);
        QCOMPARE(by_zero.dims[0].axes.front().axis, std::string("data"));
        QVERIFY(by_zero.dims[0].axes.front().source == ui::SplitSource::Zero);
    }

    void a_drop_that_cannot_work_says_why() {
        const compile::RunConfig config =
            with(config_of(document_of(kTwoByTwo)),
                 {"mesh.devices=cpu:24",
                  R"(mesh.axes=[["data",2],["model",2],["odd",3],["one",1],["pipe",2]])",
                  R"(mesh.rules=[["layers","pipe"]])"});
        const auto plan = plan_of(config_of(document_of(kTwoByTwo)));
        const plan::StateSlot& up = *plan->find_slot(kUp); // [32, 128]
        const auto why = [&](int dim, const char* axis) {
            const ui::SplitOutcome outcome = ui::splitOutcome(config, up, dim, axis);
            return outcome.possible ? QString() : outcome.text;
        };
        QVERIFY(why(0, "model").contains("already splits dimension 1"));
        QVERIFY(why(1, "model").contains("splits this dimension already"));
        QVERIFY(why(0, "one").contains("one device"));
        QVERIFY(why(0, "pipe").contains("pipeline"));
        QVERIFY(why(0, "none such").contains("no axis"));
        QVERIFY(why(0, "data").isEmpty());
        // Three devices take 11 of 32 rows each, one row of 128 f32 is padding; the two devices of
        // "model" hold half of it each.
        const ui::SplitOutcome uneven = ui::splitOutcome(config, up, 0, "odd");
        QVERIFY(uneven.possible);
        QCOMPARE(uneven.padding_bytes, std::int64_t{128 * 4});
        QVERIFY(uneven.text.contains("32 does not divide"));
        // More devices than rows.
        const plan::StateSlot& bias = *plan->find_slot("blocks.0.mlp.up.bias");
        const compile::RunConfig wide = with(
            config, {"mesh.devices=cpu:1024", R"(mesh.axes=[["data",2],["model",2],["wide",256]])",
                     "mesh.rules=[]", "training.global_batch_size=16"});
        const ui::SplitOutcome few = ui::splitOutcome(wide, bias, 0, "wide");
        QVERIFY(!few.possible);
        QVERIFY(few.text.contains("128 cannot be dealt out over 512 devices"));
    }

    // What is said before the drop is what the engine does after it.
    void an_override_is_what_the_engine_plans() {
        const compile::RunConfig config = config_of(document_of(kTwoByTwo));
        const auto before = plan_of(config);
        const plan::StateSlot& up = *before->find_slot(kUp);
        const auto edit = ui::withSplit(config, up, 0, "data", SplitScope::Tensor);
        QCOMPARE(edit, std::vector<std::string>{
                           R"x(mesh.specs={"blocks.0.mlp.up.weight":"P('data', 'model')"})x"});
        const compile::RunConfig after = with(config, edit);
        const auto plan = plan_of(after);
        QCOMPARE(spec_in(*plan, kUp), std::string("P('data', 'model')"));
        QCOMPARE(spec_in(*plan, "blocks.1.mlp.up.weight"), std::string("P(None, 'model')"));
        QCOMPARE(ui::tensorEdit(after, *plan->find_slot(kUp)).pattern, kUp);
        // Taking it away again is the rule's word, and the override goes.
        const auto undone = ui::withoutSplit(after, *plan->find_slot(kUp), 0, "data");
        QCOMPARE(specs_of(with(after, undone)), "{}");
        // What a rule splits is taken away by an override, and "back to the rule" takes that away.
        const compile::RunConfig whole = with(config, ui::withoutSplit(config, up, 1, "model"));
        QCOMPARE(spec_in(*plan_of(whole), kUp), std::string("P()"));
        QCOMPARE(specs_of(with(whole, ui::withoutOverride(whole, up))), "{}");
        // A pattern that stands there already comes second.
        const compile::RunConfig globbed =
            with(config, {R"x(mesh.specs={"*.up.weight":"P('data')"})x"});
        const compile::RunConfig both =
            with(globbed, ui::withSplit(globbed, up, 1, "model", SplitScope::Tensor));
        QCOMPARE(specs_of(both),
                 R"x({"blocks.0.mlp.up.weight":"P('data', 'model')","*.up.weight":"P('data')"})x");
    }

    void a_rule_splits_all_tensors_like_it() {
        const compile::RunConfig config = config_of(document_of(kTwoByTwo));
        const auto before = plan_of(config);
        // Of four layers: up.weight, up.bias and down.weight each.
        QCOMPARE(ui::tensorsWith(*before, "mlp"), 12);
        const plan::StateSlot& up = *before->find_slot(kUp);
        QCOMPARE(ui::ruleText(config, up, 1, "data"), QString("rule mlp → model, data"));
        const compile::RunConfig after =
            with(config, ui::withSplit(config, up, 1, "data", SplitScope::Rule));
        const auto plan = plan_of(after);
        for (int layer = 0; layer < 4; ++layer) {
            const std::string block = "blocks." + std::to_string(layer);
            QCOMPARE(spec_in(*plan, block + ".mlp.up.weight"),
                     std::string("P(None, ('model', 'data'))"));
            QCOMPARE(spec_in(*plan, block + ".mlp.down.weight"),
                     std::string("P(('model', 'data'))"));
        }
        const compile::RunConfig none =
            with(config, ui::withSplit(config, up, 1, {}, SplitScope::Rule));
        QCOMPARE(mesh_text(none, "rules"), R"([["mlp",null]])");
        QCOMPARE(spec_in(*plan_of(none), kUp), std::string("P()"));
        // Saying what the strategy says is no rule of one's own.
        const compile::RunConfig again =
            with(none,
                 ui::withSplit(none, *plan_of(none)->find_slot(kUp), 1, "model", SplitScope::Rule));
        QCOMPARE(mesh_text(again, "rules"), "[]");
    }

    void texts_of_overrides_are_checked_against_the_tensors_they_match() {
        const compile::RunConfig config = config_of(document_of(kTwoByTwo));
        const auto plan = plan_of(config);
        const auto wrong = [&](const char* pattern, const char* spec) {
            return ui::specProblem({pattern, spec}, config, *plan);
        };
        QVERIFY(wrong("*.up.weight", "P('data', None)").isEmpty());
        QVERIFY(wrong("*.up.weight", "P('data'").contains("\",\"") ||
                !wrong("*.up.weight", "P('data'").isEmpty());
        QVERIFY(wrong("*.up.weight", "P('rack')").contains("no axis 'rack'"));
        QVERIFY(wrong("*.up.weight", "P('data', 'data')").contains("used twice"));
        QVERIFY(wrong("*.up.*", "P(None, 'data')").contains("up.bias"));
        QVERIFY(!wrong("", "P()").isEmpty());
        QCOMPARE(ui::specMatches("blocks.*.mlp.up.*", *plan), 8);
    }

    void layers_and_their_stages_are_read_off_a_plan() {
        const ui::StageEdit whole = ui::stageEdit(*plan_of(config_of(document_of(kTwoByTwo))));
        QCOMPARE(whole.layers.size(), std::size_t{4});
        QCOMPARE(whole.layers[2].name, std::string("blocks.2"));
        QCOMPARE(whole.counts, std::vector<int>{4});
        // All blocks do the same; the last one has the head's product with it.
        QCOMPARE(whole.layers[1].flops, whole.layers[2].flops);
        QVERIFY(whole.layers[3].flops > whole.layers[2].flops);
        const compile::RunConfig config = config_of(document_of(kTwoStages));
        const compile::RunConfig uneven = with(config, {ui::stagesAssignment({{3, 1}})});
        QVERIFY(ui::hasOwnStages(uneven));
        const auto plan = plan_of(uneven);
        const ui::StageEdit staged = ui::stageEdit(*plan);
        QCOMPARE(staged.counts, (std::vector<int>{3, 1}));
        QCOMPARE(staged.stages, 2);
        QCOMPARE(plan->stages[0].layers, std::string("blocks.0 to blocks.2"));
        QVERIFY(!ui::hasOwnStages(with(uneven, {ui::stagesAssignment(std::nullopt)})));
        // Two chunks of each of two stages.
        const compile::RunConfig chunked =
            with(config, {ui::scheduleAssignment("interleaved_1f1b")});
        QCOMPARE(ui::stageEdit(*plan_of(chunked)).counts, (std::vector<int>{1, 1, 1, 1}));
    }

    void layers_are_laid_along_any_axis() {
        const compile::RunConfig config = config_of(document_of(kTwoByTwo));
        QVERIFY(ui::pipelineAxis(config).empty());
        QVERIFY(ui::pipelineProblem(config, "model", 4).isEmpty());
        QVERIFY(ui::pipelineProblem(config, "model", 1).contains("2 stages"));
        // "model" split heads and inner widths until now: a stage's devices are alike instead.
        const compile::RunConfig after = with(config, ui::withPipelineAlong(config, "model"));
        QCOMPARE(ui::pipelineAxis(after), std::string("model"));
        const auto plan = plan_of(after);
        QCOMPARE(plan->pipeline->stages, 2);
        QCOMPARE(spec_in(*plan, kUp), std::string("P()"));
        QVERIFY(ui::pipelineProblem(after, "model", 4).contains("already"));
    }

    void order_rules_overrides_and_stages_survive_save_and_load() {
        test::StudioFixture fixture;
        ui::Draft& draft = fixture.studio().draft();
        draft.setDocument(document_of(kTwoByTwo), fixture.root());
        const auto slot = plan_of(draft.config());
        const plan::StateSlot& up = *slot->find_slot(kUp);
        draft.apply(ui::withSplit(draft.config(), up, 0, "data", SplitScope::Tensor));
        draft.apply(ui::withSplit(draft.config(), *slot->find_slot("wpe.weight"), 0, "model",
                                  SplitScope::Tensor));
        draft.apply(ui::withSplit(draft.config(), up, 1, {}, SplitScope::Rule));
        draft.apply(ui::assignmentsOf(
            ui::withAxisMoved(ui::withAxisAdded(MeshEdit::of(draft.config()), "pipeline"), 2, 0),
            draft.config()));
        draft.apply({ui::stagesAssignment({{3, 1}}), ui::scheduleAssignment("gpipe")});
        QVERIFY(draft.isValid());
        const std::string before = draft.config().section("mesh").dump();
        const std::filesystem::path file = fixture.root() / "by-hand.json";
        QCOMPARE(draft.save(file), QString());
        ui::Draft again;
        again.open(file);
        QVERIFY(again.isValid());
        QCOMPARE(again.config().section("mesh").dump(), before);
        const config::Json mesh = config::json_of(before);
        QCOMPARE(mesh.at("axes").dump(), R"([["model",2],["data",2],["pipeline",2]])");
        QCOMPARE(mesh.at("specs").dump(), R"x({"wpe.weight":"P('model')"})x");
        QCOMPARE(mesh.at("pipeline").at("stages").dump(), "[3,1]");
    }

    void an_axis_is_dropped_onto_a_dimension_for_one_tensor() {
        test::StudioFixture fixture;
        open_tensor(fixture, kTwoByTwo);
        ui::Draft& draft = fixture.studio().draft();
        drop_axis(fixture.find("dimension_0"), "data");
        choose_entry("splitTensor");
        QCOMPARE(specs_of(draft.config()), R"x({"blocks.0.mlp.up.weight":"P('data', 'model')"})x");
        QTRY_COMPARE_WITH_TIMEOUT(spec_in(*shown_digest(fixture)->plan, kUp),
                                  std::string("P('data', 'model')"), kPatienceMs);
        auto* tiles = static_cast<widgets::TileView*>(fixture.find("tileView"));
        QTRY_COMPARE_WITH_TIMEOUT(tiles->array().dims[0].size(), std::size_t{2}, kPatienceMs);
        // The tag's cross takes it away, which is the rule's word again; undo and redo follow.
        auto* tag = static_cast<widgets::AxisTag*>(fixture.find("split_0_data"));
        QTest::mouseClick(tag, Qt::LeftButton, {}, tag->crossRect().center());
        QCOMPARE(specs_of(draft.config()), "{}");
        draft.undo();
        QVERIFY(specs_of(draft.config()) != "{}");
        draft.undo();
        QCOMPARE(specs_of(draft.config()), "{}");
        QTRY_COMPARE_WITH_TIMEOUT(spec_in(*shown_digest(fixture)->plan, kUp),
                                  std::string("P(None, 'model')"), kPatienceMs);
    }

    void a_dimension_is_split_for_all_like_it_by_keys() {
        test::StudioFixture fixture;
        open_tensor(fixture, kTwoByTwo);
        ui::Draft& draft = fixture.studio().draft();
        QWidget* slot = fixture.find("slot_0");
        slot->setFocus(Qt::TabFocusReason);
        QTest::keyClick(slot, Qt::Key_Space);
        QTRY_VERIFY(QApplication::activePopupWidget() != nullptr);
        // "data", then its first choice; "model" splits dimension 1 and cannot be chosen.
        const QWidget* menu = QApplication::activePopupWidget();
        QVERIFY(menu->findChild<QAction*>("splitOver_model") == nullptr);
        QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_Down);
        QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_Right);
        QTRY_VERIFY(QApplication::activePopupWidget() != menu);
        QTest::keyClick(QApplication::activePopupWidget(), Qt::Key_Return);
        QTRY_COMPARE(specs_of(draft.config()),
                     R"x({"blocks.0.mlp.up.weight":"P('data', 'model')"})x");
        // A tag is a button too: Delete is its cross.
        QTRY_VERIFY(fixture.window().findChild<QWidget*>("split_1_model") != nullptr);
        QTest::keyClick(fixture.find("split_1_model"), Qt::Key_Delete);
        QCOMPARE(specs_of(draft.config()), R"x({"blocks.0.mlp.up.weight":"P('data')"})x");
        QTest::keyClick(fixture.find("splitBack"), Qt::Key_Space);
        QCOMPARE(specs_of(draft.config()), "{}");
    }

    void a_drop_that_cannot_work_leaves_the_draft_and_says_why() {
        test::StudioFixture fixture;
        open_tensor(fixture, kTwoByTwo);
        const std::string before = fixture.studio().draft().text();
        drop_axis(fixture.find("dimension_0"), "model");
        QCOMPARE(fixture.studio().draft().text(), before);
        auto* reason = static_cast<widgets::ElidedLabel*>(fixture.find("splitReason"));
        QVERIFY(reason->text().contains("already splits dimension 1"));
    }

    void axes_are_moved_added_and_removed() {
        test::StudioFixture fixture;
        open_tensor(fixture, kTwoByTwo);
        ui::Draft& draft = fixture.studio().draft();
        const auto names = [&] {
            std::string out;
            for (const ui::MeshAxis& axis : MeshEdit::of(draft.config()).axes) {
                out += axis.name + "=" + std::to_string(axis.size) + " ";
            }
            return out;
        };
        // By drag: behind the last.
        QWidget* row = fixture.find("meshAxes");
        const QRect last = fixture.find("axis_model")->geometry();
        drop_axis(row, "data", {last.right() + 4, last.center().y()});
        QCOMPARE(names(), std::string("model=2 data=2 "));
        // By keys: back again, and the focus goes with it.
        QTest::keyClick(fixture.find("axisGrip_data"), Qt::Key_Left);
        QCOMPARE(names(), std::string("data=2 model=2 "));
        choose_from(fixture.find("axisAdd"), "axisAdd_pipeline");
        QCOMPARE(names(), std::string("data=2 pipeline=2 model=2 "));
        QCOMPARE(MeshEdit::of(draft.config()).strategy, std::string("3d"));
        fixture.click("axisRemove_pipeline");
        QCOMPARE(names(), std::string("data=4 model=2 "));
        QTest::keyClick(fixture.find("axisGrip_model"), Qt::Key_Delete);
        QCOMPARE(names(), std::string("data=8 "));
        draft.undo();
        QCOMPARE(names(), std::string("data=4 model=2 "));
    }

    void rules_are_edited_in_their_list() {
        const compile::RunConfig config = config_of(document_of(kTwoByTwo));
        ui::RulesPanel part;
        part.resize(1200, 240);
        part.setConfig(config);
        part.setPlan({digest_of_run(config)});
        part.show();
        QSignalSpy adopted(&part, &ui::RulesPanel::adopted);
        const auto assignments = [&] {
            return adopted.takeLast().front().value<std::vector<std::string>>();
        };
        // The strategy's rule for mlp becomes the draft's own.
        choose_from(part.findChild<QWidget*>("ruleAxes_mlp"), "ruleAxis_data");
        compile::RunConfig own = with(config, assignments());
        QCOMPARE(mesh_text(own, "rules"), R"([["mlp",["model","data"]]])");
        own = with(own, {R"(mesh.rules=[["mlp","data"],["vocab",null]])"});
        part.setConfig(own);
        QTest::keyClick(part.findChild<QWidget*>("ruleEarlier_vocab"), Qt::Key_Space);
        QCOMPARE(mesh_text(with(own, assignments()), "rules"),
                 R"([["vocab",null],["mlp","data"]])");
        QTest::keyClick(part.findChild<QWidget*>("ruleRemove_mlp"), Qt::Key_Space);
        QCOMPARE(mesh_text(with(own, assignments()), "rules"), R"([["vocab",null]])");
        // What the engine refuses is said here and goes no further: "model" splits heads too.
        choose_from(part.findChild<QWidget*>("ruleAdd"), "ruleFor_layers/ruleAxis_model");
        QCOMPARE(adopted.count(), 0);
        QVERIFY(part.findChild<widgets::TextLabel*>("ruleProblem")->isVisible());
    }

    void overrides_are_typed_and_wrong_ones_stay_in_their_field() {
        compile::RunConfig config = config_of(document_of(kTwoByTwo));
        ui::RulesPanel part;
        part.resize(1200, 240);
        part.setConfig(config);
        part.setPlan({digest_of_run(config)});
        part.show();
        QSignalSpy adopted(&part, &ui::RulesPanel::adopted);
        QTest::mouseClick(part.findChild<QWidget*>("specAdd"), Qt::LeftButton);
        auto* pattern = part.findChild<QLineEdit*>("specPattern_0");
        auto* text = part.findChild<QLineEdit*>("specText_0");
        auto* words = part.findChild<widgets::ElidedLabel*>("specWords_0");
        QTest::keyClicks(pattern, "blocks.*.mlp.up.weight");
        QTest::keyClicks(text, "P('rack')");
        QTest::keyClick(text, Qt::Key_Return);
        QCOMPARE(adopted.count(), 0);
        QVERIFY(words->text().contains("no axis 'rack'"));
        // The draft changes meanwhile: what is typed stays.
        config = with(config, {R"x(mesh.specs={"wpe.weight":"P('model')"})x"});
        part.setConfig(config);
        QCOMPARE(text->text(), QString("P('rack')"));
        text->selectAll();
        QTest::keyClicks(text, "P('data', 'model')");
        QVERIFY(words->text().contains("matches 4 tensors"));
        QTest::keyClick(text, Qt::Key_Return);
        QCOMPARE(adopted.count(), 1);
        config = with(config, adopted.takeLast().front().value<std::vector<std::string>>());
        QCOMPARE(specs_of(config),
                 R"x({"wpe.weight":"P('model')","blocks.*.mlp.up.weight":"P('data', 'model')"})x");
        part.setConfig(config);
        QTest::mouseClick(part.findChild<QWidget*>("specRemove_0"), Qt::LeftButton);
        config = with(config, adopted.takeLast().front().value<std::vector<std::string>>());
        QCOMPARE(specs_of(config), R"x({"blocks.*.mlp.up.weight":"P('data', 'model')"})x");
    }

    void schedule_and_stages_are_chosen_beside_each_other() {
        const compile::RunConfig config = config_of(document_of(kTwoStages));
        ui::RulesPanel part;
        part.resize(1200, 260);
        part.setConfig(config);
        part.setPlan({digest_of_run(config)});
        part.show();
        QSignalSpy adopted(&part, &ui::RulesPanel::adopted);
        const auto assignments = [&] {
            return adopted.takeLast().front().value<std::vector<std::string>>();
        };
        auto* strip = part.findChild<widgets::StageStrip*>("stageStrip");
        QCOMPARE(strip->counts().size(), std::size_t{2});
        strip->setFocus(Qt::TabFocusReason);
        strip->setCursorItem(1);
        const int first = strip->counts()[0];
        QTest::keyClick(strip, Qt::Key_Left);
        compile::RunConfig uneven = with(config, assignments());
        QCOMPARE(uneven.section("mesh").at("pipeline").at("stages").dump(),
                 "[" + std::to_string(first - 1) + "," + std::to_string(5 - first) + "]");
        part.setConfig(uneven);
        part.setPlan({digest_of_run(uneven)});
        fixture_click(part, "stagesBalanced");
        QVERIFY(!ui::hasOwnStages(with(uneven, assignments())));
        auto* schedule = part.findChild<QComboBox*>("pipelineSchedule");
        schedule->setFocus();
        QTest::keyClick(schedule, Qt::Key_Home);
        QCOMPARE(with(uneven, assignments()).section("mesh").at("pipeline").at("schedule"),
                 config::Json("gpipe"));
    }

    void a_pipeline_is_made_by_dropping_an_axis_onto_the_layers() {
        const compile::RunConfig config = config_of(document_of(kTwoByTwo));
        ui::RulesPanel part;
        part.resize(1200, 260);
        part.setConfig(config);
        part.setPlan({digest_of_run(config)});
        part.show();
        QSignalSpy adopted(&part, &ui::RulesPanel::adopted);
        auto* strip = part.findChild<widgets::StageStrip*>("stageStrip");
        drop_axis(strip, "model");
        QCOMPARE(adopted.count(), 1);
        const compile::RunConfig after =
            with(config, adopted.takeLast().front().value<std::vector<std::string>>());
        QCOMPARE(ui::pipelineAxis(after), std::string("model"));
        part.setConfig(after);
        part.setPlan({digest_of_run(after)});
        QCOMPARE(strip->counts().size(), std::size_t{2});
        drop_axis(strip, "model");
        QCOMPARE(adopted.count(), 0);
        QVERIFY(part.findChild<widgets::TextLabel*>("scheduleProblem")->text().contains("already"));
    }

    void moves_of_an_axis_are_said_with_the_order_and_one_at_a_time() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(document_of(kTwoByTwo), fixture.root());
        fixture.window().showPage("plan");
        QTest::mouseClick(fixture.find("planTab")->findChildren<QAbstractButton*>().first(),
                          Qt::LeftButton);
        auto* bar = fixture.window().findChild<ui::MeshBar*>();
        const auto* toasts = fixture.window().findChild<widgets::ToastHost*>();
        const auto move = [&] { bar->edited(ui::withAxisMoved(bar->edit(), 1, 0)); };
        QTRY_COMPARE_WITH_TIMEOUT(bar->edit().axes.size(), std::size_t{2}, kPatienceMs);
        move();
        QVERIFY2(toasts->history().back().text.endsWith("2d over model=2 × data=2"),
                 qPrintable(toasts->history().back().text));
        move();
        QVERIFY(toasts->history().back().text.endsWith("2d over data=2 × model=2"));
        QCOMPARE(toasts->visibleCount(), 1);
    }

private:
    static void fixture_click(QWidget& part, const char* name) {
        QTest::mouseClick(part.findChild<QWidget*>(name), Qt::LeftButton);
    }
};

WEFT_TEST(MeshEditTest)
#include "mesh_edit_test.moc"
