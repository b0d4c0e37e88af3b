// SPDX-License-Identifier: GPL-3.0-or-later
// A note over the window with "Undo", for what a page changed on the disk. It takes back the newest
// edit of the page; what came before it stays as it is.
#pragma once

#include <QObject>

#include <functional>

class QAction;

namespace weft::ui {

class Page;

class UndoNote : public QObject {
    Q_OBJECT
public:
    explicit UndoNote(Page& page);

    /// `undo` is called at most once, when the button of this note is clicked.
    void offer(const QString& done, std::function<void()> undo);

private:
    Page& page_;
    QAction* action_;
    std::function<void()> undo_;
};

} // namespace weft::ui
