// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/home/preset_row.h"

#include "core/base/error.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/cost/hardware.h"
#include "core/train/planning.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/run_outlook.h"
#include "ui/bridge/plan/plan_preview.h"
#include "ui/studio.h"
#include "widgets/controls/card.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <optional>

namespace weft::ui {

/// What planning a preset found out.
struct PresetFacts {
    std::int64_t parameters = 0;
    std::int64_t bytes = 0;
    bool fits = false;
    std::optional<double> seconds; // of the run, where this machine has been measured
    QString planned_for;           // hardware that need not be here
    QString problem;
};

namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr int kCardWidth = 256; // "too large for this machine" and its bytes

PresetFacts plan_preset(const std::filesystem::path& path, const Planner::Plan& planner) {
    PresetFacts facts;
    try {
        const compile::CheckedRun checked = compile::read_run_config_file(path);
        if (!checked.ok()) {
            facts.problem = toQString(to_text(checked.diagnostics.front()));
            return facts;
        }
        const auto devices = checked.config.section("mesh").at("devices").get<std::string>();
        if (compile::is_planned_hardware(devices)) {
            const cost::HardwareCount wanted = cost::parse_hardware(devices);
            facts.planned_for = QStringLiteral("%1 × %2").arg(
                formatCount(wanted.count), toQString(std::string(wanted.hardware->name)));
            return facts;
        }
        const auto plan = planner(checked.config, nullptr, {});
        facts.parameters = plan->parameters;
        facts.bytes = plan->memory_bytes();
        facts.fits = plan->fits();
        const auto counts =
            countRun(checked.config, train::outline_run_data(checked.config, train::PlanTarget{}));
        if (counts && plan->predicted_step_ms) {
            facts.seconds = static_cast<double>(counts->steps) * *plan->predicted_step_ms / 1e3;
        }
    } catch (const Error& error) {
        facts.problem = toQString(error.message());
    }
    return facts;
}

} // namespace

PresetRow::PresetRow(Studio& studio, QWidget* parent) : QWidget(parent), studio_(studio) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    auto* head = new QHBoxLayout;
    head->addWidget(new widgets::TextLabel(tr("Start from a preset"), TextStyle::Heading));
    head->addStretch(1);
    head->addWidget(new widgets::TextLabel(tr("a click makes it the draft; F5 starts it"),
                                           TextStyle::Caption, Role::Muted));
    measure_ = new QPushButton;
    measure_->setObjectName("measureForPresets");
    measure_->setToolTip(tr("Then each preset says how long it takes here"));
    widgets::setButtonKind(measure_, widgets::ButtonKind::Flat);
    widgets::setCompact(measure_);
    head->addWidget(measure_);
    MachineMeasure& measure = studio_.measure();
    connect(measure_, &QPushButton::clicked, this, [this] {
        if (studio_.measure().isRunning()) {
            studio_.measure().cancel();
        } else if (const QString problem = studio_.measureMachine(); !problem.isEmpty()) {
            emit failed(problem);
        }
        updateMeasuring();
    });
    connect(&measure, &MachineMeasure::changed, this, &PresetRow::updateMeasuring);
    connect(&measure, &MachineMeasure::failed, this, &PresetRow::failed);
    connect(&measure, &MachineMeasure::measured, this, &PresetRow::planAll);
    measure_->hide(); // until it is known that there is something to measure
    more_ = new QPushButton;
    more_->setObjectName("allPresets");
    widgets::setButtonKind(more_, widgets::ButtonKind::Flat);
    widgets::setCompact(more_);
    connect(more_, &QPushButton::clicked, this, [this] { showAll(!all_); });
    head->addWidget(more_);
    column->addLayout(head);
    grid_ = new QGridLayout;
    grid_->setSpacing(widgets::space::kGroup);
    column->addLayout(grid_);
}

void PresetRow::load() {
    if (std::exchange(loaded_, true)) {
        return;
    }
    for (const PresetInfo& preset : readPresets(studio_.paths().presets)) {
        addCard(preset);
    }
    studio_.measure().refresh();
    planAll();
}

void PresetRow::updateMeasuring() {
    const MachineMeasure& measure = studio_.measure();
    measure_->setVisible(measure.isRunning() || !measure.known().ceilings);
    measure_->setEnabled(!measure.isRunning() || !measure.isCancelled());
    measure_->setText(measure.isRunning() ? tr("Stop measuring") : tr("Measure this machine"));
}

void PresetRow::addCard(const PresetInfo& preset) {
    auto* card = new widgets::Card;
    card->setClickable(true);
    card->setObjectName("preset." + toQString(preset.path.stem().string()));
    card->setAccessibleName(tr("Preset %1").arg(preset.title));
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(4);
    Entry entry{card, preset.path};
    const auto line = [column](QWidget* left, int stretch, QWidget* right) {
        auto* row = new QHBoxLayout;
        row->addWidget(left, stretch);
        row->addStretch(stretch == 0 ? 1 : 0);
        row->addWidget(right);
        column->addLayout(row);
    };
    entry.size = new widgets::TextLabel({}, TextStyle::Mono, Role::Muted);
    line(new widgets::ElidedLabel(preset.title, TextStyle::Strong), 1, entry.size);
    auto* first = new widgets::TextLabel(preset.firstNote(), TextStyle::Caption, Role::Muted);
    first->setWordWrap(true);
    first->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    first->setToolTip(preset.notes);
    column->addWidget(first, 1);
    column->addSpacing(8);
    entry.time = new widgets::TextLabel({}, TextStyle::Mono);
    entry.time->hide();
    entry.time->setObjectName("presetTime");
    entry.time->setToolTip(tr("Time of the run as measurements of this machine predict it"));
    entry.quality = new widgets::TextLabel(preset.quality, TextStyle::Caption, Role::Muted);
    entry.quality->setObjectName("presetQuality");
    entry.quality->setToolTip(tr("As measured at full length, on data that it was not trained on"));
    auto* outcome = new QHBoxLayout;
    outcome->addWidget(entry.time);
    outcome->addWidget(entry.quality, 1);
    column->addLayout(outcome);
    entry.badge = new widgets::Badge(tr("planning…"));
    entry.memory = new widgets::ElidedLabel({}, TextStyle::Caption, Role::Muted);
    line(entry.badge, 0, entry.memory);
    connect(card, &widgets::Card::clicked, this,
            [this, path = preset.path] { emit presetChosen(pathText(path)); });
    cards_.push_back(entry);
    arrange();
}

void PresetRow::planAll() {
    planned_ = 0;
    for (const Entry& entry : cards_) {
        runInBackground(
            entry.card,
            [path = entry.path, planner = studio_.planner().step] {
                return plan_preset(path, planner);
            },
            [this, card = entry.card](const PresetFacts& facts) { show(card, facts); });
    }
}

void PresetRow::show(const QWidget* card, const PresetFacts& facts) {
    const auto found = std::find_if(cards_.begin(), cards_.end(),
                                    [card](const Entry& entry) { return entry.card == card; });
    found->parameters = facts.parameters > 0 ? facts.parameters : kUnknown;
    widgets::Badge* badge = found->badge;
    if (!facts.problem.isEmpty()) {
        badge->setText(tr("cannot run here"));
        badge->setRole(Role::Warning);
        badge->setToolTip(facts.problem);
    } else if (!facts.planned_for.isEmpty()) {
        badge->setText(tr("to be planned"));
        badge->setToolTip(tr("planned for %1, not run here").arg(facts.planned_for));
        found->memory->setText(facts.planned_for);
    } else {
        found->size->setText(formatCount(facts.parameters));
        found->memory->setText(widgets::formatMemory(facts.bytes));
        const bool timed = facts.seconds && facts.fits;
        found->time->setText(timed ? tr("≈ %1").arg(formatDuration(*facts.seconds)) : QString());
        found->time->setVisible(timed); // the quality takes its place
        found->quality->setAlignment((timed ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        badge->setToolTip(tr("memory of the training step, as planned"));
        badge->setText(facts.fits ? tr("fits this machine") : tr("too large for this machine"));
        badge->setIconName(facts.fits ? "check" : "warning");
        badge->setRole(facts.fits ? Role::Success : Role::Error);
    }
    if (++planned_ == cards_.size()) {
        sort();
    }
}

/// Smallest model first, those of unknown size last; moved once, when all are known.
void PresetRow::sort() {
    std::stable_sort(cards_.begin(), cards_.end(),
                     [](const Entry& a, const Entry& b) { return a.parameters < b.parameters; });
    arrange();
}

void PresetRow::showAll(bool all) {
    all_ = all;
    arrange();
}

// As many in a row as have room; one row, so that the runs below it are seen, until all are asked
// for.
void PresetRow::arrange() {
    const auto card = static_cast<int>(kCardWidth * widgets::Theme::current().fontScale());
    const int columns = std::clamp(width() / card, 2, std::max(2, static_cast<int>(cards_.size())));
    const bool more = static_cast<int>(cards_.size()) > columns;
    more_->setVisible(more);
    more_->setText(all_ ? tr("One row") : tr("All %1").arg(formatCount(cards_.size())));
    more_->setAccessibleName(all_ ? tr("Show one row of presets") : tr("Show all presets"));
    for (std::size_t i = 0; i < cards_.size(); ++i) {
        grid_->addWidget(cards_[i].card, static_cast<int>(i) / columns,
                         static_cast<int>(i) % columns);
        cards_[i].card->setVisible(all_ || static_cast<int>(i) < columns);
    }
    for (int column = 0; column < static_cast<int>(cards_.size()); ++column) {
        grid_->setColumnStretch(column, column < columns ? 1 : 0);
    }
}

void PresetRow::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

} // namespace weft::ui
