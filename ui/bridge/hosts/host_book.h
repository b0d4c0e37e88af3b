// SPDX-License-Identifier: GPL-3.0-or-later
// The machines that the user trains on besides this one: what each was found to be, its runs, and
// what is done there. Every answer of a network comes from a background thread.
#pragma once

#include "core/hosts/mirror.h"
#include "core/hosts/remote.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <sys/types.h>
#include <vector>

namespace weft::ui {

/// A host as it was last seen.
struct HostState {
    hosts::Host host;
    enum class Reach { Unknown, Asking, Here, Lost } reach = Reach::Unknown;
    QString problem; // Lost: why
    std::optional<hosts::HostLook> look;
    std::vector<hosts::RemoteRun> runs;
    bool runs_known = false;
    bool asking_runs = false;
};

class HostBook : public QObject {
    Q_OBJECT
public:
    struct Places {
        std::filesystem::path runs_root;
        std::filesystem::path sockets; // private, for connections that are shared
        std::filesystem::path worker;  // the program `weft`
        std::filesystem::path logs;    // what those that follow say
    };
    explicit HostBook(Places places, QObject* parent = nullptr);
    ~HostBook() override;

    /// The list is read again, and each host asked what it is.
    void refresh();
    void refreshHost(const QString& name);
    /// Its runs are asked for every few seconds; empty: nobody's.
    void watch(const QString& name);
    const std::vector<HostState>& hosts() const { return hosts_; }
    /// Null when there is none.
    const HostState* find(const QString& name) const;

    void add(const hosts::Host& host);
    void remove(const QString& name);
    /// The draft becomes a run there once these are there; `begun` with its folder there. Data are
    /// a transfer: while another one is on its way, `failed`.
    void start(const QString& name, const config::Json& config,
               const std::map<std::string, std::filesystem::path>& data = {});
    /// An order to a run there, as `weft tell`; where `commanded`, a run that is commanded from
    /// this studio, is a copy of it, `tellHere` instead: it takes orders from nobody else.
    void tell(const QString& name, const std::string& run, const std::string& order,
              const std::filesystem::path& commanded);
    /// Its record comes here and stays up to date; `followed` when it can be shown.
    void follow(const QString& name, const std::string& run);
    /// "latest", "best" or a step, into the run's folder here; `fetched`.
    void fetch(const QString& name, const std::string& run, const std::string& which);
    /// Of what is fetched, or of data that are brought there.
    void stopTransfer();
    /// What is on its way between here and a host, and how much of it has gone, 0 to 1; one at a
    /// time.
    struct Transfer {
        QString what;
        double share = 0;
    };
    std::optional<Transfer> transfer() const;

signals:
    void changed();
    void begun(const QString& host, const std::string& run);
    void followed(const std::filesystem::path& folder);
    void fetched(const std::filesystem::path& checkpoint);
    void told(const QString& answer);
    void tellHere(const std::string& order);
    void failed(const QString& problem);

private:
    struct Followed {
        std::filesystem::path folder;
        std::filesystem::path log;
        pid_t process = -1;
    };
    HostState* state(const QString& name);
    hosts::Connection connectionTo(const hosts::Host& host) const; // until this is gone
    void askRuns();
    void lookForFollowed();
    template <class Answer>
    void noteLost(const QString& name, const Answer& answer);
    /// `work` on the host's connection in the background; `done` with what it returns, unless it
    /// throws: that is said by `failed`.
    template <class Work, class Done>
    void onHost(const QString& name, Work work, Done done);

    const Places places_;
    std::vector<HostState> hosts_;
    QString watched_;
    QTimer rereading_;
    QTimer following_; // looks for folders that are to come
    std::vector<Followed> followed_;
    bool looking_ = false;
    struct UnderWay {
        QString what;
        std::shared_ptr<std::atomic<double>> share = std::make_shared<std::atomic<double>>(0.0);
        std::stop_source stop;
    };
    /// `work` with a connection that stopTransfer ends and a function that hears how much has gone,
    /// in the background; `done` with what it returns. What goes wrong is said by `failed`, unless
    /// it was stopped.
    template <class Work, class Done>
    void transferOn(const hosts::Host& host, const QString& what, Work work, Done done);
    std::optional<UnderWay> under_way_;
    std::stop_source leaving_; // nobody waits for a network then
};

} // namespace weft::ui
