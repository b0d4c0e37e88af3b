// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/mesh_drawer.h"

#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/icon_button.h"
#include "widgets/look/icon.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kMeshDrawerLeastHeight = 168; // a header, and something below it; at text size 1

} // namespace

MeshDrawer::MeshDrawer(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* panel = new widgets::Surface(widgets::Role::Background);
    auto* row = new QHBoxLayout(panel);
    row->setContentsMargins(widgets::space::kGroup, widgets::space::kTight, widgets::space::kGroup,
                            widgets::space::kTight);
    tabs_ = new widgets::SegmentedControl;
    tabs_->setObjectName("meshDrawer");
    tabs_->setAccessibleName(tr("What is shown below the tensors"));
    tabs_->setCompact(true);
    row->addWidget(tabs_);
    row->addStretch(1);
    full_ = widgets::iconButton("expand", "drawerFullKept", {});
    full_->setCheckable(true);
    row->addWidget(full_);
    column->addWidget(panel);
    column->addWidget(new widgets::Hairline);
    stack_ = new QStackedWidget;
    stack_->installEventFilter(this);
    keepHeight();
    column->addWidget(stack_, 1);
    connect(full_, &QPushButton::toggled, this, [this](bool full) {
        describeFull();
        emit fullChanged(full);
    });
    describeFull();
    connect(tabs_, &widgets::SegmentedControl::currentIndexChanged, this, [this](int tab) {
        stack_->setCurrentIndex(tab);
        keepHeight();
        emit currentChanged(tab);
    });
}

// What the panel on screen must have, not the tallest.
void MeshDrawer::keepHeight() {
    const auto least =
        static_cast<int>(kMeshDrawerLeastHeight * widgets::Theme::current().fontScale());
    const QWidget* panel = stack_->currentWidget();
    stack_->setMinimumHeight(
        std::max(least, panel == nullptr ? 0 : panel->minimumSizeHint().height()));
}

bool MeshDrawer::eventFilter(QObject* watched, QEvent* event) {
    if (watched == stack_ && event->type() == QEvent::LayoutRequest) {
        keepHeight();
    } else if (watched != stack_ && event->type() == QEvent::MouseButtonDblClick) {
        full_->toggle();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void MeshDrawer::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        keepHeight();
    }
}

int MeshDrawer::add(const QString& title, const QString& tooltip, QWidget* panel) {
    tabs_->addSegment(title, tooltip);
    tabs_->findChildren<QAbstractButton*>().last()->installEventFilter(this);
    return stack_->addWidget(panel);
}

bool MeshDrawer::isFull() const {
    return full_->isChecked();
}

void MeshDrawer::setFull(bool full) {
    full_->setChecked(full);
}

void MeshDrawer::describeFull() {
    full_->setIcon(widgets::icon(isFull() ? "shrink" : "expand"));
    full_->setToolTip(isFull() ? tr("Back to the tensors (Esc, or double click on the tab)")
                               : tr("Fill the page (F11, or double click on the tab)"));
    full_->setAccessibleName(isFull() ? tr("Back to the tensors") : tr("Fill the page"));
}

void MeshDrawer::setTitle(int panel, const QString& title) {
    tabs_->setSegmentText(panel, title);
}

int MeshDrawer::current() const {
    return stack_->currentIndex();
}

void MeshDrawer::setCurrent(int panel) {
    tabs_->setCurrentIndex(panel);
}

} // namespace weft::ui
