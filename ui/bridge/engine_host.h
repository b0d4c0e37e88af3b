// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a training session on its own thread and brings its events to the GUI thread in batches. The
// two sides meet only in the session's command queue and in the event queue here.
#pragma once

#include "core/train/session.h"

#include <QObject>
#include <QTimer>

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace weft::ui {

class EngineHost : public QObject {
    Q_OBJECT
public:
    explicit EngineHost(QObject* parent = nullptr);
    /// Stops the run at once and joins.
    ~EngineHost() override;

    /// Starts a session; must not be called while one is active.
    void start(train::SessionOptions options);
    bool isActive() const { return thread_.joinable(); }
    /// Sends a command; returns the id that its answer will carry, or an empty string without a run.
    QString post(train::CommandKind kind, const config::Json& argument = config::Json::object());
    /// The plan of the active or last session; null before it is compiled.
    std::shared_ptr<const plan::ExecutionPlan> plan() const;
    /// 30 times a second when visible, twice when nobody looks.
    void setVisible(bool visible);

signals:
    /// Events in order, at most one batch per tick.
    void eventsArrived(const std::vector<weft::train::Event>& events);
    /// The session has wound up and its thread has ended.
    void ended(const weft::train::SessionResult& result);

private:
    struct Mailbox {
        std::mutex mutex;
        std::vector<train::Event> events;
        std::optional<train::SessionResult> result;
    };

    void drain();

    std::shared_ptr<train::Session> session_;
    std::shared_ptr<Mailbox> mailbox_;
    std::jthread thread_;
    QTimer timer_;
    int next_id_ = 1;
};

} // namespace weft::ui
