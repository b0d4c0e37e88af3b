// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/runs/column_widths.h"

#include "widgets/look/painting.h"

#include <QSet>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace weft::ui {
namespace {

using ColumnKind = RunColumn::Kind;
using widgets::TextStyle;

constexpr int kColumnWidthsCellPadding = 22; // of cells, and what letters of one count differ by
constexpr int kColumnWidthsTagRoom = 14;     // edges of a tag and the gap to the next
constexpr int kRowsRead = 200;               // enough to know how long texts are
constexpr int kSortRoom = 16;                // the arrow in the title of the sorted column
constexpr int kLeastCurve = 72;              // these and below: at text size 1
constexpr int kUsualCurve = 112;
constexpr int kColumnWidthsLeastWords = 72;
constexpr int kLeastName = 160;
constexpr int kLeastTags = 120; // two of them
constexpr int kMostWords = 200;
constexpr int kColumnWidthsMostNotes = 420;

int scaledWidth(int pixels) {
    return static_cast<int>(pixels * widgets::Theme::current().fontScale());
}

int columnWidthOf(TextStyle style, const QString& text) {
    return static_cast<int>(
        std::ceil(widgets::textWidth(widgets::Theme::current().font(style), text)));
}

/// Room for what numbers usually are, so that columns do not move while they count.
QString usualText(ColumnKind kind) {
    switch (kind) {
    case ColumnKind::Best:
    case ColumnKind::Metric: return QStringLiteral("0.00000");
    case ColumnKind::Step: return QStringLiteral("100,000");
    case ColumnKind::Time: return QStringLiteral("59 m 59 s");
    case ColumnKind::Size: return QStringLiteral("999.9 MB");
    case ColumnKind::When: return QStringLiteral("today 23:59");
    default: return {};
    }
}

QString longestText(const RunTableModel& model, int column) {
    QString longest;
    for (int row = 0; row < std::min(model.rowCount(), kRowsRead); ++row) {
        const QString text = model.index(row, column).data().toString();
        longest = text.size() > longest.size() ? text : longest;
    }
    return longest;
}

/// Of a column of few different words, which may have as many letters and not be as wide.
int widestWord(const RunTableModel& model, int column) {
    QSet<QString> words;
    int widest = 0;
    for (int row = 0; row < std::min(model.rowCount(), kRowsRead); ++row) {
        const QString word = model.index(row, column).data().toString();
        if (!words.contains(word)) {
            words.insert(word);
            widest = std::max(widest, columnWidthOf(TextStyle::Body, word));
        }
    }
    return widest;
}

int widestTags(const RunTableModel& model, int column) {
    int widest = 0;
    for (int row = 0; row < std::min(model.rowCount(), kRowsRead); ++row) {
        int width = 0;
        for (const QString& tag :
             model.index(row, column).data(RunTableModel::TagsRole).toStringList()) {
            width += columnWidthOf(TextStyle::MonoSmall, tag) + kColumnWidthsTagRoom;
        }
        widest = std::max(widest, width);
    }
    return widest;
}

} // namespace

ColumnNeed columnNeed(const RunTableModel& model, int column) {
    const RunColumn& shown = model.columns()[static_cast<std::size_t>(column)];
    const int title =
        columnWidthOf(TextStyle::Caption,
                      model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString()) +
        kColumnWidthsCellPadding;
    const auto need = [&](int least, int wanted, int most) {
        const int floor = std::max(title, least);
        const int bounded = std::clamp(wanted, floor, std::max(floor, most));
        return ColumnNeed{std::min(floor, bounded), bounded, bounded};
    };
    if (shown.isNumber()) {
        const int now = std::max(columnWidthOf(TextStyle::Mono, longestText(model, column)) +
                                     kColumnWidthsCellPadding,
                                 title + kSortRoom);
        const int usual = std::max(now, columnWidthOf(TextStyle::Mono, usualText(shown.kind)) +
                                            kColumnWidthsCellPadding);
        return {now, usual, usual};
    }
    if (shown.kind == ColumnKind::Setting) {
        const int now =
            columnWidthOf(TextStyle::Mono, longestText(model, column)) + kColumnWidthsCellPadding;
        return need(std::min(now, scaledWidth(kMostWords)), now, scaledWidth(kMostWords));
    }
    switch (shown.kind) {
    case ColumnKind::Curve:
        return need(scaledWidth(kLeastCurve), scaledWidth(kUsualCurve), scaledWidth(kUsualCurve));
    case ColumnKind::State: {
        const int width = widestWord(model, column) + kColumnWidthsCellPadding;
        return need(width, width, scaledWidth(kMostWords));
    }
    case ColumnKind::Tags: {
        const int width = widestTags(model, column) + kColumnWidthsCellPadding;
        return need(std::min(width, scaledWidth(kLeastTags)), width, scaledWidth(kMostWords));
    }
    case ColumnKind::Notes: {
        const int width =
            columnWidthOf(TextStyle::Body, longestText(model, column)) + kColumnWidthsCellPadding;
        ColumnNeed notes =
            need(scaledWidth(kColumnWidthsLeastWords), width, scaledWidth(kMostWords));
        notes.claimed = std::clamp(width, notes.wanted,
                                   std::max(notes.wanted, scaledWidth(kColumnWidthsMostNotes)));
        return notes;
    }
    default: {
        const bool name = shown.kind == ColumnKind::Name;
        const QString longest = longestText(model, column);
        const int width = columnWidthOf(name ? TextStyle::Strong : TextStyle::Body, longest) +
                          kColumnWidthsCellPadding;
        ColumnNeed out =
            need(std::min(width, scaledWidth(name ? kLeastName : kColumnWidthsLeastWords)), width,
                 scaledWidth(kMostWords));
        out.says_nothing = longest.isEmpty();
        return out;
    }
    }
}

std::vector<int> shareWidth(const std::vector<ColumnNeed>& needs, int room) {
    const auto sum = [&](int ColumnNeed::*field) {
        return std::accumulate(needs.begin(), needs.end(), 0,
                               [&](int all, const ColumnNeed& need) { return all + need.*field; });
    };
    // Between two of the three every column moves as far as the others.
    const bool plenty = room >= sum(&ColumnNeed::wanted);
    const auto from = plenty ? &ColumnNeed::wanted : &ColumnNeed::least;
    const auto to = plenty ? &ColumnNeed::claimed : &ColumnNeed::wanted;
    const int low = sum(from);
    const int high = sum(to);
    const double share = high > low ? std::clamp((room - low) / double(high - low), 0.0, 1.0) : 0.0;
    std::vector<int> widths;
    for (const ColumnNeed& need : needs) {
        widths.push_back(need.*from + static_cast<int>(share * (need.*to - need.*from)));
    }
    return widths;
}

} // namespace weft::ui
