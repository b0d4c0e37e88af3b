// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/page.h"

#include "widgets/controls/messages.h"

namespace weft::ui {

void Page::showWritten(bool well, const QString& text) {
    emit toastRequested(
        static_cast<int>(well ? widgets::MessageKind::Success : widgets::MessageKind::Error), text);
}

} // namespace weft::ui
