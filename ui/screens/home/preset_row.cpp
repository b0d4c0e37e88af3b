// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/home/preset_row.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/compile/mesh_config.h"
#include "core/cost/hardware.h"
#include "core/train/planning.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/plan_preview.h"
#include "ui/bridge/run_outlook.h"
#include "ui/studio.h"
#include "widgets/card.h"
#include "widgets/pill.h"
#include "widgets/style.h"
#include "widgets/text_label.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();
constexpr int kCardWidth = 256; // "too large for this machine" and its bytes

/// What planning a preset found out.
struct PresetFacts {
    std::int64_t parameters = 0;
    std::int64_t bytes = 0;
    bool fits = false;
    std::optional<double> seconds; // of the run, where this machine has been measured
    QString planned_for;           // hardware that need not be here
    QString problem;
};

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

QString title_of(const std::filesystem::path& path, const config::Json& document) {
    return toQString(document.value("name", path.stem().string()));
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
    std::error_code ignored;
    std::vector<std::filesystem::path> paths;
    for (const auto& entry :
         std::filesystem::directory_iterator(studio_.paths().presets, ignored)) {
        if (entry.path().extension() == ".json") {
            paths.push_back(entry.path());
        }
    }
    std::sort(paths.begin(), paths.end());
    for (const std::filesystem::path& path : paths) {
        addCard(path);
    }
}

void PresetRow::focusFirst() {
    if (!cards_.empty()) {
        cards_.front().card->setFocus(Qt::TabFocusReason);
    }
}

void PresetRow::addCard(const std::filesystem::path& path) {
    const config::Checked parsed = [&] {
        try {
            return config::parse_json(read_file(path), path.string());
        } catch (const Error&) {
            return config::Checked{};
        }
    }();
    const config::Json& document = parsed.value;
    if (!document.is_object()) {
        return;
    }
    auto* card = new widgets::Card;
    card->setClickable(true);
    card->setObjectName("preset." + toQString(path.stem().string()));
    card->setAccessibleName(tr("Preset %1").arg(title_of(path, document)));
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(16, 12, 16, 12);
    column->setSpacing(4);
    auto* head = new QHBoxLayout;
    head->addWidget(new widgets::ElidedLabel(title_of(path, document), TextStyle::Strong), 1);
    auto* parameters = new widgets::TextLabel({}, TextStyle::Mono, Role::Muted);
    head->addWidget(parameters);
    column->addLayout(head);
    const QString notes = toQString(document.value("notes", std::string()));
    auto* first =
        new widgets::TextLabel(notes.section(". ", 0, 0), TextStyle::Caption, Role::Muted);
    first->setWordWrap(true);
    first->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    first->setToolTip(notes);
    column->addWidget(first, 1);
    column->addSpacing(8);
    auto* badge_row = new QHBoxLayout;
    auto* badge = new widgets::Badge(tr("planning…"));
    badge_row->addWidget(badge);
    badge_row->addStretch(1);
    auto* memory = new widgets::ElidedLabel({}, TextStyle::Caption, Role::Muted);
    badge_row->addWidget(memory);
    column->addLayout(badge_row);
    connect(card, &widgets::Card::clicked, this,
            [this, path] { emit presetChosen(pathText(path)); });
    cards_.push_back({card, kUnknown});
    arrange();
    runInBackground(
        card,
        [path, planner = enginePlanner(studio_.paths().calibration).step] {
            return plan_preset(path, planner);
        },
        [=, this](const PresetFacts& facts) {
            planned(card, facts.parameters > 0 ? facts.parameters : kUnknown);
            if (!facts.problem.isEmpty()) {
                badge->setText(tr("cannot run here"));
                badge->setRole(Role::Warning);
                badge->setToolTip(facts.problem);
                return;
            }
            if (!facts.planned_for.isEmpty()) {
                badge->setText(tr("to be planned"));
                badge->setToolTip(tr("planned for %1, not run here").arg(facts.planned_for));
                memory->setText(facts.planned_for);
                return;
            }
            parameters->setText(formatCount(facts.parameters));
            const QString bytes = widgets::formatMemory(facts.bytes);
            memory->setText(
                facts.seconds ? tr("≈ %1 · %2").arg(formatDuration(*facts.seconds), bytes) : bytes);
            badge->setToolTip(facts.seconds
                                  ? tr("time of the run as measurements of this machine predict "
                                       "it, and memory of the training step, as planned")
                                  : tr("memory of the training step, as planned"));
            badge->setText(facts.fits ? tr("fits this machine") : tr("too large for this machine"));
            badge->setIconName(facts.fits ? "check" : "warning");
            badge->setRole(facts.fits ? Role::Success : Role::Error);
        });
}

/// Smallest model first, those of unknown size last; moved once, when all are known.
void PresetRow::planned(const QWidget* card, std::int64_t parameters) {
    for (Entry& entry : cards_) {
        if (entry.card == card) {
            entry.parameters = parameters;
        }
    }
    if (++planned_ < cards_.size()) {
        return;
    }
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
