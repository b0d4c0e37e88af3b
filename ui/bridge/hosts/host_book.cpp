// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/hosts/host_book.h"

#include "core/base/build_config.h"
#include "core/base/file.h"
#include "core/launch/spawn.h"
#include "core/train/record/run_folder.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/run/worker_process.h"

#include <QCoreApplication>
#include <QPointer>
#include <QThreadPool>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kRunsRereadMs = 3000;
constexpr int kFollowedLookMs = 250;

/// Threads that wait for networks: none for what another host keeps waiting.
QThreadPool* networkPool() {
    struct Pool : QThreadPool {
        Pool() {
            setMaxThreadCount(16);
            qAddPostRoutine([] { networkPool()->waitForDone(); });
        }
    };
    static Pool pool;
    return &pool;
}

/// What came of work on a host: its result, or why there is none.
template <class Result>
struct HostAnswer {
    std::optional<Result> result;
    QString problem;
    bool lost = false; // the host cannot be reached
};

std::string lastWords(const std::filesystem::path& log) {
    try {
        return launch::last_line(read_file(log));
    } catch (const Error&) {
        return "see " + log.string(); // nothing else is known
    }
}

template <class Work>
auto answerOf(const Work& work) {
    HostAnswer<decltype(work())> out;
    try {
        out.result = work();
    } catch (const Error& fault) {
        out.problem = faultText(fault);
        out.lost = fault.kind() == ErrorKind::device;
    } catch (const std::exception& fault) {
        out.problem = faultText(fault);
    } catch (const hosts::Connection::Stopped&) {
        // Somebody asked for it.
    }
    return out;
}

} // namespace

HostBook::HostBook(Places places, QObject* parent) : QObject(parent), places_(std::move(places)) {
    rereading_.setInterval(kRunsRereadMs);
    connect(&rereading_, &QTimer::timeout, this, &HostBook::askRuns);
    following_.setInterval(kFollowedLookMs);
    connect(&following_, &QTimer::timeout, this, &HostBook::lookForFollowed);
}

HostBook::~HostBook() {
    leaving_.request_stop();
    stopTransfer();
}

HostState* HostBook::state(const QString& name) {
    const auto found = std::find_if(hosts_.begin(), hosts_.end(), [&](const HostState& one) {
        return toQString(one.host.name) == name;
    });
    return found == hosts_.end() ? nullptr : &*found;
}

const HostState* HostBook::find(const QString& name) const {
    return const_cast<HostBook*>(this)->state(name);
}

hosts::Connection HostBook::connectionTo(const hosts::Host& host) const {
    return {host, places_.sockets, leaving_.get_token()};
}

template <class Answer>
void HostBook::noteLost(const QString& name, const Answer& answer) {
    if (HostState* host = state(name); host != nullptr && answer.lost) {
        host->reach = HostState::Reach::Lost;
        host->problem = answer.problem;
    }
}

template <class Work, class Done>
void HostBook::onHost(const QString& name, Work work, Done done) {
    const HostState* known = find(name);
    if (known == nullptr) {
        return;
    }
    runInBackground(
        this,
        [connection = connectionTo(known->host), work = std::move(work)] {
            return answerOf([&] { return work(connection); });
        },
        [this, name, done = std::move(done)](auto answer) {
            noteLost(name, answer);
            if (answer.result) {
                done(std::move(*answer.result));
            } else if (!answer.problem.isEmpty()) { // else it was stopped
                emit failed(answer.problem);
            }
            emit changed();
        },
        networkPool());
}

template <class Work, class Done>
void HostBook::transferOn(const hosts::Host& host, const QString& what, Work work, Done done) {
    under_way_.emplace().what = what;
    runInBackground(
        this,
        [connection = hosts::Connection(host, places_.sockets, under_way_->stop.get_token()),
         work = std::move(work), share = under_way_->share] {
            return answerOf(
                [&] { return work(connection, [&](double gone) { share->store(gone); }); });
        },
        [this, name = toQString(host.name), share = under_way_->share,
         done = std::move(done)](auto answer) {
            // One that was stopped is not the one that may have begun since.
            const bool stopped = !under_way_ || under_way_->share != share;
            if (!stopped) {
                under_way_.reset();
            }
            noteLost(name, answer);
            if (answer.result) {
                done(*answer.result);
            } else if (!stopped) {
                emit failed(answer.problem);
            }
            emit changed();
        },
        networkPool());
    emit changed();
}

void HostBook::refresh() {
    runInBackground(
        this,
        [root = places_.runs_root] { return answerOf([&] { return hosts::read_hosts(root); }); },
        [this](const HostAnswer<std::vector<hosts::Host>>& answer) {
            if (!answer.result) {
                emit failed(answer.problem);
                return;
            }
            std::vector<HostState> now;
            for (const hosts::Host& host : *answer.result) {
                const HostState* before = find(toQString(host.name));
                now.push_back(before != nullptr ? *before : HostState{});
                now.back().host = host;
            }
            hosts_ = std::move(now);
            for (const hosts::Host& host : *answer.result) {
                refreshHost(toQString(host.name));
            }
            emit changed();
        });
}

void HostBook::refreshHost(const QString& name) {
    HostState* host = state(name);
    if (host == nullptr || host->reach == HostState::Reach::Asking) {
        return;
    }
    host->reach = HostState::Reach::Asking;
    runInBackground(
        this,
        [connection = connectionTo(host->host)] {
            return answerOf(
                [&] { return hosts::look_at(connection, std::string("weft ") + WEFT_VERSION); });
        },
        [this, name](HostAnswer<hosts::HostLook> answer) {
            HostState* found = state(name);
            if (found == nullptr) {
                return;
            }
            found->reach = answer.result ? HostState::Reach::Here : HostState::Reach::Lost;
            found->problem = answer.problem;
            found->look = std::move(answer.result);
            if (found->look && name == watched_) {
                askRuns();
            }
            emit changed();
        },
        networkPool());
    emit changed();
}

void HostBook::watch(const QString& name) {
    watched_ = name;
    name.isEmpty() ? rereading_.stop() : rereading_.start();
    askRuns();
}

void HostBook::askRuns() {
    HostState* host = state(watched_);
    if (host == nullptr || host->asking_runs || host->reach == HostState::Reach::Asking) {
        return;
    }
    host->asking_runs = true;
    runInBackground(
        this,
        [connection = connectionTo(host->host)] {
            return answerOf([&] { return hosts::remote_runs(connection); });
        },
        [this, name = watched_](HostAnswer<std::vector<hosts::RemoteRun>> answer) {
            HostState* found = state(name);
            if (found == nullptr) {
                return;
            }
            found->asking_runs = false;
            // Not said aloud: it is asked again in a moment, and the card says it.
            found->problem = answer.problem;
            if (answer.result) {
                found->reach = HostState::Reach::Here;
                found->runs = std::move(*answer.result);
                found->runs_known = true;
                if (!found->look) { // it did not answer when it was looked at
                    refreshHost(name);
                }
            } else if (answer.lost) {
                found->reach = HostState::Reach::Lost;
            }
            emit changed();
        },
        networkPool());
}

void HostBook::add(const hosts::Host& host) {
    runInBackground(
        this,
        [root = places_.runs_root, host] {
            return answerOf([&] {
                hosts::add_host(root, host);
                return true;
            });
        },
        [this](const HostAnswer<bool>& answer) {
            answer.result ? refresh() : emit failed(answer.problem);
        });
}

void HostBook::remove(const QString& name) {
    runInBackground(
        this,
        [root = places_.runs_root, name = name.toStdString()] {
            return answerOf([&] {
                hosts::remove_host(root, name);
                return true;
            });
        },
        [this](const HostAnswer<bool>& answer) {
            answer.result ? refresh() : emit failed(answer.problem);
        });
}

void HostBook::start(const QString& name, const config::Json& config,
                     const std::map<std::string, std::filesystem::path>& data) {
    const HostState* host = find(name);
    if (host == nullptr) {
        return;
    }
    const auto begins = [this, name](const std::string& run) {
        askRuns();
        emit begun(name, run);
    };
    if (data.empty()) {
        onHost(
            name,
            [config](const hosts::Connection& connection) {
                return hosts::start_run(connection, config, {});
            },
            begins);
        return;
    }
    if (under_way_) {
        emit failed(tr("%1 is still on its way. Wait for it, or cancel it.").arg(under_way_->what));
        return;
    }
    transferOn(
        host->host, tr("data to %1").arg(name),
        [config, data](const hosts::Connection& connection, const auto& told) {
            return hosts::start_run(
                connection,
                hosts::bring_data(connection, config, data,
                                  [&](const std::string&, double share) { told(share); }),
                {});
        },
        begins);
}

void HostBook::tell(const QString& name, const std::string& run, const std::string& order,
                    const std::filesystem::path& commanded) {
    onHost(
        name,
        [run, order, commanded](const hosts::Connection& connection) -> std::optional<std::string> {
            const auto mirror = commanded.empty() ? std::nullopt : hosts::read_mirror(commanded);
            if (mirror && mirror->host == connection.host().name && mirror->run == run) {
                return std::nullopt;
            }
            return hosts::tell_run(connection, run, {order});
        },
        [this, order](const std::optional<std::string>& answer) {
            answer ? emit told(toQString(*answer)) : emit tellHere(order);
            askRuns();
        });
}

void HostBook::follow(const QString& name, const std::string& run) {
    const HostState* host = find(name);
    if (host == nullptr) {
        return;
    }
    struct Place {
        std::filesystem::path folder;
        bool live = false; // somebody follows it already
    };
    runInBackground(
        this,
        [root = places_.runs_root, mirror = hosts::Mirror{host->host.name, run}] {
            Place place{hosts::mirror_folder(root, mirror)};
            place.live = train::is_live(place.folder);
            return place;
        },
        [this, name, run](const Place& place) {
            if (place.live) {
                emit followed(place.folder);
                return;
            }
            Followed one{place.folder, places_.logs / ("follow-" + name.toStdString() + ".log")};
            const StartedWorker worker = startWorker(
                {places_.worker,
                 {"hosts", "follow", name.toStdString(), run, "--to", place.folder.string()},
                 one.log,
                 {"WEFT_RUNS=" + places_.runs_root.string()}});
            if (worker.pid < 0) {
                emit failed(worker.problem);
                return;
            }
            one.process = worker.pid;
            followed_.push_back(one);
            following_.start();
        });
}

// A run that nobody trains is whole when the process ends, another when it is locked.
void HostBook::lookForFollowed() {
    if (looking_) {
        return;
    }
    looking_ = true;
    struct Look {
        bool here = false;
        bool ended = false;
        std::string said;
    };
    std::vector<bool> ended;
    std::transform(followed_.begin(), followed_.end(), std::back_inserter(ended),
                   [](const Followed& one) { return endOf(one.process).has_value(); });
    runInBackground(
        this,
        [all = followed_, ended] {
            std::vector<Look> looks;
            for (std::size_t i = 0; i < all.size(); ++i) {
                Look look;
                look.ended = ended[i];
                look.here = look.ended ? train::is_run_folder(all[i].folder)
                                       : train::is_live(all[i].folder);
                if (look.ended && !look.here) {
                    look.said = lastWords(all[i].log);
                }
                looks.push_back(look);
            }
            return looks;
        },
        [this](const std::vector<Look>& looks) {
            std::vector<Followed> waiting;
            for (std::size_t i = 0; i < looks.size(); ++i) { // those that came since wait
                const Followed& one = followed_[i];
                if (looks[i].here) {
                    emit followed(one.folder);
                } else if (looks[i].ended) {
                    emit failed(
                        tr("%1 could not be followed: %2")
                            .arg(pathText(one.folder.filename()), toQString(looks[i].said)));
                } else {
                    waiting.push_back(one);
                }
            }
            waiting.insert(waiting.end(), followed_.begin() + std::ssize(looks), followed_.end());
            followed_ = std::move(waiting);
            looking_ = false;
            if (followed_.empty()) {
                following_.stop();
            }
        });
}

void HostBook::fetch(const QString& name, const std::string& run, const std::string& which) {
    const HostState* host = find(name);
    if (host == nullptr || under_way_) {
        return;
    }
    transferOn(
        host->host, tr("checkpoint of %1").arg(runTitle(run)),
        [run, which, root = places_.runs_root](const hosts::Connection& connection,
                                               const auto& told) {
            const auto folder = hosts::mirror_folder(root, {connection.host().name, run});
            return hosts::fetch_checkpoint(connection, run, folder, which, told);
        },
        [this](const std::filesystem::path& checkpoint) { emit fetched(checkpoint); });
}

void HostBook::stopTransfer() {
    if (under_way_) {
        under_way_->stop.request_stop();
        under_way_.reset();
    }
}

std::optional<HostBook::Transfer> HostBook::transfer() const {
    return under_way_ ? std::optional<Transfer>({under_way_->what, under_way_->share->load()})
                      : std::nullopt;
}

} // namespace weft::ui
