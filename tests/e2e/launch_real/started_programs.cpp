// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/launch_real/started_programs.h"

#include <QStandardPaths>
#include <QtTest/QtTest>

#include <arpa/inet.h>
#include <fstream>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft::test {
namespace {

namespace fs = std::filesystem;
constexpr int kServerPatienceMs = 60000;

QString text_of(const fs::path& path) {
    return QString::fromStdString(path.string());
}

void write_text(const fs::path& file, const QString& text, fs::perms perms) {
    std::ofstream(file) << text.toStdString();
    fs::permissions(file, perms);
}

} // namespace

QString installed(const QString& program) {
    const QString found = QStandardPaths::findExecutable(program);
    return found.isEmpty() ? QStandardPaths::findExecutable(program, {"/usr/sbin", "/sbin"})
                           : found;
}

StartedPrograms::~StartedPrograms() {
    while (!programs_.empty()) {
        programs_.back()->terminate();
        if (!programs_.back()->waitForFinished(kServerPatienceMs)) {
            programs_.back()->kill();
            programs_.back()->waitForFinished();
        }
        programs_.pop_back();
    }
}

QProcess& StartedPrograms::start(const QString& program, const QStringList& arguments,
                                 const fs::path& log, const QStringList& environment) {
    auto process = std::make_unique<QProcess>();
    process->setProcessChannelMode(QProcess::MergedChannels);
    process->setStandardOutputFile(text_of(log));
    process->setEnvironment(QProcess::systemEnvironment() + environment);
    process->start(installed(program), arguments, QIODevice::ReadOnly);
    process->waitForStarted(kServerPatienceMs);
    programs_.push_back(std::move(process));
    return *programs_.back();
}

Said said_by(const QString& program, const QStringList& arguments, const QStringList& environment) {
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.setEnvironment(QProcess::systemEnvironment() + environment);
    process.start(installed(program), arguments, QIODevice::ReadOnly);
    Said out;
    if (process.waitForFinished(kServerPatienceMs) &&
        process.exitStatus() == QProcess::NormalExit) {
        out.code = process.exitCode();
    }
    out.text = QString::fromUtf8(process.readAll());
    return out;
}

int unused_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    ::bind(socket, reinterpret_cast<const sockaddr*>(&place), size);
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&place), &size);
    ::close(socket);
    return ntohs(place.sin_port);
}

SshHosts::SshHosts(const fs::path& folder, const QStringList& names) : folder_(folder) {
    for (const char* program : {"sshd", "ssh", "ssh-keygen"}) {
        if (installed(program).isEmpty()) {
            problem_ = QString(program) + " is not installed";
            return;
        }
    }
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
    const QString place = text_of(folder_);
    for (const char* key : {"host", "user"}) {
        said_by("ssh-keygen", {"-q", "-t", "ed25519", "-N", "", "-f", place + "/" + key});
    }
    const QString port = QString::number(unused_port());
    write_text(folder_ / "sshd.conf",
               "Port " + port + "\nListenAddress 127.0.0.1\nHostKey " + place + "/host\n" +
                   "AuthorizedKeysFile " + place + "/user.pub\nPidFile none\nStrictModes no\n" +
                   "UsePAM no\nPermitRootLogin yes\nPasswordAuthentication no\n",
               fs::perms::owner_read);
    write_text(folder_ / "ssh.conf",
               "Host " + names.join(' ') + "\n HostName 127.0.0.1\n Port " + port +
                   "\n IdentityFile " + place + "/user\n IdentitiesOnly yes\n" +
                   " StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n",
               fs::perms::owner_read);
    write_text(folder_ / "ssh",
               "#!/bin/sh\nexec " + installed("ssh") + " -F '" + place + "/ssh.conf' \"$@\"\n",
               fs::perms::owner_all);
    if (::geteuid() == 0) {
        fs::create_directories("/run/sshd"); // where Debian's sshd insists on an empty folder
    }
    QProcess& sshd =
        programs_.start("sshd", {"-D", "-e", "-f", place + "/sshd.conf"}, folder_ / "sshd.log");
    const bool answers = QTest::qWaitFor(
        [&] {
            return sshd.state() != QProcess::Running ||
                   said_by(place + "/ssh", {names.front(), "true"}).code == 0;
        },
        kServerPatienceMs);
    if (!answers || sshd.state() != QProcess::Running) {
        problem_ = "sshd does not run here: " + said_by("cat", {place + "/sshd.log"}).text;
    }
}

QString SshHosts::path() const {
    return "PATH=" + text_of(folder_) + ":" + qEnvironmentVariable("PATH");
}

SlurmNode::SlurmNode(const fs::path& folder) : folder_(folder) {
    for (const char* program : {"slurmctld", "slurmd", "munged", "sbatch", "srun"}) {
        if (installed(program).isEmpty()) {
            problem_ = QString(program) + " is not installed";
            return;
        }
    }
    if (::geteuid() != 0) {
        problem_ = "slurmd starts jobs of a user as root alone";
        return;
    }
    fs::create_directories(folder_ / "state");
    fs::create_directories(folder_ / "spool");
    fs::create_directories(folder_ / "munge");
    fs::permissions(folder_ / "munge",
                    fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    const QString place = text_of(folder_);
    const QString munge = place + "/munge";
    write_text(folder_ / "munge/key", QString(64, 'k'), fs::perms::owner_read);
    char name[256] = {};
    ::gethostname(name, sizeof name - 1);
    const QString host = QString(name).section('.', 0, 0);
    write_text(folder_ / "slurm.conf",
               "ClusterName=weft\nSlurmctldHost=" + host +
                   "(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n" +
                   "AuthType=auth/munge\nAuthInfo=socket=" + munge +
                   "/socket\nSlurmctldPort=" + QString::number(unused_port()) +
                   "\nSlurmdPort=" + QString::number(unused_port()) +
                   "\nStateSaveLocation=" + place + "/state\nSlurmdSpoolDir=" + place +
                   "/spool\nSlurmctldPidFile=" + place + "/slurmctld.pid\nSlurmdPidFile=" + place +
                   "/slurmd.pid\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n" +
                   "SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nReturnToService=2\n" +
                   "MpiDefault=none\nSwitchType=switch/none\nSlurmdParameters=config_overrides\n" +
                   "KillWait=5\nNodeName=" + host + " NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN\n" +
                   "PartitionName=all Nodes=" + host + " Default=YES MaxTime=INFINITE State=UP\n",
               fs::perms::owner_read);
    programs_.start("munged",
                    {"--foreground", "--force", "--key-file=" + munge + "/key",
                     "--socket=" + munge + "/socket", "--pid-file=" + munge + "/pid",
                     "--seed-file=" + munge + "/seed", "--log-file=" + munge + "/log"},
                    folder_ / "munged.out");
    const auto listens = [&] { return fs::exists(folder_ / "munge/socket"); };
    if (!QTest::qWaitFor(listens, kServerPatienceMs)) {
        problem_ = "munged does not run here: " + said_by("cat", {munge + "/log"}).text;
        return;
    }
    programs_.start("slurmctld", {"-D"}, folder_ / "slurmctld.log", {variable()});
    programs_.start("slurmd", {"-D"}, folder_ / "slurmd.log", {variable()});
    const bool idle = QTest::qWaitFor(
        [&] {
            return said_by("sinfo", {"-h", "-o", "%t"}, {variable()}).text.contains("idle");
        },
        kServerPatienceMs);
    if (!idle) {
        problem_ = "Slurm does not run here: " + said_by("cat", {place + "/slurmctld.log"}).text +
                   said_by("cat", {place + "/slurmd.log"}).text;
    }
}

SlurmNode::~SlurmNode() {
    if (problem_.isEmpty()) {
        said_by("scancel", {"--me"}, {variable()});
    }
}

QString SlurmNode::variable() const {
    return "SLURM_CONF=" + text_of(folder_ / "slurm.conf");
}

QString SlurmNode::field_of(const QString& job, const QString& field) const {
    const QString all = said_by("scontrol", {"show", "job", "-o", job}, {variable()}).text;
    const QString behind = " " + all;
    return behind.section(" " + field + "=", 1, 1).section(' ', 0, 0);
}

} // namespace weft::test
