// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/sample_look/place_names.h"

#include "ui/samples/sample_picture.h"

#include <QCoreApplication>

namespace weft::ui {

QStringList placeNames(const LookedInside& looked, std::int64_t count) {
    const train::SampleLook& look = looked.look;
    QStringList out;
    if (std::ssize(look.tokens) == count) {
        for (const std::int32_t token : look.tokens) {
            out << (looked.tokenizer != nullptr ? signOf(token, *looked.tokenizer)
                                                : QString::number(token));
        }
    } else if (arePatches(look, count)) {
        for (std::int64_t i = 0; i < look.patches->before; ++i) {
            out << (look.patches->before == 1
                        ? QCoreApplication::translate("SampleLook", "class")
                        : QCoreApplication::translate("SampleLook", "class %1").arg(i));
        }
        for (std::int64_t i = 0; i < look.patches->rows * look.patches->columns; ++i) {
            out << QString("%1, %2").arg(i / look.patches->columns).arg(i % look.patches->columns);
        }
    }
    return out;
}

bool arePatches(const train::SampleLook& look, std::int64_t count) {
    return look.patches &&
           look.patches->before + look.patches->rows * look.patches->columns == count;
}

QString placeWords(const QStringList& names, bool text, int place) {
    if (place >= names.size()) {
        return QString::number(place);
    }
    if (text) {
        return QCoreApplication::translate("SampleLook", "“%1” (%2)")
            .arg(names[place], QString::number(place));
    }
    return names[place].contains(',')
               ? QCoreApplication::translate("SampleLook", "patch %1").arg(names[place])
               : names[place];
}

} // namespace weft::ui
