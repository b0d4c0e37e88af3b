// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/try_row.h"

#include "ui/bridge/convert.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QApplication>
#include <QComboBox>
#include <QFocusEvent>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QScrollBar>
#include <QStyledItemDelegate>

#include <algorithm>
#include <functional>
#include <utility>

namespace weft::ui {
namespace {

constexpr int kTryRowHeight = 30; // at text size 1
constexpr int kMostRows = 10;     // before it scrolls
constexpr int kFieldGap = 3;
constexpr int kTextGap = 8;

QRect inputOf(const QRect& cell) {
    return cell.adjusted(0, kFieldGap, -kTextGap, -kFieldGap);
}

class CellDelegate : public QStyledItemDelegate {
public:
    /// `ended`: Tab or Return ended a value: on by one, or back.
    CellDelegate(TryRow* view, std::function<void(int direction)> ended)
        : QStyledItemDelegate(view), view_(view), ended_(std::move(ended)) {}

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        if (index.column() != WrittenRowModel::ValueColumn) {
            QStyledItemDelegate::paint(painter, option, index);
            return;
        }
        QStyleOptionViewItem shown = option;
        initStyleOption(&shown, index);
        view_->style()->drawPrimitive(QStyle::PE_PanelItemViewItem, &shown, painter, view_);
        const widgets::Theme& theme = widgets::Theme::current();
        const QRectF field = inputOf(option.rect);
        widgets::paintSurface(*painter, field, widgets::size::kRadius,
                              theme.color(widgets::Role::Surface),
                              theme.color(widgets::Role::Border));
        QRectF text = field.adjusted(kTextGap, 0, -kTextGap, 0);
        if (!view_->row().column(index.row()).categories.empty()) {
            widgets::paintIcon(*painter, {text.right() - 12, text.center().y() - 6, 12, 12},
                               QStringLiteral("chevron-down"), theme.color(widgets::Role::Muted));
            text.setRight(text.right() - 12 - kTextGap / 2);
        }
        widgets::paintText(*painter, text, Qt::AlignLeft | Qt::AlignVCenter, shown.text, shown.font,
                           index.data(Qt::ForegroundRole).value<QColor>());
    }

    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem&,
                          const QModelIndex& index) const override {
        const data::InputColumn& column = view_->row().column(index.row());
        QWidget* editor = column.categories.empty() ? createNumber(parent, index.row())
                                                    : createChoice(parent, column, index.row());
        editor->setAccessibleName(toQString(column.name));
        return editor;
    }

    void setEditorData(QWidget* editor, const QModelIndex& index) const override {
        const QString text = index.data(Qt::EditRole).toString();
        if (auto* choice = qobject_cast<QComboBox*>(editor)) {
            choice->setCurrentIndex(std::max(0, choice->findData(text)));
        } else if (auto* number = qobject_cast<QLineEdit*>(editor);
                   number->text().trimmed() != text) {
            number->setText(text);
        }
    }

    void setModelData(QWidget* editor, QAbstractItemModel* model,
                      const QModelIndex& index) const override {
        const auto* choice = qobject_cast<QComboBox*>(editor);
        model->setData(index, choice != nullptr
                                  ? choice->currentData()
                                  : QVariant(static_cast<QLineEdit*>(editor)->text()));
    }

    void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option,
                              const QModelIndex&) const override {
        editor->setGeometry(inputOf(option.rect));
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::KeyPress) {
            const int key = static_cast<QKeyEvent*>(event)->key();
            const bool on = key == Qt::Key_Tab || key == Qt::Key_Return || key == Qt::Key_Enter;
            if (on || key == Qt::Key_Backtab) {
                auto* editor = static_cast<QWidget*>(watched);
                emit commitData(editor);
                emit closeEditor(editor, NoHint);
                ended_(on ? 1 : -1);
                return true;
            }
        }
        return QStyledItemDelegate::eventFilter(watched, event);
    }

private:
    // What the model makes of it is seen while it is typed.
    QWidget* createNumber(QWidget* parent, int row) const {
        auto* edit = new QLineEdit(parent);
        widgets::setTextStyle(edit, widgets::TextStyle::Mono);
        edit->setPlaceholderText(view_->row().placeholder(row));
        connect(edit, &QLineEdit::textEdited, this,
                [self = const_cast<CellDelegate*>(this), edit] { emit self->commitData(edit); });
        return edit;
    }

    QWidget* createChoice(QWidget* parent, const data::InputColumn& column, int row) const {
        auto* choice = new QComboBox(parent);
        if (column.may_be_missing || view_->row().cells()[static_cast<std::size_t>(row)].empty()) {
            choice->addItem(view_->row().placeholder(row), QString());
        }
        for (const std::string& category : column.categories) {
            choice->addItem(toQString(category), toQString(category));
        }
        auto* self = const_cast<CellDelegate*>(this);
        connect(choice, &QComboBox::activated, this,
                [self, choice] { emit self->commitData(choice); });
        return choice;
    }

    TryRow* view_;
    std::function<void(int)> ended_;
};

} // namespace

TryRow::TryRow(QWidget* parent) : QTableView(parent), model_(new WrittenRowModel(this)) {
    setObjectName("tryRow");
    setAccessibleName(tr("Values of a row"));
    setModel(model_);
    auto* delegate = new CellDelegate(this, [this](int direction) { leave(direction); });
    setItemDelegate(delegate);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::AnyKeyPressed);
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setWordWrap(false);
    setTabKeyNavigation(false); // Tab leaves the table
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->hide();
    horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    connect(this, &QAbstractItemView::clicked, this, [this](const QModelIndex& index) {
        begin(index);
        const QModelIndex value = index.siblingAtColumn(WrittenRowModel::ValueColumn);
        if (auto* choice = qobject_cast<QComboBox*>(indexWidget(value))) {
            choice->showPopup();
        }
    });
    connect(this, &QAbstractItemView::activated, this, &TryRow::begin);
    fitHeight();
}

void TryRow::setColumns(std::vector<data::InputColumn> columns) {
    model_->setColumns(std::move(columns));
    fitHeight();
}

void TryRow::begin(const QModelIndex& index) {
    const QModelIndex value = index.siblingAtColumn(WrittenRowModel::ValueColumn);
    if (state() != EditingState && value.isValid()) {
        setCurrentIndex(value);
        edit(value);
    }
}

void TryRow::leave(int direction) {
    const int next = currentIndex().row() + direction;
    if (next >= 0 && next < model_->rowCount()) {
        begin(model_->index(next, WrittenRowModel::ValueColumn));
    } else {
        setFocus();
        focusNextPrevChild(direction > 0);
    }
}

QModelIndex TryRow::moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) {
    return QTableView::moveCursor(action, modifiers).siblingAtColumn(WrittenRowModel::ValueColumn);
}

void TryRow::focusInEvent(QFocusEvent* event) {
    QTableView::focusInEvent(event);
    if (!currentIndex().isValid() && event->reason() != Qt::MouseFocusReason) {
        setCurrentIndex(model_->index(0, WrittenRowModel::ValueColumn));
    }
}

void TryRow::changeEvent(QEvent* event) {
    QTableView::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        fitHeight();
    }
}

void TryRow::fitHeight() {
    const int height = static_cast<int>(kTryRowHeight * widgets::Theme::current().fontScale());
    verticalHeader()->setMinimumSectionSize(height);
    verticalHeader()->setDefaultSectionSize(height);
    setFixedHeight(height * std::clamp(model_->rowCount(), 1, kMostRows));
}

} // namespace weft::ui
