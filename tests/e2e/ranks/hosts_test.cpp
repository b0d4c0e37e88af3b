// SPDX-License-Identifier: Apache-2.0
// Ranks on two hosts: network namespaces with a cable between them that can be cut, and with a file
// system of their own. WEFT_TWO_HOSTS: root, with iproute2, may make them.
#include "core/base/file.h"
#include "tests/e2e/mesh/mesh_run.h"
#include "tests/e2e/ranks/rank_processes.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <unistd.h>

using namespace weft;
using namespace weft::test;

namespace {

void must(const QString& program, const QStringList& arguments) {
    QProcess process;
    process.start(program, arguments);
    const bool done = process.waitForFinished() && process.exitCode() == 0;
    WEFT_CHECK(done, (program + " " + arguments.join(' ') + ": " +
                      QString::fromUtf8(process.readAllStandardError()))
                         .toStdString());
}

/// Two namespaces, 10.77.0.1 and 10.77.0.2, and a cable.
class TwoHosts {
public:
    TwoHosts() {
        for (const QString& host : hosts_) {
            must("ip", {"netns", "add", host});
        }
        must("ip", {"link", "add", cable(0), "netns", hosts_[0], "type", "veth", "peer", "name",
                    cable(1), "netns", hosts_[1]});
        for (int i = 0; i < 2; ++i) {
            must("ip", {"-n", hosts_[i], "address", "add", address(i) + "/24", "dev", cable(i)});
            must("ip", {"-n", hosts_[i], "link", "set", cable(i), "up"});
            must("ip", {"-n", hosts_[i], "link", "set", "lo", "up"});
        }
    }
    ~TwoHosts() {
        for (const QString& host : hosts_) {
            QProcess::execute("ip", {"netns", "delete", host});
        }
    }
    TwoHosts(const TwoHosts&) = delete;
    TwoHosts& operator=(const TwoHosts&) = delete;

    static QString address(int host) { return host == 0 ? "10.77.0.1" : "10.77.0.2"; }
    QStringList on(int host) const { return {"ip", "netns", "exec", hosts_[host]}; }
    /// That the first has sent the second.
    std::int64_t carried() const {
        QProcess process;
        const QString counter = "/sys/class/net/" + cable(0) + "/statistics/tx_bytes";
        QStringList command = on(0) + QStringList{"cat", counter};
        process.start(command.takeFirst(), command);
        WEFT_CHECK(process.waitForFinished() && process.exitCode() == 0, "a cable counts");
        return process.readAllStandardOutput().trimmed().toLongLong();
    }
    void cut() { must("ip", {"-n", hosts_[0], "link", "set", cable(0), "down"}); }

private:
    QString cable(int host) const { return QString("cable%1").arg(host); }
    const QStringList hosts_{QString("weft%1a").arg(::getpid()),
                             QString("weft%1b").arg(::getpid())};
};

/// Two numbers and the class that follows from them.
std::filesystem::path write_table(const std::filesystem::path& folder) {
    std::string text = "a,b,class\n";
    for (int i = 0; i < 400; ++i) {
        const int a = i * 7 % 41;
        const int b = i * 11 % 37;
        text += std::to_string(a) + "," + std::to_string(b) + (a > b ? ",more\n" : ",less\n");
    }
    write_file_atomically(folder / "table.csv", text);
    return folder / "table.csv";
}

/// Of a table; without one of made-up samples.
QString write_two_host_run(const std::filesystem::path& folder, int steps,
                           const std::filesystem::path& table = {}) {
    config::Json document = config::Json::parse(kMlp);
    if (!table.empty()) {
        document["data"]["train"] = {
            {"type", "csv"}, {"path", table.string()}, {"targets", "class"}};
    }
    document["schema_version"] = 1;
    document["mesh"] = {{"devices", "cpu:2"}, {"strategy", "fsdp"}};
    document["training"]["length"] = {{"steps", steps}};
    document["checkpoint"] = {{"every", {{"steps", 4}}}};
    const auto path = folder / "run.json";
    write_file_atomically(path, document.dump(2));
    return QString::fromStdString(path.string());
}

} // namespace

class HostsTest : public QObject {
    Q_OBJECT

    static RankOptions options_on(const TwoHosts& hosts) {
        RankOptions out;
        out.address = TwoHosts::address(0);
        out.ranks_of_a_host = 1;
        out.through = [&hosts](int rank) { return hosts.on(rank); };
        return out;
    }

private slots:
    void initTestCase() {
        if (!qEnvironmentVariableIsSet("WEFT_TWO_HOSTS") || ::geteuid() != 0) {
            QSKIP("WEFT_TWO_HOSTS is not set, or this is not root");
        }
    }

    void two_hosts_have_the_bits_of_one() {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const QString config = write_two_host_run(root, 8);
        const QString one = folder.filePath("one");
        const QString two = folder.filePath("two");
        const Finished alone = run_weft({"train", config, "--run-dir", one});
        QVERIFY2(alone.code == 0, alone.err.c_str());
        const TwoHosts hosts;
        RankProcesses many({"train", config, "--run-dir", two}, options_on(hosts));
        const auto codes = many.finish();
        QVERIFY2(codes == (std::vector<int>{0, 0}), many.error_output(0).c_str());
        QCOMPARE(losses_of(two.toStdString()), losses_of(one.toStdString()));
        QVERIFY(saved_arrays(two.toStdString()) == saved_arrays(one.toStdString()));
    }

    // As many bytes cross the cable for each host as for one rank; the order of a sum may differ.
    void several_ranks_of_a_host_send_less_where_they_may() {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const QString config = write_two_host_run(root, 8);
        const QStringList four = {"--set", "mesh.devices=cpu:4",
                                  "--set", "mesh.strategy=data_parallel",
                                  "--set", "model.hidden=[768,768]"};
        const QString one = folder.filePath("one");
        const Finished alone = run_weft(QStringList{"train", config, "--run-dir", one} + four);
        QVERIFY2(alone.code == 0, alone.err.c_str());
        std::vector<std::int64_t> carried;
        std::vector<std::vector<double>> losses;
        for (const char* deterministic : {"true", "false"}) {
            const TwoHosts hosts;
            RankOptions options = options_on(hosts);
            options.ranks = 4;
            options.ranks_of_a_host = 2;
            options.through = [&](int rank) {
                return hosts.on(rank / 2) +
                       QStringList{"unshare", "--uts", "sh", "-c",
                                   QString("hostname host%1 && exec \"$0\" \"$@\"").arg(rank / 2)};
            };
            const QString run = folder.filePath(deterministic);
            RankProcesses many(
                QStringList{"train", config, "--run-dir", run, "--set",
                            QString("training.deterministic=%1").arg(deterministic)} +
                    four,
                options);
            const auto codes = many.finish();
            QVERIFY2(codes == (std::vector<int>{0, 0, 0, 0}), many.error_output(0).c_str());
            carried.push_back(hosts.carried());
            losses.push_back(losses_of(run.toStdString()));
        }
        QCOMPARE(losses[0], losses_of(one.toStdString()));
        QVERIFY(saved_arrays(folder.filePath("true").toStdString()) ==
                saved_arrays(one.toStdString()));
        // Of S bytes 3 S / 2 where sums keep the order of ranks, S where they need not.
        const double share = static_cast<double>(carried[1]) / static_cast<double>(carried[0]);
        QVERIFY2(share > 0.6 && share < 0.75, std::to_string(share).c_str());
        for (std::size_t i = 0; i < losses[0].size(); ++i) {
            QVERIFY(std::abs(losses[1][i] - losses[0][i]) <= 1e-4 * std::abs(losses[0][i]));
        }
    }

    // Rank 1 sees another folder where rank 0 has the run's and the data: rank 0 reads for it, and
    // fetches what it holds.
    void a_host_without_the_run_s_folder_and_data_loses_nothing() {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const QString one = folder.filePath("one");
        const QString runs = folder.filePath("runs");
        std::filesystem::create_directory(runs.toStdString());
        const QString config = write_two_host_run(root, 8, write_table(root / "runs"));
        const Finished alone = run_weft({"train", config, "--run-dir", one});
        QVERIFY2(alone.code == 0, alone.err.c_str());
        const TwoHosts hosts;
        RankOptions options = options_on(hosts);
        options.through = [&](int rank) {
            return rank == 0
                       ? hosts.on(0)
                       : hosts.on(1) + QStringList{"unshare",
                                                   "-m",
                                                   "sh",
                                                   "-c",
                                                   "mount -t tmpfs none \"$0\" && exec \"$@\"",
                                                   runs};
        };
        RankProcesses many({"train", config, "--run-dir", runs + "/two"}, options);
        const auto codes = many.finish();
        QVERIFY2(codes == (std::vector<int>{0, 0}), many.error_output(0).c_str());
        QVERIFY(saved_arrays((runs + "/two").toStdString()) == saved_arrays(one.toStdString()));
    }

    void a_cut_cable_is_told_by_both_ends() {
        QTemporaryDir folder;
        const std::filesystem::path root = folder.path().toStdString();
        const QString config = write_two_host_run(root, 1'000'000);
        TwoHosts hosts;
        RankProcesses many({"train", config, "--run-dir", folder.filePath("run"), "--events"},
                           options_on(hosts));
        QVERIFY(many.wait_for_step(10));
        hosts.cut();
        QCOMPARE(many.finish(), (std::vector<int>{6, 6}));
        const std::string hub = many.error_output(0);
        QVERIFY2(hub.find("rank 1 (host ") != std::string::npos &&
                     hub.find("it is stopped or cut off") != std::string::npos,
                 hub.c_str());
        const std::string rank = many.error_output(1);
        QVERIFY2(rank.find("rank 0 at 10.77.0.1:") != std::string::npos &&
                     rank.find("it is stopped or cut off") != std::string::npos,
                 rank.c_str());
    }
};

WEFT_TEST(HostsTest)
#include "hosts_test.moc"
