// SPDX-License-Identifier: GPL-3.0-or-later
// The Mesh page as somebody works on it who comes from PyTorch: specs as placements, the batch on
// one line, and room for what is looked at.
#include "core/compile/programs/programs.h"
#include "tests/support/weft_test.h"
#include "tests/ui/filled_buttons.h"
#include "tests/ui/hands.h"
#include "tests/ui/mesh_support.h"
#include "tests/ui/patience.h"
#include "ui/bridge/draft/batch_edit.h"
#include "ui/bridge/draft/mesh_edit.h"
#include "ui/bridge/plan/reshard_map.h"
#include "ui/models/collective_model.h"
#include "ui/models/tensor_tree_model.h"
#include "ui/pages/plan/mesh/mesh_drawer.h"
#include "ui/pages/plan/mesh/rules/rules_panel.h"
#include "ui/pages/plan/mesh/rules/tensor_tree.h"
#include "ui/pages/plan/plan_page.h"
#include "ui/plurals.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTreeView>

namespace {

using namespace weft;
using test::kPatienceMs;
using test::StudioFixture;

constexpr auto kDTensor = sharding::SpecDialect::dtensor;
constexpr int kAdviceInDrawer = 3;
constexpr int kCompareInDrawer = 4;
const QString kUpMatrix = "blocks.0.mlp.up.weight";

/// A small GPT of 16 samples an update in micro batches of 2, on two by two devices.
const char* const kPageGpt = R"({
  "schema_version": 1, "name": "small-gpt", "seed": 3,
  "data": {"train": {"type": "synthetic", "kind": "tokens", "length": 16, "vocab": 64,
                     "samples": 512}},
  "model": {"type": "gpt2", "layers": 4, "width": 32, "heads": 2, "context": 16, "vocab": 64,
            "dropout": 0.0},
  "training": {"length": {"steps": 10}, "global_batch_size": 16, "micro_batch_size": 2,
               "precision": "f32"},
  "evaluation": {"samples": 0},
  "mesh": {"devices": "cpu:4", "strategy": "2d", "axes": [["data", 2], ["model", 2]]}
})";

/// The scroll area that a widget is in.
QScrollArea* scroll_around(const QWidget* widget) {
    QWidget* around = widget->parentWidget();
    while (around != nullptr && qobject_cast<QScrollArea*>(around) == nullptr) {
        around = around->parentWidget();
    }
    return static_cast<QScrollArea*>(around);
}

QAbstractButton* page_segment(StudioFixture& fixture, const char* control, int index) {
    return fixture.find(control)->findChildren<QAbstractButton*>().at(index);
}

/// Opens the mesh of the draft and waits until it is planned.
void open_mesh_page(StudioFixture& fixture, const QSize& size = {1440, 900}) {
    fixture.window().resize(size);
    fixture.window().showPage("plan");
    QTRY_VERIFY_WITH_TIMEOUT(fixture.find("planTab")->isVisible(), kPatienceMs);
    QTest::mouseClick(page_segment(fixture, "planTab", 0), Qt::LeftButton);
    const auto& preview = fixture.window().findChild<ui::PlanPage*>()->preview();
    QTRY_VERIFY_WITH_TIMEOUT(preview.isComplete() && !preview.isStale(), kPatienceMs);
}

void give_draft(StudioFixture& fixture) {
    fixture.studio().draft().setDocument(config::json_of(kPageGpt), fixture.root());
}

QTreeView& page_tree(StudioFixture& fixture) {
    return *static_cast<QTreeView*>(fixture.find("tensorTree"));
}

QModelIndex tensor_row(StudioFixture& fixture, const QString& tensor) {
    return static_cast<ui::TensorTreeModel*>(page_tree(fixture).model())->indexOf(tensor);
}

QString spec_shown(StudioFixture& fixture, const QString& tensor) {
    return tensor_row(fixture, tensor)
        .siblingAtColumn(ui::TensorTreeModel::SpecColumn)
        .data()
        .toString();
}

compile::BatchPlan batch_in(const ui::Draft& draft) {
    return compile::plan_batch(draft.config());
}

void type_in_box(StudioFixture& fixture, const char* box, int number) {
    auto* edit = static_cast<QSpinBox*>(fixture.find(box));
    edit->setFocus();
    edit->selectAll();
    QTest::keyClicks(edit, QString::number(number));
    QTest::keyClick(edit, Qt::Key_Return);
}

/// The page that it is on.
QScrollArea* scrolled_by(const QWidget* widget) {
    QScrollArea* out = nullptr;
    for (QWidget* at = widget->parentWidget(); at != nullptr; at = at->parentWidget()) {
        auto* area = qobject_cast<QScrollArea*>(at);
        out = area != nullptr ? area : out;
    }
    return out;
}

QString text_on_page(StudioFixture& fixture, const char* name) {
    return static_cast<widgets::TextLabel*>(fixture.find(name))->text();
}

} // namespace

class MeshPageTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }

    void specs_are_written_as_placements_and_stay_so() {
        StudioFixture fixture;
        give_draft(fixture);
        open_mesh_page(fixture);
        QCOMPARE(spec_shown(fixture, kUpMatrix), QString("P(None, 'model')"));
        page_tree(fixture).setCurrentIndex(tensor_row(fixture, kUpMatrix));
        QTest::mouseClick(page_segment(fixture, "specDialect", 1), Qt::LeftButton);
        QCOMPARE(spec_shown(fixture, kUpMatrix), QString("[Replicate(), Shard(1)]"));
        QCOMPARE(page_tree(fixture)
                     .model()
                     ->headerData(ui::TensorTreeModel::SpecColumn, Qt::Horizontal, Qt::DisplayRole)
                     .toString(),
                 QString("placements"));
        const QString tip = tensor_row(fixture, kUpMatrix).data(Qt::ToolTipRole).toString();
        QVERIFY2(tip.contains("placements on the mesh axes data, model"), qPrintable(tip));
        // A fused weight is split in each of its three parts, which Shard cannot say.
        const QString fused =
            tensor_row(fixture, "blocks.0.attention.qkv.weight").data(Qt::ToolTipRole).toString();
        QVERIFY2(fused.contains("each of its 3 parts"), qPrintable(fused));
        QCOMPARE(page_tree(fixture).currentIndex(),
                 tensor_row(fixture, kUpMatrix)); // is still chosen
        QVERIFY(fixture.studio().settings().values().specs == kDTensor);
        fixture.reopen();
        give_draft(fixture);
        open_mesh_page(fixture);
        QCOMPARE(spec_shown(fixture, kUpMatrix), QString("[Replicate(), Shard(1)]"));
        QVERIFY(page_segment(fixture, "specDialect", 1)->isChecked());
    }

    void overrides_can_be_typed_as_placements() {
        StudioFixture fixture;
        give_draft(fixture);
        open_mesh_page(fixture);
        QTest::mouseClick(page_segment(fixture, "specDialect", 1), Qt::LeftButton);
        QTest::mouseClick(page_segment(fixture, "meshDrawer", 1), Qt::LeftButton);
        fixture.click("specAdd");
        QTest::keyClicks(fixture.find("specPattern_0"), "*.up.weight");
        auto* text = static_cast<QLineEdit*>(fixture.find("specText_0"));
        QCOMPARE(text->placeholderText(), QString("[Shard(0), Replicate()]"));
        QTest::keyClicks(text, "[Shard(0)]");
        QTest::keyClick(text, Qt::Key_Return);
        auto* verdict = static_cast<widgets::ElidedLabel*>(fixture.find("specWords_0"));
        QVERIFY2(verdict->text().contains("1 placements for 2 axes"), qPrintable(verdict->text()));
        text->selectAll();
        QTest::keyClicks(text, "[Shard(0), Shard(1)]");
        QTest::keyClick(text, Qt::Key_Return);
        // The draft has them in one dialect.
        const auto specs = [&] {
            return fixture.studio().draft().config().section("mesh").at("specs").dump();
        };
        QTRY_COMPARE(specs(), std::string(R"x({"*.up.weight":"P('data', 'model')"})x"));
        QTRY_COMPARE(spec_shown(fixture, kUpMatrix), QString("[Shard(0), Shard(1)]"));
        QCOMPARE(text->text(), QString("[Shard(0), Shard(1)]"));
        QTest::mouseClick(page_segment(fixture, "specDialect", 0), Qt::LeftButton);
        QCOMPARE(text->text(), QString("P('data', 'model')"));
    }

    void a_checkpoint_on_another_mesh_is_told_in_placements() {
        QTemporaryDir folder;
        const auto manifest =
            test::save_zeros(test::mesh_config(test::kHere), folder.path().toStdString());
        const ui::ReshardMap map = ui::mapReshard(
            manifest.path,
            test::mesh_config({"mesh.devices=cpu:2", "mesh.strategy=fsdp"}).section("mesh"),
            kDTensor);
        QCOMPARE(map.problem, QString());
        const auto row = std::find_if(map.rows.begin(), map.rows.end(),
                                      [](const auto& one) { return one.name == kUpMatrix; });
        QVERIFY(row != map.rows.end());
        QCOMPARE(row->from_spec, QString("[Replicate(), Shard(1)]"));
        QVERIFY2(row->to_spec == "[Shard(0)]" || row->to_spec == "[Shard(1)]",
                 qPrintable(row->to_spec));
    }

    void micro_batch_and_accumulation_add_up_to_the_batch() {
        StudioFixture fixture;
        give_draft(fixture);
        open_mesh_page(fixture);
        const ui::Draft& draft = fixture.studio().draft();
        const auto shown = [&](const char* box) {
            return static_cast<QSpinBox*>(fixture.find(box))->value();
        };
        QCOMPARE(shown("batchSamples"), 16);
        QCOMPARE(shown("batchMicro"), 2);
        QCOMPARE(shown("batchAccumulation"), 4);
        QCOMPARE(text_on_page(fixture, "batchShards"), QString("× 2 shards"));
        // Fewer, larger micro batches of the same batch.
        type_in_box(fixture, "batchAccumulation", 2);
        QTRY_COMPARE(batch_in(draft).micro_batch_size, std::int64_t{4});
        QCOMPARE(draft.config().global_batch_size, std::int64_t{16});
        QTRY_COMPARE(shown("batchMicro"), 4);
        // An arrow steps to what divides.
        fixture.find("batchMicro")->setFocus();
        QTest::keyClick(fixture.find("batchMicro"), Qt::Key_Up);
        QTRY_COMPARE(batch_in(draft).micro_batch_size, std::int64_t{8});
        QTRY_COMPARE(shown("batchAccumulation"), 1);
        QVERIFY(!draft.config().micro_batch_size); // the whole share, whatever the mesh
        type_in_box(fixture, "batchSamples", 24);
        QTRY_COMPARE(batch_in(draft).micro_batch_size, std::int64_t{12});
    }

    void a_batch_that_does_not_divide_is_said_beside_it_and_changes_nothing() {
        StudioFixture fixture;
        give_draft(fixture);
        open_mesh_page(fixture);
        const std::string before = fixture.studio().draft().text();
        const int top = fixture.find("tensorTree")->mapTo(&fixture.window(), QPoint()).y();
        type_in_box(fixture, "batchMicro", 3);
        QTRY_COMPARE(text_on_page(fixture, "meshRemark"),
                     QString("3 does not divide the 8 samples of each of 2 data shards: use 2 or "
                             "4"));
        type_in_box(fixture, "batchSamples", 18);
        QTRY_COMPARE(text_on_page(fixture, "meshRemark"),
                     QString("18 samples are not whole micro batches of 2 on 2 data shards: use 16 "
                             "or 20"));
        QCOMPARE(fixture.studio().draft().text(), before);
        QCoreApplication::processEvents();
        QCOMPARE(fixture.find("tensorTree")->mapTo(&fixture.window(), QPoint()).y(), top);
        type_in_box(fixture, "batchSamples", 16); // back to what is
        QTRY_VERIFY(text_on_page(fixture, "meshRemark").startsWith("exact, not faster"));
        QCOMPARE(static_cast<QSpinBox*>(fixture.find("batchMicro"))->value(), 2);
    }

    void a_pipeline_needs_its_microbatches() {
        const compile::RunConfig config =
            test::mesh_config({"mesh.devices=cpu:2", "mesh.strategy=pipeline",
                               "mesh.pipeline={\"schedule\":\"interleaved_1f1b\"}",
                               "training.global_batch_size=16", "training.micro_batch_size=2"});
        QVERIFY(ui::withAccumulation(config, 4).problem.isEmpty());
        QVERIFY(!ui::withAccumulation(config, 1).problem.isEmpty()); // 1 of 2 stages
    }

    void the_lower_part_fills_the_page_and_gives_it_back() {
        StudioFixture fixture;
        give_draft(fixture);
        open_mesh_page(fixture);
        QWidget* tree = fixture.find("tensorTree");
        const int low = fixture.find("collectiveTable")->height();
        fixture.click("drawerFullKept");
        QTRY_VERIFY(!tree->isVisible());
        QTRY_VERIFY(fixture.find("collectiveTable")->height() > low + 200);
        fixture.press(Qt::Key_Escape);
        QTRY_VERIFY(tree->isVisible());
        QTRY_COMPARE(fixture.find("collectiveTable")->height(), low);
        fixture.press(Qt::Key_F11);
        QTRY_VERIFY(!tree->isVisible());
        fixture.press(Qt::Key_F11);
        QTRY_VERIFY(tree->isVisible());
        QTest::mouseDClick(page_segment(fixture, "meshDrawer", 1), Qt::LeftButton);
        QTRY_VERIFY(!tree->isVisible());
        fixture.reopen();
        give_draft(fixture);
        open_mesh_page(fixture);
        QVERIFY(!fixture.find("tensorTree")->isVisible()); // as it was left
        fixture.press(Qt::Key_Escape);
        QTRY_VERIFY(fixture.find("tensorTree")->isVisible());
    }

    void the_devices_fill_the_page_and_give_it_back() {
        StudioFixture fixture;
        give_draft(fixture);
        open_mesh_page(fixture);
        QWidget* tree = fixture.find("tensorTree");
        QWidget* grid = fixture.find("meshGrid");
        const QSize small = grid->size();
        fixture.click("devicesFull");
        QTRY_VERIFY(!tree->isVisible() && !fixture.find("collectiveTable")->isVisible());
        QTRY_VERIFY(grid->width() > 2 * small.width() && grid->height() > 2 * small.height());
        fixture.press(Qt::Key_Escape);
        QTRY_VERIFY(tree->isVisible() && fixture.find("collectiveTable")->isVisible());
        QTRY_COMPARE(grid->size(), small);
        fixture.click("devicesFull");
        QTRY_VERIFY(!tree->isVisible());
        fixture.press(Qt::Key_F11); // from one that fills the page, not on to the other
        QTRY_VERIFY(tree->isVisible());
    }

    void three_axes_their_batch_and_zero_stand_on_one_line() {
        StudioFixture fixture;
        give_draft(fixture);
        fixture.studio().draft().apply({R"(mesh={"devices": "h100:64", "strategy": "3d",
            "axes": [["pipeline", 2], ["data", 16], ["model", 2]]})",
                                        "training.global_batch_size=256"});
        QVERIFY(fixture.studio().draft().isValid());
        open_mesh_page(fixture);
        const auto middle = [&](const char* name) {
            const QWidget* widget = fixture.find(name);
            return widget->mapTo(&fixture.window(), widget->rect().center()).y();
        };
        QTRY_COMPARE_WITH_TIMEOUT(fixture.find("meshAxes")->findChildren<QSpinBox*>().size(), 3,
                                  kPatienceMs);
        QTRY_VERIFY(std::abs(middle("axisSize_pipeline") - middle("meshZero")) < 4);
        QVERIFY(std::abs(middle("batchSamples") - middle("meshZero")) < 4);
        // And all of the page is in view.
        const QScrollArea* scroll = scroll_around(fixture.find("meshGrid"));
        QCOMPARE(scroll->verticalScrollBar()->maximum(), 0);
    }

    void in_a_low_window_the_strategy_is_chosen_on_one_line_and_the_tile_is_in_view() {
        StudioFixture fixture;
        ui::Preferences preferences = fixture.studio().settings().values();
        preferences.font_scale = widgets::kLargestText;
        QCOMPARE(fixture.studio().settings().set(preferences), QString());
        give_draft(fixture);
        open_mesh_page(fixture, {1024, 680});
        QTRY_VERIFY(!fixture.find("strategy_2d")->isVisible());
        const QWidget* tile = fixture.find("tileView");
        const QScrollArea* scroll = scroll_around(tile);
        const auto seen = [&] {
            const QRect all(tile->mapTo(scroll->viewport(), QPoint(0, 0)), tile->size());
            return (all & scroll->viewport()->rect()).height();
        };
        QTRY_VERIFY2(seen() >= 80, qPrintable(QString::number(seen())));
        // Nothing scrolls sideways: what is wider than the page would be cut.
        QVERIFY(scroll->widget()->width() <= scroll->viewport()->width());
        auto* box = static_cast<QComboBox*>(fixture.find("meshStrategy"));
        QCOMPARE(box->currentText(), QString("2D"));
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Home);
        QTest::keyClick(box, Qt::Key_Down);
        QTRY_COMPARE(ui::MeshEdit::of(fixture.studio().draft().config()).strategy,
                     std::string("data_parallel"));
        QCOMPARE(box->currentText(), QString("Data"));
        fixture.window().resize(1440, 1200);
        QTRY_VERIFY(fixture.find("strategy_2d")->isVisible() && !box->isVisible());
    }

    void the_strip_of_the_step_folds() {
        StudioFixture fixture;
        give_draft(fixture);
        open_mesh_page(fixture);
        QWidget* profile = fixture.find("stepProfile");
        QVERIFY(profile->isVisible());
        fixture.click("scrubFoldKept");
        QTRY_VERIFY(!profile->isVisible());
        QVERIFY(fixture.find("scrubPlay")->isVisible());
        fixture.reopen();
        give_draft(fixture);
        open_mesh_page(fixture);
        QVERIFY(!fixture.find("stepProfile")->isVisible());
        fixture.click("scrubFoldKept");
        QTRY_VERIFY(fixture.find("stepProfile")->isVisible());
    }

    void why_devices_talk_is_told_in_full() {
        StudioFixture fixture;
        give_draft(fixture);
        open_mesh_page(fixture, {1024, 680});
        auto* table = static_cast<QTableView*>(fixture.find("collectiveTable"));
        QTRY_VERIFY(table->model()->rowCount() > 0);
        const int line = table->verticalHeader()->minimumSectionSize();
        bool wraps = false;
        for (int row = 0; row < table->model()->rowCount(); ++row) {
            const QModelIndex why = table->model()->index(row, ui::CollectiveModel::WhyColumn);
            const int room = table->columnWidth(ui::CollectiveModel::WhyColumn);
            const int wanted = table->fontMetrics().horizontalAdvance(why.data().toString());
            QVERIFY2(wanted < room || table->rowHeight(row) > line,
                     qPrintable(why.data().toString()));
            if (table->rowHeight(row) > line) {
                wraps = true; // and what is not filled by its lines keeps it clear of the next row
                QVERIFY(table->rowHeight(row) % table->fontMetrics().height() >=
                        widgets::space::kControl);
            }
        }
        QVERIFY(wraps);
        table->selectRow(0);
        auto* story = static_cast<widgets::TextLabel*>(fixture.find("collectiveWhy"));
        QTRY_VERIFY(story->isVisible());
        QTRY_VERIFY(story->height() >= story->heightForWidth(story->width()));
        QVERIFY(story->height() > 2 * story->fontMetrics().height() - 2);
    }

    void an_error_lies_over_the_page_while_the_mouse_is_there() {
        StudioFixture fixture;
        give_draft(fixture);
        open_mesh_page(fixture);
        QWidget* tree = fixture.find("tensorTree");
        const QPoint place = tree->mapTo(&fixture.window(), QPoint(40, 40));
        const QWidget* trouble = fixture.find("planTrouble");
        const auto* page = trouble->parentWidget()->findChild<QStackedWidget*>(
            QString(), Qt::FindDirectChildrenOnly);
        const QRect whole = page->geometry();
        QTest::mouseMove(&fixture.window(), place);
        fixture.studio().draft().apply({"training.micro_batch_size=3"});
        QTRY_VERIFY(trouble->isVisible());
        QCoreApplication::processEvents();
        QCOMPARE(tree->mapTo(&fixture.window(), QPoint(40, 40)), place);
        QCOMPARE(page->geometry(), whole);
        QVERIFY(whole.contains(trouble->geometry()));
        QTest::mouseMove(&fixture.window(), QPoint(40, 300)); // on the rail
        // It has room of its own, below: nothing above it moves.
        QTRY_COMPARE(page->geometry().bottom() + 1, trouble->geometry().top());
        QCOMPARE(tree->mapTo(&fixture.window(), QPoint(40, 40)), place);
    }

    // The button stands above it, and may be all that one saw of the lower part.
    void better_meshes_come_into_view_once_they_are_found() {
        StudioFixture fixture;
        config::Json draft = config::json_of(kPageGpt);
        draft["model"]["layers"] = 1;
        draft["mesh"]["devices"] = "h200:4"; // predicted without a measurement
        fixture.studio().draft().setDocument(draft, fixture.root());
        open_mesh_page(fixture, {1024, 680});
        QTest::mouseClick(page_segment(fixture, "meshDrawer", kAdviceInDrawer), Qt::LeftButton);
        QWidget* look = fixture.find("adviceLook");
        QTRY_VERIFY(look->isEnabled());
        QScrollArea* scroll = scrolled_by(look);
        QTRY_VERIFY(scroll->verticalScrollBar()->maximum() > 0);
        scroll->verticalScrollBar()->setValue(0);
        scroll->ensureWidgetVisible(look, 0, 0);
        const int before = scroll->verticalScrollBar()->value();
        QTest::mouseClick(look, Qt::LeftButton);
        QWidget* table = fixture.find("adviceTable");
        QTRY_VERIFY_WITH_TIMEOUT(table->isVisible(), kPatienceMs);
        const auto inView = [&] {
            const QRect there(table->mapTo(scroll->viewport(), QPoint()), table->size());
            return scroll->viewport()->rect().contains(there);
        };
        QTRY_VERIFY(inView());
        QVERIFY(scroll->verticalScrollBar()->value() > before);
        QVERIFY(!look->visibleRegion().isEmpty());
    }

    // What a panel offers changes the draft; what comes next is to start it.
    void start_is_the_one_filled_button() {
        StudioFixture fixture;
        config::Json draft = config::json_of(kPageGpt);
        draft["model"]["layers"] = 1;
        draft["mesh"]["devices"] = "h200:4"; // predicted without a measurement
        fixture.studio().draft().setDocument(draft, fixture.root());
        open_mesh_page(fixture);
        const auto filled = [&] { return test::filled_buttons(fixture.window()); };
        const QStringList start{"run.start.button"};
        QCOMPARE(filled(), start);
        QTest::mouseClick(page_segment(fixture, "meshDrawer", kAdviceInDrawer), Qt::LeftButton);
        fixture.click("adviceLook");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("adviceUse")->isEnabled(), kPatienceMs);
        QCOMPARE(filled(), start);
        QTest::mouseClick(page_segment(fixture, "meshDrawer", kCompareInDrawer), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("compareUse")->isEnabled(), kPatienceMs);
        QCOMPARE(filled(), start);
        QTest::mouseClick(page_segment(fixture, "planTab", 1), Qt::LeftButton);
        auto& preview = fixture.window().findChild<ui::PlanPage*>()->preview();
        QTRY_VERIFY_WITH_TIMEOUT(!preview.changes().empty(), kPatienceMs);
        preview.setChosen(preview.changes().front().id, true);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("adopt")->isEnabled(), kPatienceMs);
        QCOMPARE(filled(), start);
    }
};

WEFT_TEST(MeshPageTest)
#include "mesh_page_test.moc"
