// SPDX-License-Identifier: GPL-3.0-or-later
// The series of a LineChart: adding, feeding, hiding, counting.
#include "widgets/curves/line_chart.h"

#include "widgets/curves/line_chart_private.h"

namespace weft::widgets {

int LineChart::addSeries(const SeriesSpec& spec) {
    auto entry = std::make_unique<ChartSeries>();
    entry->id = d_->next_id++;
    entry->spec = spec;
    entry->store.setSmoothing(entry->column() == SeriesStore::Column::Smoothed ? d_->weight : 0.0);
    entry->line = d_->plot->addGraph();
    d_->applyPens(*entry);
    d_->series.push_back(std::move(entry));
    d_->applyMargins();
    d_->scheduleReplot();
    return d_->next_id - 1;
}

void LineChart::removeSeries(int id) {
    ChartSeries* entry = d_->find(id);
    if (!entry) {
        return;
    }
    d_->plot->removeGraph(entry->line);
    std::erase_if(d_->series, [id](const auto& e) { return e->id == id; });
    d_->applyMargins();
    d_->scheduleReplot();
}

void LineChart::clearSeries(int id) {
    if (ChartSeries* entry = d_->find(id)) {
        entry->store.clear();
        entry->band.reset();
        d_->scheduleReplot();
    }
}

void LineChart::clearContent() {
    while (!d_->series.empty()) {
        removeSeries(d_->series.back()->id);
    }
    d_->flags.clear();
    d_->events.clear();
    d_->best.reset();
    d_->user_y.reset();
}

void LineChart::clearAll() {
    clearContent();
    d_->crosshair.reset();
    d_->crosshair_locked = false;
    resetView();
}

void LineChart::append(int id, std::span<const double> x, std::span<const double> y) {
    if (ChartSeries* entry = d_->find(id)) {
        entry->store.append(x, y);
        d_->scheduleReplot();
    }
}

void LineChart::append(int id, double x, double y) {
    append(id, std::span<const double>(&x, 1), std::span<const double>(&y, 1));
}

void LineChart::setSeriesVisible(int id, bool visible) {
    if (ChartSeries* entry = d_->find(id)) {
        entry->spec.visible = visible;
        d_->applyMargins();
        d_->scheduleReplot();
    }
}

bool LineChart::isSeriesVisible(int id) const {
    const ChartSeries* entry = d_->find(id);
    return entry && entry->spec.visible;
}

void LineChart::setSeriesLook(int id, int slot, Qt::PenStyle dash) {
    if (ChartSeries* entry = d_->find(id)) {
        entry->spec.slot = slot;
        entry->spec.dash = dash;
        d_->applyPens(*entry);
        d_->scheduleReplot();
    }
}

void LineChart::setSeriesForm(int id, SeriesForm form) {
    ChartSeries* entry = d_->find(id);
    if (entry && entry->spec.form != form) {
        entry->spec.form = form;
        entry->store.setSmoothing(entry->column() == SeriesStore::Column::Smoothed ? d_->weight
                                                                                   : 0.0);
        d_->applyPens(*entry);
        d_->scheduleReplot();
    }
}

void LineChart::setBand(int id, std::span<const double> x, std::span<const double> low,
                        std::span<const double> high) {
    ChartSeries* entry = d_->find(id);
    if (entry == nullptr) {
        return;
    }
    entry->band = std::make_unique<SeriesBand>();
    const double weight = entry->store.smoothing();
    entry->band->low.setSmoothing(weight);
    entry->band->high.setSmoothing(weight);
    entry->band->low.append(x, low);
    entry->band->high.append(x, high);
    d_->scheduleReplot();
}

std::optional<double> LineChart::valueAt(int id, double x) const {
    const ChartSeries* entry = d_->find(id);
    if (entry == nullptr || entry->store.empty() || x < entry->store.at(0).x ||
        x > entry->store.last().x) {
        return std::nullopt;
    }
    return entry->store.at(entry->store.nearest(x), entry->column()).y;
}

void LineChart::setHighlightedSeries(int id) {
    if (d_->highlighted == id) {
        return;
    }
    d_->highlighted = id;
    if (d_->swift) {
        d_->viewMoved(); // the others stay as they are drawn
        return;
    }
    for (const auto& entry : d_->series) {
        d_->applyPens(*entry);
    }
    d_->scheduleReplot();
}

std::size_t LineChart::pointCount(int id) const {
    const ChartSeries* entry = d_->find(id);
    return entry ? entry->store.size() : 0;
}

std::size_t LineChart::nonFiniteCount(int id) const {
    const ChartSeries* entry = d_->find(id);
    return entry ? entry->store.nonFinite().size() : 0;
}

std::size_t LineChart::hiddenByLogCount() const {
    std::size_t total = 0;
    for (const auto& entry : d_->series) {
        total += d_->log && entry->isDrawn() ? entry->store.nonPositiveCount() : 0;
    }
    return total;
}

} // namespace weft::widgets
