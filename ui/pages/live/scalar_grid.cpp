// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/scalar_grid.h"

#include "ui/bridge/convert.h"
#include "ui/pages/chart_controls.h"
#include "ui/pages/chart_frame.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/style.h"

#include <QGridLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
#include <map>

namespace weft::ui {
namespace {

constexpr std::size_t kChartsAtFirst = 24; // of a run with hundreds of tags
/// Of all charts in one turn of the event loop.
constexpr std::size_t kScalarGridPointsAtOnce = 65536;
constexpr int kChartHeight = 248;          // with the strip over it
constexpr int kScalarGridChartWidth = 420; // at least, before another column is begun
constexpr int kScalarGridMostColumns = 4;

QString group_of(const std::string& tag) {
    const std::size_t slash = tag.find('/');
    return slash == std::string::npos ? QString() : toQString(tag.substr(0, slash));
}

} // namespace

ScalarGrid::ScalarGrid(RunModel& run, QWidget* parent)
    : QWidget(parent), run_(run), most_(kChartsAtFirst) {
    setObjectName("scalarGrid");
    link_ = new widgets::ChartLink(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHeader());
    trouble_ = new widgets::Banner(widgets::MessageKind::Warning);
    trouble_->setObjectName("scalarTrouble");
    trouble_->setClosable(true);
    trouble_->hide();
    column->addWidget(trouble_);
    stack_ = new QStackedWidget;
    empty_ = new widgets::EmptyState("train", tr("Nothing written yet"));
    stack_->addWidget(empty_);
    content_ = new widgets::Surface;
    groups_ = new QVBoxLayout(content_);
    groups_->setContentsMargins(0, 0, 0, 0);
    groups_->setSpacing(0);
    stack_->addWidget(widgets::verticalScroll(content_));
    column->addWidget(stack_, 1);
    more_ = new QPushButton;
    more_->setObjectName("moreScalars");
    more_->hide();
    connect(more_, &QPushButton::clicked, this, [this] {
        most_ += kChartsAtFirst;
        rebuild();
    });
    column->addWidget(more_, 0, Qt::AlignHCenter);

    feeding_.setSingleShot(true);
    feeding_.setInterval(0);
    connect(&feeding_, &QTimer::timeout, this, [this] {
        if (feed()) {
            feeding_.start();
        }
    });
    connect(&run_, &RunModel::reset, this, [this] {
        most_ = kChartsAtFirst;
        trouble_->hide();
        filter_->clear();
        clear();
        rebuild();
    });
    auto* full = new QShortcut(QKeySequence(Qt::Key_F11), this);
    connect(full, &QShortcut::activated, this, &ScalarGrid::toggleFullScreen);
    connect(&run_, &RunModel::scalarsChanged, this, &ScalarGrid::update);
    rebuild();
}

QWidget* ScalarGrid::createHeader() {
    header_ = new widgets::SectionHeader(tr("Scalars"));
    filter_ = new QLineEdit;
    filter_->setObjectName("scalarFilter");
    filter_->setPlaceholderText(tr("Filter tags"));
    filter_->setAccessibleName(tr("Filter tags"));
    filter_->setClearButtonEnabled(true);
    filter_->setMaximumWidth(200);
    connect(filter_, &QLineEdit::textChanged, this, &ScalarGrid::rebuild);
    header_->addControl(filter_);
    // What event files say: no epochs.
    controls_ = new ChartControls(*header_,
                                  {XAxis::Step, XAxis::Seconds, XAxis::Wall, XAxis::RelativeStep});
    controls_->smoothingSlider()->setObjectName("scalarSmoothing");
    controls_->axisBox()->setObjectName("scalarAxis");
    connect(controls_, &ChartControls::axisChanged, this, [this] {
        clear();
        rebuild();
    });
    scale_ = new widgets::SegmentedControl({tr("Linear"), tr("Log")});
    scale_->setObjectName("scalarScale");
    scale_->setAccessibleName(tr("Vertical scale"));
    scale_->setCompact(true);
    connect(scale_, &widgets::SegmentedControl::currentIndexChanged, this, [this](int index) {
        for (const Shown& shown : shown_) {
            shown.frame->chart()->setLogScale(index == 1);
        }
    });
    header_->addControl(scale_);
    QPushButton* linked = controls_->createLinkButton(*link_);
    linked->setObjectName("linkScalars");
    header_->addControl(linked);
    return header_;
}

std::vector<std::size_t> ScalarGrid::wantedTags() const {
    std::vector<std::size_t> tags;
    for (std::size_t i = 0; i < run_.scalars().size(); ++i) {
        if (toQString(run_.scalars()[i].tag).contains(filter_->text(), Qt::CaseInsensitive)) {
            tags.push_back(i);
        }
    }
    std::stable_sort(tags.begin(), tags.end(), [this](std::size_t a, std::size_t b) {
        return group_of(run_.scalars()[a].tag) < group_of(run_.scalars()[b].tag);
    });
    return tags;
}

void ScalarGrid::update() {
    if (wantedTags() != tags_) {
        rebuild();
    } else {
        feeding_.start();
        updateWords();
    }
}

std::vector<widgets::LineChart*> ScalarGrid::charts() const {
    std::vector<widgets::LineChart*> charts;
    for (const Shown& shown : shown_) {
        charts.push_back(shown.frame->chart());
    }
    return charts;
}

void ScalarGrid::clear() {
    for (const Shown& shown : shown_) {
        delete shown.frame;
    }
    shown_.clear();
}

// Charts of tags that stay are kept as they are, one that fills the screen among them.
void ScalarGrid::rebuild() {
    tags_ = wantedTags();
    std::vector<Shown> old = std::move(shown_);
    shown_.clear();
    for (std::size_t i = 0; i < std::min(tags_.size(), most_); ++i) {
        const auto same = std::find_if(old.begin(), old.end(),
                                       [&](const Shown& one) { return one.tag == tags_[i]; });
        if (same == old.end()) {
            shown_.push_back(createChart(tags_[i]));
        } else {
            shown_.push_back(*same);
            old.erase(same);
        }
    }
    for (const Shown& gone : old) {
        delete gone.frame;
    }
    columns_ = 0;
    arrange();
    updateWords();
    feeding_.start();
}

ScalarGrid::Shown ScalarGrid::createChart(std::size_t tag) {
    const QString name = toQString(run_.scalars()[tag].tag);
    auto* frame = new ChartFrame(content_);
    frame->setHead(new widgets::ElidedLabel(name, widgets::TextStyle::Strong));
    frame->setFixedHeight(kChartHeight);
    frame->showAxis(controls_->axis(), name);
    frame->setExportName(run_.name() + QLatin1Char('-') + name);
    controls_->take(*frame);
    connect(frame, &ChartFrame::exported, this, &ScalarGrid::exported);
    widgets::LineChart* chart = frame->chart();
    chart->setAccessibleName(name);
    chart->setLogScale(scale_->currentIndex() == 1);
    link_->add(chart);
    return {frame, tag, 0, 0, chart->addSeries({name, name, 0, widgets::SeriesForm::Smoothed})};
}

void ScalarGrid::toggleFullScreen() {
    std::vector<ChartFrame*> frames;
    for (const Shown& shown : shown_) {
        frames.push_back(shown.frame);
    }
    if (ChartFrame* frame = ChartFrame::chosen(frames)) {
        frame->toggleFullScreen();
    }
}

// Charts of one group stand together under its name; as many side by side as there is room for.
void ScalarGrid::arrange() {
    const double scale = widgets::Theme::current().fontScale();
    std::map<QString, int> sizes;
    int largest = 1;
    for (const Shown& shown : shown_) {
        largest = std::max(largest, ++sizes[group_of(run_.scalars()[shown.tag].tag)]);
    }
    const int columns = std::clamp(static_cast<int>(width() / (kScalarGridChartWidth * scale)), 1,
                                   std::min(kScalarGridMostColumns, largest));
    if (columns == columns_) {
        return;
    }
    columns_ = columns;
    while (QLayoutItem* item = groups_->takeAt(0)) {
        if (item->widget() != nullptr) {
            delete item->widget(); // a header; charts belong to the grids below
        } else if (QLayout* grid = item->layout()) {
            while (QLayoutItem* cell = grid->takeAt(0)) {
                delete cell;
            }
        }
        delete item;
    }
    QGridLayout* grid = nullptr;
    QString group;
    int place = 0;
    for (std::size_t i = 0; i < shown_.size(); ++i) {
        const QString own = group_of(run_.scalars()[shown_[i].tag].tag);
        if (grid == nullptr || own != group) {
            group = own;
            place = 0;
            if (!group.isEmpty()) {
                auto* title =
                    new widgets::SectionHeader(group, widgets::SectionHeader::Level::Section);
                title->setContentsMargins(widgets::space::kGroup, 0, widgets::space::kGroup, 0);
                groups_->addWidget(title);
                title->show();
            }
            grid = new QGridLayout;
            grid->setSpacing(widgets::space::kTight);
            grid->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                                     widgets::space::kGroup, widgets::space::kControl);
            for (int column = 0; column < columns; ++column) {
                grid->setColumnStretch(column, 1);
            }
            groups_->addLayout(grid);
        }
        grid->addWidget(shown_[i].frame, place / columns, place % columns);
        shown_[i].frame->show();
        ++place;
    }
    groups_->addStretch(1);
}

// True while there is more to hand over.
bool ScalarGrid::feed() {
    std::size_t budget = kScalarGridPointsAtOnce;
    for (std::size_t i = 0; i < shown_.size(); ++i) {
        const std::size_t before = shown_[i].points;
        while (feedOne(shown_[i])) {
            const std::size_t handed = shown_[i].points - std::min(before, shown_[i].points);
            if (handed >= budget) {
                return true;
            }
        }
        budget -= std::min(budget, shown_[i].points - std::min(before, shown_[i].points));
        if (budget == 0) {
            return i + 1 < shown_.size();
        }
    }
    return false;
}

// Hands over some points of one tag; false when it has them all.
bool ScalarGrid::feedOne(Shown& shown) {
    constexpr std::size_t kSlice = 16384;
    const train::ScalarSeries& series = run_.scalars()[shown.tag];
    widgets::LineChart& chart = *shown.frame->chart();
    if (series.taken_back != shown.taken_back) {
        chart.clearSeries(shown.series);
        shown.taken_back = series.taken_back;
        shown.points = 0;
    }
    const std::size_t count = std::min(series.step.size() - shown.points, kSlice);
    if (count == 0) {
        return false;
    }
    const XAxis axis = controls_->axis();
    const bool time = axis == XAxis::Seconds || axis == XAxis::Wall;
    const double from = axis == XAxis::Seconds        ? run_.scalarsBegin()
                        : axis == XAxis::RelativeStep ? firstStep()
                                                      : 0.0;
    const auto part = [&](const std::vector<double>& column) {
        return std::span(column).subspan(shown.points, count);
    };
    std::vector<double> x;
    x.reserve(count);
    for (const double at : part(time ? series.time : series.step)) {
        x.push_back(at - from);
    }
    chart.append(shown.series, x, part(series.value));
    shown.points += count;
    return shown.points < series.step.size();
}

double ScalarGrid::firstStep() const {
    double first = std::numeric_limits<double>::infinity();
    for (const train::ScalarSeries& series : run_.scalars()) {
        first = series.step.empty() ? first : std::min(first, series.step.front());
    }
    return first;
}

void ScalarGrid::updateWords() {
    std::size_t points = 0;
    for (const train::ScalarSeries& series : run_.scalars()) {
        points += series.step.size();
    }
    header_->setTitle(run_.isEmpty() ? tr("Scalars") : run_.name());
    header_->setSubtitle(
        tr("%n tag(s)", nullptr, static_cast<int>(run_.scalars().size())) +
        tr(" · %1 points · read from event files").arg(formatCount(static_cast<qint64>(points))));
    stack_->setCurrentIndex(tags_.empty() ? 0 : 1);
    empty_->setTitle(run_.scalars().empty() ? tr("Nothing written yet") : tr("No tag fits"));
    empty_->setText(run_.scalars().empty()
                        ? tr("Curves appear here as soon as the program writes its first scalar.")
                        : tr("Change the filter: no tag contains “%1”.").arg(filter_->text()));
    const std::size_t hidden = tags_.size() - std::min(tags_.size(), most_);
    more_->setVisible(hidden > 0);
    more_->setText(tr("Show more charts (%1 left)").arg(hidden));
    if (!run_.warnings().empty() && run_.isForeign()) {
        trouble_->setText(tr("A part of the files cannot be read"),
                          toQString(run_.warnings().back().message));
        trouble_->show();
    }
}

void ScalarGrid::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

void ScalarGrid::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        arrange();
    }
}

} // namespace weft::ui
