// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/message_box.h"

#include <QGridLayout>
#include <QLabel>
#include <QMessageBox>

namespace weft::ui {

void alignText(QMessageBox& box) {
    auto& grid = static_cast<QGridLayout&>(*box.layout());
    for (auto* text : box.findChildren<QLabel*>(QString(), Qt::FindDirectChildrenOnly)) {
        const int index = grid.indexOf(text);
        if (index < 0) {
            continue; // the icon, of which there is none
        }
        int row = 0;
        int column = 0;
        int rows = 0;
        int columns = 0;
        grid.getItemPosition(index, &row, &column, &rows, &columns);
        grid.removeWidget(text);
        grid.addWidget(text, row, 0, rows, column + columns);
    }
}

} // namespace weft::ui
