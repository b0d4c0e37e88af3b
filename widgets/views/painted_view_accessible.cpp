// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/painted_view_accessible.h"

#include "widgets/views/painted_view.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QHash>
#include <QPointer>

namespace weft::widgets {
namespace {

class ItemInterface : public QAccessibleInterface {
public:
    ItemInterface(PaintedView* view, int index) : view_(view), index_(index) {}

    bool isValid() const override { return view_ && index_ < view_->itemCount(); }
    QObject* object() const override { return nullptr; }
    QAccessibleInterface* parent() const override {
        return QAccessible::queryAccessibleInterface(view_.data());
    }
    QAccessibleInterface* child(int) const override { return nullptr; }
    QAccessibleInterface* childAt(int, int) const override { return nullptr; }
    int childCount() const override { return 0; }
    int indexOfChild(const QAccessibleInterface*) const override { return -1; }
    QAccessible::Role role() const override { return QAccessible::ListItem; }
    void setText(QAccessible::Text, const QString&) override {}

    QString text(QAccessible::Text kind) const override {
        if (!isValid()) {
            return {};
        }
        const ViewItem item = view_->item(index_);
        return kind == QAccessible::Name          ? item.name
               : kind == QAccessible::Description ? item.tooltip
                                                  : QString();
    }

    QRect rect() const override {
        if (!isValid()) {
            return {};
        }
        const QRect local =
            view_->sceneTransform().mapRect(view_->item(index_).rect).toAlignedRect();
        return {view_->mapToGlobal(local.topLeft()), local.size()};
    }

    QAccessible::State state() const override {
        QAccessible::State state;
        state.focusable = true;
        state.selectable = true;
        state.focused = isValid() && view_->hasFocus() && view_->cursorItem() == index_;
        state.selected = isValid() && view_->cursorItem() == index_;
        state.invalid = !isValid();
        return state;
    }

    int index() const { return index_; }

private:
    QPointer<PaintedView> view_;
    int index_;
};

class ViewInterface : public QAccessibleWidget {
public:
    explicit ViewInterface(PaintedView* view) : QAccessibleWidget(view, QAccessible::List) {}
    ~ViewInterface() override {
        for (const QAccessible::Id id : std::as_const(children_)) {
            QAccessible::deleteAccessibleInterface(id);
        }
    }

    int childCount() const override { return view()->itemCount(); }

    QAccessibleInterface* child(int index) const override {
        if (index < 0 || index >= childCount()) {
            return nullptr;
        }
        const auto found = children_.constFind(index);
        if (found != children_.constEnd()) {
            return QAccessible::accessibleInterface(*found);
        }
        auto* made = new ItemInterface(view(), index);
        children_.insert(index, QAccessible::registerAccessibleInterface(made));
        return made;
    }

    int indexOfChild(const QAccessibleInterface* child) const override {
        const auto* item = dynamic_cast<const ItemInterface*>(child);
        return item ? item->index() : -1;
    }

    QAccessibleInterface* childAt(int x, int y) const override {
        const int hit = view()->hitTest(view()->mapFromGlobal(QPoint(x, y)));
        return hit >= 0 ? child(hit) : nullptr;
    }

    QAccessibleInterface* focusChild() const override {
        return view()->hasFocus() ? child(view()->cursorItem()) : nullptr;
    }

private:
    PaintedView* view() const { return static_cast<PaintedView*>(widget()); }

    mutable QHash<int, QAccessible::Id> children_;
};

QAccessibleInterface* makeInterface(const QString&, QObject* object) {
    auto* view = qobject_cast<PaintedView*>(object);
    return view ? new ViewInterface(view) : nullptr;
}

} // namespace

void installPaintedViewAccessibility() {
    static const bool installed = [] {
        QAccessible::installFactory(makeInterface);
        return true;
    }();
    Q_UNUSED(installed);
}

} // namespace weft::widgets
