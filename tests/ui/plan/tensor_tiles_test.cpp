// SPDX-License-Identifier: GPL-3.0-or-later
// Tiles of the plan's tensors against `weft plan --tensor NAME --json` and against drawings made by
// hand; the tree of tensors and the part that shows one, by mouse and keys.
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "tests/ui/mesh_support.h"
#include "ui/bridge/plan/plan_digest.h"
#include "ui/bridge/plan/tensor_tiles.h"
#include "ui/models/tensor_tree_model.h"
#include "ui/pages/plan/mesh/rules/tensor_tree.h"
#include "ui/pages/plan/mesh/rules/tile_panel.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/mesh/tile_view.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTreeView>

namespace {

using namespace weft;
using sharding::Mesh;

constexpr const char* kGpt = R"({
    "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 33, "samples": 200}},
    "model": {"type": "gpt2", "layers": 6, "width": 16, "heads": 2, "context": 8, "vocab": 33,
              "dropout": 0.1},
    "training": {"length": {"steps": 4}, "global_batch_size": 16, "precision": "f32"}
})";

constexpr const char* kCnn = R"({
    "data": {"train": {"type": "synthetic", "kind": "images", "shape": [6, 6, 1], "classes": 4,
                       "samples": 200}},
    "model": {"type": "sequential", "layers": [
        {"type": "conv2d", "channels": 4, "kernel": 3}, {"type": "relu"}, {"type": "flatten"},
        {"type": "linear"}]},
    "training": {"length": {"steps": 4}, "global_batch_size": 16, "precision": "f32"}
})";

std::shared_ptr<const plan::ExecutionPlan> planned(const char* text,
                                                   const std::vector<std::string>& overrides) {
    const compile::CheckedRun checked =
        compile::read_run_config(std::string_view(text), "/", overrides);
    if (!checked.ok()) {
        qFatal("%s", config::to_text(checked.diagnostics.front()).c_str());
    }
    const train::PlanTarget target = train::this_machine(0, nullptr);
    return std::make_shared<const plan::ExecutionPlan>(train::plan_run(
        checked.config, train::outline_run_data(checked.config, target), target, {}));
}

std::vector<std::string> onMesh(const std::string& strategy, const std::string& axes,
                                int devices = 4) {
    std::vector<std::string> out = {"mesh.devices=cpu:" + std::to_string(devices),
                                    "mesh.strategy=" + strategy};
    if (!axes.empty()) {
        out.push_back("mesh.axes=" + axes);
    }
    return out;
}

const plan::StateSlot& slotOf(const plan::ExecutionPlan& plan, const std::string& name) {
    const plan::StateSlot* slot = plan.find_slot(name);
    if (slot == nullptr) {
        qFatal("no slot %s", name.c_str());
    }
    return *slot;
}

/// What the document of a tensor says, in the form of tilesText. Ranges alone are taken from it.
QString heldText(const nlohmann::ordered_json& tensor) {
    QString out;
    for (const auto& held : tensor["held"]) {
        QStringList dims;
        for (std::size_t dim = 0; dim < held["ranges"].size(); ++dim) {
            QStringList slices;
            for (const auto& range : held["ranges"][dim]) {
                const bool whole = range[0] == 0 && range[1] == tensor["global_shape"][dim];
                slices.append(
                    whole
                        ? QString(":")
                        : QString("%1:%2").arg(range[0].get<qint64>()).arg(range[1].get<qint64>()));
            }
            dims.append(slices.isEmpty() ? "nothing" : slices.join(" and "));
        }
        out += widgets::deviceListText(held["devices"].get<std::vector<int>>()) + ": [" +
               dims.join(", ") + "]\n";
    }
    return out;
}

/// The one axis that splits a dimension.
sharding::DimSharding over(int axis) {
    return {{.axes = {axis}}};
}

} // namespace

class TensorTilesTest : public QObject {
    Q_OBJECT

private slots:
    void init() {
        // Only the offscreen platform says this, of any widget shown alone.
        QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)"));
    }

    void tiles_say_what_the_document_of_a_tensor_says_data() {
        QTest::addColumn<QStringList>("overrides");
        const auto row = [](const char* name, const std::vector<std::string>& overrides) {
            QStringList list;
            for (const std::string& one : overrides) {
                list.append(QString::fromStdString(one));
            }
            QTest::newRow(name) << list;
        };
        row("one device", {});
        row("replicated", onMesh("replicated", ""));
        row("data", onMesh("data_parallel", ""));
        row("fsdp over three, padded", onMesh("fsdp", "", 3));
        row("fused parts", onMesh("2d", R"([["data",2],["model",2]])"));
        std::vector<std::string> cut = onMesh("2d", R"([["data",2],["model",2]])");
        cut.push_back("mesh.zero_stage=3");
        row("fused parts, cut by ZeRO", cut);
        row("stages", onMesh("pipeline", "", 2));
    }

    void tiles_say_what_the_document_of_a_tensor_says() {
        QFETCH(QStringList, overrides);
        std::vector<std::string> list;
        for (const QString& one : overrides) {
            list.push_back(one.toStdString());
        }
        for (const char* model : {kGpt, kCnn}) {
            if (model == kCnn && overrides.contains("mesh.strategy=pipeline")) {
                continue; // its layers do not repeat
            }
            const auto plan = planned(model, list);
            for (const plan::StateSlot& slot : plan->state_slots) {
                const auto tensor = plan::tensor_json(*plan, slot);
                const widgets::TileArray tiles = ui::tensorTiles(*plan, slot);
                QCOMPARE(ui::tilesText(tiles), heldText(tensor));
                QCOMPARE(ui::tensorCopies(*plan, slot), tensor["replicas"].get<int>());
                // What is drawn is what all devices hold of one copy, padding included.
                qint64 drawn = 1;
                for (const auto& dim : tiles.dims) {
                    qint64 extent = 0;
                    for (const widgets::TileSpan& span : dim) {
                        extent += span.extent();
                    }
                    drawn *= extent;
                }
                QCOMPARE(drawn * ir::dtype_bytes(slot.whole.dtype),
                         slot.whole.bytes() + tensor["padding_bytes"].get<qint64>());
            }
        }
    }

    void a_batch_of_128_on_four_devices_is_cut_into_quarters() {
        const Mesh mesh{{{"data", 4}}};
        const auto tiles = ui::tensorTiles(mesh, {128}, {{over(0)}, {}});
        QCOMPARE(ui::tilesText(tiles), QString("0: [0:32]\n"
                                               "1: [32:64]\n"
                                               "2: [64:96]\n"
                                               "3: [96:128]\n"));
    }

    // A mesh (4, 2), W [4096, 2048] split in columns over its second axis: device (d, m) is 2d + m.
    void columns_of_a_weight_lie_on_the_second_axis_of_a_mesh() {
        const Mesh mesh{{{"data", 4}, {"model", 2}}};
        const auto tiles = ui::tensorTiles(mesh, {4096, 2048}, {{{}, over(1)}, {}});
        QCOMPARE(ui::tilesText(tiles), QString("0, 2, 4, 6: [:, 0:1024]\n"
                                               "1, 3, 5, 7: [:, 1024:2048]\n"));
        QCOMPARE(tiles.devicesLike(4), (std::vector{0, 2, 4, 6}));
    }

    // Issue 5: data and model on four devices; device (d, m) is 2d + m. Halves of the samples lie
    // on data ranks, halves of each weight on model ranks.
    void data_and_model_on_four_devices_split_samples_and_weights() {
        const auto plan = planned(kGpt, onMesh("2d", R"([["data",2],["model",2]])"));
        const auto inputs = ui::tensorSheet(*plan, *plan::find_tensor(*plan, "inputs"),
                                            ui::TensorSide::Parameter, test::kJax); // [1, 16, 8]
        QCOMPARE(ui::tilesText(inputs->tiles), QString("0-1: [:, 0:8, :]\n"
                                                       "2-3: [:, 8:16, :]\n"));
        const auto held = [&](const char* name) {
            return ui::tilesText(ui::tensorTiles(*plan, slotOf(*plan, name)));
        };
        QCOMPARE(held("blocks.0.mlp.up.weight"), QString("0, 2: [:, 0:32]\n"
                                                         "1, 3: [:, 32:64]\n"));
        QCOMPARE(held("blocks.0.mlp.down.weight"), QString("0, 2: [0:32, :]\n"
                                                           "1, 3: [32:64, :]\n"));
        QCOMPARE(held("blocks.0.norm1.weight"), QString("0-3: [:]\n"));
    }

    void five_rows_over_four_devices_leave_one_with_padding_alone() {
        const Mesh mesh{{{"data", 4}}};
        const auto tiles = ui::tensorTiles(mesh, {5}, {{over(0)}, {}});
        const std::vector<widgets::TileSpan> wanted = {{0, 2, 0}, {2, 2, 0}, {4, 1, 1}, {5, 0, 2}};
        QCOMPARE(tiles.dims[0], wanted);
        QCOMPARE(tiles.holders, (std::vector<std::vector<int>>{{0}, {1}, {2}, {3}}));
        QVERIFY(ui::tilesText(tiles).endsWith("3: [nothing]\n"));
    }

    // Rajbhandari et al. 2020: stage 1 cuts the optimizer's state, 2 the gradients, 3 the weights.
    void zero_stages_cut_one_side_after_the_other() {
        using ui::TensorSide;
        for (int stage = 0; stage <= 3; ++stage) {
            std::vector<std::string> overrides = onMesh("data_parallel", "");
            overrides.push_back("mesh.zero_stage=" + std::to_string(stage));
            const auto plan = planned(kGpt, overrides);
            const plan::StateSlot& slot = slotOf(*plan, "blocks.0.mlp.up.weight"); // [16, 64]
            const auto tiles = [&](TensorSide side) {
                return ui::tensorSheet(*plan, slot, side, test::kJax)->tiles.tileCount();
            };
            QCOMPARE(tiles(TensorSide::Optimizer), stage >= 1 ? 4 : 1);
            QCOMPARE(tiles(TensorSide::Gradient), stage >= 2 ? 4 : 1);
            QCOMPARE(tiles(TensorSide::Parameter), stage >= 3 ? 4 : 1);
            // Adam keeps two numbers for each.
            QCOMPARE(ui::tensorSheet(*plan, slot, TensorSide::Optimizer, test::kJax)->local_bytes,
                     qint64{2 * 16 * 64 * 4 / (stage >= 1 ? 4 : 1)});
        }
    }

    // Megatron's layer on data=2 x model=2, activations [16, 8, C]: samples over data, hidden
    // numbers over model; and what a weight makes that is split over its rows are terms of sums.
    void activations_differ_by_what_splits_them() {
        using ui::TensorSide;
        const auto plan = planned(kGpt, onMesh("2d", R"([["data",2],["model",2]])"));
        const auto sheet = [&](const char* weight) {
            return ui::tensorSheet(*plan, slotOf(*plan, weight), TensorSide::Activation,
                                   test::kJax);
        };
        const auto up = sheet("blocks.0.mlp.up.weight");
        QCOMPARE(up->name, QString("blocks.0.mlp.up output"));
        QCOMPARE(ui::tilesText(up->tiles), QString("0: [0:8, :, 0:32]\n"
                                                   "1: [0:8, :, 32:64]\n"
                                                   "2: [8:16, :, 0:32]\n"
                                                   "3: [8:16, :, 32:64]\n"));
        QCOMPARE(up->copies, 1);
        const auto down = sheet("blocks.0.mlp.down.weight");
        QCOMPARE(down->sum_axes, QStringList{"model"});
        QCOMPARE(down->copies, 1);
        QVERIFY(!ui::tensorSheet(*plan, *plan::find_tensor(*plan, "inputs"), TensorSide::Activation,
                                 test::kJax));
        const auto sequence = planned(kGpt, onMesh("context_parallel", "", 2));
        const auto norm = ui::tensorSheet(*sequence, slotOf(*sequence, "blocks.0.norm1.weight"),
                                          TensorSide::Activation, test::kJax);
        QCOMPARE(ui::tilesText(norm->tiles), QString("0: [:, 0:4, :]\n"
                                                     "1: [:, 4:8, :]\n"));
    }

    // Issue 5: a batch of 128 on four devices.
    void the_batch_stands_in_the_tree_and_is_cut_into_quarters() {
        std::vector<std::string> overrides = onMesh("data_parallel", "");
        overrides.push_back("training.global_batch_size=128");
        const auto plan = planned(kGpt, overrides);
        ui::TensorTreeModel model;
        const QAbstractItemModelTester tester(&model);
        model.setPlan(plan);
        const QModelIndex inputs = model.indexOf("inputs");
        QVERIFY(inputs.isValid());
        QCOMPARE(inputs.parent().data().toString(), QString("batch"));
        ui::TilePanel part;
        part.resize(390, 300);
        part.show();
        part.setPlan({ui::digestPlan(plan)});
        part.setTensor("inputs"); // [1, 128, 8]
        QCOMPARE(ui::tilesText(part.view()->array()), QString("0: [:, 0:32, :]\n"
                                                              "1: [:, 32:64, :]\n"
                                                              "2: [:, 64:96, :]\n"
                                                              "3: [:, 96:128, :]\n"));
        QVERIFY(!part.findChild<widgets::SegmentedControl*>("tensorSide")->isVisible());
        part.setTensor("blocks.0.mlp.up.weight");
        QVERIFY(part.findChild<widgets::SegmentedControl*>("tensorSide")->isVisible());
    }

    void bytes_are_written_in_three_places() {
        QCOMPARE(ui::shortMemory(40), QString("40 B"));
        QCOMPARE(ui::shortMemory(384 * 768 * 4), QString("1.13 MiB"));
        QCOMPARE(ui::shortMemory(864 * 1024), QString("864 KiB"));
        QCOMPARE(ui::shortMemory(21286092), QString("20.3 MiB"));
    }

    void the_tree_groups_layers_and_joins_those_that_repeat() {
        ui::TensorTreeModel model;
        const QAbstractItemModelTester tester(&model);
        model.setPlan(planned(kGpt, onMesh("2d", R"([["data",2],["model",2]])")));
        const QModelIndex blocks = model.indexOf("blocks.0.mlp.up.weight").parent().parent();
        QVERIFY(blocks.data().toString().startsWith("blocks"));
        QCOMPARE(model.rowCount(blocks), 2);
        const QModelIndex rest = model.index(1, 0, blocks);
        QCOMPARE(rest.data().toString(), QString("1 … 5"));
        QCOMPARE(rest.siblingAtColumn(ui::TensorTreeModel::ShapeColumn).data().toString(),
                 QString("like 0"));
        QCOMPARE(model.rowCount(rest), 5);
        const QModelIndex up = model.indexOf("blocks.4.mlp.up.weight");
        QCOMPARE(up.data().toString(), QString("mlp.up.weight"));
        QCOMPARE(up.siblingAtColumn(ui::TensorTreeModel::SpecColumn).data().toString(),
                 QString("P(None, 'model')"));
        QCOMPARE(up.siblingAtColumn(ui::TensorTreeModel::BytesColumn).data().toString(),
                 QString("2.00 KiB")); // 16 x 32 numbers of 4 bytes
        QCOMPARE(up.siblingAtColumn(ui::TensorTreeModel::CopiesColumn).data().toString(),
                 QString("×2"));
        model.setWords("mlp.up weight");
        QCOMPARE(model.shownCount(), 6);
        QCOMPARE(model.rowCount(model.index(0, 0)), 6);
        model.setWords("no such tensor");
        QCOMPARE(model.rowCount(), 0);
        model.setPlan(nullptr);
        QCOMPARE(model.tensorCount(), 0);
    }

    // A group of a pipeline takes on a device what the stage with most of it takes.
    void groups_of_a_pipeline_do_not_add_up_stages() {
        ui::TensorTreeModel model;
        model.setPlan(planned(kGpt, onMesh("pipeline", "", 2)));
        const QModelIndex layer = model.indexOf("blocks.0.mlp.up.weight").parent();
        const QModelIndex blocks = layer.parent();
        const auto bytes = [](const QModelIndex& index) {
            return index.siblingAtColumn(ui::TensorTreeModel::BytesColumn).data().toString();
        };
        QCOMPARE(bytes(layer), QString("12.8 KiB"));  // 12 C^2 + 13 C numbers with C = 16
        QCOMPARE(bytes(blocks), QString("38.4 KiB")); // three of the six
    }

    void a_tensor_is_chosen_by_mouse_and_stays_chosen_in_the_next_plan() {
        ui::TensorTree tree;
        tree.resize(520, 500);
        tree.show();
        QSignalSpy chosen(&tree, &ui::TensorTree::tensorChosen);
        tree.setPlan({ui::digestPlan(planned(kGpt, onMesh("2d", R"([["data",2],["model",2]])")))});
        QCOMPARE(chosen.size(), 1); // one is always chosen
        auto* view = tree.findChild<QTreeView*>("tensorTree");
        auto* model = static_cast<ui::TensorTreeModel*>(view->model());
        const QModelIndex up = model->indexOf("blocks.0.mlp.up.weight");
        view->scrollTo(up);
        QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, view->visualRect(up).center());
        QCOMPARE(tree.chosen(), QString("blocks.0.mlp.up.weight"));
        QCOMPARE(chosen.size(), 2);
        tree.setPlan({ui::digestPlan(planned(kGpt, {}))});
        QCOMPARE(tree.chosen(), QString("blocks.0.mlp.up.weight"));
        QCOMPARE(view->currentIndex(), model->indexOf("blocks.0.mlp.up.weight"));
        QCOMPARE(chosen.size(), 2);
        QTest::keyClicks(tree.findChild<QLineEdit*>("tensorFilter"), "qkv bias");
        QCOMPARE(model->shownCount(), 6);
        QCOMPARE(tree.chosen(), QString("blocks.0.mlp.up.weight")); // hidden, but still looked at
        tree.setPlan({nullptr});
        QCOMPARE(tree.chosen(), QString());
    }

    void the_part_shows_a_tensor_and_lights_devices() {
        ui::TilePanel part;
        part.resize(390, 300);
        part.show();
        part.setPlan({ui::digestPlan(planned(kGpt, onMesh("2d", R"([["data",2],["model",2]])")))});
        part.setTensor("blocks.0.mlp.up.weight");
        QCOMPARE(part.partText(), QString("[16, 32]"));
        QCOMPARE(part.findChild<widgets::TextLabel*>("tensorFacts")->text(),
                 QString("[16, 32] a device · 2.00 KiB · ×2 over data"));
        const std::vector<std::vector<int>> owners = {{0, 2}, {1, 3}};
        QCOMPARE(part.view()->shards().owners, owners);
        QSignalSpy selected(&part, &ui::TilePanel::deviceSelected);
        part.setSelectedDevice(2);
        QCOMPARE(selected.size(), 0); // told, not asked
        auto* view = part.findChild<widgets::TileView*>("tileView");
        QCOMPARE(view->selectedDevice(), 2);
        QTest::mouseClick(view, Qt::LeftButton, {}, view->item(1).rect.center().toPoint());
        QCOMPARE(selected.size(), 1);
        QCOMPARE(selected[0][0].toInt(), 1);
    }

    void a_side_that_a_tensor_lacks_is_not_offered() {
        ui::TilePanel part;
        std::vector<std::string> overrides = onMesh("data_parallel", "");
        overrides.push_back("mesh.zero_stage=1");
        part.setPlan({ui::digestPlan(planned(kGpt, overrides))});
        part.setTensor("blocks.0.mlp.up.weight");
        auto* side = part.findChild<widgets::SegmentedControl*>("tensorSide");
        side->setCurrentIndex(static_cast<int>(ui::TensorSide::Optimizer));
        QCOMPARE(part.view()->array().tileCount(), 4);
        overrides.push_back("optimizer={\"type\": \"sgd\", \"momentum\": 0}");
        part.setPlan({ui::digestPlan(planned(kGpt, overrides))});
        QCOMPARE(side->currentIndex(), static_cast<int>(ui::TensorSide::Parameter));
        QCOMPARE(part.view()->array().tileCount(), 1);
    }

    void an_array_of_four_dimensions_can_be_turned() {
        ui::TilePanel part;
        part.resize(390, 300);
        part.show();
        part.setPlan({ui::digestPlan(planned(kCnn, onMesh("fsdp", "")))});
        part.setTensor("layers.0.weight"); // [3, 3, 1, 4]
        auto* rows = part.findChild<QComboBox*>("tileRows");
        QVERIFY(rows->isVisible());
        const int columns = part.view()->columnAxis();
        rows->setCurrentIndex(columns); // the other one gives way
        QCOMPARE(part.view()->rowAxis(), columns);
        QVERIFY(part.view()->columnAxis() != columns);
        part.setTensor("layers.0.bias");
        QVERIFY(!rows->isVisible());
    }

    // UX.md, target 12: 50 ms for 64 devices x 500 tensors. Four times that, for debug builds on
    // busy machines.
    void hundreds_of_tensors_on_64_devices_appear_at_once() {
        std::vector<std::string> overrides = onMesh("fsdp", "", 64);
        overrides.insert(overrides.end(), {"model.layers=42", "training.global_batch_size=64"});
        const auto digest = ui::digestPlan(planned(kGpt, overrides));
        ui::TensorTree tree;
        ui::TilePanel part;
        connect(&tree, &ui::TensorTree::tensorChosen, &part, &ui::TilePanel::setTensor);
        part.setPlan({digest});
        QElapsedTimer timer;
        timer.start();
        tree.setPlan({digest});
        const double ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        qInfo("%zu slots: %.2f ms", digest->plan->state_slots.size(), ms);
        QVERIFY2(ms < 200, qPrintable(QString::number(ms)));
    }
};

WEFT_TEST(TensorTilesTest)
#include "tensor_tiles_test.moc"
