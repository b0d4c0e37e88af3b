// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/data/opening_news.h"

#include "ui/bridge/convert.h"
#include "widgets/look/painting.h"

#include <QCoreApplication>
#include <QPointer>

namespace weft::ui {
namespace {

constexpr double kTelling = 0.005; // less of the whole tells nothing about the rest

/// "412,000 of 1,000,000 rows".
QString rowsText(const data::Opening& opening) {
    const QString amount = opening.total > 0 ? OpeningNews::tr("%1 of %2")
                                                   .arg(widgets::formatCount(opening.done),
                                                        widgets::formatCount(opening.total))
                                             : widgets::formatCount(opening.done);
    const QString pattern = opening.unit == "rows"      ? OpeningNews::tr("%1 rows")
                            : opening.unit == "images"  ? OpeningNews::tr("%1 images")
                            : opening.unit == "lines"   ? OpeningNews::tr("%1 lines")
                            : opening.unit == "files"   ? OpeningNews::tr("%1 files")
                            : opening.unit == "targets" ? OpeningNews::tr("%1 targets")
                                                        : OpeningNews::tr("%1 samples");
    return pattern.arg(amount);
}

} // namespace

QString openingText(const data::Opening& opening, double seconds) {
    QString name = toQString(opening.name);
    if (opening.passes > 1) {
        name = OpeningNews::tr("%1, pass %2 of %3").arg(name).arg(opening.pass).arg(opening.passes);
    }
    QString text = OpeningNews::tr("%1: %2").arg(name, rowsText(opening));
    if (opening.total_bytes > 0) {
        text += ", " + OpeningNews::tr("%1 of %2")
                           .arg(formatFileSize(opening.bytes), formatFileSize(opening.total_bytes));
    }
    text += QStringLiteral(" · ") + widgets::formatDuration(seconds);
    if (const double share = opening.share(); share > kTelling) {
        text += ", " + OpeningNews::tr("about %1 left")
                           .arg(widgets::formatDuration(seconds / share - seconds));
    }
    return text;
}

data::OnOpening OpeningNews::begin(const Clock* clock) {
    const int work = ++work_;
    end();
    return data::when_slow(
        [guard = QPointer<OpeningNews>(this), work](const data::Opening& opening, double seconds) {
            QMetaObject::invokeMethod(
                QCoreApplication::instance(),
                [guard, work, opening, seconds] {
                    if (guard && guard->work_ == work) {
                        guard->text_ = openingText(opening, seconds);
                        guard->share_ = opening.share() > 0 ? opening.share() : -1;
                        emit guard->changed();
                    }
                },
                Qt::QueuedConnection);
        },
        clock);
}

void OpeningNews::end() {
    if (isSlow()) {
        text_.clear();
        share_ = -1;
        emit changed();
    }
}

} // namespace weft::ui
