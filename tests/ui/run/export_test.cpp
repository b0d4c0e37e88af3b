// SPDX-License-Identifier: GPL-3.0-or-later
// What pages hand out: charts, drawings, and the mesh in other programs' words.
#include "core/compile/mesh/mesh_recipe.h"
#include "core/train/logging/tensorboard_writer.h"
#include "tests/support/weft_test.h"
#include "tests/ui/mesh_support.h"
#include "tests/ui/patience.h"
#include "tests/ui/run_log.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/pages/drawings.h"
#include "ui/pages/live/chart_grid.h"
#include "ui/pages/live/scalar_grid.h"
#include "ui/pages/plan/export_menu.h"
#include "widgets/curves/line_chart.h"

#include <QAbstractButton>
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTimer>

#include <fstream>

namespace {

using namespace weft;
using test::kPatienceMs;
namespace fs = std::filesystem;

QStringList menu_titles(const QMenu& menu) {
    QStringList out;
    for (const QAction* action : menu.actions()) {
        out.append(action->text());
    }
    return out;
}

/// Answers the next dialog that asks for a file: its first kind with this suffix, and a name.
void answerDialog(const QString& suffix, const fs::path& file) {
    auto* poll = new QTimer(qApp);
    QObject::connect(poll, &QTimer::timeout, poll, [poll, suffix, file] {
        auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (dialog == nullptr) {
            return;
        }
        const QString filter = dialog->nameFilters().filter("*." + suffix).value(0);
        poll->deleteLater();
        dialog->selectNameFilter(filter);
        dialog->filterSelected(filter); // as when a person chooses it
        // selectFile leaves a field alone that has the focus, as it may have or not.
        dialog->findChild<QLineEdit*>("fileNameEdit")->setText(ui::pathText(file));
        static_cast<QDialog*>(dialog)->accept();
    });
    poll->start(10);
}

QByteArray beginOf(const fs::path& file) {
    QFile read(QString::fromStdString(file.string()));
    return read.open(QIODevice::ReadOnly) ? read.read(4) : QByteArray();
}

bool offersExport(widgets::LineChart& chart) {
    chart.openMenu({0, 0});
    auto* menu = chart.findChild<QMenu*>();
    const QStringList all = menu_titles(*menu);
    delete menu;
    return !all.filter("Export").isEmpty();
}

/// E, then "Document" and a name without an ending.
void exportByKey(widgets::LineChart& chart, const fs::path& file) {
    answerDialog("pdf", file);
    QTest::keyClick(&chart, Qt::Key_E);
}

} // namespace

class ExportTest : public QObject {
    Q_OBJECT

private slots:
    void names_of_files_have_no_runs_of_dashes() {
        QCOMPARE(ui::fileName("blocks.0.qkv.weight, [64, 192]"),
                 QString("blocks-0-qkv-weight-64-192"));
        QCOMPARE(ui::fileName("Devices"), QString("devices"));
    }

    void a_chart_offers_what_somebody_listens_to() {
        widgets::LineChart chart;
        const auto takes = [&chart](int key) {
            QKeyEvent event(QEvent::KeyPress, key, Qt::NoModifier);
            QCoreApplication::sendEvent(&chart, &event);
            return event.isAccepted();
        };
        QVERIFY(takes(Qt::Key_R));
        QVERIFY(!takes(Qt::Key_E) && !takes(Qt::Key_S));
        QVERIFY(!offersExport(chart));
        const QSignalSpy wanted(&chart, &widgets::LineChart::exportRequested);
        const QSignalSpy smoothed(&chart, &widgets::LineChart::smoothingFocusRequested);
        QVERIFY(takes(Qt::Key_E) && takes(Qt::Key_S));
        QVERIFY(offersExport(chart));
    }

    void every_chart_is_exported_as_the_chosen_kind() {
        test::StudioFixture fixture;
        const fs::path out = fixture.root() / "out";
        fs::create_directories(out);
        test::RunLog log(fixture.root() / "runs" / "made", test::tiny_config());
        log.steps(1, 20, 0.5).add(train::CheckpointEvent{10, {}, 0, 0, 0, {}});
        fixture.studio().showRun(log.folder());
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().run().step(), 20, kPatienceMs);
        exportByKey(*fixture.window().findChild<ui::ChartGrid*>()->cells()[0]->chart(),
                    out / "train");
        QCOMPARE(beginOf(out / "train.pdf"), QByteArray("%PDF"));

        fixture.window().showPage("checkpoints");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("checkpointCurve")->isVisible(), kPatienceMs);
        exportByKey(*static_cast<widgets::LineChart*>(fixture.find("checkpointCurve")),
                    out / "checkpoints");
        QCOMPARE(beginOf(out / "checkpoints.pdf"), QByteArray("%PDF"));

        fixture.window().showPage("runs");
        fixture.studio().index().refresh();
        auto* table = static_cast<QTableView*>(fixture.find("runTable"));
        QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 1, kPatienceMs);
        table->selectRow(0);
        QTRY_VERIFY(fixture.find("compareChart")->isVisible());
        exportByKey(*static_cast<widgets::LineChart*>(fixture.find("compareChart")), out / "runs");
        QCOMPARE(beginOf(out / "runs.pdf"), QByteArray("%PDF"));
        answerDialog("svg", out / "button");
        fixture.click("compareExport");
        QCOMPARE(beginOf(out / "button.svg"), QByteArray("<?xm"));

        const fs::path logs = fixture.root() / "logs";
        fs::create_directories(logs);
        std::ofstream(logs / "events.out.tfevents.100.host")
            << train::framed_record(train::scalar_event(100, 1, {{"Loss/train", 2.0}}));
        QCOMPARE(fixture.studio().opener().open(logs), QString());
        auto* grid = static_cast<ui::ScalarGrid*>(fixture.find("scalarGrid"));
        QTRY_COMPARE_WITH_TIMEOUT(grid->charts().size(), std::size_t{1}, kPatienceMs);
        exportByKey(*grid->charts()[0], out / "scalars");
        QCOMPARE(beginOf(out / "scalars.pdf"), QByteArray("%PDF"));
    }

    void drawings_of_every_page_are_offered_as_pictures_and_documents() {
        test::StudioFixture fixture;
        test::RunLog log(fixture.root() / "runs" / "made", test::tiny_config());
        log.steps(1, 20, 0.5).add(train::CheckpointEvent{10, {}, 0, 0, 0, {}});
        fixture.studio().showRun(log.folder());
        QCOMPARE(fixture.studio().opener().open(fixture.preset()), QString());
        const std::pair<const char*, QStringList> pages[] = {
            {"model", {"Graph of the blocks…"}},
            {"training", {"Learning rate over the run…", "Checkpoints over the run…"}},
            {"checkpoints", {"Checkpoints…"}},
        };
        for (const auto& [page, drawings] : pages) {
            fixture.window().showPage(page);
            auto* menu =
                static_cast<QPushButton*>(fixture.find(QString("%1Export").arg(page)))->menu();
            for (const char* suffix : {"png", "svg", "pdf"}) {
                QStringList offered;
                const auto all_are_there = [&] {
                    menu->popup({0, 0});
                    offered = menu_titles(
                        *menu->findChild<QMenu*>(QString("exportDrawing_%1").arg(suffix)));
                    menu->close();
                    return std::all_of(
                        drawings.begin(), drawings.end(),
                        [&](const QString& drawing) { return offered.contains(drawing); });
                };
                QVERIFY2(QTest::qWaitFor(all_are_there, kPatienceMs),
                         qPrintable(QString("%1: %2").arg(page, offered.join(" "))));
            }
            menu->popup({0, 0});
            const QMenu* documents = menu->findChild<QMenu*>("exportDrawing_pdf");
            menu->close();
            answerDialog("pdf", fixture.root() / page);
            documents->actions().front()->trigger();
            QCOMPARE(beginOf(fixture.root() / (std::string(page) + ".pdf")), QByteArray("%PDF"));
        }
    }

    void the_mesh_is_copied_and_drawings_are_listed_where_they_are_shown() {
        test::StudioFixture fixture;
        const compile::RunConfig config = test::mesh_config(test::kHere);
        fixture.studio().draft().setDocument(config.document, fixture.root());
        fixture.window().showPage("plan");
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("planTab")->isVisible(), kPatienceMs);
        auto* button = static_cast<QPushButton*>(fixture.find("planExport"));
        QTRY_VERIFY_WITH_TIMEOUT(button->isEnabled(), kPatienceMs);
        auto* menu = qobject_cast<ui::ExportMenu*>(button->menu());
        QVERIFY(menu != nullptr);
        const auto drawings = [&](const char* suffix) {
            menu->popup({0, 0}); // it lists anew whenever it opens
            const QStringList out =
                menu_titles(*menu->findChild<QMenu*>(QString("exportDrawing_%1").arg(suffix)));
            menu->close();
            return out;
        };
        QVERIFY(drawings("png").contains("Memory over the steps…"));
        QTest::mouseClick(fixture.find("planTab")->findChildren<QAbstractButton*>().first(),
                          Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(fixture.find("meshGrid")->isVisible(), kPatienceMs);
        QVERIFY(drawings("svg").contains("Devices…"));
        QVERIFY(drawings("svg").indexOf("Devices…") < // as on the page, from top to bottom
                drawings("svg").indexOf("What the stages of the pipeline do when…"));
        QVERIFY(!drawings("png").contains("Memory over the steps…"));
        const QSignalSpy done(menu, &ui::ExportMenu::done);
        const auto plan = test::mesh_digest(config)->plan;
        for (const plan::MeshFormatDef& format : plan::kMeshFormats) {
            menu->popup({0, 0});
            menu->findChild<QAction*>("copy_" + QString::fromUtf8(format.name.data()))->trigger();
            menu->close();
            QVERIFY(done.back().at(0).toBool());
            QCOMPARE(QGuiApplication::clipboard()->text().toStdString(),
                     plan::write_mesh_as(format.format, *plan, compile::mesh_recipe(config)));
        }
    }
};

WEFT_TEST(ExportTest)
#include "export_test.moc"
