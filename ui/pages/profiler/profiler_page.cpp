// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/profiler/profiler_page.h"

#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/pages/page_list.h"
#include "ui/pages/profiler/cause_panel.h"
#include "ui/pages/profiler/time_panel.h"
#include "ui/pages/profiler/timeline_panel.h"
#include "ui/run_log.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"

#include <QComboBox>
#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace weft::ui {
namespace {

enum ProfilerSheet { ProfilerMessageSheet, ProfilerContentSheet };

constexpr int kUsualSteps = 20;
constexpr int kProfilerSide = 340;

QString listedText(const ListedRecording& listed) {
    return ProfilerPage::tr("Step %1, %2")
        .arg(formatCount(listed.first_step), formatWhen(listed.written));
}

QVariant fileData(const std::filesystem::path& file) {
    return pathText(file);
}

} // namespace

ProfilerPage::ProfilerPage(Studio& studio, Actions&) : studio_(studio) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHeader());
    column->addWidget(new widgets::Hairline);
    stack_ = new QStackedWidget;
    message_ = new widgets::EmptyState("profiler");
    message_->setObjectName("profilerMessage");
    record_here_ = message_->addButton(tr("Record %1 steps").arg(kUsualSteps));
    record_here_->setObjectName("recordHere");
    connect(record_here_, &QPushButton::clicked, this, [this] { record(kUsualSteps); });
    home_ = addHomeButton(*message_, studio_.draft());
    stack_->addWidget(message_);
    stack_->addWidget(createContent());
    column->addWidget(stack_, 1);
    auto* find = new QShortcut(QKeySequence::Find, this);
    connect(find, &QShortcut::activated, times_, &TimePanel::focusFilter);
    connect(&recordings_, &Recordings::listChanged, this, &ProfilerPage::fillChoosers);
    connect(&recordings_, &Recordings::listChanged, this, &ProfilerPage::showSheet);
    connect(&recordings_, &Recordings::changed, this, &ProfilerPage::refresh);
    followRun();
    refresh();
}

QWidget* ProfilerPage::createHeader() {
    header_ = new widgets::SectionHeader(tr("Profiler"), widgets::SectionHeader::Level::Page);
    const auto chooser = [this](const char* name, const QString& said) {
        auto* box = new QComboBox;
        box->setObjectName(name);
        box->setAccessibleName(said);
        box->setToolTip(said);
        box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        header_->addControl(box);
        return box;
    };
    chooser_ = chooser("profileRecording", tr("The recording that is shown"));
    before_chooser_ = chooser("profileBefore", tr("Another recording, as it was before"));
    connect(chooser_, &QComboBox::activated, this,
            [this](int index) { recordings_.show(toPath(chooser_->itemData(index).toString())); });
    connect(before_chooser_, &QComboBox::activated, this, &ProfilerPage::chooseBefore);
    record_ = new widgets::SplitButton(tr("Record %1 steps").arg(kUsualSteps));
    record_->button()->setObjectName("recordSteps");
    connect(record_, &widgets::SplitButton::clicked, this, [this] { record(kUsualSteps); });
    for (const int steps : {1, 5, 100, 1000}) {
        connect(record_->addAction(tr("Record %n step(s)", nullptr, steps)), &QAction::triggered,
                this, [this, steps] { record(steps); });
    }
    header_->addControl(record_);
    return header_;
}

QWidget* ProfilerPage::createContent() {
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    verdict_ = new CausePanel(studio_.run(), studio_.draft());
    connect(verdict_, &CausePanel::pageRequested, this, &Page::pageRequested);
    column->addWidget(verdict_);
    column->addWidget(new widgets::Hairline);
    rows_ = new widgets::ThinSplitter(Qt::Vertical);
    timeline_ = new TimelinePanel;
    connect(timeline_, &TimelinePanel::callChosen, this, &ProfilerPage::chooseCall);
    connect(timeline_, &TimelinePanel::traceRequested, this, &ProfilerPage::writeTrace);
    rows_->addWidget(timeline_);
    auto* lower = new widgets::ThinSplitter(Qt::Horizontal, "profilerLower");
    times_ = new TimePanel;
    connect(times_, &TimePanel::rowChosen, this, &ProfilerPage::chooseRow);
    connect(times_, &TimePanel::groupingChanged, this, [this] { chooseRow({}); });
    lower->addWidget(times_);
    lower->addWidget(createRoofline());
    lower->setStretchFactor(0, 1);
    lower->setSizes({1280 - kProfilerSide, kProfilerSide});
    rows_->addWidget(lower);
    rows_->setStretchFactor(1, 1);
    column->addWidget(rows_, 1);
    return content;
}

QWidget* ProfilerPage::createRoofline() {
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    roofline_header_ = new widgets::SectionHeader(tr("Roofline"));
    column->addWidget(roofline_header_);
    roofline_ = new widgets::RooflineChart;
    roofline_->setObjectName("profileRoofline");
    column->addWidget(roofline_, 1);
    connect(roofline_, &widgets::PaintedView::itemActivated, this, [this](int point) {
        const std::string kernel = roofline_data_.kernels[static_cast<std::size_t>(point)];
        times_->setGrouping(profile::Grouping::kernel);
        times_->revealRow(kernel);
        chooseRow(kernel);
    });
    return panel;
}

// That a recording is under way is known from the run's own answers, so that a studio that comes
// later knows it, too.
void ProfilerPage::followRun() {
    RunModel& run = studio_.run();
    connect(&run, &RunModel::reset, this, [this] {
        recording_ = false;
        elsewhere_.clear();
        recordings_.setRun(studio_.run().isForeign() ? std::filesystem::path()
                                                     : studio_.run().folder());
        updateRecord();
    });
    connect(&run, &RunModel::answered, this, [this](const train::CommandEvent& answer) {
        if (answer.accepted && answer.command == train::command_name(train::CommandKind::profile)) {
            recording_ = true;
            updateRecord();
        }
    });
    connect(&run, &RunModel::recorded, this, [this](const train::RecordingEvent& recording) {
        const bool asked_here = std::exchange(recording_, false);
        updateRecord();
        if (!studio_.isTraining() || !asked_here) {
            recordings_.refresh(); // told again of the past, or asked for by somebody else
            return;
        }
        if (recording.path.empty()) {
            emit toastRequested(static_cast<int>(widgets::MessageKind::Warning),
                                recordingText(recording));
            recordings_.refresh();
        } else {
            recordings_.refresh(studio_.run().folder() / recording.path);
        }
    });
    connect(&studio_, &Studio::trainingChanged, this, &ProfilerPage::updateRecord);
    connect(&run, &RunModel::stateChanged, this, &ProfilerPage::updateRecord);
    connect(&studio_.control(), &RunControl::controlChanged, this, &ProfilerPage::updateRecord);
    connect(&studio_.control(), &RunControl::pendingChanged, this, &ProfilerPage::updateRecord);
    updateRecord();
}

void ProfilerPage::activated() {
    recordings_.refresh();
}

void ProfilerPage::record(int steps) {
    studio_.control().recordSteps(steps);
}

QString ProfilerPage::recordProblem() const {
    if (!studio_.isTraining()) {
        return tr("No run trains. Start one, or resume this.");
    }
    if (recording_) {
        return tr("Steps are being recorded.");
    }
    return studio_.control().controlProblem();
}

void ProfilerPage::updateRecord() {
    if (!studio_.isTraining()) {
        recording_ = false;
    }
    const QString problem = recordProblem();
    record_->setEnabledWithReason(problem.isEmpty(), problem);
    record_->setText(recording_ ? tr("Recording…") : tr("Record %1 steps").arg(kUsualSteps));
    showSheet();
}

// What there is to choose from; what is chosen may lie elsewhere.
void ProfilerPage::fillChoosers() {
    const QSignalBlocker quiet(chooser_);
    const QSignalBlocker quiet_before(before_chooser_);
    chooser_->clear();
    before_chooser_->clear();
    before_chooser_->addItem(tr("Compare with"), QString());
    for (const ListedRecording& listed : recordings_.listed()) {
        chooser_->addItem(listedText(listed), fileData(listed.file));
        if (listed.file != recordings_.chosen()) {
            before_chooser_->addItem(listedText(listed), fileData(listed.file));
        }
    }
    if (!elsewhere_.empty()) {
        before_chooser_->addItem(pathText(elsewhere_.parent_path().parent_path().filename()),
                                 fileData(elsewhere_));
    }
    before_chooser_->addItem(tr("Another run's"));
    chooser_->setCurrentIndex(chooser_->findData(fileData(recordings_.chosen())));
    before_chooser_->setCurrentIndex(
        std::max(0, before_chooser_->findData(fileData(recordings_.chosenBefore()))));
    const bool any = !recordings_.listed().empty();
    chooser_->setVisible(any);
    before_chooser_->setVisible(any);
}

void ProfilerPage::chooseBefore(int index) {
    const QVariant data = before_chooser_->itemData(index);
    if (data.isValid()) {
        recordings_.compareWith(toPath(data.toString()));
        return;
    }
    const QString file = askForFile(
        this,
        {tr("A recording to compare with"), FileUse::Run, tr("Recordings (step-*.json)"), {}});
    if (!file.isEmpty()) {
        elsewhere_ = toPath(file);
        recordings_.compareWith(elsewhere_);
    }
    fillChoosers();
}

void ProfilerPage::refresh() {
    fillChoosers();
    showSheet();
    if (!recordings_.problemBefore().isEmpty()) {
        emit toastRequested(static_cast<int>(widgets::MessageKind::Error),
                            recordings_.problemBefore());
        elsewhere_.clear();
        recordings_.compareWith({});
        return;
    }
    const bool other = recordings_.shown() != drawn_;
    if (!other && recordings_.before() == drawn_before_) {
        return;
    }
    drawn_ = recordings_.shown();
    drawn_before_ = recordings_.before();
    header_->setSubtitle(
        drawn_ ? tr("%1 · %2").arg(toQString(drawn_->recording.run), stepsText(drawn_->recording))
               : QString());
    verdict_->setRecordings(drawn_, drawn_before_);
    times_->setRecordings(drawn_, drawn_before_);
    if (!other) {
        times_->showRow(chosen_row_);
        return;
    }
    timeline_->setRecording(drawn_);
    roofline_data_ = drawn_ ? rooflineOf(*drawn_) : RooflineData{};
    roofline_->setData(roofline_data_.points, roofline_data_.ceilings, roofline_data_.bandwidth,
                       roofline_data_.bandwidth_label);
    roofline_header_->setSubtitle(roofline_data_.ceilings.empty()
                                      ? tr("ceilings are not measured: weft bench machine")
                                      : tr("kernels · area = time"));
    if (!drawn_) {
        return;
    }
    fitTimeline();
    // What was looked at stays; else the longest.
    const auto& rows = drawn_->table(times_->grouping()).rows;
    const bool known = std::any_of(rows.begin(), rows.end(), [this](const profile::Row& row) {
        return row.name == chosen_row_;
    });
    const std::string name = known ? chosen_row_ : rows.empty() ? "" : rows.front().name;
    times_->showRow(name);
    chooseRow(name);
}

// As high as its rows need, where there is room for it.
void ProfilerPage::fitTimeline() {
    const std::size_t devices = drawn_->recording.devices.size();
    if (fitted_devices_ != devices) {
        fitted_devices_ = devices;
        const int all = std::max(rows_->height(), 2);
        const int wanted = std::min(timeline_->sizeHint().height(), all / 2);
        rows_->setSizes({wanted, all - wanted});
    }
}

void ProfilerPage::showSheet() {
    stack_->setCurrentIndex(recordings_.shown() ? ProfilerContentSheet : ProfilerMessageSheet);
    const RunModel& run = studio_.run();
    const bool can_record = recordProblem().isEmpty();
    record_here_->setVisible(can_record && !recordings_.isReading());
    home_->setVisible(run.isEmpty());
    if (!recordings_.problem().isEmpty()) {
        message_->setTitle(tr("This recording cannot be shown"));
        message_->setText(recordings_.problem());
    } else if (recordings_.isReading() || !recordings_.isListed()) {
        message_->setTitle(tr("Reading the recording"));
        message_->setText({});
    } else if (run.isEmpty()) {
        message_->setTitle(tr("No run"));
        message_->setText(tr("Steps of a run are recorded while it trains. Start one on Home, or "
                             "open one on Runs."));
    } else if (recording_) {
        message_->setTitle(tr("Steps are being recorded"));
        message_->setText(tr("Where their time went is shown here when they are over."));
    } else {
        message_->setTitle(tr("No recording of %1").arg(run.name()));
        message_->setText(
            can_record
                ? tr("Every kernel call and exchange of the next steps is kept with its times, and "
                     "then shown here.")
                : tr("Steps are recorded while a run trains: start or resume it and press Record, "
                     "or use weft train --profile %1. %2")
                      .arg(kUsualSteps)
                      .arg(studio_.isTraining() ? recordProblem() : QString()));
    }
}

void ProfilerPage::chooseCall(int call) {
    const std::string name = profile::group_name(
        drawn_->recording.calls[static_cast<std::size_t>(call)], times_->grouping());
    times_->revealRow(name);
    chooseRow(name);
}

// Its calls stand out in the step, and the kernel that takes most of it in the roofline.
void ProfilerPage::chooseRow(const std::string& name) {
    chosen_row_ = name;
    if (!drawn_) {
        return;
    }
    const auto& calls = drawn_->recording.calls;
    std::vector<bool> marked(calls.size(), false);
    std::string kernel;
    double most_us = -1;
    for (std::size_t call = 0; call < calls.size(); ++call) {
        marked[call] =
            !name.empty() && profile::group_name(calls[call], times_->grouping()) == name;
        if (marked[call] && calls[call].predicted_us > most_us) {
            most_us = calls[call].predicted_us;
            kernel = calls[call].kernel;
        }
    }
    timeline_->setMarked(std::move(marked));
    const auto& kernels = roofline_data_.kernels;
    const auto found = std::find(kernels.begin(), kernels.end(), kernel);
    roofline_->setMarked(found == kernels.end() ? -1 : static_cast<int>(found - kernels.begin()));
}

void ProfilerPage::writeTrace() {
    if (!drawn_) {
        return;
    }
    const QString name = toQString(drawn_->recording.run) + QLatin1Char('-') +
                         toQString(drawn_->file.stem().string()) + QStringLiteral(".trace.json");
    const QString file = askForPlace(
        this, {tr("Save the trace for Perfetto"), FileUse::Export, tr("Traces (*.json)"), name});
    if (!file.isEmpty()) {
        recordings_.exportTrace(
            toPath(file), [this](bool well, const QString& text) { showWritten(well, text); });
    }
}

const PageRecord kProfilerPage{
    "profiler", QT_TRANSLATE_NOOP("Pages", "Profiler"), "profiler",
    [](Studio& studio, Actions& actions) -> Page* { return new ProfilerPage(studio, actions); }};

} // namespace weft::ui
