// SPDX-License-Identifier: GPL-3.0-or-later
// A user's hands on the studio: one pair that only has a mouse, one that only has a keyboard. Both
// go through the window, as the events of a desktop do: a click lands on what is seen there, a key
// goes to what has the focus. Nothing is reached that a user could not reach.
#pragma once

#include "tests/ui/studio_fixture.h"

#include <QModelIndex>

#include <functional>

class QMenu;
class QWindow;

namespace weft::test {

/// Everything answers whether it could be done; when not, what stood in the way is logged.
class Hands {
public:
    explicit Hands(StudioFixture& fixture) : fixture_(fixture) {}
    virtual ~Hands() = default;

    /// To a page, by the rail or its shortcut.
    virtual bool go(const QString& page) = 0;
    /// A command, by its menu or its shortcut.
    virtual bool command(const QString& action) = 0;
    /// A button or card by its name.
    virtual bool press(const QString& name) = 0;
    /// One segment of a control.
    virtual bool choose(const QString& control, int segment) = 0;
    /// A row of a table, list or tree; groups above it are opened.
    virtual bool pick(const QString& view, const QModelIndex& index) = 0;
    /// What a field holds instead of what it held.
    virtual bool fill(const QString& field, const QString& text) = 0;
    /// An entry of the menu that is open; "layers/model": of one of its menus.
    virtual bool entry(const QString& path) = 0;

    /// Does `open`, which may wait in its own event loop, and `inside` once a menu is up.
    bool inMenu(const std::function<bool()>& open, const std::function<bool()>& inside);
    /// The same for a dialog that everything else waits for.
    bool inDialog(const std::function<bool()>& open, const std::function<bool()>& inside);
    /// To what has the focus.
    bool key(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
    bool type(const QString& text);
    /// A button with a menu, and an entry of that.
    bool pressEntry(const QString& name, const QString& path);

protected:
    bool within(const std::function<bool()>& open, const std::function<bool()>& isUp,
                const std::function<bool()>& inside);
    /// The window or dialog on top.
    QWidget* top() const;
    /// Visible and enabled, waited for; null when there is none.
    QWidget* find(const QString& name) const;
    static QMenu* openMenu();
    /// The window that keys go to.
    QWindow* keyboard() const;

    StudioFixture& fixture_;
};

class Mouse : public Hands {
public:
    using Hands::Hands;
    bool go(const QString& page) override;
    bool command(const QString& action) override;
    bool press(const QString& name) override;
    bool choose(const QString& control, int segment) override;
    bool pick(const QString& view, const QModelIndex& index) override;
    bool fill(const QString& field, const QString& text) override;
    bool entry(const QString& path) override;

private:
    bool clickAt(QWidget& widget, const QPoint& at);
};

class Keyboard : public Hands {
public:
    using Hands::Hands;
    bool go(const QString& page) override;
    bool command(const QString& action) override;
    bool press(const QString& name) override;
    bool choose(const QString& control, int segment) override;
    bool pick(const QString& view, const QModelIndex& index) override;
    bool fill(const QString& field, const QString& text) override;
    bool entry(const QString& path) override;

    /// Tab until a widget, or one inside it, has the focus; arrows where it is one of several
    /// choices, of which Tab only visits the chosen one.
    bool reach(const QString& name);

private:
    bool walk(const QWidget& wanted);
};

} // namespace weft::test
