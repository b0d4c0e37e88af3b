// SPDX-License-Identifier: Apache-2.0
// Servers that a test starts for itself, without touching those of the machine.
#pragma once

#include <QProcess>
#include <QString>
#include <QStringList>

#include <filesystem>
#include <memory>
#include <vector>

namespace weft::test {

/// Where a program is; empty: it is not installed. /usr/sbin counts, too.
QString installed(const QString& program);

/// Programs that are ended, the last first, when the test ends.
class StartedPrograms {
public:
    ~StartedPrograms();
    /// In the foreground, with what it prints in `log`.
    QProcess& start(const QString& program, const QStringList& arguments,
                    const std::filesystem::path& log, const QStringList& environment = {});

private:
    std::vector<std::unique_ptr<QProcess>> programs_;
};

/// Runs to the end: its exit code, and what it printed to both outputs.
struct Said {
    int code = -1;
    QString text;
};
Said said_by(const QString& program, const QStringList& arguments,
             const QStringList& environment = {});

int unused_port();

/// An sshd of this user's at a port of its own, behind the names of hosts: ssh in `folder()`, which
/// goes before PATH, knows them all as this machine.
class SshHosts {
public:
    SshHosts(const std::filesystem::path& folder, const QStringList& names);
    /// Why there is none; empty: there is.
    QString problem() const { return problem_; }
    QString path() const;

private:
    std::filesystem::path folder_;
    QString problem_;
    StartedPrograms programs_;
};

/// Slurm on one node, with a munged of its own. SLURM_CONF leads its commands to it.
class SlurmNode {
public:
    explicit SlurmNode(const std::filesystem::path& folder);
    ~SlurmNode();
    QString problem() const { return problem_; }
    QString variable() const;
    /// The value of a field of `scontrol show job`.
    QString field_of(const QString& job, const QString& field) const;

private:
    std::filesystem::path folder_;
    QString problem_;
    StartedPrograms programs_;
};

} // namespace weft::test
