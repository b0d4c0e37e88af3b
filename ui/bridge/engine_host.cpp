// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/engine_host.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::ui {
namespace {

constexpr int kVisibleIntervalMs = 33;
constexpr int kHiddenIntervalMs = 500;
constexpr int kEngineNice = 10;

// Training uses every core; the window must win whenever it wants one. Threads that the engine starts
// later inherit the value.
void yield_to_the_window() {
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kEngineNice);
}

} // namespace

EngineHost::EngineHost(QObject* parent) : QObject(parent) {
    timer_.setInterval(kVisibleIntervalMs);
    connect(&timer_, &QTimer::timeout, this, &EngineHost::drain);
}

EngineHost::~EngineHost() {
    timer_.stop();
    if (thread_.joinable()) {
        session_->post({train::CommandKind::stop_now, "", "studio", {}});
        thread_.join();
    }
}

void EngineHost::start(train::SessionOptions options) {
    WEFT_CHECK(!isActive(), "one run at a time");
    mailbox_ = std::make_shared<Mailbox>();
    options.sink = [mailbox = mailbox_](const train::Event& event) {
        const std::lock_guard lock(mailbox->mutex);
        mailbox->events.push_back(event);
    };
    session_ = std::make_shared<train::Session>(std::move(options));
    thread_ = std::jthread([session = session_, mailbox = mailbox_] {
        yield_to_the_window();
        train::SessionResult result = session->run();
        const std::lock_guard lock(mailbox->mutex);
        mailbox->result = std::move(result);
    });
    timer_.start();
}

QString EngineHost::post(train::CommandKind kind, const config::Json& argument) {
    if (!isActive()) {
        return {};
    }
    const std::string id = "studio-" + std::to_string(next_id_++);
    session_->post({kind, id, "studio", argument});
    return QString::fromStdString(id);
}

std::shared_ptr<const plan::ExecutionPlan> EngineHost::plan() const {
    return session_ ? session_->plan() : nullptr;
}

void EngineHost::setVisible(bool visible) {
    timer_.setInterval(visible ? kVisibleIntervalMs : kHiddenIntervalMs);
}

void EngineHost::drain() {
    std::vector<train::Event> events;
    std::optional<train::SessionResult> result;
    {
        const std::lock_guard lock(mailbox_->mutex);
        events.swap(mailbox_->events);
        result = mailbox_->result;
    }
    if (!events.empty()) {
        emit eventsArrived(events);
    }
    if (result) {
        timer_.stop();
        thread_.join();
        emit ended(*result);
    }
}

} // namespace weft::ui
