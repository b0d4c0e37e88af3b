// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/home/demo_card.h"

#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/pages/drawings.h"
#include "ui/studio.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"
#include "widgets/curves/series_store.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kCellWidth = 64; // at text size 1
constexpr QSize kCurveSize(160, 120);

using widgets::Role;
using widgets::TextStyle;

/// Stands where the loss curve will be.
class CurveOutline : public QWidget {
public:
    CurveOutline() { setMinimumSize(kCurveSize); }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const widgets::Theme& theme = widgets::Theme::current();
        painter.setPen(QPen(theme.color(Role::Faint), 1.5, Qt::DashLine));
        const QRectF room = QRectF(rect()).adjusted(8, 8, -8, -8);
        QPainterPath fall(room.topLeft());
        fall.cubicTo(room.left() + room.width() * 0.12, room.top() + room.height() * 0.9,
                     room.left() + room.width() * 0.4, room.bottom(), room.right(), room.bottom());
        painter.drawPath(fall);
    }
};

/// The goal as last evaluated and when that was; the loss, while nothing trained was evaluated.
QString demoText(const train::RunSummary& run) {
    const train::MetricSummary* goal = run.metric(run.best_metric);
    const bool evaluated = goal != nullptr && goal->last_step > 0;
    const double share =
        evaluated ? static_cast<double>(goal->last_step) / static_cast<double>(run.step) : 1.0;
    const QString said = run.state == "running" ? DemoCard::tr("running: %1 %2 after %3")
                                                : DemoCard::tr("last demo: %1 %2 after %3");
    return said.arg(metricWords(evaluated ? run.best_metric : "train/loss"),
                    formatMetric(evaluated ? goal->last : run.last_loss),
                    formatDuration(run.seconds * std::min(share, 1.0)).replace(' ', QChar::Nbsp));
}

int cellWidth() {
    return static_cast<int>(kCellWidth * widgets::Theme::current().fontScale());
}

} // namespace

DemoCard::DemoCard(Studio& studio, QWidget* parent) : Card(parent), studio_(studio) {
    setObjectName("demoCard");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(24, 20, 24, 20);
    column->setSpacing(widgets::space::kControl);
    title_ = new widgets::TextLabel({}, TextStyle::Title);
    column->addWidget(title_);
    what_ = new widgets::TextLabel({}, TextStyle::Body, Role::Muted);
    what_->setObjectName("demoText");
    what_->setWordWrap(true);
    column->addWidget(what_);

    column->addSpacing(widgets::space::kTight);
    auto* middle = new QHBoxLayout;
    middle->setSpacing(24);
    pictures_ = new widgets::ImageGrid;
    pictures_->setColumns(5);
    pictures_->setCellWidth(cellWidth());
    pictures_->setCentredCaptions(true);
    pictures_->setEmptyText(tr("Loading pictures…"));
    middle->addWidget(pictures_, 2, Qt::AlignTop);
    auto* side = new QVBoxLayout;
    side->setSpacing(4);
    chart_ = new widgets::LineChart;
    chart_->setMinimumSize(kCurveSize);
    chart_->hide();
    chart_->setAxisNames(tr("seconds"), tr("loss"));
    chart_->setXKind(widgets::LineChart::XKind::Seconds);
    chart_->setSmoothing(widgets::SeriesStore::kUsualSmoothing);
    chart_->setFocusPolicy(Qt::NoFocus);
    chart_->setAccessibleName(tr("Loss of the demo"));
    offerExport(
        *chart_, [] { return QStringLiteral("demo-loss"); },
        [this](bool well, const QString& text) { emit exported(well, text); });
    side->addWidget(chart_, 1);
    outline_ = new CurveOutline;
    side->addWidget(outline_, 1);
    chart_note_ = new widgets::TextLabel(tr("its loss curve, after one run"), TextStyle::Caption,
                                         Role::Muted);
    chart_note_->setObjectName("demoNote");
    chart_note_->setWordWrap(true);
    side->addWidget(chart_note_);
    middle->addLayout(side, 1);
    column->addLayout(middle, 1);

    auto* bottom = new QHBoxLayout;
    bottom->setSpacing(widgets::space::kGroup);
    try_ = new QPushButton(tr("Try it on a picture"));
    try_->setObjectName("tryDemo");
    try_->setMinimumHeight(36);
    try_->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(try_, &QPushButton::clicked, this, [this] { emit tryRequested(last_run_); });
    bottom->addWidget(try_);
    start_ = new QPushButton;
    start_->setObjectName("runDemo");
    start_->setMinimumHeight(36);
    start_->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    connect(start_, &QPushButton::clicked, this, &DemoCard::startDemo);
    bottom->addWidget(start_);
    needs_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    needs_->setObjectName("demoNeeds");
    needs_->setWordWrap(true);
    QSizePolicy kept = needs_->sizePolicy();
    kept.setRetainSizeWhenHidden(true); // what is beside it keeps its place
    needs_->setSizePolicy(kept);
    bottom->addWidget(needs_, 1);
    column->addLayout(bottom);

    connect(&studio_, &Studio::trainingChanged, this, &DemoCard::updateButtons);
    connect(&studio_.draft(), &Draft::changed, this, &DemoCard::updateButtons);
    connect(&studio_.index(), &RunIndex::runsChanged, this, &DemoCard::showLastDemo);
    showDemo();
    updateButtons();
    lookForDemo();
}

// Captions below the pictures grow with the text.
void DemoCard::changeEvent(QEvent* event) {
    Card::changeEvent(event);
    const bool look = event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange;
    if (look && pictures_ != nullptr) {
        pictures_->setCellWidth(cellWidth());
    }
}

// What was not there may have been installed meanwhile.
void DemoCard::showEvent(QShowEvent* event) {
    Card::showEvent(event);
    if (demo_.made || !demo_.problem.isEmpty()) {
        lookForDemo();
    }
}

void DemoCard::lookForDemo() {
    if (std::exchange(looking_, true)) {
        return;
    }
    runInBackground(
        this, [presets = studio_.paths().presets] { return findDemo(presets); },
        [this](const Demo& found) {
            looking_ = false;
            demo_ = found;
            showDemo();
            showLastDemo();
            if (std::exchange(wanted_, false)) {
                demo_.problem.isEmpty() ? startDemo() : emit failed(demo_.problem);
            }
        });
}

void DemoCard::showDemo() {
    title_->setText(demo_.made ? tr("Teach it to tell waves apart")
                               : tr("Teach it to recognise clothes"));
    what_->setText(demo_.made ? tr("A small network learns ten patterns from 9,000 pictures made "
                                   "on this machine. %1")
                                    .arg(demo_.clothes_problem)
                              : tr("A small network learns ten kinds of clothing from 54,000 "
                                   "pictures, on this machine, while you watch."));
    pictures_->setAccessibleName(demo_.made ? tr("Ten patterns of waves")
                                            : tr("Ten kinds of clothing"));
    if (!demo_.problem.isEmpty()) {
        pictures_->setEmptyText(demo_.problem);
    } else if (!demo_.pictures.empty()) {
        pictures_->setImages(demo_.pictures);
    }
}

void DemoCard::showLastDemo() {
    last_run_.clear();
    for (const train::RunSummary& run : studio_.index().runs()) {
        if (run.info.name != demo_.name || run.loss_curve.size() < 2 || run.step == 0) {
            continue;
        }
        const bool ended = run.state == "finished" || run.state == "stopped";
        if (ended && run.last_checkpoint_step >= 0) {
            last_run_ = run.folder;
        }
        std::vector<double> x;
        std::vector<double> y;
        for (const auto& [step, loss] : run.loss_curve) {
            x.push_back(step / static_cast<double>(run.step) * run.seconds);
            y.push_back(loss);
        }
        chart_->clearAll();
        const int series =
            chart_->addSeries({tr("train/loss"), {}, 0, widgets::SeriesForm::Smoothed});
        chart_->append(series, x, y);
        chart_->show();
        outline_->hide();
        chart_note_->setText(demoText(run));
        break;
    }
    updateButtons();
}

// Its configuration becomes the draft, so that the pages that edit one have something to show.
void DemoCard::startDemo() {
    if (demo_.pictures.empty()) {
        wanted_ = true;
        lookForDemo();
        return;
    }
    const StartResult result = studio_.control().startFile(demo_.preset);
    if (!result.started) {
        emit failed(result.problem);
    } else if (studio_.draft().isEmpty()) {
        studio_.draft().open(demo_.preset);
    }
}

// A demo that has run is there to be tried.
void DemoCard::updateButtons() {
    const bool again = !last_run_.empty() && !studio_.isTraining();
    try_->setVisible(again);
    needs_->setVisible(!again);
    start_->setText(again ? tr("Run it again") : tr("Run the demo · one minute"));
    // With a draft the toolbar leads.
    using widgets::ButtonKind;
    const ButtonKind first = studio_.draft().isEmpty() ? ButtonKind::Primary : ButtonKind::Normal;
    const ButtonKind kind = again ? ButtonKind::Normal : first;
    widgets::setButtonKind(try_, first);
    widgets::setButtonKind(start_, kind);
    start_->setIcon(
        widgets::icon("play-filled", kind == ButtonKind::Primary ? Role::OnAccent : Role::Accent));
    start_->setEnabled(!studio_.isTraining());
    const QString why =
        studio_.isTraining() ? tr("%1 is still training.").arg(studio_.run().name()) : QString();
    start_->setToolTip(why);
    needs_->setText(why.isEmpty() ? tr("needs no GPU, no download, no account") : why);
}

} // namespace weft::ui
