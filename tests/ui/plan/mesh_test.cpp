// SPDX-License-Identifier: GPL-3.0-or-later
// The mesh of a draft: edits as assignments, and the page by mouse and keys.
#include "core/compile/mesh/mesh_config.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/draft/mesh_edit.h"
#include "ui/pages/plan/mesh/mesh_panel.h"
#include "ui/pages/plan/plan_page.h"
#include "widgets/controls/messages.h"
#include "widgets/mesh/device_grid.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QSpinBox>

namespace {

using namespace weft;
using test::kPatienceMs;
using ui::MeshEdit;

config::Json plain_document() {
    return config::json_of(R"({
      "schema_version": 1, "name": "small-gpt",
      "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 64, "samples": 512}},
      "model": {"type": "gpt2", "layers": 4, "width": 32, "heads": 4, "context": 16, "vocab": 64},
      "training": {"length": {"steps": 10}, "global_batch_size": 16}
    })");
}

MeshEdit edit_of(const config::Json& document, const std::vector<std::string>& overrides) {
    const compile::CheckedRun checked = compile::read_run_config(document, "/", overrides);
    WEFT_CHECK(checked.ok(), config::to_text(checked.diagnostics.front()));
    return MeshEdit::of(checked.config);
}

compile::RunConfig plain_config() {
    return compile::read_run_config(plain_document(), "/", {}).config;
}

widgets::DeviceGrid& grid_of(test::StudioFixture& fixture) {
    return *static_cast<widgets::DeviceGrid*>(fixture.find("meshGrid"));
}

void open_mesh(test::StudioFixture& fixture) {
    fixture.studio().draft().setDocument(plain_document(), fixture.root());
    fixture.window().showPage("plan");
    QTRY_VERIFY_WITH_TIMEOUT(fixture.find("planTab")->isVisible(), kPatienceMs);
    QTest::mouseClick(fixture.find("planTab")->findChildren<QAbstractButton*>().first(),
                      Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(grid_of(fixture).itemCount() == 4, kPatienceMs);
}

} // namespace

class MeshTest : public QObject {
    Q_OBJECT

private slots:
    // Every strategy on every count of devices gives a configuration that is right, with a mesh of
    // just so many devices.
    void every_edit_is_a_mesh_of_its_number_of_devices() {
        const compile::RunConfig config = plain_config();
        for (const char* strategy :
             {"replicated", "data_parallel", "fsdp", "hybrid_fsdp", "tensor_parallel", "2d",
              "pipeline", "3d", "context_parallel", "expert_parallel"}) {
            for (const int devices : {2, 3, 4, 6, 8}) {
                const bool deep = strategy == std::string("pipeline") && devices > 4;
                const MeshEdit edit = ui::withStrategy({devices, strategy, {}, 0}, strategy);
                int product = 1;
                for (const ui::MeshAxis& axis : edit.axes) {
                    product *= axis.size;
                }
                QCOMPARE(product, devices);
                const auto checked = compile::read_run_config(plain_document(), "/",
                                                              ui::assignmentsOf(edit, config));
                QVERIFY2(checked.ok() || deep,
                         (std::string(strategy) + " on " + std::to_string(devices)).c_str());
                if (checked.ok()) {
                    QVERIFY(MeshEdit::of(checked.config) == edit);
                }
            }
        }
    }

    void sizes_order_and_devices_stay_in_step() {
        MeshEdit edit = ui::exampleMesh();
        QVERIFY((edit.axes == std::vector<ui::MeshAxis>{{"data", 2}, {"model", 2}}));
        edit = ui::withAxisSize(edit, 0, 3);
        QCOMPARE(edit.devices, 6);
        edit = ui::withDevices(edit, 8);
        QVERIFY((edit.axes == std::vector<ui::MeshAxis>{{"data", 4}, {"model", 2}}));
        edit = ui::withAxisMoved(edit, 1, 0);
        QVERIFY((edit.axes == std::vector<ui::MeshAxis>{{"model", 2}, {"data", 4}}));
        // Order is kept by the draft: it is placement.
        QVERIFY(edit_of(plain_document(), ui::assignmentsOf(edit, plain_config())) == edit);
        // Three devices do not divide by the other axis: the strategy's axes are dealt out anew.
        QCOMPARE(ui::withDevices(edit, 3).devices, 3);
    }

    // The strategy table of issue 5: what each card splits over which axes.
    void the_strategy_table_is_the_row_of_cards_data() {
        QTest::addColumn<QString>("title");
        QTest::addColumn<int>("devices");
        QTest::addColumn<QString>("samples");
        QTest::addColumn<QString>("weights");
        QTest::addColumn<QString>("layers");
        QTest::newRow("replicated") << "Replicated" << 4 << ""
                                    << ""
                                    << "";
        QTest::newRow("data_parallel") << "Data" << 4 << "data"
                                       << ""
                                       << "";
        QTest::newRow("tensor_parallel") << "Model" << 4 << ""
                                         << "model"
                                         << "";
        QTest::newRow("2d") << "2D" << 4 << "data"
                            << "model"
                            << "";
        QTest::newRow("pipeline") << "Pipeline" << 4 << ""
                                  << ""
                                  << "pipeline";
        QTest::newRow("3d") << "3D" << 8 << "data"
                            << "model"
                            << "pipeline";
    }

    void the_strategy_table_is_the_row_of_cards() {
        QFETCH(QString, title);
        QFETCH(int, devices);
        QFETCH(QString, samples);
        QFETCH(QString, weights);
        QFETCH(QString, layers);
        ui::MeshBar bar;
        bar.resize(1280, 160);
        bar.setEdit(ui::withStrategy({devices, "fsdp", {}, 0}, "fsdp"),
                    ui::MeshBar::Where::Simulated, false);
        bar.show();
        MeshEdit chosen;
        connect(&bar, &ui::MeshBar::edited, &bar, [&](const MeshEdit& edit) { chosen = edit; });
        auto* card =
            bar.findChild<QAbstractButton*>(QString("strategy_") + QTest::currentDataTag());
        QCOMPARE(card->text(), title);
        QVERIFY(!card->accessibleDescription().isEmpty()); // what it does, and when to use it
        QTest::mouseClick(card, Qt::LeftButton);
        QCOMPARE(chosen.strategy, std::string(QTest::currentDataTag()));
        QCOMPARE(chosen.devices, devices);
        const auto checked = compile::read_run_config(plain_document(), "/",
                                                      ui::assignmentsOf(chosen, plain_config()));
        QVERIFY(checked.ok());
        const sharding::Placement placement = compile::placement_of(checked.config.section("mesh"));
        const auto over = [&](const char* logical) {
            QStringList names;
            for (const int axis : placement.axes_of(logical)) {
                names << QString::fromStdString(
                    placement.mesh.axes[static_cast<std::size_t>(axis)].name);
            }
            return names.join(' ');
        };
        QCOMPARE(over("batch"), samples);
        QCOMPARE(over("mlp"), weights);
        QCOMPARE(over("layers"), layers);
    }

    void a_pipeline_gets_microbatches_to_work_on() {
        const MeshEdit edit = ui::withStrategy({4, "pipeline", {}, 0}, "pipeline");
        const auto checked = compile::read_run_config(plain_document(), "/",
                                                      ui::assignmentsOf(edit, plain_config()));
        QVERIFY(checked.ok());
        QVERIFY(checked.config.micro_batch_size.has_value());
        QVERIFY(16 / *checked.config.micro_batch_size >= 4);
    }

    void a_draft_of_one_device_shows_four_until_they_are_used() {
        test::StudioFixture fixture;
        open_mesh(fixture);
        ui::Draft& draft = fixture.studio().draft();
        QVERIFY(fixture.find("meshExample")->isVisible());
        QVERIFY(MeshEdit::of(draft.config()).single());
        // Another strategy changes the example, not the draft.
        fixture.click("strategy_pipeline");
        QTRY_VERIFY_WITH_TIMEOUT(grid_of(fixture).item(3).name.contains("pipeline=3"), kPatienceMs);
        QVERIFY(MeshEdit::of(draft.config()).single());
        fixture.click("useExample");
        QVERIFY(!fixture.find("meshExample")->isVisible());
        QCOMPARE(MeshEdit::of(draft.config()).devices, 4);
        QCOMPARE(MeshEdit::of(draft.config()).strategy, std::string("pipeline"));
        draft.undo();
        QVERIFY(MeshEdit::of(draft.config()).single());
        QVERIFY(fixture.find("meshExample")->isVisible());
    }

    void the_mesh_is_edited_by_mouse_and_keys() {
        test::StudioFixture fixture;
        open_mesh(fixture);
        ui::Draft& draft = fixture.studio().draft();
        fixture.click("useExample");
        QTRY_VERIFY_WITH_TIMEOUT(grid_of(fixture).item(1).name.contains("data=0 model=1"),
                                 kPatienceMs);
        QTest::keyClick(fixture.find("axisGrip_model"), Qt::Key_Left);
        QCOMPARE(MeshEdit::of(draft.config()).axes.front().name, std::string("model"));
        QTRY_VERIFY_WITH_TIMEOUT(grid_of(fixture).item(1).name.contains("model=0 data=1"),
                                 kPatienceMs);
        auto* size = static_cast<QSpinBox*>(fixture.find("axisSize_data"));
        size->setFocus();
        size->selectAll();
        QTest::keyClicks(size, "4");
        QTest::keyClick(size, Qt::Key_Return);
        QCOMPARE(MeshEdit::of(draft.config()).devices, 8);
        QTRY_VERIFY_WITH_TIMEOUT(grid_of(fixture).itemCount() == 8, kPatienceMs);
        // Cards by keys.
        QWidget* card = fixture.find("strategy_2d");
        card->setFocus();
        QTest::keyClick(card, Qt::Key_Left);
        QTest::keyClick(fixture.find("strategy_tensor_parallel"), Qt::Key_Space);
        QCOMPARE(MeshEdit::of(draft.config()).strategy, std::string("tensor_parallel"));
        QTRY_VERIFY_WITH_TIMEOUT(grid_of(fixture).item(1).name.contains("model=1"), kPatienceMs);
        // A device is chosen and let go by keys.
        widgets::DeviceGrid& grid = grid_of(fixture);
        grid.setFocus();
        grid.setCursorItem(2);
        QTest::keyClick(&grid, Qt::Key_Return);
        QCOMPARE(grid.selectedDevice(), 2);
        QTest::keyClick(&grid, Qt::Key_Return);
        QCOMPARE(grid.selectedDevice(), -1);
    }

    void hardware_that_was_chosen_stays_chosen() {
        test::StudioFixture fixture;
        open_mesh(fixture);
        auto* where = fixture.find("meshWhere");
        using Where = ui::MeshBar::Where;
        const auto press = [where](Where segment) {
            QTest::mouseClick(where->findChildren<QAbstractButton*>()[static_cast<int>(segment)],
                              Qt::LeftButton);
        };
        auto* hardware = static_cast<QComboBox*>(fixture.find("planHardware"));
        press(Where::Planned);
        QTRY_VERIFY(hardware->isVisible());
        hardware->setFocus();
        QTest::keyClick(hardware, Qt::Key_Down);
        const QString chosen = hardware->currentText();
        QCOMPARE(hardware->currentIndex(), 2);
        fixture.studio().draft().undo(); // the example again, for this hardware
        QTRY_VERIFY(fixture.find("useExample")->isVisible());
        fixture.click("useExample");
        QCOMPARE(MeshEdit::of(fixture.studio().draft().config()).devices, 4);
        QCOMPARE(hardware->currentText(), chosen);
        // Another place takes it away, which is said; the way back leads to it.
        const auto said = [&](const QString& words) {
            const auto& notes = fixture.window().findChild<widgets::ToastHost*>()->history();
            return std::any_of(notes.begin(), notes.end(),
                               [&](const auto& note) { return note.text.contains(words); });
        };
        QVERIFY(!said("no longer for " + chosen));
        press(Where::Simulated);
        QCOMPARE(hardware->currentIndex(), 0);
        QVERIFY(said("no longer for " + chosen));
        QVERIFY(!said(chosen + " now"));
        press(Where::Planned);
        QCOMPARE(hardware->currentText(), chosen);
        QVERIFY(said(chosen + " now"));
    }

    void a_draft_that_names_its_hardware_is_planned_for_that() {
        test::StudioFixture fixture;
        open_mesh(fixture);
        auto* hardware = static_cast<QComboBox*>(fixture.find("planHardware"));
        const int other = hardware->findText("NVIDIA H100", Qt::MatchStartsWith);
        QVERIFY(other > 0);
        hardware->setCurrentIndex(other);
        const QString before = hardware->currentText();
        const auto named = [&](const char* devices) {
            config::Json document = plain_document();
            document["mesh"] = {{"devices", devices}, {"strategy", "data_parallel"}};
            fixture.studio().draft().setDocument(document, fixture.root());
        };
        named("h200:4");
        QTRY_COMPARE_WITH_TIMEOUT(hardware->currentIndex(), 0, kPatienceMs);
        QVERIFY2(hardware->currentText().startsWith("NVIDIA H200"),
                 qPrintable(hardware->currentText()));
        const auto& notes = fixture.window().findChild<widgets::ToastHost*>()->history();
        QVERIFY(std::any_of(notes.begin(), notes.end(), [&](const auto& note) {
            return note.text.contains("no longer for " + before);
        }));
        // What is chosen for this draft stays with it, however it is edited.
        hardware->setCurrentIndex(other);
        named("h200:8");
        QTRY_COMPARE_WITH_TIMEOUT(grid_of(fixture).itemCount(), 8, kPatienceMs);
        QCOMPARE(hardware->currentText(), before);
    }

    void devices_stand_as_before_when_there_are_as_many_again() {
        test::StudioFixture fixture;
        fixture.window().resize(1440, 900);
        open_mesh(fixture);
        QTest::mouseClick(fixture.find("meshWhere")
                              ->findChildren<QAbstractButton*>()
                              .at(static_cast<int>(ui::MeshBar::Where::Simulated)),
                          Qt::LeftButton);
        widgets::DeviceGrid& grid = grid_of(fixture);
        const auto columns = [&] {
            int out = 0;
            while (out < grid.itemCount() && grid.item(out).rect.top() == grid.item(0).rect.top()) {
                ++out;
            }
            return out;
        };
        QTRY_COMPARE(columns(), 2);
        auto* devices = static_cast<QSpinBox*>(fixture.find("meshDevices"));
        for (const int count : {8, 4}) {
            devices->selectAll();
            QTest::keyClicks(devices, QString::number(count));
            QTest::keyClick(devices, Qt::Key_Return);
            QTRY_COMPARE_WITH_TIMEOUT(grid.itemCount(), count, kPatienceMs);
            QTRY_COMPARE(columns(), 2);
            QCOMPARE(grid.detail(), widgets::DeviceGrid::Detail::Cards);
            for (int device = 0; device < count; ++device) { // none has to be scrolled to
                QVERIFY(QRectF(grid.rect()).contains(grid.item(device).rect));
                QVERIFY(grid.visibleRegion().contains(
                    grid.item(device).rect.toAlignedRect().adjusted(1, 1, -1, -1)));
            }
        }
    }

    void hardware_that_is_not_here_sets_the_limit() {
        test::StudioFixture fixture;
        open_mesh(fixture);
        auto* hardware = static_cast<QComboBox*>(fixture.find("planHardware"));
        QVERIFY(!hardware->isVisible()); // the switch says that it is this machine
        QTest::mouseClick(fixture.find("meshWhere")->findChildren<QAbstractButton*>().last(),
                          Qt::LeftButton);
        QTRY_VERIFY(hardware->isVisible());
        QCOMPARE(hardware->currentIndex(), 1);
        QCOMPARE(MeshEdit::of(fixture.studio().draft().config()).devices, 4);
        const cost::Hardware& first = cost::hardware_catalogue().front();
        QTRY_VERIFY_WITH_TIMEOUT(
            grid_of(fixture).item(0).name.contains(QString::fromUtf8(first.kind.data()) + ":0"),
            kPatienceMs);
        QTest::mouseClick(fixture.find("meshWhere")->findChildren<QAbstractButton*>().first(),
                          Qt::LeftButton);
        QCOMPARE(hardware->currentIndex(), 0);
        QVERIFY(MeshEdit::of(fixture.studio().draft().config()).single());
    }
};

WEFT_TEST(MeshTest)
#include "mesh_test.moc"
