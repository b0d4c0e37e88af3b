// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/tab_walk.h"

#include "widgets/controls/shelf.h"

#include <QLayout>
#include <QScrollArea>
#include <QSplitter>

#include <algorithm>
#include <vector>

namespace weft::widgets {
namespace {

using Widgets = std::vector<QWidget*>;

void addBelow(const QWidget& container, Widgets& out);

void add(QWidget* widget, Widgets& out) {
    if (!widget->isWindow()) {
        out.push_back(widget);
        addBelow(*widget, out);
    }
}

void collect(const QLayout& layout, Widgets& out) {
    for (int i = 0; i < layout.count(); ++i) {
        const QLayoutItem* item = layout.itemAt(i);
        if (const QLayout* inner = const_cast<QLayoutItem*>(item)->layout()) {
            collect(*inner, out);
        } else if (item->widget() != nullptr) {
            out.push_back(item->widget());
        }
    }
}

/// What the layout holds, in its order, then what the container places itself; each with all below.
void addBelow(const QWidget& container, Widgets& out) {
    Widgets children;
    if (container.layout() != nullptr) {
        collect(*container.layout(), children);
    }
    if (const auto* splitter = qobject_cast<const QSplitter*>(&container)) {
        for (int i = 0; i < splitter->count(); ++i) {
            children.push_back(splitter->widget(i));
        }
    }
    if (const auto* shelf = qobject_cast<const Shelf*>(&container)) {
        children = shelf->downwards();
    }
    for (QObject* child : container.children()) {
        auto* widget = qobject_cast<QWidget*>(child);
        if (widget != nullptr &&
            std::find(children.begin(), children.end(), widget) == children.end()) {
            children.push_back(widget);
        }
    }
    for (QWidget* child : children) {
        add(child, out);
    }
}

} // namespace

bool isTabStop(const QWidget& widget) {
    return (widget.focusPolicy() & Qt::TabFocus) == Qt::TabFocus &&
           widget.focusProxy() == nullptr && widget.isVisible() && widget.isEnabled();
}

QWidget* nextTabStop(QWidget& page, const QWidget* from, TabWay way) {
    Widgets all;
    addBelow(page, all);
    if (way == TabWay::Back) {
        std::reverse(all.begin(), all.end());
    }
    const bool inside = from != nullptr && page.isAncestorOf(from);
    if (from == &page && way == TabWay::Back) {
        return nullptr; // its first control comes after it
    }
    auto at = inside ? std::find(all.begin(), all.end(), from) : all.begin();
    at += inside && at != all.end() ? 1 : 0;
    const auto found = std::find_if(at, all.end(), [](QWidget* one) { return isTabStop(*one); });
    return found == all.end() ? nullptr : *found;
}

void goToTabStop(QWidget& stop, TabWay way) {
    stop.setFocus(way == TabWay::Forward ? Qt::TabFocusReason : Qt::BacktabFocusReason);
    for (QWidget* at = stop.parentWidget(); at != nullptr; at = at->parentWidget()) {
        if (auto* area = qobject_cast<QScrollArea*>(at)) {
            area->ensureWidgetVisible(&stop);
        }
    }
}

} // namespace weft::widgets
