// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/curves/line_chart.h"

#include "widgets/curves/line_chart_private.h"

#include <QFocusEvent>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::widgets {
namespace {

constexpr int kRestMs = 120; // of a moved view, before its lines are drawn anew

} // namespace

ChartPainting::ChartPainting(QCustomPlot* plot, const QString& layer,
                             std::function<void(QPainter&)> paint)
    : QCPLayerable(plot, layer), paint_(std::move(paint)) {}

void ChartPainting::applyDefaultAntialiasingHint(QCPPainter* painter) const {
    // QCustomPlot's own switch also shifts by half a pixel, which would blur text and hairlines.
    painter->setAntialiasing(false);
}

void ChartPainting::draw(QCPPainter* painter) {
    paint_(*painter);
}

QRect ChartPainting::clipRect() const {
    return parentPlot()->viewport();
}

LineChart::Private::Private(LineChart* chart) : q(chart), plot(new QCustomPlot(chart)) {
    plot->setPlottingHint(QCP::phFastPolylines, true);
    plot->setAutoAddPlottableToLegend(false); // nobody sees it, but each replot would lay it out
    plot->setFocusPolicy(Qt::NoFocus);
    plot->setMouseTracking(true);
    plot->setMinimumSize(16, 16); // a splitter may leave none, and its pictures need some
    plot->setAttribute(Qt::WA_OpaquePaintEvent);
    plot->axisRect()->setAutoMargins(QCP::msNone);
    plot->xAxis->setTicker(x_ticker);
    plot->yAxis->setTicker(y_ticker);
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
        axis->setSubTicks(false);
        axis->setTickLength(0, 0);
        axis->setTickLabelPadding(6);
        axis->setNumberFormat(QStringLiteral("g")); // else labels with an e become powers of ten
    }
    plot->addLayer(QStringLiteral("under"), plot->layer(QStringLiteral("grid")),
                   QCustomPlot::limBelow);
    plot->addLayer(QStringLiteral("lines"), plot->layer(QStringLiteral("main")),
                   QCustomPlot::limBelow);
    plot->addLayer(QStringLiteral("rings"), plot->layer(QStringLiteral("main")));
    plot->addLayer(QStringLiteral("marks"), plot->layer(QStringLiteral("axes")));
    plot->addLayer(QStringLiteral("crosshair"), plot->layer(QStringLiteral("overlay")));
    crosshair_layer = plot->layer(QStringLiteral("crosshair"));
    // Nothing is on it: one picture less to clear and to blend.
    plot->layer(QStringLiteral("overlay"))->setMode(QCPLayer::lmLogical);
    new ChartPainting(plot, QStringLiteral("under"), [this](QPainter& p) { paintUnder(p); });
    new ChartPainting(plot, QStringLiteral("lines"), [this](QPainter& p) { paintLines(p); });
    new ChartPainting(plot, QStringLiteral("rings"), [this](QPainter& p) { paintRings(p); });
    new ChartPainting(plot, QStringLiteral("marks"), [this](QPainter& p) { paintMarks(p); });
    new ChartPainting(plot, QStringLiteral("crosshair"),
                      [this](QPainter& p) { paintCrosshair(p); });
    resting.setSingleShot(true);
    resting.setInterval(kRestMs);
    QObject::connect(&resting, &QTimer::timeout, chart, [this] { scheduleReplot(); });
}

LineChart::LineChart(QWidget* parent) : QWidget(parent), d_(std::make_unique<Private>(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(d_->plot);
    d_->plot->installEventFilter(this);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Chart"));
    d_->applyTheme();
    d_->applyMargins();
}

LineChart::~LineChart() = default;

ChartSeries* LineChart::Private::find(int id) const {
    const auto found = std::find_if(series.begin(), series.end(),
                                    [id](const auto& entry) { return entry->id == id; });
    return found == series.end() ? nullptr : found->get();
}

// The series that read-outs and the crosshair follow: the first one with points.
const ChartSeries* LineChart::Private::primary() const {
    for (const auto& entry : series) {
        if (entry->isDrawn() && !entry->store.empty() && entry->isActual()) {
            return entry.get();
        }
    }
    return nullptr;
}

bool LineChart::Private::hasPoints() const {
    return std::any_of(series.begin(), series.end(), [](const auto& entry) {
        return entry->isDrawn() && (!entry->store.empty() || !entry->store.nonFinite().empty());
    });
}

SeriesStore::Domain LineChart::Private::domain() const {
    return log ? SeriesStore::Domain::Positive : SeriesStore::Domain::All;
}

void LineChart::Private::scheduleReplot() {
    if (!replot_pending) {
        replot_pending = true;
        QMetaObject::invokeMethod(
            q,
            [this] {
                if (!replot_pending) {
                    return; // somebody wanted it at once
                }
                if (canBeSeen()) {
                    replot(QCustomPlot::rpQueuedRefresh); // with all else that changed
                } else {
                    replot_pending = false;
                    stale = true;
                }
            },
            Qt::QueuedConnection);
    }
}

// Behind another page, out of a scrolled view or in a minimised window it waits until it is seen.
bool LineChart::Private::canBeSeen() const {
    return q->isVisible() && !q->window()->isMinimized() && !plot->visibleRegion().isEmpty();
}

void LineChart::Private::renewIfStale() {
    if (std::exchange(stale, false)) {
        scheduleReplot();
    }
    if (std::exchange(crosshair_stale, false)) {
        QMetaObject::invokeMethod(
            q, [this] { renewCrosshair(); }, Qt::QueuedConnection);
    }
}

void LineChart::Private::applyMargins() {
    const int top = (top_ticks.empty() ? 12 : 24) + (title.isEmpty() ? 0 : kTitleHeight);
    const double scale = Theme::current().fontScale();
    const auto scaled = [scale](int pixels) { return static_cast<int>(pixels * scale); };
    const int right = std::max(16, static_cast<int>(std::ceil(namesWidth())));
    plot->axisRect()->setMargins(
        QMargins(scaled(left_margin), scaled(top), right, x_axis_visible ? scaled(26) : 8));
    plot->xAxis->setTickLabels(x_axis_visible);
}

void LineChart::Private::applyTheme() {
    const Theme& theme = Theme::current();
    plot->setBackground(QBrush(theme.color(Role::Surface)));
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
        axis->setTickLabelFont(theme.font(TextStyle::MonoSmall));
        axis->setTickLabelColor(theme.color(Role::Muted));
        axis->setTickPen(Qt::NoPen);
        axis->setBasePen(axis == plot->xAxis ? QPen(theme.color(Role::Border), 1.0)
                                             : QPen(Qt::NoPen));
        axis->grid()->setPen(QPen(theme.color(Role::Hairline), 1.0));
        axis->grid()->setZeroLinePen(QPen(theme.color(Role::Hairline), 1.0));
    }
    for (const auto& entry : series) {
        applyPens(*entry);
    }
    scheduleReplot();
}

void LineChart::Private::applyPens(ChartSeries& entry) {
    const Theme& theme = Theme::current();
    const SeriesForm form = entry.spec.form;
    const QColor color = theme.series(entry.spec.slot);
    const bool thin = form == SeriesForm::Thin || form == SeriesForm::Inherited;
    entry.raw.color = theme.seriesRaw(entry.spec.slot);
    entry.main.color = form == SeriesForm::Inherited ? entry.raw.color : color;
    const bool strong = highlighted == entry.id && !swift; // else it is painted over the others
    entry.main.width = thin && !strong ? 1.0 : 2.0;
    entry.main.dash = thin && !strong ? entry.spec.dash : Qt::SolidLine;
    if (!entry.isGraph()) {
        return;
    }
    QPen pen(form == SeriesForm::Abandoned ? theme.color(Role::Muted) : color);
    pen.setDashPattern({4.0, 3.0});
    // QCustomPlot takes exactly 1.0 for one device pixel; these few points can afford true width.
    pen.setWidthF(plot->devicePixelRatioF() > 1.0 ? 1.01 : 1.0);
    entry.line->setPen(pen);
}

void LineChart::setTitle(const QString& title) {
    d_->title = title;
    setAccessibleName(title);
    d_->applyMargins();
    d_->scheduleReplot();
}

void LineChart::setAxisNames(const QString& x_name, const QString& y_name) {
    d_->x_name = x_name;
    d_->y_name = y_name;
}

void LineChart::setLogScale(bool log) {
    if (log == d_->log) {
        return;
    }
    d_->log = log;
    d_->user_y.reset();
    d_->plot->yAxis->setScaleType(log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    d_->y_ticker->setKind(log ? ChartTicker::Kind::Logarithmic : ChartTicker::Kind::Linear);
    d_->scheduleReplot();
    emit logScaleChanged(log);
}

bool LineChart::isLogScale() const {
    return d_->log;
}

void LineChart::setOutliersClipped(bool clipped) {
    if (clipped == d_->clip_outliers) {
        return;
    }
    d_->clip_outliers = clipped;
    d_->scheduleReplot();
    emit outliersClippedChanged(clipped);
}

bool LineChart::areOutliersClipped() const {
    return d_->clip_outliers;
}

bool LineChart::hasOutliers() const {
    return d_->has_outliers;
}

std::size_t LineChart::clippedCount() const {
    if (!d_->clipped) {
        return 0;
    }
    const ChartRange x = xRange();
    const ChartRange y = yRange();
    std::size_t total = 0;
    for (const auto& entry : d_->series) {
        if (entry->isDrawn()) {
            total +=
                entry->store.countOutside(x.low, x.high, {y.low, y.high}, SeriesStore::Column::Raw);
        }
    }
    return total;
}

void LineChart::setSmoothing(double weight) {
    d_->weight = weight;
    for (const auto& entry : d_->series) {
        if (entry->column() == SeriesStore::Column::Smoothed) {
            entry->store.setSmoothing(weight);
            if (entry->band) {
                entry->band->low.setSmoothing(weight);
                entry->band->high.setSmoothing(weight);
            }
        }
    }
    d_->scheduleReplot();
}

double LineChart::smoothing() const {
    return d_->weight;
}

void LineChart::setXKind(XKind kind) {
    d_->x_kind = kind;
    d_->x_ticker->setKind(kind == XKind::Seconds ? ChartTicker::Kind::Seconds
                          : kind == XKind::Clock ? ChartTicker::Kind::Clock
                          : kind == XKind::Count ? ChartTicker::Kind::Count
                                                 : ChartTicker::Kind::Linear);
    d_->scheduleReplot();
}

void LineChart::setXAxisVisible(bool visible) {
    d_->x_axis_visible = visible;
    d_->applyMargins();
    d_->scheduleReplot();
}

void LineChart::setLeftMargin(int pixels) {
    d_->left_margin = pixels;
    d_->applyMargins();
    d_->scheduleReplot();
}

void LineChart::setCompactCrosshair(bool compact) {
    d_->compact = compact;
}

void LineChart::setReadoutShown(bool shown) {
    d_->readout = shown;
}

void LineChart::setSwift(bool swift) {
    d_->swift = swift;
    for (const auto& entry : d_->series) {
        d_->applyPens(*entry);
    }
    d_->scheduleReplot();
}

bool LineChart::isExact() const {
    return !d_->moved && !d_->replot_pending && !d_->stale;
}

void LineChart::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
        d_->applyMargins();
        d_->applyTheme();
    }
}

void LineChart::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    d_->applyMargins();
    d_->scheduleReplot();
}

void LineChart::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    d_->renewIfStale();
}

void LineChart::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    d_->keyboard_focus =
        event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason;
    d_->renewCrosshair();
}

void LineChart::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    d_->keyboard_focus = false;
    d_->renewCrosshair();
}

QCustomPlot* LineChart::plot() const {
    return d_->plot;
}

} // namespace weft::widgets
