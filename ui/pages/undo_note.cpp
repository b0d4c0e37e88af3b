// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/undo_note.h"

#include "ui/pages/page.h"
#include "widgets/controls/messages.h"

#include <QAction>

#include <utility>

namespace weft::ui {

UndoNote::UndoNote(Page& page)
    : QObject(&page), page_(page), action_(new QAction(tr("Undo"), this)) {
    connect(action_, &QAction::triggered, this, [this] {
        if (const auto undo = std::exchange(undo_, nullptr)) {
            undo();
        }
    });
}

void UndoNote::offer(const QString& done, std::function<void()> undo) {
    undo_ = std::move(undo);
    emit page_.toastRequested(static_cast<int>(widgets::MessageKind::Success), done, action_);
}

} // namespace weft::ui
