// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/live_page.h"

#include "core/compile/config/metric_facts.h"
#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/data/opening_news.h"
#include "ui/bridge/run/board_samples.h"
#include "ui/pages/live/confusion_panel.h"
#include "ui/pages/live/curve_panel.h"
#include "ui/pages/live/divergence/divergence_panel.h"
#include "ui/pages/live/failure_card.h"
#include "ui/pages/live/inside/inside_panel.h"
#include "ui/pages/live/live_settings_dialog.h"
#include "ui/pages/live/media/foreign_views.h"
#include "ui/pages/live/memory_panel.h"
#include "ui/pages/live/overlay_panel.h"
#include "ui/pages/live/recursion/puzzle_panel.h"
#include "ui/pages/live/recursion/recursion_panel.h"
#include "ui/pages/live/sample_look/look_panel.h"
#include "ui/pages/live/sample_panel.h"
#include "ui/pages/live/summary_card.h"
#include "ui/pages/live/suspects/suspects_panel.h"
#include "ui/pages/live/try_panel.h"
#include "ui/pages/page_list.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/number_strip.h"
#include "widgets/controls/phase_list.h"
#include "widgets/controls/shelf.h"
#include "widgets/controls/text_label.h"

#include <QDateTime>
#include <QGridLayout>
#include <QPushButton>
#include <QSettings>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

enum TrainNumber { StepNumber, LossNumber, MetricNumber, SpeedNumber, TimeNumber };
enum TrainView {
    CurveView,
    InsideView,
    RecursionView,
    DivergenceView,
    SuspectView,
    LookView,
};
enum PredictionTab { SampleTab, ConfusionTab, TryTab };
enum TrainSheet { TrainEmptySheet, PhaseSheet, TrainRunSheet, ForeignSheet };

using widgets::BigNumber;
using widgets::Role;

constexpr int kLivePageSideWidth = 336;

/// The metric of the third number: what people think in, where it is measured, else the loss.
std::string headline_metric(const RunModel& run) {
    for (const char* metric :
         {"validation/exact_accuracy", "validation/accuracy", "validation/mean_absolute_error"}) {
        if (run.lastMetric(metric)) {
            return metric;
        }
    }
    return "validation/loss";
}

QString headline(const std::string& metric) {
    QString words = metricWords(metric);
    words[0] = words[0].toUpper();
    return words;
}

BigNumber step_number(const RunModel& run) {
    BigNumber number{QObject::tr("Step"),
                     run.step() > 0 ? formatCount(run.step()) : QString(),
                     {},
                     {},
                     Role::Success,
                     {}};
    QStringList parts;
    if (run.totalSteps() > 0) {
        parts << QObject::tr("of %1").arg(formatCount(run.totalSteps()));
    } else if (run.totalSeconds() > 0) {
        parts << QObject::tr("in %1").arg(formatDuration(run.totalSeconds()));
    }
    if (run.step() > 0) {
        parts << QObject::tr("epoch %1").arg(run.lastStep().epoch, 0, 'f', 2);
    }
    number.sub = parts.join(" · ");
    return number;
}

BigNumber metric_number(const RunModel& run) {
    const std::string metric = headline_metric(run);
    BigNumber number{headline(metric), {}, {}, {}, Role::Success, {}};
    const auto last = run.lastMetric(metric);
    const auto best = run.bestMetric({metric, !compile::higher_is_better(metric)});
    if (last && best) {
        number.value = formatMetric(*last);
        const QString at =
            QObject::tr("step %1").arg(formatCount(static_cast<std::int64_t>(best->step)));
        if (best->step <= 0 && *last == best->value) {
            number.sub = QObject::tr("before training");
        } else if (*last == best->value) {
            number.lead = run.finished() ? QObject::tr("best") : QObject::tr("best so far");
            number.sub = at;
        } else {
            number.sub = QObject::tr("best %1 · %2").arg(formatMetric(best->value), at);
        }
    } else {
        number.sub = QObject::tr("not evaluated yet");
    }
    return number;
}

BigNumber speed_number(const RunModel& run) {
    BigNumber number{QObject::tr("Speed"), {}, {}, {}, Role::Success, {}};
    const RunModel::Speed speed = run.speed();
    if (speed.per_second > 0) {
        number.value = formatCount(static_cast<std::int64_t>(speed.per_second));
        number.sub = (speed.tokens ? QObject::tr("tokens/s · %1 ms a step")
                                   : QObject::tr("samples/s · %1 ms a step"))
                         .arg(speed.step_ms, 0, 'f', 1);
    }
    return number;
}

BigNumber time_number(const RunModel& run, bool training) {
    if (!training || train::is_final(run.state())) {
        return {QObject::tr("Time"),
                formatDuration(run.finished() ? run.finished()->seconds : run.secondsTrained()),
                {},
                QObject::tr("trained in all"),
                Role::Success,
                {}};
    }
    const double left = run.secondsLeft();
    BigNumber number{QObject::tr("Time left"),
                     left >= 0 ? formatDuration(left) : QString(),
                     {},
                     QObject::tr("%1 so far").arg(formatDuration(run.secondsTrained())),
                     Role::Success,
                     {}};
    if (left >= 0 && run.state() == train::RunState::paused) {
        number.sub = QObject::tr("paused · ") + number.sub;
    } else if (left >= 0) {
        const QDateTime end = QDateTime::currentDateTime().addSecs(static_cast<qint64>(left));
        number.sub = QObject::tr("done at %1 · ").arg(end.toString("HH:mm")) + number.sub;
    }
    return number;
}

} // namespace

LivePage::LivePage(Studio& studio, Actions& actions) : studio_(studio) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    failure_ = new FailureCard(studio_.run());
    failure_->setObjectName("failureCard");
    connect(failure_, &FailureCard::wayChosen, this, &LivePage::takeWayOn);
    connect(failure_, &FailureCard::resumeRequested, this, [this] {
        const StartResult result = studio_.control().resumeRun(studio_.run().folder());
        if (!result.started) {
            emit toastRequested(static_cast<int>(widgets::MessageKind::Error), result.problem);
        }
    });
    connect(failure_, &FailureCard::checkpointRequested, this, &LivePage::showCheckpoint);
    summary_ = new SummaryCard(studio_.run(), actions);
    summary_->setObjectName("summaryCard");
    connect(summary_, &SummaryCard::failed, this, [this](const QString& problem) {
        emit toastRequested(static_cast<int>(widgets::MessageKind::Error), problem);
    });
    connect(summary_, &SummaryCard::closed, this, &LivePage::leadChanged);
    connect(summary_, &SummaryCard::resumeRequested, this, [this] {
        const StartResult result = studio_.control().resumeRun(studio_.run().folder());
        if (!result.started) {
            emit toastRequested(static_cast<int>(widgets::MessageKind::Error), result.problem);
        }
    });
    curve_runs_ = new CurveRuns(studio_.run(), this);
    pictures_ = new SamplePictures(studio_.run(), this);
    boards_ = new BoardSamples(studio_.run(), this);
    trials_ = new TrialHost(this);
    stack_ = new QStackedWidget;
    stack_->addWidget(createEmptyPage(actions));
    stack_->addWidget(createPhasePage());
    stack_->addWidget(createRunPage(actions));
    auto* foreign = new ForeignViews(studio_.run());
    connect(foreign, &ForeignViews::exported, this, &LivePage::showWritten);
    stack_->addWidget(foreign);
    auto* shelf = new widgets::Shelf(stack_, widgets::Shelf::Edge::Top);
    shelf->add(failure_);
    column->addWidget(shelf, 1);

    connect(actions.get(action::kLiveSettings), &QAction::triggered, this,
            &LivePage::showLiveSettings);
    RunModel& run = studio_.run();
    const auto all = [this] {
        showFitting();
        updateNumbers();
        updatePhases();
        updateOutcome();
        emit navStateChanged();
    };
    connect(&run, &RunModel::reset, this, all);
    connect(&run, &RunModel::divergenceAdded, this, &LivePage::updateViews);
    connect(&run, &RunModel::stateChanged, this, all);
    connect(&run, &RunModel::failed, this, all);
    connect(&run, &RunModel::changed, this, [this] {
        showFitting();
        updateNumbers();
        updateReading();
    });
    connect(&studio_, &Studio::trainingChanged, this, all);
    updateViews();
    all();
}

QWidget* LivePage::createEmptyPage(Actions& actions) {
    auto* empty = new widgets::EmptyState(
        "train", tr("No run on screen"),
        tr("Start the demo or a preset on Home, or open a run to see its curves."));
    addHomeButton(*empty, studio_.draft());
    QPushButton* open = empty->addButton(tr("Open run…"), false);
    connect(open, &QPushButton::clicked, actions.get(action::kOpenFolder), &QAction::trigger);
    QPushButton* recipe = empty->addButton(tr("Log from your own loop…"), false);
    recipe->setObjectName("showLogRecipe");
    connect(recipe, &QPushButton::clicked, actions.get(action::kLogRecipe), &QAction::trigger);
    return empty;
}

QWidget* LivePage::createPhasePage() {
    auto* page = new widgets::Surface;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(widgets::space::kSection, widgets::space::kSection,
                               widgets::space::kSection, widgets::space::kSection);
    column->addStretch(2);
    auto* title = new widgets::TextLabel(tr("Getting ready"), widgets::TextStyle::Heading);
    title->setAlignment(Qt::AlignCenter);
    column->addWidget(title);
    column->addSpacing(widgets::space::kGroup);
    phases_ = new widgets::PhaseList;
    phases_->setMinimumWidth(360);
    column->addWidget(phases_, 0, Qt::AlignHCenter);
    reading_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, Role::Muted);
    reading_->setObjectName("reading");
    reading_->setAlignment(Qt::AlignCenter);
    reading_->setWordWrap(true);
    column->addSpacing(widgets::space::kGroup);
    column->addWidget(reading_);
    column->addStretch(3);
    return page;
}

QWidget* LivePage::createRunPage(Actions& actions) {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    numbers_ = new widgets::NumberStrip(5);
    numbers_->setObjectName("numbers");
    auto* top = new QGridLayout; // the summary over the numbers: it says the last of them
    top->addWidget(numbers_, 0, 0);
    top->addWidget(summary_, 0, 0);
    column->addLayout(top);
    column->addWidget(new widgets::Hairline);
    auto* splitter = new widgets::ThinSplitter(Qt::Horizontal, "trainSplitter");
    auto* left = new QWidget;
    auto* left_column = new QVBoxLayout(left);
    left_column->setContentsMargins(0, 0, 0, 0);
    left_column->setSpacing(0);
    curves_ = new CurvePanel(*curve_runs_);
    const QString kept = pathText(studio_.paths().state / "layout.ini");
    curves_->setLayoutText(QSettings(kept, QSettings::IniFormat).value("trainCharts").toString());
    connect(curves_, &CurvePanel::layoutChanged, this, [this, kept] {
        QSettings(kept, QSettings::IniFormat).setValue("trainCharts", curves_->layoutText());
    });
    connect(curves_, &CurvePanel::checkpointRequested, this, &LivePage::showCheckpoint);
    connect(curves_, &CurvePanel::exported, this, &LivePage::showWritten);
    left_column->addWidget(curves_, 1);
    left_column->addWidget(new widgets::Hairline);
    memory_ = new MemoryPanel(studio_.run());
    left_column->addWidget(memory_);
    splitter->addWidget(createViews(left));
    splitter->addWidget(createSide(actions));
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 0);
    splitter->setSizes({1440 - kLivePageSideWidth, kLivePageSideWidth});
    column->addWidget(splitter, 1);
    return page;
}

// Curves and memory, or what is inside the network; boards of a model that works step by step, and
// a loss that was not finite, where there are.
QWidget* LivePage::createViews(QWidget* curves) {
    auto* views = new widgets::Surface;
    auto* column = new QVBoxLayout(views);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* line = new QHBoxLayout;
    line->setContentsMargins(12, 6, 12, 6);
    view_ = new widgets::SegmentedControl({tr("Curves"), tr("Inside"), tr("Recursion"),
                                           tr("Divergence"), tr("Suspects"), tr("Tried sample")});
    view_->setObjectName("trainView");
    view_->setAccessibleName(tr("Show the run as"));
    view_->setCompact(true);
    line->addWidget(view_);
    line->addStretch(1);
    column->addLayout(line);
    auto* pages = new QStackedWidget;
    pages->addWidget(widgets::verticalScroll(curves));
    inside_ = new InsidePanel(studio_.run());
    connect(inside_, &InsidePanel::lookRequested, this, [this](std::int64_t every) {
        studio_.control().changeSetting("log.inside_every", every);
    });
    pages->addWidget(widgets::verticalScroll(inside_));
    pages->addWidget(widgets::verticalScroll(new RecursionPanel(*boards_)));
    divergence_ = new DivergencePanel(studio_.run());
    connect(divergence_, &DivergencePanel::wayChosen, &studio_.opener(), &PathOpener::forkAsked);
    pages->addWidget(widgets::verticalScroll(divergence_));
    suspects_ = new SuspectsPanel(studio_.run(), studio_.paths().worker);
    connect(suspects_, &SuspectsPanel::forkRequested, &studio_.opener(), &PathOpener::forkAsked);
    connect(suspects_, &SuspectsPanel::troubled, &studio_, &Studio::troubled);
    pages->addWidget(widgets::verticalScroll(suspects_));
    look_ = new LookPanel(*trials_);
    pages->addWidget(widgets::verticalScroll(look_));
    view_->setSegmentVisible(LookView, false);
    column->addWidget(pages, 1);
    connect(view_, &widgets::SegmentedControl::currentIndexChanged, pages,
            &QStackedWidget::setCurrentIndex);
    return views;
}

void LivePage::updateViews() {
    const bool boards = boards_->expected();
    const auto& found = studio_.run().divergences();
    const bool diverged = std::any_of(found.begin(), found.end(),
                                      [](const auto& event) { return !event.path.empty(); });
    sample_pages_->setCurrentIndex(boards ? 1 : 0);
    const int shown = view_->currentIndex();
    if ((shown == RecursionView && !boards) || (shown == DivergenceView && !diverged)) {
        view_->setCurrentIndex(CurveView);
    }
    view_->setSegmentVisible(RecursionView, boards);
    view_->setSegmentVisible(DivergenceView, diverged);
}

// The runs in the charts, and what the network makes of data.
QWidget* LivePage::createSide(Actions& actions) {
    auto* side = new widgets::ThinSplitter(Qt::Vertical, "trainSideSplitter");
    auto* overlay = new OverlayPanel(*curve_runs_, studio_.index());
    side->addWidget(overlay);
    auto* lower = new widgets::Surface;
    auto* column = new QVBoxLayout(lower);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* header = new widgets::SectionHeader(tr("Predictions"));
    auto* tab = new widgets::SegmentedControl({tr("Samples"), tr("Confusion"), tr("Try it")});
    tab->setObjectName("predictionTab");
    tab->setAccessibleName(tr("Show predictions as"));
    tab->setCompact(true);
    header->addControl(tab);
    column->addWidget(header);
    auto* pages = new QStackedWidget;
    sample_pages_ = new QStackedWidget;
    sample_pages_->addWidget(new SamplePanel(studio_.run(), *pictures_));
    sample_pages_->addWidget(new PuzzlePanel(studio_.run(), *boards_));
    pages->addWidget(sample_pages_);
    auto* confusion = new ConfusionPanel(studio_.run(), *trials_, *pictures_);
    connect(confusion, &ConfusionPanel::failed, this, [this](const QString& problem) {
        emit toastRequested(static_cast<int>(widgets::MessageKind::Error), problem);
    });
    pages->addWidget(confusion);
    try_ = new TryPanel(studio_.run(), *trials_, *pictures_);
    pages->addWidget(try_);
    connect(try_, &TryPanel::lookRequested, this, [this] {
        view_->setSegmentVisible(LookView, true);
        view_->setCurrentIndex(LookView);
        look_->expect();
    });
    connect(view_, &widgets::SegmentedControl::currentIndexChanged, try_,
            [this](int view) { try_->setLooking(view == LookView); });
    column->addWidget(pages, 1);
    connect(tab, &widgets::SegmentedControl::currentIndexChanged, pages,
            &QStackedWidget::setCurrentIndex);
    connect(actions.get(action::kTry), &QAction::triggered, this, [this, tab] {
        emit pageRequested("train");
        tab->setCurrentIndex(TryTab);
        tab->setFocus();
    });
    connect(&studio_.run(), &RunModel::reset, tab, [this, tab] {
        const bool steps = boards_->expected();
        const bool classes = hasClasses(studio_.run()) && !steps;
        tab->setSegmentEnabled(
            ConfusionTab, classes,
            steps ? tr("This run fills boards: a sample is of no class")
                  : tr("This run predicts numbers: there are no classes to confuse"));
        tab->setSegmentText(SampleTab, steps ? tr("Puzzles") : tr("Samples"));
        look_->clear();
        if (view_->currentIndex() == LookView) {
            view_->setCurrentIndex(CurveView);
        }
        view_->setSegmentVisible(LookView, false);
        updateViews();
        if (!classes && tab->currentIndex() == ConfusionTab) {
            tab->setCurrentIndex(SampleTab);
        }
    });
    side->addWidget(lower);
    side->setStretchFactor(0, 0);
    side->setStretchFactor(1, 1);
    // As high as its runs, until the user says otherwise; only a splitter that was laid out can
    // share what it has.
    const auto fit = connect(
        overlay, &OverlayPanel::fittingHeightChanged, side,
        [side, overlay] {
            const int upper = overlay->fittingHeight();
            if (side->isVisible()) {
                side->setSizes({upper, std::max(1, side->height() - upper)});
            }
        },
        Qt::QueuedConnection);
    connect(side, &QSplitter::splitterMoved, this, [fit] { disconnect(fit); });
    return side;
}

widgets::NavState LivePage::navState() const {
    if (studio_.isTraining()) {
        return widgets::NavState::Running;
    }
    if (studio_.run().failure()) {
        return widgets::NavState::Error;
    }
    return widgets::NavState::Empty;
}

void LivePage::showFitting() {
    const RunModel& run = studio_.run();
    const bool has_points = !run.steps().step.empty() || !run.evaluations().empty();
    const bool preparing = studio_.isTraining() && !has_points;
    stack_->setCurrentIndex(run.isEmpty()                    ? TrainEmptySheet
                            : preparing                      ? PhaseSheet
                            : run.isForeign() && !has_points ? ForeignSheet
                                                             : TrainRunSheet);
}

void LivePage::updateNumbers() {
    const RunModel& run = studio_.run();
    if (run.isEmpty()) {
        return;
    }
    numbers_->setNumber(StepNumber, step_number(run));
    const bool any = run.step() > 0 && !run.steps().loss.empty();
    numbers_->setNumber(
        LossNumber,
        {tr("Train loss"),
         any ? formatMetric(curves_->smoothedLoss()) : QString(),
         {},
         any ? tr("smoothed · last %1").arg(formatMetric(run.lastStep().loss)) : QString(),
         Role::Success,
         {}});
    numbers_->setNumber(MetricNumber, metric_number(run));
    numbers_->setNumber(SpeedNumber, speed_number(run));
    numbers_->setNumber(TimeNumber, time_number(run, studio_.isTraining()));
}

void LivePage::updatePhases() {
    const auto& known = studio_.run().phases();
    std::vector<widgets::Phase> shown;
    for (const PhaseTime& phase : known) {
        const bool active = phase.ms < 0;
        QString name = phase.name;
        if (!name.isEmpty()) {
            name[0] = name[0].toUpper();
        }
        shown.push_back({name,
                         {},
                         active ? widgets::PhaseState::Active : widgets::PhaseState::Done,
                         active ? -1.0 : phase.ms / 1000.0});
    }
    const RunModel& run = studio_.run();
    if (run.state() == train::RunState::running && run.steps().step.empty()) {
        const bool evaluates = run.config().evaluation_at_start && run.evaluations().empty();
        shown.push_back({evaluates ? tr("First evaluation") : tr("First step"),
                         {},
                         widgets::PhaseState::Active,
                         -1.0});
    }
    phases_->setPhases(std::move(shown));
    updateReading();
}

void LivePage::updateReading() {
    const auto& opening = studio_.run().opening();
    reading_->setText(opening ? openingText(opening->opening, opening->seconds) : QString());
}

void LivePage::updateOutcome() {
    failure_->showFailure(studio_.isTraining());
    inside_->setTraining(studio_.isTraining());
    suspects_->setTraining(studio_.isTraining());
    divergence_->setTraining(studio_.isTraining());
    summary_->showSummary();
    emit leadChanged();
}

bool LivePage::leads() const {
    return !failure_->isHidden() || !summary_->isHidden();
}

void LivePage::takeWayOn(const train::WayOn& way) {
    const StartResult result = studio_.control().takeWayOn(way);
    if (!result.started) {
        emit toastRequested(static_cast<int>(widgets::MessageKind::Error), result.problem);
    }
}

// One at a time, beside the window: the curves stay in reach.
void LivePage::showLiveSettings() {
    auto* open = window()->findChild<LiveSettingsDialog*>();
    if (open == nullptr) {
        open = new LiveSettingsDialog(studio_.run(), studio_.control(), window());
        open->setAttribute(Qt::WA_DeleteOnClose);
    }
    open->show();
    open->raise();
    open->activateWindow();
}

void LivePage::showStep(std::int64_t step) {
    curves_->showStep(step);
    inside_->showStep(step);
}

void LivePage::showCheckpoint(std::int64_t step) {
    emit studio_.opener().checkpointOpened(studio_.run().folder() / "checkpoints" /
                                           checkpoint::folder_name(step));
}

const PageRecord kLivePage{
    "train", QT_TRANSLATE_NOOP("Pages", "Train"), "train",
    [](Studio& studio, Actions& actions) -> Page* { return new LivePage(studio, actions); }};

} // namespace weft::ui
