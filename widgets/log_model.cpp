// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/log_view.h"

#include <QDateTime>

#include <algorithm>

namespace weft::widgets {

LogModel::LogModel(QObject* parent, int capacity)
    : QAbstractListModel(parent), capacity_(static_cast<std::size_t>(std::max(1, capacity))) {}

void LogModel::append(std::vector<LogLine> lines) {
    if (lines.empty()) {
        return;
    }
    // Of a flood longer than the buffer only the end can stay.
    if (lines.size() > capacity_) {
        const std::size_t skipped = lines.size() - capacity_;
        dropOldest(lines_.size());
        first_ += static_cast<qint64>(skipped);
        lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(skipped));
    } else if (lines_.size() + lines.size() > capacity_) {
        dropOldest(lines_.size() + lines.size() - capacity_);
    }
    std::vector<qint64> fresh;
    qint64 number = first_ + static_cast<qint64>(lines_.size());
    for (LogLine& line : lines) {
        if (passes(line)) {
            fresh.push_back(number);
        }
        ++number;
        lines_.push_back(std::move(line));
    }
    if (!fresh.empty()) {
        const int row = static_cast<int>(shown_.size());
        beginInsertRows({}, row, row + static_cast<int>(fresh.size()) - 1);
        shown_.insert(shown_.end(), fresh.begin(), fresh.end());
        endInsertRows();
    }
}

void LogModel::dropOldest(std::size_t count) {
    const qint64 keep_from = first_ + static_cast<qint64>(count);
    const auto end = std::lower_bound(shown_.begin(), shown_.end(), keep_from);
    const auto gone = static_cast<int>(std::distance(shown_.begin(), end));
    if (gone > 0) {
        beginRemoveRows({}, 0, gone - 1);
        shown_.erase(shown_.begin(), end);
    }
    lines_.erase(lines_.begin(), lines_.begin() + static_cast<std::ptrdiff_t>(count));
    first_ = keep_from;
    if (gone > 0) {
        endRemoveRows();
    }
}

void LogModel::clear() {
    beginResetModel();
    first_ += static_cast<qint64>(lines_.size());
    lines_.clear();
    shown_.clear();
    endResetModel();
}

void LogModel::setFilter(LogLevel minimum, const QString& text, bool regex) {
    minimum_ = minimum;
    needle_ = text;
    use_regex_ = regex && !text.isEmpty();
    if (use_regex_) {
        regex_ = QRegularExpression(text, QRegularExpression::CaseInsensitiveOption);
    }
    filter_valid_ = !use_regex_ || regex_.isValid();
    beginResetModel();
    shown_.clear();
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        if (passes(lines_[i])) {
            shown_.push_back(first_ + static_cast<qint64>(i));
        }
    }
    endResetModel();
}

bool LogModel::passes(const LogLine& line) const {
    if (line.level < minimum_) {
        return false;
    }
    if (needle_.isEmpty() || !filter_valid_) {
        return true;
    }
    if (use_regex_) {
        return regex_.match(line.text).hasMatch() || regex_.match(line.source).hasMatch();
    }
    return line.text.contains(needle_, Qt::CaseInsensitive) ||
           line.source.contains(needle_, Qt::CaseInsensitive);
}

const LogLine& LogModel::line(int row) const {
    return lines_[static_cast<std::size_t>(shown_[static_cast<std::size_t>(row)] - first_)];
}

int LogModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(shown_.size());
}

QVariant LogModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) {
        return {};
    }
    const LogLine& entry = line(index.row());
    switch (role) {
    case Qt::DisplayRole:
    case TextRole:
        return entry.text;
    case LevelRole:
        return static_cast<int>(entry.level);
    case SourceRole:
        return entry.source;
    case StepRole:
        return entry.step;
    case TimeRole:
        return QDateTime::fromMSecsSinceEpoch(entry.time_ms)
            .toString(QStringLiteral("HH:mm:ss.zzz"));
    default:
        return {};
    }
}

} // namespace weft::widgets
