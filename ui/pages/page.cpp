// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/page.h"

#include "ui/bridge/draft/draft.h"
#include "widgets/controls/messages.h"
#include "widgets/look/style.h"

namespace weft::ui {

void Page::showWritten(bool well, const QString& text) {
    emit toastRequested(
        static_cast<int>(well ? widgets::MessageKind::Success : widgets::MessageKind::Error), text);
}

QPushButton* Page::addHomeButton(widgets::EmptyState& empty, const Draft& draft) {
    QPushButton* home = empty.addButton(tr("Go to Home"));
    home->setObjectName("goHome");
    connect(home, &QPushButton::clicked, this, [this] { emit pageRequested("home"); });
    const auto fill = [home, &draft] {
        widgets::setButtonKind(home, draft.isEmpty() ? widgets::ButtonKind::Primary
                                                     : widgets::ButtonKind::Normal);
    };
    connect(&draft, &Draft::changed, home, fill);
    fill();
    return home;
}

} // namespace weft::ui
