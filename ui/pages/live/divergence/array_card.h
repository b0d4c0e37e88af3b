// SPDX-License-Identifier: GPL-3.0-or-later
// An array that the first bad op read or made: what it is, its spread, where its largest number and
// its first bad one are.
#pragma once

#include "ui/bridge/run/divergence_record.h"

#include <QWidget>

namespace weft::ui {

class ArrayCard : public QWidget {
    Q_OBJECT
public:
    /// `role`: "read", "made", "given".
    ArrayCard(const QString& role, const SeenArray& array, QWidget* parent = nullptr);
};

} // namespace weft::ui
