// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/look/fitting_text.h"

#include <QFontMetricsF>
#include <QMap>

#include <algorithm>

namespace weft::widgets {
namespace {

constexpr QChar kDots(0x2026);

/// How many letters all of them begin, or end, with.
qsizetype commonLetters(const QStringList& texts, bool at_end) {
    const auto letter = [at_end](const QString& text, qsizetype i) {
        return text[at_end ? text.size() - 1 - i : i];
    };
    const QString& first = texts.front();
    for (qsizetype i = 0;; ++i) {
        for (const QString& text : texts) {
            if (i >= text.size() || letter(text, i) != letter(first, i)) {
                return i;
            }
        }
    }
}

/// `text` from `first` to `end`, with as much around that as has room.
QString excerpt(const QString& text, qsizetype first, qsizetype end, const QFontMetricsF& metrics,
                double width) {
    const auto cut = [&](qsizetype from, qsizetype to) {
        return (from > 0 ? QString(kDots) : QString()) + text.mid(from, to - from) +
               (to < text.size() ? QString(kDots) : QString());
    };
    QString shown = cut(first, end);
    while (first > 0 || end < text.size()) {
        first = std::max<qsizetype>(0, first - 1);
        end = std::min(text.size(), end + 1);
        const QString more = cut(first, end);
        if (metrics.horizontalAdvance(more) > width) {
            break;
        }
        shown = more;
    }
    return shown;
}

/// The same for texts that look the same without their middle.
QStringList shownWhereTheyDiffer(const QStringList& texts, const QFont& font, double width) {
    const QFontMetricsF metrics(font);
    const qsizetype before = commonLetters(texts, false);
    qsizetype after = commonLetters(texts, true);
    for (const QString& text : texts) {
        after = std::min(after, text.size() - before);
    }
    QStringList middles;
    for (const QString& text : texts) {
        middles << text.mid(before, text.size() - before - after);
    }
    const double room = width - 2 * metrics.horizontalAdvance(kDots);
    const bool fit = std::all_of(middles.begin(), middles.end(), [&](const QString& middle) {
        return metrics.horizontalAdvance(middle) <= room;
    });
    QStringList out;
    if (fit) {
        for (const QString& text : texts) {
            out << excerpt(text, before, text.size() - after, metrics, width);
        }
    } else if (before + after > 0) {
        for (const QString& middle : elidedApart(middles, font, room)) {
            out << (before > 0 ? QString(kDots) : QString()) + middle;
        }
    } else {
        for (const QString& text : texts) { // not even a letter has room
            out << metrics.elidedText(text, Qt::ElideMiddle, width);
        }
    }
    return out;
}

} // namespace

QStringList elidedApart(const QStringList& texts, const QFont& font, double width) {
    const QFontMetricsF metrics(font);
    QStringList out;
    QMap<QString, QStringList> alike; // different texts that look the same
    for (const QString& text : texts) {
        out << metrics.elidedText(text, Qt::ElideMiddle, width);
        QStringList& group = alike[out.back()];
        if (!group.contains(text)) {
            group << text;
        }
    }
    for (qsizetype i = 0; i < texts.size(); ++i) {
        const QStringList& group = alike[out[i]];
        if (group.size() > 1) {
            out[i] = shownWhereTheyDiffer(group, font, width)[group.indexOf(texts[i])];
        }
    }
    return out;
}

QString wholeFacts(const QString& text, const QFont& font, double width) {
    const QString between = QStringLiteral(" · ");
    const QFontMetricsF metrics(font);
    QString out = text;
    while (out.contains(between) && metrics.horizontalAdvance(out) > width + 0.5) {
        out.truncate(out.lastIndexOf(between));
    }
    return out;
}

} // namespace weft::widgets
