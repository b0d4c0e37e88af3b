// SPDX-License-Identifier: GPL-3.0-or-later
// From twenty runs to a report, by somebody who has only a mouse and a keyboard: charts, groups,
// what mattered, a brush, the report as a file.
#include "core/train/record/run_folder.h"
#include "tests/support/weft_test.h"
#include "tests/ui/hands.h"
#include "tests/ui/patience.h"
#include "ui/pages/runs/report/report_panel.h"
#include "ui/pages/runs/runs_page.h"
#include "ui/pages/runs/wall/brush_panel.h"
#include "ui/pages/runs/wall/matter_panel.h"
#include "ui/pages/runs/wall/wall_panel.h"
#include "widgets/curves/line_chart.h"
#include "widgets/views/parallel_view.h"

#include <QFileDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QTableView>

#include <cmath>
#include <fstream>

namespace {

using namespace weft;
using test::kPatienceMs;
namespace fs = std::filesystem;

/// Fashion-MNIST as a sweep leaves it, in small: four rates, five widths. The rate 1e-3 is best.
void make_sweep(const fs::path& runs) {
    const double rates[] = {1e-4, 3e-4, 1e-3, 3e-3};
    for (int i = 0; i < 20; ++i) {
        const double rate = rates[i % 4];
        const int width = 32 << (i / 4);
        const fs::path folder = runs / ("2026-02-01_fashion_" + std::to_string(100 + i));
        test::write_file(
            folder / "config.json",
            R"({"optimizer": {"type": "adamw", "learning_rate": )" + std::to_string(rate) +
                R"(}, "model": {"type": "mlp", "hidden": [)" + std::to_string(width) +
                R"(]}, "checkpoint": {"metric": "validation/accuracy", "mode": "max"}})");
        train::RunInfo info;
        info.id = info.name = folder.filename().string();
        info.state = "finished";
        train::write_run_info(folder, info);
        std::ofstream events(folder / "events.jsonl");
        std::int64_t seq = 0;
        for (int at = 1; at <= 60; ++at) {
            const double away = std::abs(std::log10(rate) + 3);
            train::StepEvent step;
            step.step = at;
            step.loss = 0.3 + 0.2 * away + 2.0 * std::exp(-at / 12.0) + 0.0002 * width;
            step.learning_rate = rate;
            events << train::to_line({++seq, 1e9 + at, step}) << "\n";
            if (at % 6 == 0) {
                const train::EvaluationEvent evaluation{
                    at,
                    {{"validation/loss", step.loss + 0.02},
                     {"validation/accuracy", 0.95 - 0.1 * away - 0.3 * std::exp(-at / 12.0)}}};
                events << train::to_line({++seq, 1e9 + at, evaluation}) << "\n";
            }
        }
    }
}

} // namespace

class CompareJourneyTest : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void twenty_runs_become_a_report() {
        test::StudioFixture fixture;
        make_sweep(fixture.root() / "runs");
        fixture.window().resize(1440, 900);
        fixture.window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&fixture.window()));
        test::Mouse mouse(fixture);
        test::Keyboard keyboard(fixture);
        QVERIFY(mouse.go("runs"));
        auto* table = static_cast<QTableView*>(fixture.find("runTable"));
        QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 20, kPatienceMs);
        QVERIFY(mouse.choose("runsMode", 1));
        auto* page = static_cast<ui::RunsPage*>(fixture.window().page("runs"));
        QTRY_VERIFY_WITH_TIMEOUT(page->wall()->isSettled() && !page->wall()->visibleCells().empty(),
                                 kPatienceMs);
        // What mattered says the rate; a click groups by it.
        auto* matter = static_cast<ui::MatterPanel*>(fixture.find("matterPanel"));
        QTRY_VERIFY_WITH_TIMEOUT(!matter->explained().empty(), kPatienceMs);
        QCOMPARE(matter->metric(), std::string("validation/accuracy"));
        QCOMPARE(matter->explained()[0].path, std::string("optimizer.learning_rate"));
        QCOMPARE(matter->explained()[0].best, std::string("0.001"));
        auto* view = static_cast<widgets::PaintedView*>(fixture.find("matterView"));
        QTest::mouseClick(view, Qt::LeftButton, {}, view->item(0).rect.center().toPoint());
        QTRY_COMPARE_WITH_TIMEOUT(page->looks().groups().size(), std::size_t{4}, kPatienceMs);
        // The best accuracies alone, by the brush.
        auto* parallel = static_cast<widgets::ParallelView*>(fixture.find("brushParallel"));
        QTRY_VERIFY_WITH_TIMEOUT(parallel->isVisible() && parallel->axisCount() >= 3, kPatienceMs);
        const QLineF axis = parallel->axisLine(parallel->axisCount() - 1);
        QTest::mousePress(parallel, Qt::LeftButton, {}, axis.p2().toPoint() - QPoint(0, 3));
        QTest::mouseMove(parallel, axis.pointAt(0.6).toPoint());
        QTest::mouseRelease(parallel, Qt::LeftButton, {}, axis.pointAt(0.6).toPoint());
        QVERIFY(mouse.press("keepBrushed"));
        QVERIFY(page->looks().shownCount() >= 5 && page->looks().shownCount() < 20);
        // Into a report, with words of one's own, and into a file.
        QTRY_VERIFY_WITH_TIMEOUT(page->wall()->isSettled(), kPatienceMs);
        QVERIFY(mouse.press("addToReport"));
        QVERIFY(mouse.choose("runsMode", 2));
        QVERIFY(mouse.press("addReportTable"));
        QVERIFY(mouse.press("addReportText"));
        QVERIFY(keyboard.type("The rate decides."));
        auto* blocks = static_cast<QListWidget*>(fixture.find("reportBlocks"));
        QVERIFY(blocks->count() >= 4); // charts, table, what mattered, text
        const QString path = QString::fromStdString((fixture.root() / "report.html").string());
        QVERIFY(mouse.inDialog([&] { return mouse.press("reportHtml"); },
                               [&] {
                                   auto* dialog = qobject_cast<QFileDialog*>(
                                       QApplication::activeModalWidget());
                                   if (dialog == nullptr) {
                                       return false;
                                   }
                                   auto* name = dialog->findChild<QLineEdit*>("fileNameEdit");
                                   name->setText(path);
                                   QTest::keyClick(name, Qt::Key_Return);
                                   return true;
                               }));
        QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(path), kPatienceMs);
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString html = QString::fromUtf8(file.readAll());
        QVERIFY(html.contains("The rate decides.") && html.contains("<svg"));
        QVERIFY(html.contains("optimizer.learning_rate"));
    }
};

WEFT_TEST(CompareJourneyTest)

#include "compare_journey_test.moc"
