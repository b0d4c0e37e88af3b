// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/resume_panel.h"

#include "core/compile/programs/programs.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/draft.h"
#include "ui/bridge/run/run_model.h"
#include "ui/forms/number_text.h"
#include "ui/models/checkpoint_model.h"
#include "ui/pages/checkpoints/draft_changes.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/lr_curve.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

enum Fact {
    TimeLeft,
    NextSample,
    Restored,
    Result,
    Mesh,
    Reads,
    NextSave,
    Metrics,
    SavedBy,
    Facts
};
constexpr int kCurvePoints = 200;

const QString kDash = QStringLiteral("–");

QString metrics_text(const CheckpointRow& row) {
    QStringList parts;
    for (const auto& [name, value] : row.record.metrics.items()) {
        if (value.is_number()) {
            parts << metricWords(name) + " " + formatMetric(value.get<double>());
        }
    }
    if (parts.isEmpty()) {
        return kDash;
    }
    // A checkpoint made by hand carries the metrics of the evaluation before it.
    return row.record.metric_step == row.step
               ? parts.join(", ")
               : QObject::tr("%1 at step %2")
                     .arg(parts.join(", "), formatCount(row.record.metric_step));
}

QString next_sample_text(const CheckpointRow& row) {
    const auto cursor = row.record.counters.find("cursor");
    if (cursor == row.record.counters.end() || !cursor->is_object()) {
        return kDash;
    }
    return QObject::tr("epoch %1 · sample %2")
        .arg(cursor->value("epoch", std::int64_t{0}) + 1)
        .arg(formatCount(cursor->value("position", std::int64_t{0}) + 1));
}

QString mesh_text(const CheckpointRow& row, const RunModel& run) {
    if (row.record.mesh.empty()) {
        return QObject::tr("saved on one device");
    }
    QStringList axes;
    for (const auto& [name, size] : row.record.mesh) {
        axes << toQString(name) + "=" + QString::number(size);
    }
    const config::Json& devices = run.config().section("mesh").at("devices");
    return QObject::tr("saved on %1; goes on with devices %2")
        .arg(axes.join(" × "),
             toQString(devices.is_string() ? devices.get<std::string>() : devices.dump()));
}

QString next_save_text(const CheckpointRow& row, const RunModel& run) {
    const auto& every = run.config().checkpoint_every;
    QStringList parts;
    if (every && every->unit == compile::Cadence::Unit::steps && every->amount >= 1) {
        const auto steps = static_cast<std::int64_t>(every->amount);
        parts << QObject::tr("step %1").arg(formatCount((row.step / steps + 1) * steps));
    } else if (every) {
        parts << QObject::tr("as the run’s cadence says");
    }
    if (run.config().checkpoint_on_improvement) {
        parts << QObject::tr("when it is better");
    }
    return parts.isEmpty() ? QObject::tr("at the end") : parts.join(QObject::tr(", or "));
}

QString time_left_text(const CheckpointRow& row, const RunModel& run) {
    const std::int64_t total = run.totalSteps();
    if (total <= row.step || run.step() <= 0 || run.secondsTrained() <= 0) {
        return kDash;
    }
    const double per_step = run.secondsTrained() / static_cast<double>(run.step());
    return QObject::tr("about %1, at the speed of the run")
        .arg(formatDuration(per_step * static_cast<double>(total - row.step)));
}

} // namespace

ResumePanel::ResumePanel(QWidget* parent) : Surface(Role::Surface, parent) {
    auto* column = new QVBoxLayout(this);
    column->addStrut(264); // wider where the buttons need it
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("If I resume"));
    column->addWidget(header_);
    column->addWidget(new widgets::Hairline);
    auto* content = new QWidget;
    auto* content_column = new QVBoxLayout(content);
    content_column->setContentsMargins(0, 0, 0, 0);
    content_column->setSpacing(0);
    auto* body = new QVBoxLayout;
    body->setContentsMargins(12, 12, 12, 12);
    body->setSpacing(widgets::space::kTight);
    goes_on_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    body->addWidget(goes_on_);
    from_to_ = new widgets::TextLabel({}, TextStyle::Big);
    from_to_->setWordWrap(true); // large steps in large text
    body->addWidget(from_to_);
    body->addSpacing(widgets::space::kControl);
    facts_ = new QGridLayout;
    facts_->setHorizontalSpacing(widgets::space::kGroup);
    facts_->setVerticalSpacing(6);
    facts_->setColumnStretch(1, 1);
    for (int i = 0; i < Facts; ++i) {
        auto* name = new widgets::TextLabel({}, TextStyle::Body, Role::Muted);
        auto* value = new widgets::TextLabel({}, TextStyle::Body);
        value->setWordWrap(true);
        facts_->addWidget(name, i, 0, Qt::AlignTop);
        facts_->addWidget(value, i, 1);
    }
    body->addLayout(facts_);
    content_column->addLayout(body);
    rate_header_ = new widgets::SectionHeader(tr("Learning rate"));
    content_column->addWidget(rate_header_);
    auto* rate_row = new QVBoxLayout;
    rate_row->setContentsMargins(12, 0, 12, 12);
    rate_ = new widgets::LrCurve;
    rate_->setMinimumHeight(40); // gives way before the words do
    rate_->setMaximumHeight(88);
    rate_row->addWidget(rate_);
    content_column->addLayout(rate_row);
    changes_ = new DraftChanges;
    content_column->addWidget(changes_);
    content_column->addStretch(1);
    column->addWidget(widgets::verticalScroll(content), 1);
    column->addWidget(new widgets::Hairline);
    auto* foot = new QVBoxLayout;
    foot->setContentsMargins(12, 12, 12, 12);
    foot->setSpacing(widgets::space::kControl);
    auto* buttons = new QHBoxLayout;
    resume_ = new QPushButton(widgets::icon("play-filled", Role::OnAccent), tr("Resume run"));
    resume_->setObjectName("resumeRun");
    widgets::setButtonKind(resume_, widgets::ButtonKind::Primary);
    connect(resume_, &QPushButton::clicked, this, &ResumePanel::resumeRequested);
    fork_ = new QPushButton(widgets::icon("fork"), tr("Fork…"));
    fork_->setObjectName("forkRun");
    connect(fork_, &QPushButton::clicked, this, &ResumePanel::forkRequested);
    buttons->addWidget(resume_, 1);
    buttons->addWidget(fork_);
    foot->addLayout(buttons);
    note_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    note_->setWordWrap(true);
    note_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    note_->setMinimumHeight(2 * note_->fontMetrics().lineSpacing()); // the buttons stay in place
    foot->addWidget(note_);
    column->addLayout(foot);
    clear();
}

// What is not known of a checkpoint takes no line.
void ResumePanel::setFact(int row, const QString& name, const QString& value, bool good) {
    auto* title = static_cast<widgets::TextLabel*>(facts_->itemAtPosition(row, 0)->widget());
    title->setText(name);
    title->setVisible(value != kDash);
    auto* label = static_cast<widgets::TextLabel*>(facts_->itemAtPosition(row, 1)->widget());
    label->setText(value);
    label->setVisible(value != kDash);
    label->setRole(good ? Role::Success : Role::Text);
}

void ResumePanel::show(const CheckpointRow& row, const RunModel& run, const Draft& draft) {
    usable_ = row.on_disk && row.looked_into && row.problem.empty() && !run.isForeign();
    problem_ = toQString(row.problem);
    newest_ = row.newest;
    const std::int64_t total = run.totalSteps();
    complete_ = total > 0 ? row.step >= total : newest_ && run.state() == train::RunState::finished;
    header_->setTrailing(formatCount(row.step));
    goes_on_->setText(run.isForeign()        ? tr("written by another program")
                      : !row.looked_into     ? tr("reading …")
                      : !row.problem.empty() ? tr("not usable")
                      : !usable_             ? tr("not on disk any more")
                      : complete_            ? tr("the run has reached its length")
                      : newest_              ? tr("goes on in the same run")
                                             : tr("older: forks into a new run"));
    from_to_->setText(usable_ && total > row.step
                          ? tr("%1 › %2").arg(formatCount(row.step), formatCount(total))
                          : formatCount(row.step));
    setFact(TimeLeft, tr("Time left"), usable_ ? time_left_text(row, run) : kDash);
    setFact(NextSample, tr("Next sample"), usable_ ? next_sample_text(row) : kDash);
    setFact(Mesh, tr("Mesh"), usable_ ? mesh_text(row, run) : kDash);
    setFact(NextSave, tr("Next save"), usable_ && !complete_ ? next_save_text(row, run) : kDash);
    setFact(Restored, tr("Restored"),
            usable_ ? tr("weights, moments, random keys, place in the data") : kDash);
    setFact(Result, tr("Result"),
            !usable_                ? kDash
            : newest_ && !complete_ ? tr("bitwise as if never stopped")
                                    : tr("a new curve from here"),
            usable_ && newest_ && !complete_);
    setFact(Reads, tr("Reads"), usable_ ? formatFileSize(row.bytes) : kDash);
    setFact(Metrics, tr("Metrics"), metrics_text(row));
    setFact(SavedBy, tr("Kept for"), row.kept_for.empty() ? kDash : toQString(row.kept_for));
    drawRate(row, run);
    usable_ ? changes_->show(run.config(), draft, tr("Settings changed in the draft"))
            : changes_->clear();
    updateButtons();
}

// The curve comes from the function that training uses, so that the two cannot disagree.
void ResumePanel::drawRate(const CheckpointRow& row, const RunModel& run) {
    const std::int64_t total = run.totalSteps();
    const bool known = total > 0 && !run.isForeign() && problem_.isEmpty();
    rate_->setVisible(known);
    rate_header_->setVisible(known);
    if (!known) {
        return;
    }
    const config::Json& schedule = run.config().section("lr_schedule");
    const double base = run.config().section("optimizer").value("learning_rate", 0.0);
    std::vector<double> x;
    std::vector<double> y;
    for (int i = 0; i <= kCurvePoints; ++i) {
        const std::int64_t count = total * i / kCurvePoints;
        x.push_back(static_cast<double>(count));
        y.push_back(base * compile::learning_rate_factor(schedule, count, total));
    }
    rate_->setCurve(x, y);
    const double at = static_cast<double>(row.step);
    const double rate = base * compile::learning_rate_factor(schedule, row.step, total);
    rate_->setReentry(at, complete_ ? QString() : tr("re-enters at %1").arg(rateText(rate)));
    rate_header_->setTrailing(tr("steps 0 to %1").arg(formatCount(total)));
}

void ResumePanel::clear() {
    usable_ = newest_ = complete_ = false;
    problem_.clear();
    header_->setTrailing({});
    goes_on_->setText(tr("Select a checkpoint"));
    from_to_->setText({});
    for (int i = 0; i < Facts; ++i) {
        setFact(i, {}, {});
    }
    rate_->hide();
    rate_header_->hide();
    changes_->clear();
    updateButtons();
}

void ResumePanel::setTraining(bool training) {
    training_ = training;
    updateButtons();
}

void ResumePanel::focusResume() {
    (resume_->isEnabled() ? resume_ : fork_)->setFocus(Qt::TabFocusReason);
}

void ResumePanel::updateButtons() {
    resume_->setEnabled(canResume());
    fork_->setEnabled(usable_ && !training_);
    note_->setText(training_ ? tr("A run is under way. Stop it to resume or fork another.")
                   : !problem_.isEmpty() ? problem_
                   : !usable_            ? tr("Choose a checkpoint that is on disk.")
                   : complete_ ? tr("The run has reached its length. Fork it with a longer one.")
                   : !newest_  ? tr("Only the newest goes on in the same run; fork from any other.")
                               : tr("Resumes with the run’s own settings. F5 still starts the "
                                     "draft."));
    emit offerChanged();
}

} // namespace weft::ui
