// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/live_settings_dialog.h"

#include "core/train/control/freezable_layers.h"
#include "ui/bridge/convert.h"
#include "ui/run_control.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace weft::ui {
namespace {

using config::Json;
using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kLiveSettingsWidth = 480;  // at text size 1
constexpr int kLiveSettingsLayers = 132; // height of the list
constexpr int kLiveSettingsNumber = 120; // width of a box
constexpr std::array<const char*, 3> kUnits = {"steps", "epochs", "minutes"};

} // namespace

LiveSettingsDialog::LiveSettingsDialog(RunModel& run, RunControl& control, QWidget* parent)
    : QDialog(parent), run_(run), control_(control) {
    setObjectName("liveSettings");
    setWindowTitle(tr("Change %1 while it trains").arg(run.name()));
    const double scale = widgets::Theme::current().fontScale();
    setMinimumWidth(static_cast<int>(kLiveSettingsWidth * scale));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(widgets::space::kSection, widgets::space::kMargin,
                               widgets::space::kSection, widgets::space::kMargin);
    column->setSpacing(widgets::space::kGroup);
    auto* what =
        new TextLabel(tr("Changes hold from the next step on. They are recorded, marked on "
                         "the curves, and repeated when the run is resumed."),
                      TextStyle::Body, Role::Muted);
    what->setWordWrap(true);
    column->addWidget(what);
    column->addLayout(createFields());
    outcome_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    outcome_->setObjectName("liveOutcome");
    outcome_->setWordWrap(true);
    column->addWidget(outcome_);
    column->addWidget(createButtons());
    connect(&run_, &RunModel::settingsChanged, this, &LiveSettingsDialog::showSettings);
    connect(&run_, &RunModel::planChanged, this, &LiveSettingsDialog::fillLayers);
    connect(&run_, &RunModel::answered, this, &LiveSettingsDialog::takeAnswer);
    connect(&run_, &RunModel::reset, this, &QDialog::reject);
    connect(&run_, &RunModel::stateChanged, this, [this] {
        if (train::is_final(run_.state())) {
            reject(); // nothing listens any more
        }
    });
    fillLayers();
}

QLayout* LiveSettingsDialog::createFields() {
    const double scale = widgets::Theme::current().fontScale();
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(widgets::space::kMargin);
    grid->setVerticalSpacing(widgets::space::kGroup);
    grid->setColumnStretch(1, 1);
    const auto add = [&](const QString& name, QWidget* body) {
        const int row = grid->rowCount();
        auto* label = new TextLabel(name, TextStyle::Body);
        grid->addWidget(label, row, 0, Qt::AlignTop);
        label->setContentsMargins(0, 5, 0, 0); // beside the text of a box
        grid->addWidget(body, row, 1);
    };
    add(tr("Learning rate"), createRate());
    add(tr("Evaluate every"), createCadence(evaluate_, "evaluate", tr("Evaluate every"), false));
    add(tr("Save every"), createCadence(save_, "save", tr("Save every"), true));
    log_ = new QLineEdit;
    log_->setObjectName("liveLog");
    log_->setAccessibleName(tr("Print every so many steps"));
    log_->setFixedWidth(static_cast<int>(kLiveSettingsNumber * scale));
    auto* log = new QWidget;
    auto* log_row = new QHBoxLayout(log);
    log_row->setContentsMargins(0, 0, 0, 0);
    log_row->addWidget(log_);
    log_row->addWidget(new TextLabel(tr("steps, on the console"), TextStyle::Caption, Role::Muted));
    log_row->addStretch(1);
    add(tr("Print every"), log);
    add(tr("Frozen layers"), createLayers());
    return grid;
}

QWidget* LiveSettingsDialog::createRate() {
    auto* body = new QWidget;
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kTight);
    auto* row = new QHBoxLayout;
    row->setSpacing(widgets::space::kControl);
    rate_ = new QLineEdit;
    rate_->setObjectName("liveRate");
    rate_->setAccessibleName(tr("Learning rate"));
    rate_->setFixedWidth(
        static_cast<int>(kLiveSettingsNumber * widgets::Theme::current().fontScale()));
    row->addWidget(rate_);
    for (const auto& [text, factor, name] :
         {std::tuple{tr("Halve"), 0.5, "liveHalve"}, std::tuple{tr("Double"), 2.0, "liveDouble"}}) {
        auto* button = new QPushButton(text);
        button->setObjectName(name);
        button->setAutoDefault(false);
        connect(button, &QPushButton::clicked, this, [this, by = factor] { scaleRate(by); });
        row->addWidget(button);
    }
    row->addStretch(1);
    column->addLayout(row);
    rate_note_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    rate_note_->setWordWrap(true);
    column->addWidget(rate_note_);
    return body;
}

QWidget* LiveSettingsDialog::createCadence(CadenceRow& row, const char* name,
                                           const QString& accessible, bool may_be_none) {
    auto* body = new QWidget;
    auto* line = new QHBoxLayout(body);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(widgets::space::kControl);
    row.amount = new QLineEdit;
    row.amount->setObjectName(QString("live_%1").arg(name));
    row.amount->setAccessibleName(accessible);
    row.amount->setFixedWidth(
        static_cast<int>(kLiveSettingsNumber * widgets::Theme::current().fontScale()));
    row.unit = new QComboBox;
    row.unit->setObjectName(QString("live_%1_unit").arg(name));
    row.unit->setAccessibleName(tr("%1, unit").arg(accessible));
    row.unit->addItems({tr("steps"), tr("epochs"), tr("minutes")});
    if (may_be_none) {
        row.unit->addItem(tr("never"));
    }
    QLineEdit* amount = row.amount;
    connect(row.unit, &QComboBox::currentIndexChanged, amount,
            [amount](int index) { amount->setEnabled(index < static_cast<int>(kUnits.size())); });
    line->addWidget(row.amount);
    line->addWidget(row.unit);
    line->addStretch(1);
    return body;
}

QWidget* LiveSettingsDialog::createLayers() {
    auto* body = new QWidget;
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kTight);
    layers_ = new QListWidget;
    layers_->setObjectName("liveLayers");
    layers_->setAccessibleName(tr("Frozen layers"));
    layers_->setFixedHeight(kLiveSettingsLayers);
    column->addWidget(layers_);
    layers_note_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    layers_note_->setObjectName("liveLayersNote");
    layers_note_->setWordWrap(true);
    column->addWidget(layers_note_);
    return body;
}

// The plan comes after the run is on screen.
void LiveSettingsDialog::fillLayers() {
    layers_->clear();
    const std::vector<std::string> known =
        run_.plan() == nullptr ? std::vector<std::string>() : train::freezable_layers(*run_.plan());
    for (const std::string& layer : known) {
        auto* item = new QListWidgetItem(toQString(layer), layers_);
        item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsUserCheckable | Qt::ItemIsSelectable);
        item->setCheckState(Qt::Unchecked);
    }
    layers_->setVisible(!known.empty());
    layers_note_->setText(
        known.empty() ? tr("The step of this run was not planned for frozen layers. A run "
                           "with \"freezable\" on (Training, all settings) can freeze them.")
                      : tr("They stay as they are: a rate of 0 and no decay."));
    showSettings();
}

QWidget* LiveSettingsDialog::createButtons() {
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    apply_ = buttons->addButton(tr("Apply"), QDialogButtonBox::ApplyRole);
    apply_->setObjectName("liveApply");
    apply_->setDefault(true);
    widgets::setButtonKind(apply_, widgets::ButtonKind::Primary);
    evaluate_now_ = buttons->addButton(tr("Evaluate now"), QDialogButtonBox::ActionRole);
    evaluate_now_->setObjectName("liveEvaluateNow");
    save_now_ = buttons->addButton(tr("Save now"), QDialogButtonBox::ActionRole);
    save_now_->setObjectName("liveSaveNow");
    connect(apply_, &QPushButton::clicked, this, &LiveSettingsDialog::apply);
    connect(evaluate_now_, &QPushButton::clicked, &control_, &RunControl::evaluateNow);
    connect(save_now_, &QPushButton::clicked, &control_, &RunControl::checkpointNow);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    return buttons;
}

double LiveSettingsDialog::baseRate() const {
    return run_.config().section("optimizer").value("learning_rate", 0.0);
}

QString LiveSettingsDialog::rateText() const {
    return QString::number(baseRate() * shown_.learning_rate_multiplier, 'g', 6);
}

// What the run began with, and what was changed since.
void LiveSettingsDialog::showSettings() {
    shown_ = train::live_settings_of(run_.config());
    for (const train::SettingsEvent& changed : run_.settings()) {
        train::apply_set(shown_, {{"path", changed.path}, {"value", changed.value}});
    }
    rate_->setText(rateText());
    rate_->setEnabled(baseRate() > 0);
    rate_note_->setText(shown_.learning_rate_multiplier == 1
                            ? tr("before the schedule; as the run began")
                            : tr("before the schedule; %1 times that of the configuration")
                                  .arg(QString::number(shown_.learning_rate_multiplier, 'g', 4)));
    const Json live = train::to_json(shown_);
    showCadence(evaluate_, live.at("evaluation_every"));
    showCadence(save_, live.at("checkpoint_every"));
    log_->setText(QString::number(shown_.log_every));
    for (int i = 0; i < layers_->count(); ++i) {
        QListWidgetItem* item = layers_->item(i);
        const std::string layer = item->text().toStdString();
        const bool frozen =
            std::any_of(shown_.frozen.begin(), shown_.frozen.end(),
                        [&](const std::string& pattern) { return train::freezes(pattern, layer); });
        item->setCheckState(frozen ? Qt::Checked : Qt::Unchecked);
    }
}

void LiveSettingsDialog::showCadence(CadenceRow& row, const Json& value) {
    row.shown = value;
    if (value.is_null()) {
        row.unit->setCurrentIndex(row.unit->count() - 1);
        row.amount->clear();
        return;
    }
    const auto unit = std::find(kUnits.begin(), kUnits.end(), value.begin().key());
    row.unit->setCurrentIndex(static_cast<int>(unit - kUnits.begin()));
    row.amount->setText(QString::number(value.begin()->get<double>(), 'g', 8));
}

void LiveSettingsDialog::complain(const QString& text) {
    outcome_->setRole(Role::Error);
    outcome_->setText(text);
}

std::optional<Json> LiveSettingsDialog::typedCadence(const CadenceRow& row, const QString& what) {
    const auto unit = static_cast<std::size_t>(row.unit->currentIndex());
    if (unit >= kUnits.size()) {
        return Json(); // never
    }
    bool number = false;
    const double amount = row.amount->text().toDouble(&number);
    if (!number || !(amount > 0) || !std::isfinite(amount)) {
        complain(tr("%1 needs a number above 0.").arg(what));
        row.amount->setFocus();
        return std::nullopt;
    }
    return Json{{kUnits[unit], amount}};
}

std::optional<double> LiveSettingsDialog::typedRate() {
    bool number = false;
    const double rate = rate_->text().toDouble(&number);
    if (!number || !(rate > 0) || !std::isfinite(rate)) {
        complain(tr("The learning rate needs a number above 0."));
        rate_->setFocus();
        return std::nullopt;
    }
    return rate;
}

std::optional<std::int64_t> LiveSettingsDialog::typedSteps() {
    bool number = false;
    const qint64 steps = log_->text().toLongLong(&number);
    if (!number || steps < 1) {
        complain(tr("Printing needs a whole number of steps from 1 on."));
        log_->setFocus();
        return std::nullopt;
    }
    return steps;
}

void LiveSettingsDialog::scaleRate(double factor) {
    if (const auto rate = typedRate()) {
        rate_->setText(QString::number(*rate * factor, 'g', 6));
    }
}

// Those that are to be frozen, where they are others than now.
std::optional<Json> LiveSettingsDialog::changedLayers() const {
    Json frozen = Json::array();
    bool other = false;
    for (int i = 0; i < layers_->count(); ++i) {
        const std::string layer = layers_->item(i)->text().toStdString();
        const bool wanted = layers_->item(i)->checkState() == Qt::Checked;
        const bool is =
            std::any_of(shown_.frozen.begin(), shown_.frozen.end(),
                        [&](const std::string& pattern) { return train::freezes(pattern, layer); });
        other = other || wanted != is;
        if (wanted) {
            frozen.push_back(layer);
        }
    }
    return other ? std::optional(std::move(frozen)) : std::nullopt;
}

// All or nothing: what is wrong is said before anything is sent.
void LiveSettingsDialog::apply() {
    std::vector<std::pair<std::string, Json>> changes;
    const auto evaluate = typedCadence(evaluate_, tr("Evaluate every"));
    const auto save = evaluate ? typedCadence(save_, tr("Save every")) : std::nullopt;
    const auto steps = save ? typedSteps() : std::nullopt;
    if (!steps) {
        return;
    }
    if (baseRate() > 0) {
        const auto rate = typedRate();
        if (!rate) {
            return;
        }
        if (rate_->text() != rateText()) {
            changes.emplace_back("optimizer.learning_rate", *rate);
        }
    }
    if (*evaluate != evaluate_.shown) {
        changes.emplace_back("evaluation.every", *evaluate);
    }
    if (*save != save_.shown) {
        changes.emplace_back("checkpoint.every", *save);
    }
    if (*steps != shown_.log_every) {
        changes.emplace_back("training.log_every", *steps);
    }
    if (auto frozen = changedLayers()) {
        changes.emplace_back("frozen", std::move(*frozen));
    }
    outcome_->setRole(Role::Muted);
    outcome_->setText(changes.empty() ? tr("Nothing is different.") : tr("Waiting for the run …"));
    for (const auto& [path, value] : changes) {
        control_.changeSetting(path, value);
    }
}

void LiveSettingsDialog::takeAnswer(const train::CommandEvent& answer) {
    if (answer.command != "set") {
        return;
    }
    if (!answer.accepted) {
        complain(toQString(answer.reason));
    } else if (outcome_->role() != Role::Error) {
        outcome_->setText(tr("Changed, from the next step on."));
    }
}

} // namespace weft::ui
