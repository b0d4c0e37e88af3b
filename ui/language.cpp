// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/language.h"

#include <QCoreApplication>
#include <QTranslator>

#include <memory>

namespace weft::ui {

bool installLanguage(QCoreApplication& application, const QLocale& locale,
                     const QStringList& folders) {
    for (const QString& folder : folders) {
        auto language = std::make_unique<QTranslator>(&application);
        if (language->load(locale, "weft-studio", "_", folder)) {
            return QCoreApplication::installTranslator(language.release());
        }
    }
    return false;
}

} // namespace weft::ui
