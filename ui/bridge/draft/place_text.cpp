// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/place_text.h"

#include "ui/bridge/convert.h"

#include <QStringList>

namespace weft::ui {

QString placeText(std::string_view pointer) {
    QString text;
    for (QString part : toQString(pointer).split('/', Qt::SkipEmptyParts)) {
        bool number = false;
        part.toInt(&number);
        part.replace("~1", "/").replace("~0", "~"); // RFC 6901
        text += (text.isEmpty() ? QString()
                 : number       ? QStringLiteral(".")
                                : QStringLiteral(" › ")) +
                part;
    }
    return text;
}

QString problemText(const config::Diagnostic& problem) {
    QString line = problem.pointer.empty() ? QString() : placeText(problem.pointer) + ": ";
    line += toQString(problem.message);
    return problem.hint.empty() ? line : line + ". " + toQString(problem.hint);
}

} // namespace weft::ui
