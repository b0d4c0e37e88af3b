// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/hands.h"

#include "tests/ui/patience.h"
#include "widgets/controls/controls.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QElapsedTimer>
#include <QListWidget>
#include <QMenuBar>
#include <QScrollArea>
#include <QTest>
#include <QTimer>
#include <QTreeView>
#include <QWindow>

namespace weft::test {
namespace {

constexpr int kPollMs = 10;
constexpr int kMostTabs = 250; // more than any page has stops
constexpr int kMostRows = 400;

bool missed(const QString& what) {
    qInfo("%s", qPrintable(what));
    return false;
}

QString describe(const QWidget* widget) {
    return widget == nullptr ? QStringLiteral("nothing")
                             : QStringLiteral("%1 \"%2\"")
                                   .arg(widget->metaObject()->className(), widget->objectName());
}

QAction* actionOf(const QMenu& menu, const QString& name) {
    for (QAction* action : menu.actions()) {
        if (action->objectName() == name) {
            return action;
        }
    }
    return nullptr;
}

bool holds(const QWidget& outer, const QWidget* inner) {
    return inner != nullptr && (&outer == inner || outer.isAncestorOf(inner));
}

} // namespace

QWidget* Hands::top() const {
    QWidget* modal = QApplication::activeModalWidget();
    QWidget* active = QApplication::activeWindow();
    if (active != nullptr && (!active->isVisible() || active->windowType() == Qt::Popup)) {
        active = nullptr; // a menu that closes keeps the keyboard for a moment
    }
    return modal != nullptr ? modal : active != nullptr ? active : &fixture_.window();
}

QWidget* Hands::find(const QString& name) const {
    QWidget* found = nullptr;
    const bool there = QTest::qWaitFor(
        [&] {
            for (QWidget* one : top()->findChildren<QWidget*>(name)) {
                if (one->isVisible() && one->isEnabled()) {
                    found = one;
                    return true;
                }
            }
            return false;
        },
        kPatienceMs);
    if (!there) {
        missed(QStringLiteral("no %1 that can be used in %2").arg(name, describe(top())));
    }
    return found;
}

QMenu* Hands::openMenu() {
    if (!QTest::qWaitFor([] { return QApplication::activePopupWidget() != nullptr; },
                         kPatienceMs)) {
        missed("no menu opened");
        return nullptr;
    }
    return qobject_cast<QMenu*>(QApplication::activePopupWidget());
}

bool Hands::within(const std::function<bool()>& open, const std::function<bool()>& isUp,
                   const std::function<bool()>& inside) {
    bool asked = false;
    bool did = false;
    QElapsedTimer since;
    since.start();
    QTimer poll;
    poll.setInterval(kPollMs);
    QObject::connect(&poll, &QTimer::timeout, &poll, [&] {
        if (!asked && isUp()) {
            asked = true;
            did = inside();
            QWidget* left = QApplication::activePopupWidget();
            left = left != nullptr ? left : QApplication::activeModalWidget();
            if (!did && left != nullptr) {
                left->close(); // or its loop never ends
            }
        } else if (!asked && since.elapsed() > kPatienceMs) {
            asked = true;
            missed("nothing opened");
        }
    });
    poll.start();
    const bool opened = open();
    return opened && QTest::qWaitFor([&] { return asked; }, 2 * kPatienceMs) && did;
}

bool Hands::inMenu(const std::function<bool()>& open, const std::function<bool()>& inside) {
    return within(
        open, [] { return QApplication::activePopupWidget() != nullptr; }, inside);
}

bool Hands::inDialog(const std::function<bool()>& open, const std::function<bool()>& inside) {
    return within(
        open,
        [before = QApplication::activeModalWidget()] {
            QWidget* now = QApplication::activeModalWidget();
            return now != nullptr && now != before && QApplication::activePopupWidget() == nullptr;
        },
        inside);
}

// A desktop gives the keyboard to a dialog once it is shown, and back to the window below when it
// closes; the offscreen platform and an X server without a window manager do so late or never.
QWindow* Hands::keyboard() const {
    if (QWidget* popup = QApplication::activePopupWidget()) {
        return popup->windowHandle();
    }
    QWidget* wanted = top();
    if (QApplication::activeWindow() != wanted) {
        wanted->activateWindow();
        if (!QTest::qWaitFor([&] { return QApplication::activeWindow() == wanted; }, kPatienceMs)) {
            qFatal("%s does not get the keyboard", qPrintable(describe(wanted)));
        }
    }
    return wanted->windowHandle();
}

bool Hands::key(int key, Qt::KeyboardModifiers modifiers) {
    QTest::keyClick(keyboard(), static_cast<Qt::Key>(key), modifiers);
    return true;
}

bool Hands::type(const QString& text) {
    for (const QChar letter : text) {
        QTest::keyClick(keyboard(), letter.toLatin1());
    }
    return true;
}

bool Hands::pressEntry(const QString& name, const QString& path) {
    return inMenu([&] { return press(name); }, [&] { return entry(path); });
}

bool Mouse::clickAt(QWidget& widget, const QPoint& at) {
    QWidget* window = widget.window();
    keyboard(); // a window that becomes active after the click would close the menu of it
    for (QWidget* outer = widget.parentWidget(); outer != nullptr; outer = outer->parentWidget()) {
        if (auto* area = qobject_cast<QScrollArea*>(outer)) {
            area->ensureWidgetVisible(&widget, 0, 0); // the wheel
        }
    }
    const QPoint place = widget.mapTo(window, at);
    const QWidget* seen = window->childAt(place);
    if (&widget != window && !holds(widget, seen)) {
        return missed(QStringLiteral("%1 is covered or cut off: %2 is there")
                          .arg(describe(&widget), describe(seen)));
    }
    QTest::mouseClick(window->windowHandle(), Qt::LeftButton, {}, place);
    return true;
}

bool Mouse::go(const QString& page) {
    QAction* wanted = fixture_.window().actions().get(qPrintable("page." + page));
    auto* rail = qobject_cast<QListWidget*>(find("navRailList"));
    // The tooltip of a page ends with its shortcut; there are more pages than shortcuts.
    const QString key = wanted->shortcut().toString();
    for (int row = 0; rail != nullptr && row < rail->count(); ++row) {
        const QString tip = rail->item(row)->toolTip();
        if (key.isEmpty() ? wanted->text().endsWith(tip) : tip.contains(key)) {
            return clickAt(*rail->viewport(), rail->visualItemRect(rail->item(row)).center()) &&
                   QTest::qWaitFor([&] { return fixture_.window().currentPage() == page; });
        }
    }
    return missed("the rail has no page " + page);
}

bool Mouse::command(const QString& action) {
    QMenuBar* bar = fixture_.window().menuBar();
    for (QAction* menu : bar->actions()) {
        if (actionOf(*menu->menu(), action) != nullptr) {
            return inMenu([&] { return clickAt(*bar, bar->actionGeometry(menu).center()); },
                          [&] { return entry(action); });
        }
    }
    return missed("no menu has " + action);
}

bool Mouse::press(const QString& name) {
    QWidget* widget = find(name);
    return widget != nullptr && clickAt(*widget, widget->rect().center());
}

bool Mouse::choose(const QString& control, int segment) {
    QWidget* widget = find(control);
    if (widget == nullptr) {
        return false;
    }
    QWidget* button = widget->findChildren<QAbstractButton*>().value(segment);
    return button != nullptr && clickAt(*button, button->rect().center());
}

bool Mouse::pick(const QString& view, const QModelIndex& index) {
    auto* shown = qobject_cast<QAbstractItemView*>(find(view));
    if (shown == nullptr) {
        return false;
    }
    auto* tree = qobject_cast<QTreeView*>(shown);
    for (QModelIndex group = index.parent(); tree && group.isValid(); group = group.parent()) {
        if (!tree->isExpanded(group)) {
            const QRect row = tree->visualRect(group); // the arrow stands before it
            if (!clickAt(*tree->viewport(),
                         {row.left() - tree->indentation() / 2, row.center().y()})) {
                return false;
            }
        }
    }
    shown->scrollTo(index); // the wheel
    const QRect cell = shown->visualRect(index);
    return clickAt(*shown->viewport(), cell.center()) &&
           QTest::qWaitFor([&] { return shown->currentIndex().row() == index.row(); });
}

bool Mouse::fill(const QString& field, const QString& text) {
    QWidget* widget = find(field);
    if (widget == nullptr || !clickAt(*widget, widget->rect().center())) {
        return false;
    }
    return key(Qt::Key_A, Qt::ControlModifier) && type(text);
}

bool Mouse::entry(const QString& path) {
    for (const QString& name : path.split('/')) {
        QMenu* menu = openMenu();
        QAction* action = menu == nullptr ? nullptr : actionOf(*menu, name);
        if (action == nullptr || !action->isEnabled()) {
            return missed("the menu has no entry " + name + " that can be used");
        }
        const QMenu* inner = action->menu(); // the action may not outlive the click
        if (!clickAt(*menu, menu->actionGeometry(action).center())) {
            return false;
        }
        if (inner != nullptr &&
            !QTest::qWaitFor([&] { return QApplication::activePopupWidget() == inner; })) {
            return missed("the menu of " + name + " does not open");
        }
    }
    return true;
}

/// Along the choices that the focus is in.
bool Keyboard::walk(const QWidget& wanted) {
    for (const int arrow : {Qt::Key_Right, Qt::Key_Left}) {
        for (const QWidget* before = nullptr; before != QApplication::focusWidget();) {
            if (QApplication::focusWidget() == &wanted) {
                return true;
            }
            before = QApplication::focusWidget();
            key(arrow);
        }
    }
    return missed("the arrow keys do not lead to " + describe(&wanted));
}

bool Keyboard::reach(const QString& name) {
    QWidget* wanted = find(name);
    if (wanted == nullptr) {
        return false;
    }
    QStringList passed;
    keyboard(); // where it is decides what has the focus
    for (int i = 0; i < kMostTabs; ++i) {
        QWidget* focus = QApplication::focusWidget();
        if (holds(*wanted, focus)) {
            return true;
        }
        const auto* choice = qobject_cast<QAbstractButton*>(focus);
        if (choice != nullptr && choice->autoExclusive() &&
            focus->parentWidget() == wanted->parentWidget()) {
            return walk(*wanted);
        }
        passed << describe(focus);
        key(Qt::Key_Tab);
        if (focus != nullptr && QApplication::focusWidget() == focus) {
            return missed(describe(focus) + " keeps the focus");
        }
    }
    passed.removeDuplicates();
    return missed(
        QStringLiteral("Tab does not lead to %1, only to %2").arg(name, passed.join(", ")));
}

bool Keyboard::go(const QString& page) {
    return command("page." + page) &&
           QTest::qWaitFor([&] { return fixture_.window().currentPage() == page; });
}

bool Keyboard::command(const QString& action) {
    const QKeySequence keys = fixture_.window().actions().get(qPrintable(action))->shortcut();
    if (keys.isEmpty()) {
        return missed(action + " has no shortcut");
    }
    QTest::keySequence(keyboard(), keys);
    return true;
}

bool Keyboard::press(const QString& name) {
    return reach(name) && key(Qt::Key_Space);
}

bool Keyboard::choose(const QString& control, int segment) {
    auto* segments = qobject_cast<widgets::SegmentedControl*>(find(control));
    if (segments == nullptr || !reach(control)) {
        return false;
    }
    for (int i = 0; i < segments->count() && segments->currentIndex() != segment; ++i) {
        key(segments->currentIndex() < segment ? Qt::Key_Right : Qt::Key_Left);
    }
    return segments->currentIndex() == segment ||
           missed(QStringLiteral("segment %1 of %2 cannot be chosen").arg(segment).arg(control));
}

bool Keyboard::pick(const QString& view, const QModelIndex& index) {
    auto* shown = qobject_cast<QAbstractItemView*>(find(view));
    if (shown == nullptr || !reach(view)) {
        return false;
    }
    const auto row = [&] { return shown->currentIndex().siblingAtColumn(0); };
    const QModelIndex wanted = index.siblingAtColumn(0);
    auto* tree = qobject_cast<QTreeView*>(shown);
    if (tree != nullptr) {
        key(Qt::Key_Home);
    }
    for (int i = 0; i < kMostRows && row() != wanted; ++i) {
        if (tree == nullptr) {
            key(row().isValid() && row().row() > wanted.row() ? Qt::Key_Up : Qt::Key_Down);
            continue;
        }
        bool above = false; // a group that the row is in
        for (QModelIndex group = wanted.parent(); group.isValid(); group = group.parent()) {
            above = above || group.siblingAtColumn(0) == row();
        }
        key(above && !tree->isExpanded(row()) ? Qt::Key_Right : Qt::Key_Down);
    }
    return row() == wanted || missed("the arrow keys do not lead to the row in " + view);
}

bool Keyboard::fill(const QString& field, const QString& text) {
    return reach(field) && key(Qt::Key_A, Qt::ControlModifier) && type(text);
}

bool Keyboard::entry(const QString& path) {
    for (const QString& name : path.split('/')) {
        QMenu* menu = openMenu();
        QAction* action = menu == nullptr ? nullptr : actionOf(*menu, name);
        if (action == nullptr || !action->isEnabled()) {
            return missed("the menu has no entry " + name + " that can be used");
        }
        for (int i = 0; i < menu->actions().size() && menu->activeAction() != action; ++i) {
            key(Qt::Key_Down);
        }
        if (menu->activeAction() != action) {
            return missed("Down does not lead to " + name);
        }
        const QMenu* inner = action->menu(); // the action may not outlive the key
        key(inner != nullptr ? Qt::Key_Right : Qt::Key_Return);
        if (inner != nullptr &&
            !QTest::qWaitFor([&] { return QApplication::activePopupWidget() == inner; })) {
            return missed("the menu of " + name + " does not open");
        }
    }
    return true;
}

} // namespace weft::test
