// SPDX-License-Identifier: GPL-3.0-or-later
// A log that never stalls: a ring buffer behind a model, filtered by level and text, shown by a list
// that paints visible rows only. Lines are handed over in batches on the GUI thread.
#pragma once

#include <QAbstractListModel>
#include <QRegularExpression>
#include <QWidget>

#include <deque>
#include <vector>

class QCheckBox;
class QLineEdit;
class QListView;
class QTimer;

namespace weft::widgets {

class SegmentedControl;
class TextLabel;

enum class LogLevel { Debug, Info, Warning, Error };

struct LogLine {
    qint64 time_ms = 0; // UTC epoch
    LogLevel level = LogLevel::Info;
    QString source;     // "train", "rank 1"
    QString text;
    qint64 step = -1;   // -1: not tied to a step
};

/// The newest `capacity` lines that pass the filter. Row 0 is the oldest.
class LogModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum DataRole { LevelRole = Qt::UserRole, SourceRole, StepRole, TimeRole, TextRole };

    explicit LogModel(QObject* parent = nullptr, int capacity = 200000);

    void append(std::vector<LogLine> lines);
    void clear();
    /// Minimum level and a text (plain, case-insensitive) or regular expression; empty: all.
    void setFilter(LogLevel minimum, const QString& text, bool regex = false);
    bool isFilterValid() const { return filter_valid_; }
    const LogLine& line(int row) const;
    int totalCount() const { return static_cast<int>(lines_.size()); }
    qint64 droppedCount() const { return first_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

private:
    bool passes(const LogLine& line) const;
    void dropOldest(std::size_t count);

    std::deque<LogLine> lines_;
    std::deque<qint64> shown_; // sequence numbers of the lines that pass
    qint64 first_ = 0;         // sequence number of lines_.front()
    std::size_t capacity_;
    LogLevel minimum_ = LogLevel::Debug;
    QString needle_;
    QRegularExpression regex_;
    bool use_regex_ = false;
    bool filter_valid_ = true;
};

class LogView : public QWidget {
    Q_OBJECT
public:
    explicit LogView(QWidget* parent = nullptr);

    LogModel* model() const { return model_; }
    QListView* list() const { return list_; }
    /// Buffers; the model is fed at most 20 times a second.
    void append(std::vector<LogLine> lines);
    void append(const LogLine& line);
    /// Hands buffered lines to the model at once.
    void flush();
    void clear();
    bool isFollowing() const;
    void setFollowing(bool follow);
    /// The shown lines as text, for a bug report.
    QString shownText() const;

signals:
    /// Double click or Enter on a line that belongs to a step.
    void stepActivated(qint64 step);

private:
    void refilter();
    void updateCount();
    void copyShown() const;

    LogModel* model_;
    QListView* list_;
    QLineEdit* filter_;
    SegmentedControl* levels_;
    QCheckBox* follow_;
    TextLabel* count_;
    QTimer* timer_;
    std::vector<LogLine> pending_;
};

} // namespace weft::widgets
