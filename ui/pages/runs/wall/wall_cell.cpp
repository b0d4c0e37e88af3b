// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/wall/wall_cell.h"

#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_facts.h"
#include "ui/pages/drawings.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"

#include <QPushButton>

#include <algorithm>
#include <set>

namespace weft::ui {
namespace {

using train::MetricPoint;

constexpr int kWallCellHeight = 176;
constexpr std::size_t kWallPiece = 4096;       // points at a time
constexpr std::size_t kWallLeastPoints = 8192; // what the store of a line has room for at least

std::string last_part(const std::string& metric) {
    const std::size_t slash = metric.find('/');
    return slash == std::string::npos ? metric : metric.substr(slash + 1);
}

/// The epoch of a step, on the straight line between those that are known.
double epoch_at(const std::vector<MetricPoint>& epochs, std::int64_t step) {
    const auto after =
        std::lower_bound(epochs.begin(), epochs.end(), step,
                         [](const MetricPoint& point, std::int64_t at) { return point.step < at; });
    if (after == epochs.end()) {
        return epochs.empty() ? 0.0 : epochs.back().value;
    }
    if (after->step == step || after == epochs.begin()) {
        return after->value;
    }
    const MetricPoint& before = *std::prev(after);
    return before.value + (after->value - before.value) * static_cast<double>(step - before.step) /
                              static_cast<double>(after->step - before.step);
}

/// Where a point lies on an axis. `began`: when the run did.
double place_of(const MetricPoint& point, XAxis axis, double began,
                const std::vector<MetricPoint>* epochs) {
    switch (axis) {
    case XAxis::Seconds: return point.time - began;
    case XAxis::Wall: return point.time;
    case XAxis::Epoch: return epochs == nullptr ? 0.0 : epoch_at(*epochs, point.step);
    default: return static_cast<double>(point.step);
    }
}

double beginning_of(const train::RunSummary& run, const std::vector<MetricPoint>& curve) {
    const double first = curve.empty() ? 0.0 : curve.front().time;
    return run.info.created > 0 ? std::min(run.info.created, first) : first;
}

/// A curve and what its place on the axis depends on; to be computed with in the background.
struct GroupMember {
    Curve curve;
    Curve epochs;
    double began = 0;
};

std::vector<compare::CurvePoint> points_of(const GroupMember& member, XAxis axis) {
    std::vector<compare::CurvePoint> out;
    for (const MetricPoint& point : *member.curve) {
        out.push_back({place_of(point, axis, member.began, member.epochs.get()), point.value});
    }
    return out;
}

} // namespace

WallCell::WallCell(std::string metric, RunCurves& curves, const RunLooks& looks)
    : metric_(std::move(metric)), curves_(curves), looks_(looks) {
    setObjectName("wallCell");
    auto* head = new widgets::ElidedLabel(title(), widgets::TextStyle::CaptionStrong);
    head->setToolTip(toQString(metric_));
    setHead(head);
    setExportName("runs-" + fileName(toQString(metric_)));
    setFixedHeight(static_cast<int>(kWallCellHeight * widgets::Theme::current().fontScale()));
    connect(addTool("wallAdd", "plus", tr("Add to the report")), &QPushButton::clicked, this,
            &WallCell::reportRequested);
    chart()->setObjectName("wallChart");
    chart()->setAccessibleName(toQString(metric_));
    chart()->setSwift(true);
    showAxis(XAxis::Step, toQString(metric_));
}

QString WallCell::title() const {
    QString words = metricWords(last_part(metric_));
    words[0] = words[0].toUpper();
    return words;
}

void WallCell::setOptions(const WallOptions& options) {
    options_ = options;
    current_ = false;
}

bool WallCell::isGrouped() const {
    return options_.grouped && !looks_.groups().empty();
}

std::size_t WallCell::points() const {
    std::size_t sum = 0;
    for (const auto& [folder, line] : lines_) {
        sum += line.fed > 0 ? std::max(line.fed, kWallLeastPoints) : 0;
    }
    return sum;
}

void WallCell::forget() {
    if (!lines_.empty() || !groups_.empty()) {
        chart()->clearContent();
        lines_.clear();
        groups_.clear();
        current_ = false;
    }
}

void WallCell::follow() {
    if (drawn_with_ != options_ || drawn_grouped_ != isGrouped()) {
        if (drawn_with_.axis != options_.axis) {
            chart()->clearAll(); // another x: what was in view means nothing
            showAxis(options_.axis, toQString(metric_));
        } else {
            chart()->clearContent();
        }
        lines_.clear();
        groups_.clear();
        drawn_with_ = options_;
        drawn_grouped_ = isGrouped();
    }
    isGrouped() ? followGroups() : followRuns();
    current_ = true;
}

void WallCell::followRuns() {
    std::set<std::string> listed;
    for (const train::RunSummary& run : looks_.runs()) {
        if (run.metric(metric_) == nullptr) {
            continue;
        }
        const std::string key = run.folder.string();
        listed.insert(key);
        const RunLook look = looks_.lookOf(run.folder);
        auto [found, fresh] = lines_.try_emplace(key);
        Line& line = found->second;
        if (fresh) {
            if (!look.shown) {
                lines_.erase(found); // not read until its eye is open
                continue;
            }
            const QString name = nameOf(run);
            line.series = chart()->addSeries(
                {name, name, look.slot, widgets::SeriesForm::Thin, look.dash, true});
        } else if (look != line.look) {
            chart()->setSeriesVisible(line.series, look.shown);
            chart()->setSeriesLook(line.series, look.slot, look.dash);
        }
        line.look = look;
    }
    for (auto line = lines_.begin(); line != lines_.end();) {
        if (listed.contains(line->first)) {
            ++line;
        } else {
            chart()->removeSeries(line->second.series);
            line = lines_.erase(line);
        }
    }
    applyHighlight();
}

void WallCell::followGroups() {
    groups_due_ = true;
}

/// What other programs wrote lies in one file for all metrics: then all are asked for together.
Curve WallCell::curveOf(const train::RunSummary& run, const std::string& metric) {
    Curve curve = curves_.find(run, metric);
    if (curve == nullptr && run.source != train::RunSource::weft) {
        for (const auto& [name, summary] : run.metrics) {
            curves_.find(run, name);
        }
    }
    return curve;
}

WallCell::Fed WallCell::feed(std::size_t& budget) {
    if (!current_) {
        follow();
    }
    const Fed fed = isGrouped() ? feedGroups() : feedRuns(budget);
    bool any = !groups_.empty();
    for (const auto& [folder, line] : lines_) {
        any = any || line.fed > 0;
    }
    chart()->setOverlayText(any                   ? QString()
                            : fed == Fed::Waiting ? tr("Reading the curves …")
                            : options_.axis == XAxis::Epoch
                                ? tr("These runs do not say their epochs")
                                : tr("No run that is shown has this"));
    return fed;
}

WallCell::Fed WallCell::feedRuns(std::size_t& budget) {
    bool waiting = false;
    for (const train::RunSummary& run : looks_.runs()) {
        const auto found = lines_.find(run.folder.string());
        if (found == lines_.end() || !found->second.look.shown) {
            continue;
        }
        Line& line = found->second;
        if (line.curve == nullptr || line.stamp != run.stamp) {
            const Curve now = curveOf(run, metric_);
            const Curve epochs =
                options_.axis == XAxis::Epoch ? curveOf(run, train::kEpochCurve) : nullptr;
            if (now == nullptr || (options_.axis == XAxis::Epoch && epochs == nullptr)) {
                waiting = true;
                continue;
            }
            if (now != line.curve) {
                chart()->clearSeries(line.series);
                line.fed = 0;
                line.curve = now;
                line.epochs = epochs;
                line.stamp = run.stamp;
            }
        }
        budget -= feedLine(run, line, budget);
        if (budget == 0) {
            return Fed::Hungry;
        }
    }
    return waiting ? Fed::Waiting : Fed::Done;
}

double WallCell::xOf(const train::RunSummary& run, const Line& line, std::size_t point) const {
    return place_of((*line.curve)[point], options_.axis, beginning_of(run, *line.curve),
                    line.epochs.get());
}

/// Returns how many points it has appended.
std::size_t WallCell::feedLine(const train::RunSummary& run, Line& line, std::size_t budget) {
    const bool placeless = options_.axis == XAxis::Epoch && line.epochs->empty();
    std::size_t count = 0;
    std::vector<double> x;
    std::vector<double> y;
    while (!placeless && count < budget && line.fed < line.curve->size()) {
        x.clear();
        y.clear();
        while (x.size() < kWallPiece && count < budget && line.fed < line.curve->size()) {
            x.push_back(xOf(run, line, line.fed));
            y.push_back((*line.curve)[line.fed].value);
            ++line.fed;
            ++count;
        }
        chart()->append(line.series, x, y);
    }
    return count;
}

WallCell::Fed WallCell::feedGroups() {
    if (!groups_due_) {
        return Fed::Done;
    }
    bool waiting = false;
    std::vector<std::vector<GroupMember>> groups;
    for (const RunLooks::Group& group : looks_.groups()) {
        std::vector<GroupMember>& members = groups.emplace_back();
        for (const std::size_t at : group.runs) {
            const train::RunSummary& run = looks_.runs()[at];
            if (run.metric(metric_) == nullptr || !looks_.isShown(run.folder)) {
                continue;
            }
            GroupMember member{curveOf(run, metric_), nullptr, 0};
            if (options_.axis == XAxis::Epoch) {
                member.epochs = curveOf(run, train::kEpochCurve);
            }
            if (member.curve == nullptr ||
                (options_.axis == XAxis::Epoch && member.epochs == nullptr)) {
                waiting = true;
                continue;
            }
            member.began = beginning_of(run, *member.curve);
            members.push_back(std::move(member));
        }
    }
    if (waiting) {
        return Fed::Waiting;
    }
    groups_due_ = false;
    runInBackground(
        this,
        [groups, options = options_] {
            std::vector<std::vector<compare::BandPoint>> out;
            for (const std::vector<GroupMember>& members : groups) {
                std::vector<std::vector<compare::CurvePoint>> curves;
                for (const GroupMember& member : members) {
                    curves.push_back(points_of(member, options.axis));
                }
                out.push_back(compare::mean_and_band(curves, options.band));
            }
            return out;
        },
        [this, number = ++computing_](std::vector<std::vector<compare::BandPoint>> found) {
            if (number == computing_ && isGrouped() && found.size() == looks_.groups().size()) {
                showGroups(std::move(found));
            }
        });
    return Fed::Done;
}

void WallCell::showGroups(std::vector<std::vector<compare::BandPoint>> found) {
    chart()->clearContent();
    chart()->setOverlayText({});
    groups_.clear();
    for (std::size_t i = 0; i < found.size(); ++i) {
        const RunLooks::Group& group = looks_.groups()[i];
        if (found[i].empty()) {
            continue;
        }
        GroupLine& line = groups_.emplace_back();
        line.look = group.look;
        line.name = group.value.isEmpty() ? tr("none") : group.value;
        line.points = std::move(found[i]);
        line.series = chart()->addSeries(
            {line.name, line.name, line.look.slot, widgets::SeriesForm::Bold, line.look.dash});
        std::vector<double> x;
        std::vector<double> mean;
        std::vector<double> low;
        std::vector<double> high;
        for (const compare::BandPoint& point : line.points) {
            x.push_back(point.x);
            mean.push_back(point.mean);
            low.push_back(point.low);
            high.push_back(point.high);
        }
        chart()->append(line.series, x, mean);
        chart()->setBand(line.series, x, low, high);
    }
    emit fedAnew();
}

void WallCell::highlight(const std::filesystem::path& run) {
    highlighted_ = run.string();
    applyHighlight();
}

void WallCell::applyHighlight() {
    const auto line = lines_.find(highlighted_);
    chart()->setHighlightedSeries(line == lines_.end() ? -1 : line->second.series);
}

WallValueModel::Section WallCell::section() const {
    WallValueModel::Section out;
    out.title = metricWords(metric_);
    const QPointer<widgets::LineChart> drawn(chart());
    std::vector<int> series;
    if (isGrouped()) {
        auto points = std::make_shared<std::vector<std::vector<compare::BandPoint>>>();
        for (const GroupLine& group : groups_) {
            out.lines.push_back({group.name, group.look.slot, group.look.dash});
            series.push_back(group.series);
            points->push_back(group.points);
        }
        out.value = [drawn, series, points](std::size_t line,
                                            std::optional<double> x) -> std::optional<WallValue> {
            const std::vector<compare::BandPoint>& band = (*points)[line];
            const double at = x.value_or(band.back().x);
            const auto value = drawn ? drawn->valueAt(series[line], at) : std::nullopt;
            if (!value) {
                return std::nullopt;
            }
            const auto after = std::lower_bound(
                band.begin(), band.end(), at,
                [](const compare::BandPoint& point, double place) { return point.x < place; });
            const compare::BandPoint& near = after == band.end() ? band.back() : *after;
            return WallValue{*value,
                             near.curves > 1 ? std::optional(near.deviation) : std::nullopt};
        };
        return out;
    }
    std::vector<double> newest;
    for (const train::RunSummary& run : looks_.runs()) {
        const auto found = lines_.find(run.folder.string());
        if (found == lines_.end() || !found->second.look.shown || found->second.fed == 0) {
            continue;
        }
        const Line& line = found->second;
        out.lines.push_back({nameOf(run), line.look.slot, line.look.dash});
        series.push_back(line.series);
        newest.push_back(xOf(run, line, line.fed - 1));
    }
    out.value = [drawn, series, newest](std::size_t line,
                                        std::optional<double> x) -> std::optional<WallValue> {
        const auto value =
            drawn ? drawn->valueAt(series[line], x.value_or(newest[line])) : std::nullopt;
        return value ? std::optional(WallValue{*value, std::nullopt}) : std::nullopt;
    };
    return out;
}

} // namespace weft::ui
