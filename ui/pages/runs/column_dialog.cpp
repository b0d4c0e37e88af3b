// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/column_dialog.h"

#include "ui/bridge/convert.h"
#include "ui/models/run_table_model.h"
#include "ui/pages/runs/runs_table.h"
#include "widgets/look/theme.h"

#include <QDialogButtonBox>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kColumnPlaceRole = Qt::UserRole; // in columns_; -1: a heading

} // namespace

ColumnDialog::ColumnDialog(RunsTable& table, const RunTableModel& model, QWidget* parent)
    : QDialog(parent), table_(table) {
    setObjectName("columnDialog");
    setWindowTitle(tr("Columns of the table"));
    auto* column = new QVBoxLayout(this);
    search_ = new QLineEdit;
    search_->setObjectName("columnSearch");
    search_->setPlaceholderText(tr("Find settings and metrics"));
    search_->setAccessibleName(search_->placeholderText());
    search_->setClearButtonEnabled(true);
    column->addWidget(search_);
    list_ = new QListWidget;
    list_->setObjectName("columnList");
    list_->setAccessibleName(tr("Columns"));
    list_->setUniformItemSizes(true);
    column->addWidget(list_, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QPushButton* usual = buttons->addButton(tr("As at first"), QDialogButtonBox::ResetRole);
    column->addWidget(buttons);
    fill(model);
    connect(search_, &QLineEdit::textChanged, this, &ColumnDialog::search);
    connect(list_, &QListWidget::itemChanged, this, &ColumnDialog::apply);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(usual, &QPushButton::clicked, this, [this, &model] {
        table_.resetColumns();
        fill(model);
        search(search_->text());
    });
    resize(420, 520);
    search_->setFocus();
}

void ColumnDialog::addHeading(const QString& text) {
    auto* item = new QListWidgetItem(text, list_);
    item->setFlags(Qt::NoItemFlags);
    item->setFont(widgets::Theme::current().font(widgets::TextStyle::CaptionStrong));
    item->setData(kColumnPlaceRole, -1);
}

void ColumnDialog::addColumn(const RunColumn& column, const QString& name) {
    const std::vector<RunColumn> shown = table_.visualColumns();
    auto* item = new QListWidgetItem(name, list_);
    const bool fixed = column.kind == RunColumn::Kind::Name;
    item->setFlags(fixed ? Qt::ItemIsSelectable
                         : Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    item->setCheckState(std::find(shown.begin(), shown.end(), column) == shown.end() ? Qt::Unchecked
                                                                                     : Qt::Checked);
    item->setData(kColumnPlaceRole, static_cast<int>(columns_.size()));
    columns_.push_back(column);
}

void ColumnDialog::fill(const RunTableModel& model) {
    const QSignalBlocker blocker(list_);
    list_->clear();
    columns_.clear();
    addHeading(tr("Facts"));
    for (const RunColumn& column : RunColumn::facts()) {
        QString title = column.title();
        title[0] = title[0].toUpper();
        addColumn(column, title);
    }
    using Value = RunColumn::Value;
    const std::vector<std::string> metrics = model.metricNames();
    if (!metrics.empty()) {
        addHeading(tr("Metrics"));
    }
    for (const std::string& metric : metrics) {
        for (const Value value : {Value::Best, Value::Last}) {
            const RunColumn column{RunColumn::Kind::Metric, metric, value, 0};
            addColumn(column, column.title());
        }
    }
    const std::vector<std::string> settings = model.settingNames();
    if (!settings.empty()) {
        addHeading(tr("Settings"));
    }
    for (const std::string& path : settings) {
        addColumn({RunColumn::Kind::Setting, path, Value::Best, 0}, toQString(path));
    }
}

// Headings stay where something of theirs does.
void ColumnDialog::search(const QString& text) {
    const QStringList words = text.split(' ', Qt::SkipEmptyParts);
    QListWidgetItem* heading = nullptr;
    for (int row = 0; row < list_->count(); ++row) {
        QListWidgetItem* item = list_->item(row);
        if (item->data(kColumnPlaceRole).toInt() < 0) {
            heading = item;
            heading->setHidden(true);
            continue;
        }
        const bool fits = std::all_of(words.begin(), words.end(), [&](const QString& word) {
            return item->text().contains(word, Qt::CaseInsensitive);
        });
        item->setHidden(!fits);
        if (fits && heading != nullptr) {
            heading->setHidden(false);
        }
    }
}

// Those that are there keep their places; new ones come at the end.
void ColumnDialog::apply() {
    std::vector<RunColumn> shown = table_.visualColumns();
    for (int row = 0; row < list_->count(); ++row) {
        const QListWidgetItem* item = list_->item(row);
        const int place = item->data(kColumnPlaceRole).toInt();
        if (place < 0) {
            continue;
        }
        const RunColumn& column = columns_[static_cast<std::size_t>(place)];
        const bool there = std::find(shown.begin(), shown.end(), column) != shown.end();
        const bool wanted = item->checkState() == Qt::Checked;
        if (wanted && !there) {
            shown.push_back(column);
        } else if (!wanted && there) {
            std::erase(shown, column);
        }
    }
    table_.changeColumns(shown);
}

} // namespace weft::ui
