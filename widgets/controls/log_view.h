// SPDX-License-Identifier: GPL-3.0-or-later
// A log that never stalls: a ring buffer behind a model, filtered by level and text, shown by a
// list that paints visible rows only. Lines are handed over in batches on the GUI thread.
#pragma once

#include <QAbstractListModel>
#include <QRegularExpression>
#include <QWidget>

#include <deque>
#include <memory>
#include <stop_token>
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
    QString source; // "train", "rank 1"
    QString text;
    qint64 step = -1; // -1: not tied to a step
};

/// What lines are shown.
struct LogFilter {
    LogLevel minimum = LogLevel::Debug;
    QString text;             // case does not count; empty: all
    QRegularExpression regex; // instead of the text, unless its pattern is empty

    bool isValid() const { return regex.isValid(); }
    /// A regular expression that is none lets all lines pass.
    bool passes(const LogLine& line) const;
};

/// The newest `capacity` lines that pass the filter. Row 0 is the oldest. A new filter over many
/// lines is applied in the background; until then the rows are those of the filter before.
class LogModel : public QAbstractListModel {
    Q_OBJECT
public:
    enum DataRole { LevelRole = Qt::UserRole, SourceRole, StepRole, TimeRole, TextRole };

    explicit LogModel(QObject* parent = nullptr, int capacity = 200000);
    ~LogModel() override;

    void append(std::vector<LogLine> lines);
    void clear();
    /// Minimum level and a text (plain, case-insensitive) or regular expression; empty: all.
    void setFilter(LogLevel minimum, const QString& text, bool regex = false);
    bool isFilterValid() const { return filter_.isValid(); }
    bool isFiltering() const { return filtering_; }
    const LogLine& line(int row) const;
    int totalCount() const { return static_cast<int>(end_ - first_); }
    qint64 droppedCount() const { return first_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

signals:
    /// The rows are those of the filter.
    void filtered();

private:
    /// So many lines; a full one never changes, and may be read by any thread.
    using Block = std::vector<LogLine>;

    const LogLine& at(qint64 number) const;
    void push(LogLine line);
    void dropOldest(qint64 count);
    void show(std::deque<qint64> passed, qint64 from);
    void filterInBackground();

    std::deque<std::shared_ptr<Block>> blocks_; // all but the last are full
    qint64 base_ = 0;                           // sequence number of the first line of blocks_
    qint64 first_ = 0;                          // and of the first that is kept
    qint64 end_ = 0;                            // and of the next one
    std::deque<qint64> shown_;                  // sequence numbers of the lines that pass
    qint64 capacity_;
    LogFilter filter_;
    bool filtering_ = false;
    std::stop_source stop_;
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
