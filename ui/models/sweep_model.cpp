// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/sweep_model.h"

#include "ui/bridge/convert.h"
#include "ui/models/queue_model.h"
#include "widgets/look/theme.h"

#include <algorithm>

namespace weft::ui {
namespace {

bool sameShape(const queue::SweepTable& a, const queue::SweepTable& b) {
    return a.sweep != nullptr && b.sweep != nullptr && a.sweep->name == b.sweep->name &&
           a.sweep->created == b.sweep->created && a.settings == b.settings &&
           a.sweep->rungs == b.sweep->rungs && a.rows.size() == b.rows.size();
}

} // namespace

QString shortSettingName(const std::string& path, const std::vector<std::string>& all) {
    const QString whole = toQString(path);
    for (int parts = 1;; ++parts) {
        const QString name = whole.section('.', -parts);
        const auto alike = std::count_if(all.begin(), all.end(), [&](const std::string& other) {
            return toQString(other).section('.', -parts) == name;
        });
        if (alike < 2 || name == whole) {
            return name;
        }
    }
}

QString rungText(const queue::Sweep& sweep, std::size_t rung) {
    const std::int64_t steps = sweep.rungs[rung];
    return steps > 0 ? SweepModel::tr("at %1").arg(formatCount(steps))
                     : SweepModel::tr("at the end");
}

SweepModel::SweepModel(QObject* parent) : QAbstractTableModel(parent) {}

void SweepModel::setTable(std::shared_ptr<const queue::Book> book, const queue::SweepTable& table) {
    const bool stays = sameShape(table_, table);
    if (!stays) {
        beginResetModel();
    }
    table_ = table;
    book_ = std::move(book); // what the table before was in may go now
    if (!stays) {
        endResetModel();
    } else if (rowCount() > 0) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    }
}

void SweepModel::clear() {
    beginResetModel();
    table_ = {};
    book_.reset();
    endResetModel();
}

int SweepModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int SweepModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() || table_.sweep == nullptr ? 0 : stateColumn() + 1;
}

int SweepModel::rungOf(int column) const {
    const int rung = column - 1 - settings();
    return rung >= 0 && rung < rungs() ? rung : -1;
}

QString SweepModel::textOf(const queue::TrialRow& row, int column) const {
    if (column == 0) {
        return QString::number(row.entry->trial);
    }
    if (column <= settings()) {
        const std::string& path = table_.settings[static_cast<std::size_t>(column - 1)];
        return toQString(queue::value_text(row.entry->settings.value(path, config::Json(nullptr))));
    }
    if (const int rung = rungOf(column); rung >= 0) {
        const auto at = static_cast<std::size_t>(rung);
        return row.at[at]                       ? formatMetric(*row.at[at])
               : at < row.entry->results.size() ? tr("none")
                                                : QString();
    }
    const QString state = queueStateText(*row.entry);
    return row.best ? tr("best, %1").arg(state) : state;
}

QVariant SweepModel::keyOf(const queue::TrialRow& row, int column) const {
    if (column == 0) {
        return row.entry->trial;
    }
    if (column <= settings()) {
        const config::Json value = row.entry->settings.value(
            table_.settings[static_cast<std::size_t>(column - 1)], config::Json(nullptr));
        return value.is_number() ? QVariant(value.get<double>()) : QVariant(textOf(row, column));
    }
    if (const int rung = rungOf(column); rung >= 0) {
        const auto& value = row.at[static_cast<std::size_t>(rung)];
        const double worst = std::numeric_limits<double>::infinity();
        return value.value_or(table_.sweep->smaller_is_better ? worst : -worst);
    }
    return textOf(row, column);
}

QVariant SweepModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) {
        return {};
    }
    const queue::TrialRow& row = table_.rows[static_cast<std::size_t>(index.row())];
    const widgets::Theme& theme = widgets::Theme::current();
    const int column = index.column();
    const bool number = column != stateColumn();
    switch (role) {
    case Qt::DisplayRole:
    case Qt::AccessibleTextRole: return textOf(row, column);
    case kSortRole: return keyOf(row, column);
    case Qt::ToolTipRole:
        return textOf(row, stateColumn()) +
               (row.entry->run.empty() ? QString() : QLatin1Char('\n') + pathText(row.entry->run));
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(
            Qt::Alignment((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
    case Qt::FontRole:
        return row.best && !number ? QVariant(theme.font(widgets::TextStyle::Strong))
               : number            ? QVariant(theme.font(widgets::TextStyle::Mono))
                                   : QVariant();
    case Qt::ForegroundRole:
        return row.entry->state == queue::State::failed && !number
                   ? QVariant(theme.color(widgets::Role::Error))
               : row.entry->state == queue::State::stopped && !row.best
                   ? QVariant(theme.color(widgets::Role::Muted))
                   : QVariant();
    default: return {};
    }
}

QVariant SweepModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section >= columnCount()) {
        return {};
    }
    const bool setting = section >= 1 && section <= settings();
    const std::string path =
        setting ? table_.settings[static_cast<std::size_t>(section - 1)] : std::string();
    const int rung = rungOf(section);
    switch (role) {
    case Qt::DisplayRole:
        return section == 0 ? tr("trial")
               : setting    ? shortSettingName(path, table_.settings)
               : rung >= 0  ? rungText(*table_.sweep, static_cast<std::size_t>(rung))
                            : tr("state");
    case Qt::ToolTipRole:
        return setting     ? toQString(path)
               : rung >= 0 ? tr("%1 when the trial had trained so far")
                                 .arg(metricWords(table_.sweep->metric))
                           : QVariant();
    case Qt::TextAlignmentRole:
        return QVariant::fromValue(Qt::Alignment(
            (section == stateColumn() ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter));
    default: return {};
    }
}

} // namespace weft::ui
