// SPDX-License-Identifier: GPL-3.0-or-later
// The queue on disk, read and changed in the background, and the process that works on it: one of
// `weft queue run`, which outlives the studio and which any studio and terminal may have started.
#pragma once

#include "core/compile/config/run_config.h"
#include "core/queue/book.h"
#include "core/queue/plan_sweep.h"
#include "core/queue/view.h"
#include "ui/bridge/newest_job.h"

#include <QObject>
#include <QThreadPool>
#include <QTimer>

#include <functional>
#include <memory>
#include <sys/types.h>

namespace weft::ui {

/// The queue as it was read.
struct QueueLook {
    queue::Book book;
    std::vector<queue::EntryView> entries; // what is to come in its order, then what has ended
    bool scheduled = false;                // a process works on it
};

class QueueIndex : public QObject {
    Q_OBJECT
public:
    explicit QueueIndex(QObject* parent = nullptr);
    ~QueueIndex() override;

    /// The folder of runs that it belongs to; read again by the next refresh.
    void setRoot(const std::filesystem::path& root);
    /// Reads it again every now and then.
    void setWatched(bool watched);
    void refresh();
    /// Null before the first reading.
    std::shared_ptr<const QueueLook> look() const { return look_; }

    /// Changes it; `done` is called when it is written. What is refused is said by `failed`.
    void change(std::function<void(queue::Book&)> edit, std::function<void()> done = {});
    /// Puts a run at the end, as it is now.
    void add(const compile::RunConfig& config);
    /// The same for the trials of a sweep.
    void addSweep(std::shared_ptr<const queue::PlannedSweep> planned);
    /// Starts a process that works on it, or asks it to end: its runs save, and go on with the next
    /// one.
    void startScheduler(const std::filesystem::path& program);
    void stopScheduler();
    /// It was asked to begin or to end, and has not done so yet.
    bool isChanging() const { return wanted_ && (!look_ || look_->scheduled != *wanted_); }

signals:
    void changed();
    void added(const QString& name);
    void failed(const QString& problem);

private:
    /// In the background, one after another; what it returns is a problem.
    void inTurn(std::function<QString()> work, std::function<void()> done);

    std::filesystem::path root_;
    std::shared_ptr<const QueueLook> look_;
    std::optional<bool> wanted_; // that it is scheduled
    int wanted_readings_ = 0;    // since then
    pid_t child_ = -1;
    QTimer rereading_;
    NewestJob reading_{this};
    QThreadPool writer_; // one thread: changes land in the order in which they were made
};

} // namespace weft::ui
