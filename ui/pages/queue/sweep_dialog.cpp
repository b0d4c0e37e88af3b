// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/queue/sweep_dialog.h"

#include "core/queue/view.h"
#include "core/train/engine.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/place_text.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/line_view.h"
#include "widgets/controls/short_spin_box.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using queue::Method;
using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr QSize kSweepDialogSize{640, 560}; // at text size 1
constexpr QSize kSweepDialogAround{48, 48}; // seen of the window behind it
constexpr int kSweepSettleMs = 250;
constexpr int kMostTrials = 10000;
constexpr int kSweepDefaultTrials = 12;
constexpr int kSweepRungWidth = 110;

/// "optimizer.learning_rate" for each value that is no list and no group.
void addPaths(const config::Json& of, const std::string& path, QStringList& out) {
    for (const auto& [name, value] : of.items()) {
        const std::string inner = path.empty() ? name : path + "." + name;
        if (value.is_object()) {
            addPaths(value, inner, out);
        } else if (value.is_number() || value.is_boolean() || value.is_array()) {
            out << toQString(inner);
        }
    }
}

QStringList pathsIn(const config::Json& document) {
    QStringList out;
    addPaths(document, {}, out);
    out.removeAll(QStringLiteral("schema_version"));
    return out;
}

/// What it comes to, and what was set beside what was asked for.
QString plannedText(const queue::PlannedSweep& planned) {
    QStringList lines;
    const QString trials =
        SweepDialog::tr("%n trial(s)", nullptr, static_cast<int>(planned.trials.size()));
    const QString judged = SweepDialog::tr("judged by %1").arg(toQString(planned.sweep.metric));
    lines << (planned.sweep.halves()
                  ? SweepDialog::tr("%1, %2 at the steps %3; one in %4 goes on")
                        .arg(trials, judged, toQString(queue::rungs_text(planned.sweep)))
                        .arg(planned.sweep.eta)
                  : SweepDialog::tr("%1, %2").arg(trials, judged));
    for (const std::string& note : planned.notes) {
        lines << toQString(note);
    }
    return lines.join(QLatin1Char('\n'));
}

} // namespace

SweepDialog::SweepDialog(const config::Json& document, const std::filesystem::path& base_dir,
                         QWidget* parent)
    : QDialog(parent), document_(document), base_dir_(base_dir), paths_(pathsIn(document)) {
    setObjectName("sweepDialog");
    setWindowTitle(tr("New sweep of %1").arg(toQString(document.value("name", std::string()))));
    const QSize size = kSweepDialogSize * widgets::Theme::current().fontScale();
    resize(parent == nullptr ? size
                             : size.boundedTo(parent->window()->size() - kSweepDialogAround));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(widgets::space::kSection, widgets::space::kMargin,
                               widgets::space::kSection, widgets::space::kMargin);
    column->setSpacing(widgets::space::kGroup);
    column->addWidget(createVaried());
    column->addWidget(createRules());
    says_ = new TextLabel({}, TextStyle::Body, Role::Muted);
    says_->setObjectName("sweepSays");
    says_->setWordWrap(true);
    column->addWidget(says_);
    list_ = new widgets::LineView;
    list_->setObjectName("sweepTrialList");
    list_->setAccessibleName(tr("Trials"));
    column->addWidget(list_, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    buttons->button(QDialogButtonBox::Cancel)->setAutoDefault(false);
    accept_ = buttons->addButton(tr("Queue the trials"), QDialogButtonBox::AcceptRole);
    accept_->setObjectName("sweepAccept");
    accept_->setDefault(true);
    widgets::setButtonKind(accept_, widgets::ButtonKind::Primary);
    column->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    settle_.setSingleShot(true);
    settle_.setInterval(kSweepSettleMs);
    connect(&settle_, &QTimer::timeout, this, &SweepDialog::plan);
    addRow(QStringLiteral("optimizer.learning_rate"), QStringLiteral("log:1e-4..1e-2"));
    rows_.front().values->setFocus();
}

QWidget* SweepDialog::createVaried() {
    auto* body = new QWidget;
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kTight);
    auto* about = new TextLabel(
        tr("What varies, and over what: some values (32, 64, 128), or a range (log:1e-4..1e-2, "
           "uniform:0..0.5, int:1..8, logint:16..256). A range in a grid says how many points: "
           "log:1e-4..1e-2:5."),
        TextStyle::Body, Role::Muted);
    about->setWordWrap(true);
    column->addWidget(about);
    grid_ = new QGridLayout;
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setHorizontalSpacing(widgets::space::kControl);
    grid_->setVerticalSpacing(widgets::space::kTight);
    grid_->setColumnStretch(0, 1);
    grid_->setColumnStretch(1, 1);
    column->addLayout(grid_);
    auto* more = new QPushButton(tr("Another setting"));
    more->setObjectName("sweepMore");
    more->setAutoDefault(false);
    widgets::setCompact(more);
    connect(more, &QPushButton::clicked, this, [this] {
        addRow({}, {});
        rows_.back().path->setFocus();
    });
    column->addWidget(more, 0, Qt::AlignLeft);
    return body;
}

QWidget* SweepDialog::createRules() {
    auto* body = new QWidget;
    auto* grid = new QGridLayout(body);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(widgets::space::kGroup);
    grid->setVerticalSpacing(widgets::space::kControl);
    grid->setColumnStretch(3, 1);
    method_ = new widgets::SegmentedControl;
    method_->setObjectName("sweepMethod");
    method_->setAccessibleName(tr("How trials are chosen"));
    method_->addSegment(tr("Grid"), tr("Every combination"));
    method_->addSegment(tr("Random"), tr("As many as are wanted are drawn"));
    method_->addSegment(tr("Halving"), tr("They are drawn, and at each rung the best go on"));
    method_->addSegment(tr("ASHA"), tr("Halving that does not wait for a rung to be complete"));
    method_->setCurrentIndex(static_cast<int>(Method::random));
    trials_ = new widgets::ShortSpinBox(5);
    trials_->setObjectName("sweepTrials");
    trials_->setAccessibleName(tr("Trials"));
    trials_->setRange(1, kMostTrials);
    trials_->setValue(kSweepDefaultTrials);
    metric_ = new QLineEdit;
    metric_->setObjectName("sweepMetric");
    metric_->setAccessibleName(tr("Judged by"));
    metric_->setPlaceholderText(tr("what the draft keeps its best checkpoint by"));
    first_rung_ = new QLineEdit;
    first_rung_->setObjectName("sweepFirstRung");
    first_rung_->setAccessibleName(tr("Steps of the first rung"));
    first_rung_->setPlaceholderText(tr("automatic"));
    first_rung_->setFixedWidth(
        static_cast<int>(kSweepRungWidth * widgets::Theme::current().fontScale()));
    grid->addWidget(new TextLabel(tr("Method"), TextStyle::Body), 0, 0);
    grid->addWidget(method_, 0, 1, 1, 3, Qt::AlignLeft);
    grid->addWidget(new TextLabel(tr("Trials"), TextStyle::Body), 1, 0);
    grid->addWidget(trials_, 1, 1, Qt::AlignLeft);
    grid->addWidget(new TextLabel(tr("First rung, steps"), TextStyle::Body), 1, 2);
    grid->addWidget(first_rung_, 1, 3, Qt::AlignLeft);
    grid->addWidget(new TextLabel(tr("Judged by"), TextStyle::Body), 2, 0);
    grid->addWidget(metric_, 2, 1, 1, 3);
    connect(method_, &widgets::SegmentedControl::currentIndexChanged, this, &SweepDialog::change);
    connect(trials_, &QSpinBox::valueChanged, this, &SweepDialog::change);
    connect(metric_, &QLineEdit::textEdited, this, &SweepDialog::change);
    connect(first_rung_, &QLineEdit::textEdited, this, &SweepDialog::change);
    return body;
}

void SweepDialog::addRow(const QString& path, const QString& values) {
    const auto number = static_cast<int>(rows_.size()) + 1;
    VariedRow row{new QComboBox, new QLineEdit(values), new QPushButton(tr("Remove"))};
    row.path->setEditable(true);
    row.path->addItems(paths_);
    row.path->setCurrentText(path);
    row.path->setObjectName(QString("sweepPath%1").arg(number));
    row.path->setAccessibleName(tr("Setting %1").arg(number));
    row.path->setMinimumContentsLength(12);
    row.path->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    row.values->setObjectName(QString("sweepValues%1").arg(number));
    row.values->setAccessibleName(tr("Values of setting %1").arg(number));
    row.remove->setAccessibleName(tr("Remove setting %1").arg(number));
    row.remove->setAutoDefault(false);
    widgets::setCompact(row.remove);
    const int at = grid_->rowCount();
    grid_->addWidget(row.path, at, 0);
    grid_->addWidget(row.values, at, 1);
    grid_->addWidget(row.remove, at, 2);
    connect(row.path, &QComboBox::currentTextChanged, this, &SweepDialog::change);
    connect(row.values, &QLineEdit::textEdited, this, &SweepDialog::change);
    connect(row.remove, &QPushButton::clicked, this,
            [this, button = row.remove] { removeRow(button); });
    rows_.push_back(row);
    change();
}

void SweepDialog::removeRow(const QPushButton* of) {
    const auto row = std::find_if(rows_.begin(), rows_.end(),
                                  [of](const VariedRow& one) { return one.remove == of; });
    for (QWidget* part : std::initializer_list<QWidget*>{row->path, row->values, row->remove}) {
        part->hide();
        part->deleteLater();
    }
    rows_.erase(row);
    change();
}

queue::SweepRequest SweepDialog::request() const {
    queue::SweepRequest out;
    out.method = static_cast<Method>(method_->currentIndex());
    for (const VariedRow& row : rows_) {
        const QString path = row.path->currentText().trimmed();
        if (!path.isEmpty()) {
            out.vary.push_back((path + '=' + row.values->text().trimmed()).toStdString());
        }
    }
    if (out.method != Method::grid) {
        out.trials = trials_->value();
    }
    out.metric = metric_->text().trimmed().toStdString();
    if (!first_rung_->text().trimmed().isEmpty()) {
        bool number = false;
        const qint64 steps = first_rung_->text().trimmed().toLongLong(&number);
        out.min_steps = number ? steps : -1;
    }
    return out;
}

// What is shown is of an earlier request until it was planned anew.
void SweepDialog::change() {
    const auto method = static_cast<Method>(method_->currentIndex());
    const bool halves = method == Method::halving || method == Method::asha;
    trials_->setEnabled(method != Method::grid);
    first_rung_->setEnabled(halves);
    for (const VariedRow& row : rows_) {
        row.remove->setEnabled(rows_.size() > 1);
    }
    planned_.reset();
    accept_->setEnabled(false);
    settle_.start();
}

void SweepDialog::plan() {
    queue::SweepRequest asked = request();
    if (!first_rung_->isEnabled()) {
        asked.min_steps.reset();
    } else if (asked.min_steps && *asked.min_steps < 1) {
        job_.drop();
        showPlan(nullptr, tr("The first rung is a number of steps."));
        return;
    }
    struct Answer {
        std::shared_ptr<const queue::PlannedSweep> planned;
        QString problem;
    };
    job_.start(
        [asked, document = document_, base_dir = base_dir_] {
            Answer out;
            try {
                const queue::ReadRun read = [&](const std::vector<std::string>& varied) {
                    return compile::read_run_config(document, base_dir, varied);
                };
                auto planned = queue::plan_sweep(asked, read, train::steps_of);
                for (const config::Diagnostic& one : planned.diagnostics) {
                    if (one.severity == config::Severity::error && out.problem.isEmpty()) {
                        out.problem = problemText(one);
                    }
                }
                if (planned.ok()) {
                    out.planned = std::make_shared<queue::PlannedSweep>(std::move(planned));
                }
            } catch (const std::exception& fault) {
                out.problem = faultText(fault);
            }
            return out;
        },
        [this](const Answer& answer) { showPlan(answer.planned, answer.problem); });
}

void SweepDialog::showPlan(const std::shared_ptr<const queue::PlannedSweep>& planned,
                           const QString& problem) {
    planned_ = planned;
    says_->setRole(planned ? Role::Muted : Role::Error);
    says_->setText(planned ? plannedText(*planned) : problem);
    QStringList lines;
    if (planned) {
        for (const queue::PlannedTrial& trial : planned->trials) {
            lines << toQString(queue::settings_text(trial.settings));
        }
        accept_->setText(
            tr("Queue %n trial(s)", nullptr, static_cast<int>(planned->trials.size())));
    }
    list_->lineModel()->setText(lines, {});
    accept_->setEnabled(planned != nullptr);
}

} // namespace weft::ui
