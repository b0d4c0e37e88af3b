// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/line_chart_private.h"

#include "widgets/painting.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QTextStream>

#include <cmath>

namespace weft::widgets {
namespace {

QString plain(double value) {
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}

QString quoted(QString text) {
    text.replace(QLatin1Char('"'), QLatin1String("\"\""));
    return QLatin1Char('"') + text + QLatin1Char('"');
}

} // namespace

bool LineChart::exportPng(const QString& path, double scale) {
    replotNow();
    d_->crosshair_layer->setVisible(false);
    const QPixmap pixmap = d_->plot->toPixmap(0, 0, scale);
    d_->crosshair_layer->setVisible(true);
    return pixmap.save(path, "PNG");
}

bool LineChart::exportSvg(const QString& path) {
    replotNow();
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) {
        return false;
    }
    QSvgGenerator generator;
    generator.setOutputDevice(&file);
    generator.setSize(d_->plot->size());
    generator.setViewBox(QRect(QPoint(0, 0), d_->plot->size()));
    generator.setTitle(accessibleName());
    generator.setDescription(describe());
    QCPPainter painter;
    if (!painter.begin(&generator)) {
        return false;
    }
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    d_->crosshair_layer->setVisible(false);
    d_->plot->toPainter(&painter, d_->plot->width(), d_->plot->height());
    d_->crosshair_layer->setVisible(true);
    painter.end();
    return file.error() == QFileDevice::NoError;
}

bool LineChart::exportPdf(const QString& path) {
    replotNow();
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) {
        return false;
    }
    QPdfWriter writer(&file);
    writer.setTitle(accessibleName());
    // A point a pixel, so that lines and text keep their proportions.
    writer.setPageSize(QPageSize(QSizeF(d_->plot->size()), QPageSize::Point));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    writer.setResolution(72);
    QCPPainter painter;
    if (!painter.begin(&writer)) {
        return false;
    }
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    d_->crosshair_layer->setVisible(false);
    d_->plot->toPainter(&painter, d_->plot->width(), d_->plot->height());
    d_->crosshair_layer->setVisible(true);
    painter.end();
    return file.error() == QFileDevice::NoError;
}

void LineChart::copyData() const {
    const ChartRange range = xRange();
    QString text;
    for (const auto& entry : d_->series) {
        const SeriesStore& store = entry->store;
        if (!entry->spec.visible) {
            continue;
        }
        const QString name = entry->group() + QLatin1Char(' ') + entry->spec.name;
        for (std::size_t i = store.lowerBound(range.low);
             i < store.size() && store.at(i).x <= range.high; ++i) {
            text += name + QLatin1Char('\t') + plain(store.at(i).x) + QLatin1Char('\t') +
                    plain(store.at(i).y) + QLatin1Char('\n');
        }
    }
    QGuiApplication::clipboard()->setText(text);
}

bool LineChart::exportCsv(const QString& path, bool visible_range_only) const {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly | QIODevice::Text)) {
        return false;
    }
    const ChartRange range = xRange();
    const auto wanted = [&](double x) {
        return !visible_range_only || (x >= range.low && x <= range.high);
    };
    QTextStream out(&file);
    out << "series,x,y,smoothed\n";
    for (const auto& entry : d_->series) {
        if (!entry->spec.visible) {
            continue;
        }
        const QString name = quoted(entry->spec.group.isEmpty()
                                        ? entry->spec.name
                                        : entry->spec.group + QLatin1Char('/') + entry->spec.name);
        for (std::size_t i = 0; i < entry->store.size(); ++i) {
            const SeriesPoint raw = entry->store.at(i);
            if (wanted(raw.x)) {
                out << name << ',' << plain(raw.x) << ',' << plain(raw.y) << ','
                    << plain(entry->store.at(i, entry->column()).y) << '\n';
            }
        }
        for (const SeriesPoint& point : entry->store.nonFinite()) {
            if (wanted(point.x)) {
                out << name << ',' << plain(point.x) << ',' << plain(point.y) << ",\n";
            }
        }
    }
    out.flush();
    return file.commit();
}

// Trend: the smoothed value against its value a tenth of the run earlier, in parts of the span.
QString LineChart::describe() const {
    const ChartSeries* lead = d_->primary();
    if (!lead) {
        return d_->overlay_title.isEmpty() ? tr("no points yet") : d_->overlay_title;
    }
    const SeriesStore& store = lead->store;
    const SeriesPoint last = store.last(lead->column());
    const double first_x = store.at(0).x;
    const std::size_t before = store.nearest(last.x - (last.x - first_x) * 0.1);
    const double change = last.y - store.at(before, lead->column()).y;
    const SeriesExtent extent =
        store.extent(first_x, last.x, lead->column(), SeriesStore::Domain::All);
    const double span = extent.high - extent.low;
    const QString trend = std::abs(change) < 0.005 * span || span == 0.0 ? tr("steady")
                          : change < 0.0                                 ? tr("falling")
                                                                         : tr("rising");
    const QString y_name = d_->y_name.isEmpty() ? lead->spec.name : d_->y_name;
    const QString x_name = d_->x_name.isEmpty() ? tr("step") : d_->x_name;
    QString text =
        tr("%1 %2 at %3 %4, %5")
            .arg(y_name, formatNumber(last.y), x_name, d_->placeText(last.x), trend);
    if (d_->best) {
        text += tr("; best %1 at %2 %3")
                    .arg(formatNumber(d_->best->y), x_name, d_->placeText(d_->best->x));
    }
    std::size_t non_finite = 0;
    for (const auto& entry : d_->series) {
        non_finite += entry->spec.visible ? entry->store.nonFinite().size() : 0;
    }
    if (non_finite > 0) {
        text += tr("; not finite: %1").arg(formatCount(static_cast<qint64>(non_finite)));
    }
    return text;
}

} // namespace weft::widgets
