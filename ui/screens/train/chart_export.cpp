// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/train/chart_export.h"

#include "widgets/line_chart.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>

#include <functional>
#include <vector>

namespace weft::ui {
namespace {

QString tr(const char* text) {
    return QCoreApplication::translate("ChartExport", text);
}

struct Kind {
    QString filter;
    QString suffix;
    std::function<bool(widgets::LineChart&, const QString&)> write;
};

std::vector<Kind> kinds() {
    using Chart = widgets::LineChart;
    return {
        {tr("Picture, twice the pixels (*.png)"), "png",
         [](Chart& chart, const QString& path) { return chart.exportPng(path, 2.0); }},
        {tr("Picture, as on screen (*.png)"), "png",
         [](Chart& chart, const QString& path) { return chart.exportPng(path, 1.0); }},
        {tr("Vector drawing (*.svg)"), "svg",
         [](Chart& chart, const QString& path) { return chart.exportSvg(path); }},
        {tr("Document (*.pdf)"), "pdf",
         [](Chart& chart, const QString& path) { return chart.exportPdf(path); }},
        {tr("Every point (*.csv)"), "csv",
         [](Chart& chart, const QString& path) { return chart.exportCsv(path, false); }},
        {tr("Points in view (*.csv)"), "csv",
         [](Chart& chart, const QString& path) { return chart.exportCsv(path, true); }},
    };
}

} // namespace

QString export_chart(widgets::LineChart& chart, QWidget* parent, const QString& name) {
    const std::vector<Kind> all = kinds();
    QStringList filters;
    for (const Kind& kind : all) {
        filters << kind.filter;
    }
    QString chosen = filters.front();
    QString path = QFileDialog::getSaveFileName(parent, tr("Export chart"), name + ".png",
                                                filters.join(";;"), &chosen);
    if (path.isEmpty()) {
        return {};
    }
    const Kind* kind =
        &all[static_cast<std::size_t>(std::max(0, static_cast<int>(filters.indexOf(chosen))))];
    const QString suffix = QFileInfo(path).suffix();
    if (suffix.isEmpty()) {
        path += "." + kind->suffix;
    } else if (suffix != kind->suffix) {
        // The name decides where it says something else than the filter.
        for (const Kind& other : all) {
            if (other.suffix == suffix) {
                kind = &other;
                break;
            }
        }
    }
    return kind->write(chart, path)
               ? QString()
               : tr("%1 could not be written. Choose another folder.").arg(path);
}

} // namespace weft::ui
