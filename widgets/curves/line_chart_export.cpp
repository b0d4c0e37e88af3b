// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/line_chart_private.h"

#include "widgets/look/painting.h"

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

QString heading(const QString& text) {
    return text.contains(QLatin1Char(',')) || text.contains(QLatin1Char('"')) ? quoted(text) : text;
}

constexpr double kCaptionMargin = 12.0;
constexpr double kSample = 16.0; // of a line
constexpr double kSampleGap = 6.0;
constexpr double kCaptionEntryGap = 16.0;

} // namespace

class LineChart::Private::WithAxis {
public:
    explicit WithAxis(LineChart& chart) : chart_(chart), hidden_(!chart.d_->x_axis_visible) {
        show(true);
        chart_.replotNow();
    }
    ~WithAxis() {
        show(false);
        chart_.d_->renewCrosshair();
    }
    WithAxis(const WithAxis&) = delete;
    WithAxis& operator=(const WithAxis&) = delete;

private:
    void show(bool shown) {
        if (hidden_) {
            chart_.setXAxisVisible(shown);
        }
        chart_.d_->crosshair_layer->setVisible(!shown);
    }

    LineChart& chart_;
    bool hidden_;
};

QString LineChart::Private::xName() const {
    return x_name.isEmpty() ? tr("step") : x_name;
}

QString LineChart::Private::yName() const {
    const ChartSeries* lead = primary();
    return !y_name.isEmpty() ? y_name : lead ? lead->spec.name : QString();
}

QString LineChart::Private::xColumn() const {
    switch (x_kind) {
    case XKind::Seconds: return tr("%1 in seconds").arg(xName());
    case XKind::Clock: return tr("%1 in seconds since 1970 UTC").arg(xName());
    case XKind::Count:
    case XKind::Number: break;
    }
    return xName();
}

QString LineChart::Private::yColumn() const {
    return yName().isEmpty() ? tr("value") : yName();
}

// "loss over step", then the runs with their lines, as many on a row as fit.
double LineChart::Private::paintCaption(QPainter* painter, double width) const {
    const Theme& theme = Theme::current();
    const QFont strong = theme.font(TextStyle::Strong);
    const QFont caption = theme.font(TextStyle::Caption);
    const double line = std::ceil(QFontMetricsF(strong).height()) + 4.0;
    const double right = width - kCaptionMargin;
    double y = kCaptionMargin / 2.0;
    const auto put = [&](const QRectF& place, const QString& text, const QFont& font) {
        if (painter) {
            paintText(*painter, place, Qt::AlignLeft | Qt::AlignVCenter, text, font,
                      theme.color(Role::Text));
        }
    };
    const QString title = tr("%1 over %2").arg(yColumn(), xName());
    put({kCaptionMargin, y, right - kCaptionMargin, line}, title, strong);
    double x = kCaptionMargin + std::ceil(textWidth(strong, title)) + kCaptionEntryGap;
    QStringList named;
    for (const auto& entry : series) {
        if (!entry->spec.visible || entry->store.size() == 0 || named.contains(entry->group())) {
            continue;
        }
        named << entry->group();
        const double text = std::ceil(textWidth(caption, entry->group()));
        if (x + kSample + kSampleGap + text > right && x > kCaptionMargin) {
            x = kCaptionMargin;
            y += line;
        }
        if (painter) {
            const QColor color = entry->spec.form == SeriesForm::Abandoned
                                     ? theme.color(Role::Muted)
                                     : theme.series(entry->spec.slot);
            painter->setPen(QPen(color, 2.0, entry->spec.dash));
            const double middle = std::round(y + line / 2.0);
            painter->drawLine(QPointF(x, middle), QPointF(x + kSample, middle));
        }
        x += kSample + kSampleGap;
        put({x, y, std::min(text, right - x), line}, entry->group(), caption);
        x += text + kCaptionEntryGap;
    }
    return y + line;
}

bool LineChart::Private::paintVectors(QPaintDevice& device, const QSize& size) {
    QCPPainter painter;
    if (!painter.begin(&device)) {
        return false;
    }
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    painter.fillRect(QRect(QPoint(), size), Theme::current().color(Role::Surface));
    paintCaption(&painter, size.width());
    painter.translate(0, size.height() - plot->height());
    plot->toPainter(&painter, plot->width(), plot->height());
    return painter.end();
}

bool LineChart::exportPng(const QString& path, double scale) {
    const Private::WithAxis axis(*this);
    const QPixmap chart = d_->plot->toPixmap(0, 0, scale);
    const auto above =
        static_cast<int>(std::ceil(d_->paintCaption(nullptr, d_->plot->width()) * scale));
    QImage picture(chart.width(), chart.height() + above, QImage::Format_RGB32);
    picture.fill(Theme::current().color(Role::Surface));
    QPainter painter(&picture);
    painter.drawPixmap(QRect(0, above, chart.width(), chart.height()), chart);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.scale(scale, scale);
    d_->paintCaption(&painter, d_->plot->width());
    painter.end();
    return picture.save(path, "PNG");
}

QSize LineChart::Private::pictureSize() const {
    const double above = std::ceil(paintCaption(nullptr, plot->width()));
    return plot->size() + QSize(0, static_cast<int>(above));
}

bool LineChart::exportSvg(const QString& path) {
    const Private::WithAxis axis(*this);
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) {
        return false;
    }
    const QSize size = d_->pictureSize();
    QSvgGenerator generator;
    generator.setOutputDevice(&file);
    generator.setSize(size);
    generator.setViewBox(QRect(QPoint(0, 0), size));
    generator.setTitle(accessibleName());
    generator.setDescription(describe());
    return d_->paintVectors(generator, size) && file.error() == QFileDevice::NoError;
}

bool LineChart::exportPdf(const QString& path) {
    const Private::WithAxis axis(*this);
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) {
        return false;
    }
    const QSize size = d_->pictureSize();
    QPdfWriter writer(&file);
    writer.setTitle(accessibleName());
    // A point a pixel, so that lines and text keep their proportions.
    writer.setPageSize(QPageSize(QSizeF(size), QPageSize::Point));
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    writer.setResolution(72);
    return d_->paintVectors(writer, size) && file.error() == QFileDevice::NoError;
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
    out << "series," << heading(d_->xColumn()) << ',' << heading(d_->yColumn()) << ",smoothed\n";
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
    const QString y_name = d_->yName();
    const QString x_name = d_->xName();
    QString text = tr("%1 %2 at %3 %4, %5")
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
