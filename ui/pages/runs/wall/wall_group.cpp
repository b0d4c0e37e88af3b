// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/wall/wall_group.h"

#include "ui/pages/runs/wall/wall_cell.h"
#include "widgets/controls/card.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QGridLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace weft::ui {

WallGroup::WallGroup(const QString& name, QWidget* parent) : QWidget(parent), name_(name) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* head = new widgets::Surface(widgets::Role::Inset);
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(widgets::space::kTight, 2, widgets::space::kTight, 2);
    heading_ = new QPushButton;
    heading_->setObjectName("wallGroup");
    widgets::setButtonKind(heading_, widgets::ButtonKind::Flat);
    widgets::setCompact(heading_);
    row->addWidget(heading_);
    row->addStretch(1);
    column->addWidget(head);
    body_ = new widgets::Surface;
    grid_ = new QGridLayout(body_);
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setSpacing(0);
    column->addWidget(body_);
    connect(heading_, &QPushButton::clicked, this, [this] { setFolded(!folded_); });
    fitHeading();
}

void WallGroup::setCells(std::vector<WallCell*> cells) {
    if (cells != cells_) {
        cells_ = std::move(cells);
        arrange();
    }
}

void WallGroup::setColumns(int columns) {
    if (columns != columns_) {
        columns_ = columns;
        arrange();
    }
}

void WallGroup::setFolded(bool folded) {
    if (folded != folded_) {
        folded_ = folded;
        body_->setVisible(!folded);
        fitHeading();
        emit foldedChanged();
    }
}

void WallGroup::arrange() {
    while (QLayoutItem* item = grid_->takeAt(0)) {
        delete item; // the cell stays
    }
    for (int column = 0; column < grid_->columnCount(); ++column) {
        grid_->setColumnStretch(column, column < columns_ ? 1 : 0);
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        const int at = static_cast<int>(i);
        grid_->addWidget(cells_[i], at / columns_, at % columns_);
        cells_[i]->show();
    }
    for (int column = 0; column < columns_; ++column) {
        grid_->setColumnStretch(column, 1);
    }
    fitHeading();
}

void WallGroup::fitHeading() {
    heading_->setIcon(widgets::icon(folded_ ? "chevron-right" : "chevron-down"));
    heading_->setText(QStringLiteral("%1  %2").arg(name_).arg(cells_.size()));
    heading_->setAccessibleName(folded_ ? tr("Show the charts of %1").arg(name_)
                                        : tr("Fold the charts of %1").arg(name_));
    heading_->setToolTip(heading_->accessibleName());
}

} // namespace weft::ui
