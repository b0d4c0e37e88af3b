// SPDX-License-Identifier: GPL-3.0-or-later
// What each page is for, and the keys that work on it alone; those that work everywhere are in
// ui/actions. F1 shows both.
#pragma once

#include <QKeySequence>
#include <QString>

#include <vector>

namespace weft::ui {

struct PageKeys {
    std::vector<QKeySequence> keys; // each of them does it, or its half of it
    QString what;
};

struct PageHelp {
    QString purpose;
    std::vector<PageKeys> keys;
};

/// `page`: its id ("home"). Empty where there is none for it.
PageHelp pageHelp(const QString& page);

} // namespace weft::ui
