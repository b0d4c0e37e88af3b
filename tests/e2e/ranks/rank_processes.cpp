// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/ranks/rank_processes.h"

#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"
#include "core/exec/ranks/frame_socket.h"

#include <QElapsedTimer>
#include <QProcessEnvironment>
#include <QStandardPaths>

#include <csignal>
#include <unistd.h>

namespace weft::test {
namespace {

constexpr int kRanksPatienceMs = 120'000;

QProcessEnvironment environment_of(const QStringList& more) {
    QProcessEnvironment out = QProcessEnvironment::systemEnvironment();
    out.insert("OMP_NUM_THREADS", "1");
    for (const QString& one : more) {
        out.insert(one.section('=', 0, 0), one.section('=', 1));
    }
    return out;
}

} // namespace

int free_port() {
    const int listener = exec::listen_at("127.0.0.1", 0);
    const int port = exec::port_of(listener);
    ::close(listener);
    return port;
}

RankProcesses::RankProcesses(const QStringList& arguments, RankOptions options) {
    const QString port = QString::number(free_port());
    const QString ranks = QString::number(options.ranks);
    const QString local =
        options.ranks_of_a_host > 0 ? QString::number(options.ranks_of_a_host) : ranks;
    for (int rank = 0; rank < options.ranks; ++rank) {
        auto& process = processes_.emplace_back(std::make_unique<QProcess>());
        const QString number = QString::number(rank);
        process->setProcessEnvironment(environment_of(
            QStringList{"RANK=" + number, "LOCAL_RANK=" + QString::number(rank % local.toInt()),
                        "WORLD_SIZE=" + ranks, "LOCAL_WORLD_SIZE=" + local,
                        "MASTER_ADDR=" + options.address, "MASTER_PORT=" + port,
                        "WEFT_RUN_SECRET=" + options.secret} +
            options.environment));
        QStringList command = options.through ? options.through(rank) : QStringList();
        command << WEFT_PROGRAM << arguments;
        process->start(command.takeFirst(), command);
        process->waitForStarted();
    }
}

RankProcesses::~RankProcesses() {
    for (const auto& process : processes_) {
        if (process->state() != QProcess::NotRunning) {
            ::kill(static_cast<pid_t>(process->processId()), SIGCONT);
            process->kill();
            process->waitForFinished();
        }
    }
}

std::int64_t RankProcesses::pid(int rank) const {
    return processes_[static_cast<std::size_t>(rank)]->processId();
}

void RankProcesses::signal(int rank, int number) {
    ::kill(static_cast<pid_t>(pid(rank)), number);
}

std::optional<train::Event>
RankProcesses::wait_for(const std::function<bool(const train::Event&)>& wanted) {
    QProcess& first = *processes_.front();
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < kRanksPatienceMs) {
        while (first.canReadLine()) {
            const auto event = train::parse_event(first.readLine().trimmed().toStdString());
            if (event && wanted(*event)) {
                return event;
            }
        }
        if (!first.waitForReadyRead(kRanksPatienceMs) && first.state() == QProcess::NotRunning &&
            !first.canReadLine()) {
            return std::nullopt;
        }
    }
    return std::nullopt;
}

std::optional<train::Event> RankProcesses::wait_for_step(std::int64_t step) {
    return wait_for([&](const train::Event& event) {
        const auto* update = std::get_if<train::StepEvent>(&event.payload);
        return update != nullptr && update->step >= step;
    });
}

std::vector<int> RankProcesses::finish() {
    std::vector<int> out;
    for (const auto& process : processes_) {
        const bool ended =
            process->state() == QProcess::NotRunning || process->waitForFinished(kRanksPatienceMs);
        out.push_back(ended && process->exitStatus() == QProcess::NormalExit ? process->exitCode()
                                                                             : -1);
    }
    return out;
}

std::string RankProcesses::error_output(int rank) {
    return processes_[static_cast<std::size_t>(rank)]->readAllStandardError().toStdString();
}

bool has_mpirun() {
    return !QStandardPaths::findExecutable("mpirun").isEmpty();
}

Finished run_mpi(int ranks, const QStringList& arguments) {
    QStringList command{"--oversubscribe", "-np", QString::number(ranks)};
    if (::geteuid() == 0) {
        command << "--allow-run-as-root";
    }
    QProcess process;
    process.setProcessEnvironment(
        environment_of({"WEFT_RUN_SECRET=0123", "MASTER_ADDR=127.0.0.1",
                        "MASTER_PORT=" + QString::number(free_port())}));
    process.start("mpirun", command << "-x"
                                    << "OMP_NUM_THREADS"
                                    << "-x"
                                    << "WEFT_RUN_SECRET" << WEFT_PROGRAM << arguments);
    Finished out;
    if (process.waitForFinished(kRanksPatienceMs) && process.exitStatus() == QProcess::NormalExit) {
        out.code = process.exitCode();
    }
    out.out = process.readAllStandardOutput().toStdString();
    out.err = process.readAllStandardError().toStdString();
    return out;
}

std::map<std::string, std::string> saved_arrays(const std::filesystem::path& run) {
    std::map<std::string, std::string> out;
    const auto entries = checkpoint::list_checkpoints(run / "checkpoints");
    for (const auto& file : std::filesystem::directory_iterator(entries.back().path)) {
        if (file.path().extension() == ".h5") {
            out[file.path().filename().string()] = read_file(file.path());
        }
    }
    return out;
}

std::vector<double> losses_of(const std::filesystem::path& run) {
    std::vector<double> out;
    for (const train::Event& event : events_of(run)) {
        if (const auto* step = std::get_if<train::StepEvent>(&event.payload)) {
            out.push_back(step->loss);
        }
    }
    return out;
}

} // namespace weft::test
