// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/draft_compare_dialog.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/draft/draft.h"
#include "ui/bridge/run/run_model.h"
#include "ui/forms/number_text.h"
#include "ui/pages/table.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QTableWidget>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr QSize kDraftCompareDialogSize{720, 420};
enum DraftCompareColumn {
    DraftCompareFieldColumn,
    DraftCompareRunColumn,
    DraftCompareDraftValueColumn,
    DraftCompareEffectColumn
};

QString effectText(compile::ChangeEffect effect) {
    switch (effect) {
    case compile::ChangeEffect::allowed:
        return DraftCompareDialog::tr("allowed when the run is resumed");
    case compile::ChangeEffect::fork: return DraftCompareDialog::tr("makes a fork");
    case compile::ChangeEffect::blocked: return DraftCompareDialog::tr("its weights would not fit");
    }
    return {};
}

} // namespace

DraftCompareDialog::DraftCompareDialog(const Draft& draft, const RunModel& run, QWidget* parent)
    : QDialog(parent) {
    setObjectName("draftCompareDialog");
    setWindowTitle(tr("Compare with the run"));
    resize(kDraftCompareDialogSize);
    auto* column = new QVBoxLayout(this);
    const std::vector<compile::FieldChange> changes = draft.differencesFrom(run.config());
    column->addWidget(new widgets::TextLabel(tr("%n difference(s) between the draft %1 and %2",
                                                nullptr, static_cast<int>(changes.size()))
                                                 .arg(draft.name(), run.name())));
    auto* table = new QTableWidget(static_cast<int>(changes.size()), 4);
    table->setObjectName("draftCompareTable");
    table->setAccessibleName(tr("Settings that differ"));
    table->setHorizontalHeaderLabels({tr("Field"), run.name(), tr("Draft"), tr("On resume")});
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->setShowGrid(false);
    table->verticalHeader()->hide();
    scaleRows(table, widgets::size::kRowHeight);
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    table->horizontalHeader()->setSectionResizeMode(DraftCompareFieldColumn,
                                                    QHeaderView::ResizeToContents);
    for (int i = 0; i < table->rowCount(); ++i) {
        const compile::FieldChange& change = changes[static_cast<std::size_t>(i)];
        const QString texts[] = {toQString(change.path), settingText(change.before),
                                 settingText(change.after), effectText(change.effect)};
        for (const DraftCompareColumn cell :
             {DraftCompareFieldColumn, DraftCompareRunColumn, DraftCompareDraftValueColumn,
              DraftCompareEffectColumn}) {
            auto* item = new QTableWidgetItem(texts[cell]);
            item->setToolTip(texts[cell]);
            table->setItem(i, cell, item);
        }
    }
    column->addWidget(table, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
}

} // namespace weft::ui
