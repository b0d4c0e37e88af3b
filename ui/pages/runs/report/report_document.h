// SPDX-License-Identifier: GPL-3.0-or-later
// What a report holds: blocks of text, frozen charts and frozen tables; and how it becomes HTML, a
// document and JSON.
#pragma once

#include <QByteArray>
#include <QImage>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

class QTextDocument;

namespace weft::ui {

struct ReportBlock {
    enum class Kind { Text, Chart, Table };
    Kind kind = Kind::Text;
    QString text;                  // Markdown; of charts and tables the caption
    QByteArray svg;                // of a chart
    QImage picture;                // the same, for where vectors cannot be shown
    QStringList columns;           // of a table
    std::vector<QStringList> rows; // as many texts as columns

    /// "Text: what we tried", "Chart: validation loss".
    QString title() const;
};

struct Report {
    QString title;
    std::vector<ReportBlock> blocks;
};

/// One file that needs no other and no network: pictures are in it as SVG.
QString reportHtml(const Report& report);
/// For a preview and for paper: pictures are `width` pixels wide at most.
void fillDocument(QTextDocument& document, const Report& report, int width);

QByteArray reportJson(const Report& report);
/// None where it is not one.
std::optional<Report> reportOfJson(const QByteArray& text);

} // namespace weft::ui
