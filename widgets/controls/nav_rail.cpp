// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/nav_rail.h"

#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QEvent>
#include <QListWidget>
#include <QStyledItemDelegate>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr int kIconRole = Qt::UserRole;
constexpr int kStateRole = Qt::UserRole + 1;
constexpr int kTextRole = Qt::UserRole + 2;

/// As high as there is room for all pages, which icons allow to a degree.
int railRowHeight(const QListWidget& list) {
    const double scale = Theme::current().fontScale();
    const int fair = list.viewport()->height() / std::max(list.count(), 1);
    return std::clamp(fair, static_cast<int>(28 * scale), static_cast<int>(36 * scale));
}

double railIcon() {
    return std::round(size::kIcon * Theme::current().fontScale());
}

Role stateRole(NavState state) {
    switch (state) {
    case NavState::Valid: return Role::Success;
    case NavState::Warning: return Role::Warning;
    case NavState::Error: return Role::Error;
    default: return Role::Accent;
    }
}

// Shape as well as colour: dot, triangle, cross, arrow.
void paintState(QPainter& painter, const QPointF& center, NavState state) {
    if (state == NavState::Empty) {
        return;
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor color = Theme::current().color(stateRole(state));
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    if (state == NavState::Valid) {
        painter.drawEllipse(center, 3.0, 3.0);
    } else if (state == NavState::Warning) {
        painter.drawPolygon(trianglePolygon(center + QPointF(0, 1), 5.5));
    } else if (state == NavState::Running) {
        painter.drawPolygon(QPolygonF(
            {center + QPointF(-2.5, -4), center + QPointF(3.5, 0), center + QPointF(-2.5, 4)}));
    } else {
        painter.setPen(QPen(color, 2.0, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(center + QPointF(-3, -3), center + QPointF(3, 3));
        painter.drawLine(center + QPointF(-3, 3), center + QPointF(3, -3));
    }
    painter.restore();
}

class RailDelegate : public QStyledItemDelegate {
public:
    RailDelegate(const bool* collapsed, QListWidget* list)
        : QStyledItemDelegate(list), collapsed_(collapsed), list_(*list) {}

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {0, railRowHeight(list_)};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& theme = Theme::current();
        const bool selected = option.state & QStyle::State_Selected;
        const bool hover = option.state & QStyle::State_MouseOver;
        const int side = *collapsed_ ? 4 : space::kControl;
        const QRectF pad = QRectF(option.rect).adjusted(side, 2, -side, -2);
        if (selected || hover) {
            paintSurface(*painter, pad, size::kRadius,
                         theme.color(selected ? Role::AccentTint : Role::EmptyBar), {});
        }
        const Role role = selected ? Role::Accent : Role::Muted;
        const double icon = railIcon();
        const double icon_x = *collapsed_ ? pad.center().x() - icon / 2.0 : pad.left() + 8;
        paintIcon(*painter, QRectF(icon_x, pad.center().y() - icon / 2.0, icon, icon),
                  index.data(kIconRole).toString(), theme.color(role));
        if (!*collapsed_) {
            const QRectF text = pad.adjusted(8 + icon + space::kControl, 0, -24, 0);
            paintText(
                *painter, text, Qt::AlignLeft | Qt::AlignVCenter, index.data(kTextRole).toString(),
                theme.font(selected ? TextStyle::Strong : TextStyle::Body), theme.color(role));
        }
        const QPointF mark = *collapsed_ ? QPointF(pad.right() - 5, pad.top() + 6)
                                         : QPointF(pad.right() - 12, pad.center().y());
        paintState(*painter, mark, static_cast<NavState>(index.data(kStateRole).toInt()));
        const bool keyboard = option.state & QStyle::State_KeyboardFocusChange;
        if ((option.state & QStyle::State_HasFocus) && keyboard) {
            paintFocus(*painter, pad, size::kRadius);
        }
    }

private:
    const bool* collapsed_;
    const QListWidget& list_;
};

QString stateText(NavState state) {
    switch (state) {
    case NavState::Empty: return {};
    case NavState::Valid: return NavRail::tr("complete");
    case NavState::Warning: return NavRail::tr("has warnings");
    case NavState::Error: return NavRail::tr("has errors");
    case NavState::Running: return NavRail::tr("running");
    }
    return {};
}

} // namespace

NavRail::NavRail(QWidget* parent)
    : QWidget(parent), list_(new QListWidget(this)), fold_(new QToolButton(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, space::kControl, 1, space::kControl);
    layout->setSpacing(space::kTight);
    layout->addWidget(list_, 1);
    layout->addWidget(fold_, 0, Qt::AlignRight);
    list_->setFrameShape(QFrame::NoFrame);
    list_->setItemDelegate(new RailDelegate(&collapsed_, list_));
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    list_->setMouseTracking(true);
    list_->setUniformItemSizes(true);
    list_->setResizeMode(QListView::Adjust); // rows are as high as there is room
    list_->viewport()->setAutoFillBackground(false);
    list_->setAccessibleName(tr("Pages"));
    list_->setObjectName(QStringLiteral("navRailList"));
    fold_->setAutoRaise(true);
    fold_->setObjectName(QStringLiteral("navRailFold"));
    connect(list_, &QListWidget::currentRowChanged, this, &NavRail::currentPageChanged);
    connect(fold_, &QToolButton::clicked, this, [this] { setCollapsed(!collapsed_); });
    setFixedWidth(size::kRailWidth);
    setCollapsed(false);
}

int NavRail::addPage(const QString& icon_name, const QString& text, const QString& tooltip) {
    auto* item = new QListWidgetItem(list_);
    item->setData(kIconRole, icon_name);
    item->setData(kTextRole, text);
    item->setToolTip(tooltip.isEmpty() ? text : tooltip);
    const int index = list_->row(item);
    updateAccessibleText(index);
    if (list_->currentRow() < 0) {
        list_->setCurrentRow(0);
    }
    return index;
}

int NavRail::pageCount() const {
    return list_->count();
}

int NavRail::currentPage() const {
    return list_->currentRow();
}

void NavRail::setCurrentPage(int index) {
    list_->setCurrentRow(index);
}

void NavRail::setPageState(int index, NavState state) {
    if (QListWidgetItem* item = list_->item(index)) {
        item->setData(kStateRole, static_cast<int>(state));
        updateAccessibleText(index);
    }
}

NavState NavRail::pageState(int index) const {
    const QListWidgetItem* item = list_->item(index);
    return item ? static_cast<NavState>(item->data(kStateRole).toInt()) : NavState::Empty;
}

void NavRail::setCollapsed(bool collapsed) {
    const bool changed = collapsed != collapsed_;
    collapsed_ = collapsed;
    setFixedWidth(collapsed ? size::kRailFoldedWidth
                            : static_cast<int>(size::kRailWidth * Theme::current().fontScale()));
    fold_->setIcon(
        icon(collapsed ? QStringLiteral("chevrons-right") : QStringLiteral("chevrons-left"),
             Role::Muted));
    const QString text = collapsed ? tr("Show page names") : tr("Show icons only");
    fold_->setToolTip(text);
    fold_->setAccessibleName(text);
    layout()->setAlignment(fold_, collapsed ? Qt::AlignHCenter : Qt::AlignRight);
    list_->doItemsLayout();
    if (changed) {
        emit collapsedChanged(collapsed);
    }
}

void NavRail::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    painter.fillRect(rect(), theme.color(Role::Background));
    paintHairline(painter, QPointF(width() - 1, 0), QPointF(width() - 1, height()),
                  theme.color(Role::Hairline));
}

void NavRail::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) {
        list_->viewport()->update();
    } else if (event->type() == QEvent::FontChange) {
        setCollapsed(collapsed_);
    }
}

void NavRail::updateAccessibleText(int index) {
    QListWidgetItem* item = list_->item(index);
    const QString text = item->data(kTextRole).toString();
    const QString state = stateText(pageState(index));
    item->setData(Qt::AccessibleTextRole, state.isEmpty() ? text : tr("%1, %2").arg(text, state));
}

} // namespace weft::widgets
