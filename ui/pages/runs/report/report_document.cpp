// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/report/report_document.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTextDocument>
#include <QUrl>

#include <algorithm>

namespace weft::ui {
namespace {

using Kind = ReportBlock::Kind;

constexpr int kPictureRatio = 2; // pixels of a picture for one of the chart; see report_export
constexpr const char* kReportStyle = R"(
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1d22; background: #fff;
       max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.3rem; } h3 { font-size: 1.1rem; }
figure { margin: 1.5rem 0; }
figure.chart { display: inline-block; vertical-align: top; margin: 0 1rem 1.5rem 0; }
figure svg { max-width: 100%; height: auto; }
figcaption { color: #5a6270; font-size: 0.9rem; }
div.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.25rem 0.75rem; border-bottom: 1px solid #e2e6eb; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
code, pre { background: #f0f2f5; })";

QString report_words(const char* text) {
    return QCoreApplication::translate("Report", text);
}

/// What stands between the tags of the body.
QString html_of_markdown(const QString& text) {
    QTextDocument document;
    document.setMarkdown(text);
    const QString html = document.toHtml();
    const qsizetype body = html.indexOf(QLatin1String("<body"));
    const qsizetype from = html.indexOf('>', body) + 1;
    QString out = html.mid(from, html.indexOf(QLatin1String("</body>")) - from);
    static const QRegularExpression kStyles(QStringLiteral(" style=\"[^\"]*\""));
    return out.remove(kStyles).trimmed(); // those of the page hold
}

bool is_number_text(const QString& text) {
    bool number = false;
    QString plain = text;
    plain.remove(',').toDouble(&number);
    return number;
}

QString html_of_table(const ReportBlock& block) {
    QString out = QStringLiteral("<table cellspacing=\"0\" cellpadding=\"3\">\n<tr>");
    for (const QString& column : block.columns) {
        out += "<th align=\"left\">" + column.toHtmlEscaped() + "</th>";
    }
    out += "</tr>\n";
    for (const QStringList& row : block.rows) {
        out += "<tr>";
        for (const QString& cell : row) {
            out += (is_number_text(cell) ? "<td class=\"number\" align=\"right\">" : "<td>") +
                   cell.toHtmlEscaped() + "</td>";
        }
        out += "</tr>\n";
    }
    return out + "</table>\n";
}

/// Without its first line, which only a file of its own has.
QString inline_svg(const QByteArray& svg) {
    const QString text = QString::fromUtf8(svg);
    return text.mid(std::max<qsizetype>(0, text.indexOf(QLatin1String("<svg"))));
}

QByteArray png_of(const QImage& picture) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    picture.save(&buffer, "PNG");
    return bytes;
}

QString first_line(const QString& text) {
    QString line = text.section('\n', 0, 0, QString::SectionSkipEmpty);
    static const QRegularExpression kMarks(QStringLiteral("^[#>*\\s-]+"));
    return line.remove(kMarks).left(48);
}

} // namespace

QString ReportBlock::title() const {
    const QString what = kind == Kind::Text    ? report_words(QT_TRANSLATE_NOOP("Report", "Text"))
                         : kind == Kind::Chart ? report_words(QT_TRANSLATE_NOOP("Report", "Chart"))
                                               : report_words(QT_TRANSLATE_NOOP("Report", "Table"));
    const QString line = first_line(text);
    return line.isEmpty() ? what : what + ": " + line;
}

QString reportHtml(const Report& report) {
    QString out =
        QStringLiteral("<!doctype html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width\">\n"
                       "<title>%1</title>\n<style>%2\n</style>\n</head>\n<body>\n<h1>%1</h1>\n")
            .arg(report.title.toHtmlEscaped(), QLatin1String(kReportStyle));
    for (const ReportBlock& block : report.blocks) {
        if (block.kind == Kind::Text) {
            out += html_of_markdown(block.text) + "\n";
            continue;
        }
        const QString caption = "<figcaption>" + html_of_markdown(block.text) + "</figcaption>\n";
        out += block.kind == Kind::Chart ? "<figure class=\"chart\">\n" : "<figure>\n";
        out += block.kind == Kind::Chart
                   ? inline_svg(block.svg) + "\n"
                   : "<div class=\"table\">\n" + html_of_table(block) + "</div>\n";
        out += caption + "</figure>\n";
    }
    return out + "</body>\n</html>\n";
}

void fillDocument(QTextDocument& document, const Report& report, int width) {
    QString out = "<h1>" + report.title.toHtmlEscaped() + "</h1>";
    for (std::size_t i = 0; i < report.blocks.size(); ++i) {
        const ReportBlock& block = report.blocks[i];
        if (block.kind == Kind::Text) {
            out += html_of_markdown(block.text);
            continue;
        }
        if (block.kind == Kind::Chart && !block.picture.isNull()) {
            const QString name = QStringLiteral("block:%1").arg(i);
            document.addResource(QTextDocument::ImageResource, QUrl(name), block.picture);
            const int natural = block.picture.width() / kPictureRatio * 5 / 4;
            out += QStringLiteral("<p><img src=\"%1\" width=\"%2\"></p>")
                       .arg(name)
                       .arg(std::min(width, natural));
        } else if (block.kind == Kind::Table) {
            out += html_of_table(block);
        }
        out += "<p><i>" + block.text.toHtmlEscaped() + "</i></p>";
    }
    document.setHtml(out);
}

QByteArray reportJson(const Report& report) {
    QJsonArray blocks;
    for (const ReportBlock& block : report.blocks) {
        QJsonObject one{{"kind", block.kind == Kind::Text    ? "text"
                                 : block.kind == Kind::Chart ? "chart"
                                                             : "table"},
                        {"text", block.text}};
        if (block.kind == Kind::Chart) {
            one["svg"] = QString::fromUtf8(block.svg);
            one["png"] = QString::fromLatin1(png_of(block.picture).toBase64());
        } else if (block.kind == Kind::Table) {
            QJsonArray rows;
            for (const QStringList& row : block.rows) {
                rows.append(QJsonArray::fromStringList(row));
            }
            one["columns"] = QJsonArray::fromStringList(block.columns);
            one["rows"] = rows;
        }
        blocks.append(one);
    }
    return QJsonDocument(QJsonObject{{"title", report.title}, {"blocks", blocks}}).toJson();
}

std::optional<Report> reportOfJson(const QByteArray& text) {
    const QJsonDocument document = QJsonDocument::fromJson(text);
    if (!document.isObject() || !document["blocks"].isArray()) {
        return std::nullopt;
    }
    const auto strings = [](const QJsonValue& value) {
        QStringList out;
        for (const QJsonValue& one : value.toArray()) {
            out << one.toString();
        }
        return out;
    };
    Report report;
    report.title = document["title"].toString();
    for (const QJsonValue& value : document["blocks"].toArray()) {
        const QJsonObject one = value.toObject();
        ReportBlock& block = report.blocks.emplace_back();
        const QString kind = one["kind"].toString();
        block.kind = kind == "chart" ? Kind::Chart : kind == "table" ? Kind::Table : Kind::Text;
        block.text = one["text"].toString();
        block.svg = one["svg"].toString().toUtf8();
        block.picture.loadFromData(QByteArray::fromBase64(one["png"].toString().toLatin1()), "PNG");
        block.columns = strings(one["columns"]);
        for (const QJsonValue& row : one["rows"].toArray()) {
            block.rows.push_back(strings(row));
        }
    }
    return report;
}

} // namespace weft::ui
