// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/wall/wall_values.h"

#include "ui/pages/table.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/painting.h"

#include <QEvent>
#include <QHeaderView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kWallValueRow = 20;
constexpr double kWallSample = 12;

/// The line of a row before its name.
class WallLineDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const QVariant line = index.data(WallValueModel::LineRole);
        QStyleOptionViewItem shifted = option;
        const int left = line.isValid() ? static_cast<int>(kWallSample) + 18 : 4;
        if (line.isValid()) {
            const auto look = line.value<WallLine>();
            painter->setPen(QPen(widgets::Theme::current().series(look.slot), 2.0, look.dash));
            const double y = option.rect.center().y() + 0.5;
            painter->drawLine(QPointF(option.rect.left() + 12, y),
                              QPointF(option.rect.left() + 12 + kWallSample, y));
        }
        shifted.rect.adjust(left, 0, 0, 0);
        QStyledItemDelegate::paint(painter, shifted, index);
    }
};

} // namespace

WallValues::WallValues(QWidget* parent) : Surface(widgets::Role::Surface, parent) {
    setObjectName("wallValues");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Newest values"));
    column->addWidget(header_);
    column->addWidget(new widgets::Hairline);
    model_ = new WallValueModel(this);
    table_ = createTable(model_, "wallValueTable", tr("Values of the lines in view"));
    table_->setItemDelegateForColumn(0, new WallLineDelegate(table_));
    table_->setSelectionMode(QAbstractItemView::NoSelection);
    table_->horizontalHeader()->setMinimumSectionSize(16);
    column->addWidget(table_, 1);
    hint_ = new widgets::TextLabel(tr("A click in a chart pins the place"),
                                   widgets::TextStyle::Caption, widgets::Role::Muted);
    hint_->setContentsMargins(widgets::space::kGroup, widgets::space::kTight,
                              widgets::space::kGroup, widgets::space::kTight);
    hint_->setWordWrap(true);
    column->addWidget(hint_);
    fit();
}

void WallValues::setSections(std::vector<WallValueModel::Section> sections, bool deviations) {
    model_->setDeviations(deviations);
    model_->setSections(std::move(sections));
    table_->clearSpans();
    for (const int row : model_->headings()) {
        table_->setSpan(row, 0, 1, model_->columnCount());
    }
    fit();
}

void WallValues::setPlace(std::optional<double> x, const QString& words) {
    header_->setTitle(x ? tr("At %1").arg(words) : tr("Newest values"));
    model_->setPlace(x);
}

void WallValues::fit() {
    scaleRows(table_, kWallValueRow);
    QHeaderView* header = table_->horizontalHeader();
    const QFont mono = widgets::Theme::current().font(widgets::TextStyle::MonoSmall);
    header->setSectionResizeMode(0, QHeaderView::Stretch);
    for (int column = 1; column < model_->columnCount(); ++column) {
        header->setSectionResizeMode(column, QHeaderView::Fixed);
        header->resizeSection(
            column, static_cast<int>(widgets::textWidth(mono, QStringLiteral("0.00000"))) + 20);
    }
}

void WallValues::changeEvent(QEvent* event) {
    Surface::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        fit();
    }
}

} // namespace weft::ui
