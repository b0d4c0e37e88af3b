// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/sample_look/look_panel.h"

#include "ui/bridge/convert.h"
#include "ui/pages/live/sample_look/attention_part.h"
#include "ui/pages/live/sample_look/feature_part.h"
#include "ui/pages/table.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr int kLookListWidth = 320;
constexpr int kLookLeastName = 160;
constexpr int kLookNameMargin = 20; // of a cell

} // namespace

LookPanel::LookPanel(TrialHost& host, QWidget* parent) : QWidget(parent) {
    setObjectName("lookPanel");
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->setSpacing(0);
    busy_ = new widgets::ProgressLine;
    whole->addWidget(busy_);
    sheets_ = new QStackedWidget;
    empty_ = new widgets::EmptyState("model");
    empty_->setObjectName("lookEmpty");
    sheets_->addWidget(empty_);
    auto* splitter = new widgets::ThinSplitter(Qt::Horizontal, "lookSplitter");
    table_ = createTable(&model_, "lookTable", tr("Layers of the model"));
    table_->setTextElideMode(Qt::ElideLeft); // paths differ at their ends
    splitter->addWidget(table_);
    auto* right = new QWidget;
    auto* column = new QVBoxLayout(right);
    column->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                               widgets::space::kGroup, widgets::space::kControl);
    column->setSpacing(widgets::space::kControl);
    name_ = new widgets::ElidedLabel({}, TextStyle::Strong);
    name_->setObjectName("lookLayer");
    column->addWidget(name_);
    parts_ = new QStackedWidget;
    attention_ = new AttentionPart;
    parts_->addWidget(attention_);
    features_ = new FeaturePart;
    parts_->addWidget(features_);
    column->addWidget(parts_, 1);
    pointed_ = new widgets::ElidedLabel({}, TextStyle::Caption, Role::Muted);
    pointed_->setObjectName("lookPointed");
    column->addWidget(pointed_);
    splitter->addWidget(right);
    splitter->setStretchFactor(0, 0);
    splitter->setStretchFactor(1, 1);
    splitter->setSizes({kLookListWidth, 3 * kLookListWidth});
    sheets_->addWidget(splitter);
    whole->addWidget(sheets_, 1);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& now) {
                if (now.isValid()) {
                    chosen_ = model_.row(now.row());
                    showRow();
                }
            });
    const auto say = [this](const QString& words) {
        pointed_->setText(words.isEmpty() ? tr("Point at a place to read its number.") : words);
    };
    say({});
    connect(attention_, &AttentionPart::pointed, this, say);
    connect(features_, &FeaturePart::pointed, this, say);
    connect(&host, &TrialHost::looked, this, &LookPanel::showLook);
    connect(&host, &TrialHost::failed, this, [this](const QString& kind, const QString& problem) {
        if (kind == "look") {
            showProblem(problem);
        }
    });
    clear();
}

void LookPanel::expect() {
    busy_->setBusy(true);
    if (looked_ == nullptr) {
        empty_->setTitle({});
        empty_->setText(tr("The layers are being looked at …"));
        sheets_->setCurrentIndex(0);
    }
}

void LookPanel::clear() {
    looked_.reset();
    attention_->clear();
    busy_->setBusy(false);
    sheets_->setCurrentIndex(0);
    empty_->setTitle(tr("Nothing was tried yet"));
    empty_->setText(tr("Under Try it, give the model something and press Look inside."));
}

void LookPanel::showProblem(const QString& problem) {
    looked_.reset();
    attention_->clear();
    busy_->setBusy(false);
    sheets_->setCurrentIndex(0);
    empty_->setTitle(tr("The layers cannot be looked at"));
    empty_->setText(problem);
}

// What was chosen stays chosen; at first what attends, if anything does.
void LookPanel::showLook(std::shared_ptr<const LookedInside> looked) {
    busy_->setBusy(false);
    looked_ = std::move(looked);
    LookRow wanted = chosen_;
    model_.setLook(looked_->look);
    const auto& rows = model_.rows();
    auto found = std::find_if(rows.begin(), rows.end(),
                              [&](const LookRow& row) { return row.isAs(wanted); });
    if (found == rows.end()) {
        found = std::find_if(rows.begin(), rows.end(),
                             [](const LookRow& row) { return row.attention >= 0; });
    }
    if (rows.empty()) {
        showProblem(tr("No layer of this model puts numbers out that could be shown."));
        return;
    }
    const auto row = static_cast<int>((found == rows.end() ? rows.begin() : found) - rows.begin());
    sheets_->setCurrentIndex(1);
    double longest = 0;
    for (const LookRow& one : rows) {
        longest = std::max(
            longest, widgets::textWidth(widgets::Theme::current().font(TextStyle::Mono), one.name));
    }
    fitColumns(table_, LookModel::NameColumn, EmptyColumns::Keep,
               std::min(kLookLeastName, static_cast<int>(longest) + kLookNameMargin));
    if (table_->currentIndex().row() == row) {
        showRow();
    } else {
        table_->setCurrentIndex(model_.index(row, 0));
    }
}

void LookPanel::showRow() {
    const int row = table_->currentIndex().row();
    if (looked_ == nullptr || row < 0 || row >= model_.rowCount()) {
        return;
    }
    const LookRow& shown = model_.row(row);
    name_->setText(tr("%1 · %2 · %3").arg(shown.name, shown.what, shown.shape));
    if (shown.attention >= 0) {
        attention_->showLayer(looked_, shown.attention);
        parts_->setCurrentIndex(0);
    } else {
        features_->showLayer(*looked_, shown.layer);
        parts_->setCurrentIndex(1);
    }
}

} // namespace weft::ui
