// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/wall/wall_value_model.h"

#include "widgets/look/theme.h"

#include <QFont>

#include <algorithm>

namespace weft::ui {
namespace {

enum WallValueColumn { WallNameColumn, WallNumberColumn, WallDeviationColumn };
constexpr std::size_t kStyledLines = 64; // of a section, to choose how its numbers are written

} // namespace

void WallValueModel::setSections(std::vector<Section> sections) {
    beginResetModel();
    sections_ = std::move(sections);
    first_rows_.clear();
    rows_ = 0;
    for (const Section& section : sections_) {
        first_rows_.push_back(rows_);
        rows_ += 1 + static_cast<int>(section.lines.size());
    }
    styles_.assign(sections_.size(), std::nullopt);
    endResetModel();
}

void WallValueModel::setPlace(std::optional<double> x) {
    x_ = x;
    renew();
}

void WallValueModel::renew() {
    styles_.assign(sections_.size(), std::nullopt);
    if (rows_ > 0) {
        emit dataChanged(createIndex(0, WallNumberColumn),
                         createIndex(rows_ - 1, columnCount() - 1));
    }
}

void WallValueModel::setDeviations(bool shown) {
    if (shown != deviations_) {
        beginResetModel();
        deviations_ = shown;
        endResetModel();
    }
}

int WallValueModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : rows_;
}

int WallValueModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : deviations_ ? 3 : 2;
}

WallValueModel::Place WallValueModel::placeOf(int row) const {
    const auto after = std::upper_bound(first_rows_.begin(), first_rows_.end(), row);
    const auto section = static_cast<std::size_t>(after - first_rows_.begin()) - 1;
    return {section, row - first_rows_[section] - 1};
}

const widgets::NumberStyle& WallValueModel::styleOf(std::size_t at) const {
    std::optional<widgets::NumberStyle>& style = styles_[at];
    if (!style) {
        std::vector<double> values;
        for (std::size_t i = 0; i < std::min(sections_[at].lines.size(), kStyledLines); ++i) {
            if (const auto value = sections_[at].value(i, x_)) {
                values.push_back(value->value);
            }
        }
        style.emplace(std::move(values));
    }
    return *style;
}

QVariant WallValueModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const Place place = placeOf(index.row());
    const Section& section = sections_[place.section];
    const bool heading = place.line < 0;
    const widgets::Theme& theme = widgets::Theme::current();
    switch (role) {
    case HeadingRole: return heading;
    case LineRole:
        return heading || index.column() != WallNameColumn
                   ? QVariant()
                   : QVariant::fromValue(section.lines[static_cast<std::size_t>(place.line)]);
    case Qt::DisplayRole:
    case Qt::ToolTipRole: break;
    case Qt::FontRole:
        return theme.font(heading                            ? widgets::TextStyle::CaptionStrong
                          : index.column() == WallNameColumn ? widgets::TextStyle::Caption
                                                             : widgets::TextStyle::MonoSmall);
    case Qt::ForegroundRole:
        return theme.color(index.column() == WallDeviationColumn ? widgets::Role::Muted
                                                                 : widgets::Role::Text);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment(Qt::AlignVCenter |
                          (index.column() == WallNameColumn ? Qt::AlignLeft : Qt::AlignRight)));
    default: return {};
    }
    if (index.column() == WallNameColumn) {
        return heading ? section.title : section.lines[static_cast<std::size_t>(place.line)].name;
    }
    if (heading || role == Qt::ToolTipRole) {
        return {};
    }
    const auto value = section.value(static_cast<std::size_t>(place.line), x_);
    if (!value) {
        return index.column() == WallNumberColumn ? QStringLiteral("–") : QString();
    }
    if (index.column() == WallNumberColumn) {
        return styleOf(place.section).text(value->value);
    }
    return value->deviation ? styleOf(place.section).text(*value->deviation) : QString();
}

QVariant WallValueModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) {
        return {};
    }
    return section == WallNameColumn     ? QString()
           : section == WallNumberColumn ? (deviations_ ? tr("mean") : tr("value"))
                                         : tr("sd");
}

} // namespace weft::ui
