// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/line_view.h"

#include "widgets/look/painting.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QStyledItemDelegate>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::widgets {
namespace {

constexpr int kLineRow = 20;
constexpr double kNewLineMark = 3.0; // width of the mark on new lines
constexpr int kNumberDigits = 6;

class LineDelegate : public QStyledItemDelegate {
public:
    explicit LineDelegate(LineView* view) : QStyledItemDelegate(view), view_(view) {}

    // One size for all lines: that of the longest, so that one bar scrolls them together.
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        const QFontMetricsF metrics(Theme::current().font(TextStyle::Mono));
        const double letter = metrics.horizontalAdvance(QLatin1Char('m'));
        const int letters = kNumberDigits + 3 + view_->lineModel()->longest();
        return {static_cast<int>(std::ceil(letter * letters)),
                std::max(kLineRow, static_cast<int>(std::ceil(metrics.height())) + 4)};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& theme = Theme::current();
        const QFont mono = theme.font(TextStyle::Mono);
        const double letter = QFontMetricsF(mono).horizontalAdvance(QLatin1Char('m'));
        const QRectF row = option.rect;
        if (option.state & QStyle::State_Selected) {
            painter->fillRect(row, theme.color(Role::AccentTint));
        }
        if (index.data(LineModel::kNewRole).toBool()) {
            painter->fillRect(QRectF(row.left(), row.top(), kNewLineMark, row.height()),
                              theme.color(Role::Success));
        }
        const double gutter = letter * (kNumberDigits + 1);
        paintText(*painter, QRectF(row.left(), row.top(), gutter - letter, row.height()),
                  Qt::AlignRight | Qt::AlignVCenter, index.data(LineModel::kNumberRole).toString(),
                  mono, theme.color(Role::Muted), Qt::ElideNone);
        const QString text = index.data(Qt::DisplayRole).toString();
        const double left = row.left() + gutter + letter;
        paintNeedle(*painter, row, left, letter, text);
        // The layer path says where a line comes from and stands back behind what it does.
        const int path = static_cast<int>(text.indexOf(QLatin1String(" @ \"")));
        const auto part = [&](int from, int count, Role role) {
            paintText(*painter,
                      QRectF(left + letter * from, row.top(), letter * (count + 1), row.height()),
                      Qt::AlignLeft | Qt::AlignVCenter, text.mid(from, count), mono,
                      theme.color(role), Qt::ElideNone);
        };
        part(0, path < 0 ? static_cast<int>(text.size()) : path, Role::Text);
        if (path >= 0) {
            part(path, static_cast<int>(text.size()) - path, Role::Muted);
        }
    }

private:
    void paintNeedle(QPainter& painter, const QRectF& row, double left, double letter,
                     const QString& text) const {
        const QString& needle = view_->needle();
        if (needle.isEmpty()) {
            return;
        }
        qsizetype at = text.indexOf(needle, 0, Qt::CaseInsensitive);
        for (; at >= 0; at = text.indexOf(needle, at + needle.size(), Qt::CaseInsensitive)) {
            painter.fillRect(QRectF(left + letter * static_cast<double>(at), row.top() + 1,
                                    letter * static_cast<double>(needle.size()), row.height() - 2),
                             Theme::current().color(Role::WarningTint));
        }
    }

    LineView* view_;
};

} // namespace

LineModel::LineModel(QObject* parent) : QAbstractListModel(parent) {}

void LineModel::setText(const QStringList& lines, std::vector<bool> fresh) {
    beginResetModel();
    lines_ = lines;
    fresh_ = std::move(fresh);
    shown_.resize(static_cast<std::size_t>(lines_.size()));
    std::iota(shown_.begin(), shown_.end(), 0);
    longest_ = 0;
    for (const QString& line : lines_) {
        longest_ = std::max(longest_, static_cast<int>(line.size()));
    }
    endResetModel();
}

void LineModel::setShown(std::vector<int> shown) {
    beginResetModel();
    shown_ = std::move(shown);
    endResetModel();
}

std::vector<int> LineModel::find(const QString& needle) const {
    std::vector<int> rows;
    for (std::size_t row = 0; !needle.isEmpty() && row < shown_.size(); ++row) {
        if (lines_[shown_[row]].contains(needle, Qt::CaseInsensitive)) {
            rows.push_back(static_cast<int>(row));
        }
    }
    return rows;
}

int LineModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

QVariant LineModel::data(const QModelIndex& index, int role) const {
    const auto line = static_cast<std::size_t>(shown_[static_cast<std::size_t>(index.row())]);
    switch (role) {
    case Qt::DisplayRole: return lines_[static_cast<qsizetype>(line)];
    case kNumberRole: return static_cast<int>(line) + 1;
    case kNewRole: return line < fresh_.size() && fresh_[line];
    default: return {};
    }
}

LineView::LineView(QWidget* parent) : QListView(parent), model_(new LineModel(this)) {
    setModel(model_);
    setItemDelegate(new LineDelegate(this));
    setUniformItemSizes(true);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Program text"));
}

void LineView::setNeedle(const QString& needle) {
    needle_ = needle;
    viewport()->update();
}

void LineView::goTo(int row) {
    const QModelIndex index = model_->index(row);
    setCurrentIndex(index);
    scrollTo(index, QAbstractItemView::PositionAtCenter);
}

QString LineView::selectedText() const {
    QModelIndexList selected = selectionModel()->selectedRows();
    std::sort(selected.begin(), selected.end());
    QStringList lines;
    for (const QModelIndex& index : std::as_const(selected)) {
        lines.append(index.data().toString());
    }
    return lines.join(QLatin1Char('\n'));
}

void LineView::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy)) {
        QGuiApplication::clipboard()->setText(selectedText());
        return;
    }
    QListView::keyPressEvent(event);
}

} // namespace weft::widgets
