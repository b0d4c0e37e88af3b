// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plurals.h"

#include <QCoreApplication>
#include <QTranslator>

namespace weft::ui {
namespace {

class EnglishPlurals : public QTranslator {
public:
    using QTranslator::QTranslator;

    bool isEmpty() const override { return false; }
    QString translate(const char*, const char* source, const char*, int n) const override {
        const QString text = QString::fromUtf8(source);
        if (n < 0 || !(text.contains("(s)") || text.contains("(es)"))) {
            return {}; // nothing to say: the source text is used
        }
        return QString(text).replace("(s)", n == 1 ? "" : "s").replace("(es)", n == 1 ? "" : "es");
    }
};

} // namespace

void installEnglishPlurals(QCoreApplication& application) {
    QCoreApplication::installTranslator(new EnglishPlurals(&application));
}

} // namespace weft::ui
