// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QMessageBox;

namespace weft::ui {

/// Lets the text of a box without an icon begin at the margin: Qt indents it as if there were one.
/// Call it when the box has all its texts; each setter lays it out again.
void alignText(QMessageBox& box);

} // namespace weft::ui
