// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/reference_panel.h"

#include "ui/models/reference_model.h"
#include "ui/pages/table.h"
#include "widgets/controls/card.h"
#include "widgets/controls/text_label.h"

#include <QComboBox>
#include <QEvent>
#include <QKeyEvent>
#include <QLineEdit>
#include <QScrollArea>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kReferenceListShare = 2; // of the height, beside
constexpr int kReferenceTextShare = 1;

// Names of one place begin alike: their ends say as much.
class ReferenceNameDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        option->textElideMode = Qt::ElideMiddle;
    }
};

TextLabel* addReferenceText(QVBoxLayout& column, const char* object_name, TextStyle style,
                            Role role) {
    auto* label = new TextLabel({}, style, role);
    label->setObjectName(object_name);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column.addWidget(label);
    return label;
}

} // namespace

ReferencePanel::ReferencePanel(QWidget* parent)
    : QWidget(parent), model_(new ReferenceModel(this)), topic_(new QComboBox),
      words_(new QLineEdit),
      table_(createTable(model_, "referenceTable", tr("Names of the reference"))) {
    auto* names = new ReferenceNameDelegate(table_);
    table_->setItemDelegateForColumn(ReferenceModel::NameColumn, names);
    table_->setItemDelegateForColumn(ReferenceModel::SectionColumn, names);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kGroup);
    column->addWidget(createSearch());
    column->addWidget(table_, kReferenceListShare);
    column->addWidget(createDetails(), kReferenceTextShare);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& current) { explain(current.row()); });
    search();
}

QWidget* ReferencePanel::createSearch() {
    auto* line = new QWidget;
    auto* row = new QHBoxLayout(line);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kControl);
    words_->setObjectName("referenceWords");
    words_->setPlaceholderText(tr("Search names and meanings"));
    words_->setAccessibleName(tr("Search the reference"));
    words_->setClearButtonEnabled(true);
    words_->installEventFilter(this);
    topic_->setObjectName("referenceTopic");
    topic_->setAccessibleName(tr("Topic"));
    topic_->addItem(tr("All topics"), QString());
    for (const ReferenceTopic& one : ReferenceModel::topics()) {
        topic_->addItem(one.title, one.topic);
        topic_->setItemData(topic_->count() - 1, tr("weft help %1").arg(one.topic),
                            Qt::ToolTipRole);
    }
    row->addWidget(words_, 1);
    row->addWidget(topic_);
    connect(words_, &QLineEdit::textChanged, this, &ReferencePanel::search);
    connect(topic_, &QComboBox::currentIndexChanged, this, &ReferencePanel::search);
    return line;
}

QWidget* ReferencePanel::createDetails() {
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kTight);
    name_ = addReferenceText(*column, "referenceName", TextStyle::Strong, Role::Text);
    facts_ = addReferenceText(*column, "referenceFacts", TextStyle::MonoSmall, Role::Muted);
    meaning_ = addReferenceText(*column, "referenceMeaning", TextStyle::Body, Role::Text);
    place_ = addReferenceText(*column, "referencePlace", TextStyle::Caption, Role::Muted);
    column->addStretch();
    QScrollArea* scroll = widgets::verticalScroll(content);
    scroll->setAccessibleName(tr("What the chosen name means"));
    scroll->setFocusPolicy(Qt::StrongFocus); // long texts are read by the keyboard too
    return scroll;
}

void ReferencePanel::lookUp(const QString& pointer) {
    topic_->setCurrentIndex(0);
    words_->clear();
    choose(std::max(0, model_->rowOf(pointer)));
}

// From the search straight to what it found, as in every list with a search above it.
bool ReferencePanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == words_ && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Down || key == Qt::Key_Return || key == Qt::Key_Enter) {
            table_->setFocus();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void ReferencePanel::search() {
    model_->show(topic_->currentData().toString(), words_->text());
    shareColumns(table_, ReferenceModel::MeaningColumn);
    choose(0);
}

void ReferencePanel::choose(int row) {
    if (row < model_->rowCount()) {
        const QModelIndex index = model_->index(row, ReferenceModel::NameColumn);
        table_->setCurrentIndex(index);
        table_->scrollTo(index, QAbstractItemView::PositionAtCenter);
    }
    explain(table_->currentIndex().row());
}

void ReferencePanel::explain(int row) {
    if (row < 0 || row >= model_->rowCount()) {
        name_->setText(tr("Nothing is called that"));
        facts_->hide();
        meaning_->setText(tr("Try fewer words, or all topics."));
        place_->hide();
        return;
    }
    const ReferenceEntry& entry = model_->entry(row);
    name_->setText(entry.name);
    facts_->setText(entry.facts);
    facts_->setVisible(!entry.facts.isEmpty());
    meaning_->setText(entry.meaning);
    const QString topic = tr("weft help %1").arg(entry.topic);
    place_->setText(entry.section.isEmpty() ? topic : tr("%1 › %2").arg(topic, entry.section));
    place_->show();
}

} // namespace weft::ui
