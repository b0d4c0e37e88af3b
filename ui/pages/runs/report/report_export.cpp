// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/report/report_export.h"

#include "widgets/curves/line_chart.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QFile>
#include <QPdfWriter>
#include <QSaveFile>
#include <QTemporaryDir>
#include <QTextDocument>

namespace weft::ui {
namespace {

constexpr double kPictureScale = 2.0;
constexpr int kPaperDpi = 96; // so that a pixel of the document is what it is on screen
constexpr double kPaperMarginMm = 18;

bool write_whole(const QString& path, const QByteArray& bytes) {
    QSaveFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit();
}

QByteArray read_whole(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

bool writeReportHtml(const Report& report, const QString& path) {
    return write_whole(path, reportHtml(report).toUtf8());
}

bool writeReportPdf(const Report& report, const QString& path) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setTitle(report.title);
    writer.setCreator(QStringLiteral("Weft Studio"));
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setPageMargins(QMarginsF(kPaperMarginMm, kPaperMarginMm, kPaperMarginMm, kPaperMarginMm),
                          QPageLayout::Millimeter);
    writer.setResolution(kPaperDpi);
    QTextDocument document;
    document.documentLayout()->setPaintDevice(&writer);
    const QRect page = writer.pageLayout().paintRectPixels(kPaperDpi);
    document.setDocumentMargin(0);
    document.setPageSize(page.size());
    fillDocument(document, report, page.width());
    document.print(&writer);
    buffer.close();
    return write_whole(path, bytes);
}

ReportBlock frozenChart(widgets::LineChart& chart, const QString& caption) {
    ReportBlock block;
    block.kind = ReportBlock::Kind::Chart;
    block.text = caption;
    const QTemporaryDir folder;
    const QString svg = folder.filePath(QStringLiteral("chart.svg"));
    const QString png = folder.filePath(QStringLiteral("chart.png"));
    if (chart.exportSvg(svg) && chart.exportPng(png, kPictureScale)) {
        block.svg = read_whole(svg);
        block.picture.loadFromData(read_whole(png), "PNG");
    }
    return block;
}

} // namespace weft::ui
