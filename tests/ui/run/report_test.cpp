// SPDX-License-Identifier: GPL-3.0-or-later
// Reports: what is put together is what is written, in files that need no other.
#include "tests/support/weft_test.h"
#include "ui/pages/runs/report/report_document.h"
#include "ui/pages/runs/report/report_export.h"
#include "ui/pages/runs/report/report_panel.h"
#include "widgets/curves/line_chart.h"

#include <QLineEdit>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTextBrowser>
#include <QXmlStreamReader>

namespace {

using namespace weft;
using ui::Report;
using ui::ReportBlock;

ReportBlock drawn_chart() {
    widgets::LineChart chart;
    chart.resize(400, 200);
    const int id = chart.addSeries({"loss", "run a", 0, widgets::SeriesForm::Thin});
    for (int step = 0; step < 50; ++step) {
        chart.append(id, step, 2.0 - 0.02 * step);
    }
    chart.show();
    chart.replotNow();
    return ui::frozenChart(chart, "validation loss");
}

Report made_report() {
    Report report;
    report.title = "Rates <& widths>";
    report.blocks.push_back(
        {ReportBlock::Kind::Text, "# What we *tried*\n\n- one\n- two", {}, {}, {}, {}});
    report.blocks.push_back(drawn_chart());
    report.blocks.push_back({ReportBlock::Kind::Table,
                             "2 runs",
                             {},
                             {},
                             {"run", "loss"},
                             {{"a <b>", "0.25"}, {"c & d", "1,234"}}});
    return report;
}

QByteArray file_bytes(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

class ReportTest : public QObject {
    Q_OBJECT
private slots:
    void html_is_one_file_with_everything_in_it() {
        const QString html = ui::reportHtml(made_report());
        QVERIFY(html.startsWith("<!doctype html>"));
        QVERIFY(html.contains("<title>Rates &lt;&amp; widths&gt;</title>"));
        QVERIFY(html.contains("<svg") && html.contains("</svg>"));
        QVERIFY(html.contains("a &lt;b&gt;") && html.contains("c &amp; d"));
        QVERIFY(html.contains("What we"));
        // It names no other file and no address but those of SVG's own names.
        QString rest = html;
        rest.remove(QRegularExpression("xmlns(:\\w+)?=\"[^\"]*\""));
        QVERIFY2(!rest.contains("http"), qPrintable(rest.mid(rest.indexOf("http"), 80)));
        QVERIFY(!rest.contains("src="));
        // The picture in it is well-formed by itself.
        const qsizetype from = html.indexOf("<svg");
        QXmlStreamReader reader(html.mid(from, html.indexOf("</svg>") + 6 - from));
        int lines = 0;
        while (!reader.atEnd()) {
            reader.readNext();
            lines += reader.isStartElement() && (reader.name() == QLatin1String("polyline") ||
                                                 reader.name() == QLatin1String("path"))
                         ? 1
                         : 0;
        }
        QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
        QVERIFY(lines > 0);
    }

    void what_is_kept_comes_back() {
        const Report report = made_report();
        const auto back = ui::reportOfJson(ui::reportJson(report));
        QVERIFY(back.has_value());
        QCOMPARE(ui::reportHtml(*back), ui::reportHtml(report));
        QCOMPARE(back->blocks[1].picture.size(), report.blocks[1].picture.size());
        QVERIFY(!ui::reportOfJson("nothing").has_value());
        QVERIFY(!ui::reportOfJson("{\"title\": 1}").has_value());
    }

    void pdf_is_a_document_with_the_picture_in_it() {
        const QTemporaryDir dir;
        Report report = made_report();
        QVERIFY(ui::writeReportPdf(report, dir.filePath("with.pdf")));
        const QByteArray with = file_bytes(dir.filePath("with.pdf"));
        QVERIFY(with.startsWith("%PDF-"));
        QVERIFY(with.contains("/Subtype /Image"));
        report.blocks.erase(report.blocks.begin() + 1);
        QVERIFY(ui::writeReportPdf(report, dir.filePath("without.pdf")));
        const QByteArray without = file_bytes(dir.filePath("without.pdf"));
        QVERIFY(without.startsWith("%PDF-") && !without.contains("/Subtype /Image"));
    }

    void a_file_that_cannot_be_written_is_said() {
        QVERIFY(!ui::writeReportHtml(made_report(), "/no/such/folder/report.html"));
        QVERIFY(!ui::writeReportPdf(made_report(), "/no/such/folder/report.pdf"));
    }

    void blocks_are_added_moved_edited_and_removed_by_hand_and_kept() {
        const QTemporaryDir dir;
        const std::filesystem::path file = dir.filePath("report.json").toStdString();
        {
            ui::ReportPanel panel(file);
            panel.resize(1000, 600);
            panel.show();
            panel.add(drawn_chart());
            QTest::mouseClick(panel.findChild<QPushButton*>("addReportText"), Qt::LeftButton);
            auto* text = panel.findChild<QPlainTextEdit*>("reportText");
            QTest::keyClicks(text, "The rate decides.");
            auto* title = panel.findChild<QLineEdit*>("reportTitle");
            title->selectAll();
            QTest::keyClicks(title, "Sweep 7");
            auto* list = panel.findChild<QListWidget*>("reportBlocks");
            QCOMPARE(list->count(), 2);
            QCOMPARE(list->item(1)->text(), QString("Text: The rate decides."));
            QTest::mouseClick(panel.findChild<QPushButton*>("reportUp"), Qt::LeftButton);
            QCOMPARE(list->item(0)->text(), QString("Text: The rate decides."));
            auto* preview = panel.findChild<QTextBrowser*>("reportPreview");
            QTRY_VERIFY(preview->toPlainText().contains("The rate decides."));
            QVERIFY(preview->toPlainText().startsWith("Sweep 7"));
            list->setCurrentRow(1);
            QTest::mouseClick(panel.findChild<QPushButton*>("reportRemove"), Qt::LeftButton);
            QCOMPARE(list->count(), 1);
        }
        const ui::ReportPanel again(file);
        QCOMPARE(again.report().title, QString("Sweep 7"));
        QCOMPARE(again.report().blocks.size(), std::size_t{1});
        QCOMPARE(again.report().blocks[0].text, QString("The rate decides."));
    }
};

WEFT_TEST(ReportTest)

#include "report_test.moc"
