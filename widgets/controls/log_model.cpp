// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/log_view.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QPointer>
#include <QThreadPool>

#include <algorithm>

namespace weft::widgets {
namespace {

constexpr qint64 kBlockLines = 8192;
constexpr qint64 kAtOnce = 20000; // lines that are filtered within a frame

} // namespace

bool LogFilter::passes(const LogLine& line) const {
    if (line.level < minimum) {
        return false;
    }
    if (!regex.pattern().isEmpty()) {
        return !regex.isValid() || regex.match(line.text).hasMatch() ||
               regex.match(line.source).hasMatch();
    }
    return text.isEmpty() || line.text.contains(text, Qt::CaseInsensitive) ||
           line.source.contains(text, Qt::CaseInsensitive);
}

LogModel::LogModel(QObject* parent, int capacity)
    : QAbstractListModel(parent), capacity_(std::max(1, capacity)) {}

LogModel::~LogModel() {
    stop_.request_stop();
}

void LogModel::append(std::vector<LogLine> lines) {
    const auto count = static_cast<qint64>(lines.size());
    if (count == 0) {
        return;
    }
    // Of a flood longer than the buffer only the end can stay.
    const qint64 skipped = std::max<qint64>(0, count - capacity_);
    dropOldest(std::min(end_ - first_, std::max<qint64>(0, end_ - first_ + count - capacity_)));
    if (skipped > 0) {
        blocks_.clear();
        base_ = first_ = end_ = end_ + skipped;
    }
    std::vector<qint64> fresh;
    for (auto line = lines.begin() + skipped; line != lines.end(); ++line) {
        if (!filtering_ && filter_.passes(*line)) {
            fresh.push_back(end_);
        }
        push(std::move(*line));
    }
    if (!fresh.empty()) {
        const int row = static_cast<int>(shown_.size());
        beginInsertRows({}, row, row + static_cast<int>(fresh.size()) - 1);
        shown_.insert(shown_.end(), fresh.begin(), fresh.end());
        endInsertRows();
    }
}

void LogModel::push(LogLine line) {
    if (blocks_.empty() || blocks_.back()->size() == kBlockLines) {
        blocks_.push_back(std::make_shared<Block>());
        blocks_.back()->reserve(kBlockLines);
    }
    blocks_.back()->push_back(std::move(line));
    ++end_;
}

void LogModel::dropOldest(qint64 count) {
    const auto end = std::lower_bound(shown_.begin(), shown_.end(), first_ + count);
    const auto gone = static_cast<int>(std::distance(shown_.begin(), end));
    if (gone > 0) {
        beginRemoveRows({}, 0, gone - 1);
        shown_.erase(shown_.begin(), end);
    }
    first_ += count;
    while (!blocks_.empty() && first_ >= base_ + kBlockLines) {
        blocks_.pop_front();
        base_ += kBlockLines;
    }
    if (gone > 0) {
        endRemoveRows();
    }
}

void LogModel::clear() {
    stop_.request_stop();
    filtering_ = false;
    beginResetModel();
    blocks_.clear();
    base_ = first_ = end_;
    shown_.clear();
    endResetModel();
}

void LogModel::setFilter(LogLevel minimum, const QString& text, bool regex) {
    stop_.request_stop();
    filter_ = {
        minimum, regex ? QString() : text,
        QRegularExpression(regex ? text : QString(), QRegularExpression::CaseInsensitiveOption)};
    if (end_ - first_ > kAtOnce) {
        filterInBackground();
    } else {
        show({}, first_);
    }
}

/// Shows what passed so far, and what passes of the lines from there on.
void LogModel::show(std::deque<qint64> passed, qint64 from) {
    filtering_ = false;
    beginResetModel();
    shown_ = std::move(passed);
    for (qint64 number = std::max(first_, from); number < end_; ++number) {
        if (filter_.passes(at(number))) {
            shown_.push_back(number);
        }
    }
    endResetModel();
    emit filtered();
}

/// The full blocks; the last one is looked at when they are done.
void LogModel::filterInBackground() {
    filtering_ = true;
    stop_ = std::stop_source();
    const std::vector<std::shared_ptr<const Block>> full(blocks_.begin(), blocks_.end() - 1);
    // Not the global pool, on which Qt paints. A filter that is stopped soon makes room for the
    // next.
    static QThreadPool pool;
    pool.start([guard = QPointer<LogModel>(this), full, base = base_, filter = filter_,
                stop = stop_.get_token()] {
        std::deque<qint64> passed;
        qint64 number = base;
        for (const auto& block : full) {
            if (stop.stop_requested()) {
                return;
            }
            for (const LogLine& line : *block) {
                if (filter.passes(line)) {
                    passed.push_back(number);
                }
                ++number;
            }
        }
        if (stop.stop_requested()) {
            return;
        }
        QMetaObject::invokeMethod(
            QCoreApplication::instance(),
            [guard, passed = std::move(passed), number, stop]() mutable {
                if (guard && !stop.stop_requested()) {
                    const auto kept = std::lower_bound(passed.begin(), passed.end(), guard->first_);
                    passed.erase(passed.begin(), kept);
                    guard->show(std::move(passed), number);
                }
            },
            Qt::QueuedConnection);
    });
}

const LogLine& LogModel::at(qint64 number) const {
    const auto index = static_cast<std::size_t>(number - base_);
    return (*blocks_[index / kBlockLines])[index % kBlockLines];
}

const LogLine& LogModel::line(int row) const {
    return at(shown_[static_cast<std::size_t>(row)]);
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
    case TextRole: return entry.text;
    case LevelRole: return static_cast<int>(entry.level);
    case SourceRole: return entry.source;
    case StepRole: return entry.step;
    case TimeRole:
        return QDateTime::fromMSecsSinceEpoch(entry.time_ms)
            .toString(QStringLiteral("HH:mm:ss.zzz"));
    default: return {};
    }
}

} // namespace weft::widgets
