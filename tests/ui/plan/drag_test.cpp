// SPDX-License-Identifier: GPL-3.0-or-later
// What is dragged with the mouse: layers within their tree, pictures to try.
#include "core/config/field.h"
#include "core/train/engine.h"
#include "tests/support/weft_test.h"
#include "tests/ui/dialogs.h"
#include "tests/ui/patience.h"
#include "ui/bridge/convert.h"
#include "ui/pages/live/try_panel.h"
#include "ui/pages/model/row_tree.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/views/probability_bars.h"
#include "widgets/views/sketch_pad.h"

#include <QComboBox>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QMimeData>
#include <QProcess>
#include <QTreeWidgetItemIterator>
#include <QUrl>
#include <QWindow>

#include <fstream>

namespace {

using namespace weft;
using config::Json;
using test::kPatienceMs;
namespace fs = std::filesystem;

// Both compute on the same kernels; a float is printed with all its digits and read again.
constexpr double kSameNumbers = 1e-7;

QTreeWidgetItem* row(const QTreeWidget& tree, const QString& pointer) {
    for (QTreeWidgetItemIterator at(const_cast<QTreeWidget*>(&tree)); *at != nullptr; ++at) {
        if ((*at)->data(0, Qt::UserRole).toString() == pointer) {
            return *at;
        }
    }
    return nullptr;
}

/// What a desktop sends a window over which something is dragged and let go.
bool drop(QWidget& window, QPoint at, const QMimeData& data, Qt::DropAction action) {
    QWindow* target = window.windowHandle();
    QDragEnterEvent enter(at, action, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(target, &enter);
    QDragMoveEvent move(at, action, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(target, &move);
    QDropEvent event(at, action, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(target, &event);
    return enter.isAccepted();
}

bool drop(QWidget& window, QPoint at, const fs::path& file) {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(ui::pathText(file))});
    return drop(window, at, data, Qt::CopyAction);
}

/// The row under the mouse is taken and let go elsewhere in the view.
bool drag(QAbstractItemView& view, QPoint from, QPoint to) {
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, from);
    const std::unique_ptr<QMimeData> rows(
        view.model()->mimeData(view.selectionModel()->selectedRows()));
    return drop(*view.window(), view.viewport()->mapTo(view.window(), to), *rows, Qt::CopyAction);
}

} // namespace

class DragTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void a_layer_is_dragged_to_another_place_of_its_tree() {
        const Json layers = config::json_of(R"([
            {"type": "linear", "units": 32}, {"type": "relu"},
            {"type": "residual", "layers": [{"type": "gelu"}]}, {"type": "linear"}])");
        test::StudioFixture fixture;
        Json document = config::json_of(test::tiny_config());
        document["model"] = {{"type", "sequential"}, {"layers", layers}};
        ui::Draft& draft = fixture.studio().draft();
        draft.setDocument(document, fixture.root());
        fixture.window().resize(1440, 900);
        fixture.window().showPage("model");
        auto* tree = static_cast<ui::RowTree*>(fixture.find("layerTree"));
        QTRY_VERIFY(row(*tree, "/model/layers/3") != nullptr);
        QCOMPARE(tree->dragDropMode(), QAbstractItemView::InternalMove);
        // Of a drag that the mouse did not begin Qt does not know that it is of this view.
        tree->setDragDropMode(QAbstractItemView::DragDrop);
        tree->expandAll();
        QTest::qWait(0); // the layout
        const auto place = [&](const char* pointer) {
            return tree->visualItemRect(row(*tree, pointer));
        };
        // The first layer below the second: on the lower edge of its row.
        QVERIFY(drag(*tree, place("/model/layers/0").center(),
                     {place("/model/layers/1").center().x(), place("/model/layers/1").bottom()}));
        const Json swapped = Json::array({layers[1], layers[0], layers[2], layers[3]});
        QTRY_VERIFY2(of(draft) == swapped, of(draft).dump().c_str());
        // And one into a block that holds layers: on its row.
        QTRY_VERIFY(row(*tree, "/model/layers/2/layers/0") != nullptr);
        tree->expandAll();
        QTest::qWait(0);
        QVERIFY(drag(*tree, place("/model/layers/0").center(), place("/model/layers/2").center()));
        QTRY_VERIFY2(of(draft).size() == 3 && of(draft)[1].value("layers", Json()) ==
                                                  Json::array({layers[2]["layers"][0], layers[1]}),
                     of(draft).dump().c_str());
        // A drag is one step to undo.
        draft.undo();
        QVERIFY2(of(draft) == swapped, of(draft).dump().c_str());
    }

    void a_picture_is_tried_wherever_in_the_panel_it_is_dropped() {
        test::StudioFixture fixture(test::pictures_config());
        fixture.window().resize(1440, 900);
        fixture.window().showPage("train");
        test::finish_a_run(fixture);
        open_try(fixture);
        const fs::path file = picture(fixture);
        auto* pad = static_cast<widgets::SketchPad*>(fixture.find("sketchPad"));
        auto* panel = fixture.window().findChild<ui::TryPanel*>();
        const auto in_window = [&](const QWidget* widget, QPoint at) {
            return widget->mapTo(&fixture.window(), at);
        };
        const QPoint places[] = {in_window(pad, pad->rect().center()),
                                 in_window(panel, {panel->width() - 30, 12}),
                                 in_window(panel, {20, panel->height() - 20})};
        for (const QPoint place : places) {
            pad->clear();
            QVERIFY(pad->isBlank());
            QVERIFY(drop(fixture.window(), place, file));
            QVERIFY(!pad->isBlank());
            QCOMPARE(fixture.window().currentPage(), QString("train"));
            QVERIFY(!fixture.studio().draft().isEmpty());
        }
        // The same numbers as the program gives for the file.
        const QJsonArray said = predicted(fixture, file);
        QCOMPARE(said.size(), 4);
        const auto* bars = static_cast<widgets::ProbabilityBars*>(fixture.find("tryBars"));
        QTRY_COMPARE_WITH_TIMEOUT(bars->bars().size(), std::size_t{4}, kPatienceMs);
        QTRY_VERIFY_WITH_TIMEOUT(are_same(*bars, said), kPatienceMs);
        // What is no picture is said, and changes nothing.
        std::ofstream(fixture.root() / "notes.png") << "no picture";
        const QImage before = pad->image();
        QVERIFY(drop(fixture.window(), places[0], fixture.root() / "notes.png"));
        QCOMPARE(pad->image(), before);
        QTRY_VERIFY(static_cast<QLabel*>(fixture.find("tryNote"))->text().contains("notes.png"));
    }

    void a_picture_is_tried_while_its_run_is_paused() {
        std::string endless = test::pictures_config();
        endless.replace(endless.find("\"steps\": 40}"), 12, "\"steps\": 100000}");
        test::StudioFixture fixture(endless);
        ui::Studio& studio = fixture.studio();
        fixture.window().resize(1440, 900);
        fixture.window().showPage("train");
        QVERIFY(studio.control().startFile(fixture.preset()).started);
        QTRY_VERIFY_WITH_TIMEOUT(!studio.run().checkpoints().empty(), kPatienceMs);
        studio.control().pause();
        QTRY_COMPARE_WITH_TIMEOUT(studio.run().state(), train::RunState::paused, kPatienceMs);
        studio.control().checkpointNow();
        const std::int64_t step = studio.run().step();
        QTRY_COMPARE_WITH_TIMEOUT(studio.run().checkpoints().back().step, step, kPatienceMs);
        open_try(fixture);
        const fs::path file = picture(fixture);
        auto* pad = fixture.find("sketchPad");
        QVERIFY(drop(fixture.window(), pad->mapTo(&fixture.window(), pad->rect().center()), file));
        const auto* bars = static_cast<widgets::ProbabilityBars*>(fixture.find("tryBars"));
        QTRY_VERIFY_WITH_TIMEOUT(are_same(*bars, predicted(fixture, file)), kPatienceMs);
        QCOMPARE(studio.run().state(), train::RunState::paused); // and it still waits
        QCOMPARE(studio.run().step(), step);
        studio.control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!studio.isTraining(), kPatienceMs);
    }

private:
    static const Json& of(const ui::Draft& draft) {
        return draft.document().at("model").at("layers");
    }

    static void open_try(test::StudioFixture& fixture) {
        static_cast<widgets::SegmentedControl*>(fixture.find("predictionTab"))->setCurrentIndex(2);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("sketchPad")->isVisible(), kPatienceMs);
        const auto* choice = static_cast<QComboBox*>(fixture.find("tryCheckpoint"));
        QTRY_VERIFY_WITH_TIMEOUT(!choice->currentData().toString().isEmpty(), kPatienceMs);
    }

    /// As large as the model takes: scaled by nobody.
    static fs::path picture(test::StudioFixture& fixture) {
        QImage image(10, 12, QImage::Format_Grayscale8);
        for (int y = 0; y < image.height(); ++y) {
            for (int x = 0; x < image.width(); ++x) {
                image.scanLine(y)[x] = static_cast<uchar>(20 * x + 4 * y);
            }
        }
        const fs::path file = fixture.root() / "shoe.png";
        if (!image.save(ui::pathText(file))) {
            qFatal("the test folder cannot be written");
        }
        return file;
    }

    /// The probabilities by `weft predict` from the checkpoint that is chosen, the largest first.
    static QJsonArray predicted(test::StudioFixture& fixture, const fs::path& file) {
        const auto* choice = static_cast<QComboBox*>(fixture.find("tryCheckpoint"));
        QProcess weft;
        weft.start(WEFT_PROGRAM,
                   {"predict", choice->currentData().toString(), ui::pathText(file), "--json"});
        if (!weft.waitForFinished(kPatienceMs) || weft.exitCode() != 0) {
            qFatal("weft predict: %s", weft.readAllStandardError().constData());
        }
        const QJsonDocument said = QJsonDocument::fromJson(weft.readAllStandardOutput());
        return said.object().value("predictions").toArray().first()["values"].toArray();
    }

    static bool are_same(const widgets::ProbabilityBars& bars, const QJsonArray& said) {
        std::vector<double> wanted;
        for (const QJsonValue& value : said) {
            wanted.push_back(value.toDouble());
        }
        std::sort(wanted.rbegin(), wanted.rend());
        return bars.bars().size() == wanted.size() &&
               std::equal(wanted.begin(), wanted.end(), bars.bars().begin(),
                          [](double value, const widgets::ProbabilityBar& bar) {
                              return std::abs(bar.share - value) <= kSameNumbers;
                          });
    }
};

WEFT_TEST(DragTest)
#include "drag_test.moc"
