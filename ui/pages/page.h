// SPDX-License-Identifier: GPL-3.0-or-later
// A page of the studio: one folder under ui/pages, one record, one line in page_list.h.
#pragma once

#include "widgets/controls/nav_rail.h"

#include <QAction>
#include <QPushButton>
#include <QWidget>

#include <cstdint>
#include <string>

namespace weft::widgets {
class EmptyState;
}

namespace weft::ui {

class Actions;
class Draft;
class Studio;

/// Base of all pages. A page wires itself to the Studio in its constructor.
class Page : public QWidget {
    Q_OBJECT
public:
    explicit Page(QWidget* parent = nullptr) : QWidget(parent) {}

    /// The mark beside the page in the rail.
    virtual widgets::NavState navState() const { return widgets::NavState::Empty; }
    /// Called when the page comes to the front.
    virtual void activated() {}
    /// The page shows the draft: while a run trains, a banner says that they are two things.
    virtual bool editsDraft() const { return false; }
    /// The page moves with every step of the run on screen, so that news of it must come often.
    virtual bool followsSteps() const { return false; }
    /// The page has a filled button of its own for what comes next.
    virtual bool leads() const { return false; }
    /// Shows the field of a JSON pointer of the draft; false when the page has none for it.
    virtual bool showField(const std::string& /*pointer*/) { return false; }

    /// Shows where a step of the run on screen lies.
    virtual void showStep(std::int64_t /*step*/) {}
    /// Says in a short note what came of writing a file.
    void showWritten(bool well, const QString& text);

signals:
    void navStateChanged();
    void leadChanged();
    /// Ask for another page by id ("checkpoints").
    void pageRequested(const QString& id);
    /// Ask for the page that has the field of a JSON pointer.
    void fieldRequested(const std::string& pointer);
    /// A short note over the window, with a button for `action` when there is one.
    void toastRequested(int kind, const QString& text, // kind: widgets::MessageKind
                        QAction* action = nullptr);

protected:
    /// The way to Home from where there is nothing to show. It is filled until there is a draft:
    /// then Start comes next.
    QPushButton* addHomeButton(widgets::EmptyState& empty, const Draft& draft);
};

/// What the shell needs to know of a page before it exists.
struct PageRecord {
    const char* id;    // "home"
    const char* title; // "Home", translated by the shell
    const char* icon;  // icon name
    Page* (*create)(Studio& studio, Actions& actions);
};

} // namespace weft::ui
