// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/badge_delegate.h"

#include "ui/models/checkpoint_model.h"
#include "ui/pages/checkpoints/checkpoint_table.h"
#include "widgets/controls/pill.h"
#include "widgets/look/painting.h"

#include <QPainter>
#include <QStyle>
#include <QWidget>

#include <cmath>
#include <vector>

namespace weft::ui {
namespace {

using widgets::Role;

struct Pill {
    QString text;
    Role role;
    QString icon;
};

std::vector<Pill> pillsOf(const CheckpointTable& table, const QModelIndex& index) {
    const CheckpointRow& row = table.row(index);
    std::vector<Pill> pills;
    if (row.best) {
        pills.push_back({table.bestText(), Role::Success, QStringLiteral("star")});
    }
    if (row.newest) {
        pills.push_back({CheckpointModel::tr("newest"), Role::Accent, {}});
    }
    if (row.pinned) {
        pills.push_back({CheckpointModel::tr("pinned"), Role::Muted, QStringLiteral("pin")});
    }
    return pills;
}

} // namespace

BadgeDelegate::BadgeDelegate(const CheckpointTable& table, QObject* parent)
    : QStyledItemDelegate(parent), table_(table) {}

void BadgeDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const {
    QStyleOptionViewItem blank = option;
    initStyleOption(&blank, index);
    blank.text.clear();
    blank.widget->style()->drawControl(QStyle::CE_ItemViewItem, &blank, painter, blank.widget);
    QRectF rest = QRectF(option.rect).adjusted(widgets::space::kControl, 0, 0, 0);
    for (const Pill& pill : pillsOf(table_, index)) {
        const QRectF taken = widgets::paintPill(*painter, rest, pill.text, pill.role, pill.icon);
        if (option.state & QStyle::State_Selected) { // on ground of its own colour
            widgets::paintSurface(*painter, taken, taken.height() / 2.0, QColor(Qt::transparent),
                                  widgets::Theme::current().color(Role::Border));
        }
        rest.setLeft(taken.right() + widgets::space::kTight);
    }
}

QSize BadgeDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
    double width = widgets::space::kControl;
    for (const Pill& pill : pillsOf(table_, index)) {
        width +=
            widgets::pillSize(pill.text, !pill.icon.isEmpty()).width() + widgets::space::kTight;
    }
    return {static_cast<int>(std::ceil(width)),
            QStyledItemDelegate::sizeHint(option, index).height()};
}

} // namespace weft::ui
