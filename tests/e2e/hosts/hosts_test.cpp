// SPDX-License-Identifier: Apache-2.0
// `weft hosts`: a run on another host begun, followed, commanded, cut off and read again, and gone
// on with here. A script stands for ssh; rsync is the real one. A real sshd does the same in
// tests/e2e/launch_real.
#include "core/hosts/host_list.h"
#include "core/hosts/mirror.h"
#include "core/train/record/run_folder.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/far_host.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <fstream>
#include <sstream>

namespace {

using namespace weft::test;
using weft::config::Json;
namespace fs = std::filesystem;
namespace train = weft::train;

std::string content_of(const fs::path& file) {
    std::ifstream in(file);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

std::int64_t last_step(const fs::path& run) {
    std::int64_t out = 0;
    for (const train::Event& event : events_of(run)) {
        const auto* step = std::get_if<train::StepEvent>(&event.payload);
        out = step != nullptr ? step->step : out;
    }
    return out;
}

QString text_of(const fs::path& path) {
    return QString::fromStdString(path.string());
}

} // namespace

class HostsTest : public QObject, private TestFolder {
    Q_OBJECT

    fs::path place_;
    std::unique_ptr<FarHost> far_;
    int number_ = 0;

    fs::path here() const { return place_ / "here"; }
    QStringList environment() const {
        return far_->environment() + QStringList{"WEFT_RUNS=" + text_of(here())};
    }
    Finished weft(const QStringList& arguments) const { return run_weft(arguments, environment()); }
    Finished hosts(const QStringList& arguments) const {
        return weft(QStringList{"hosts"} + arguments);
    }
    /// A run of so many steps on the host: its folder there.
    fs::path started(int steps) {
        const QString config =
            write_config(place_ / "config", {{"training", {{"length", {{"steps", steps}}}}},
                                             {"evaluation", {{"every", {{"steps", 100000}}}}},
                                             {"checkpoint", {{"every", {{"steps", 200}}}}}});
        const Finished out = hosts({"start", "far", config});
        if (out.code != 0) {
            qWarning() << out.err.c_str();
        }
        return fs::path(QString::fromStdString(out.out).trimmed().toStdString());
    }

private slots:
    void init() {
        place_ = path(("hosts" + std::to_string(++number_)).c_str());
        far_ = std::make_unique<FarHost>(place_);
        QCOMPARE(hosts({"add", "far", "--program", WEFT_PROGRAM}).code, 0);
    }

    void hosts_are_kept_and_named() {
        QCOMPARE(hosts({"add", "you@near", "--runs", "big/runs"}).code, 0);
        const auto all = weft::hosts::read_hosts(here());
        QCOMPARE(all.size(), std::size_t{2});
        QCOMPARE(all[1].name, std::string("you@near"));
        QCOMPARE(all[1].runs, std::string("big/runs"));
        QVERIFY(hosts({"add", "far"}).err.find("is there already") != std::string::npos);
        QVERIFY(hosts({"add", "a b"}).err.find("is no name of a host") != std::string::npos);
        const Finished unknown = hosts({"runs", "nowhere"});
        QCOMPARE(unknown.code, 2);
        QVERIFY2(unknown.err.find("There are far, you@near") != std::string::npos,
                 unknown.err.c_str());
        QCOMPARE(hosts({"remove", "you@near"}).code, 0);
        QCOMPARE(weft::hosts::read_hosts(here()).size(), std::size_t{1});
    }

    void a_damaged_list_is_told_and_kept() {
        std::ofstream(weft::hosts::list_file(here())) << "{\"hosts\": 3}";
        const Finished out = hosts({"add", "near"});
        QCOMPARE(out.code, 1);
        QVERIFY2(out.err.find("hosts.json") != std::string::npos, out.err.c_str());
        QCOMPARE(content_of(weft::hosts::list_file(here())), std::string("{\"hosts\": 3}"));
    }

    // What Slurm says in the form of its manual: states in short, with signs behind them.
    void the_partitions_of_a_host_are_told() {
        far_->add_program("sinfo", "[ \"$*\" = \"-h -N -o slurm-node %N %R %t\" ] || exit 1\n"
                                   "cat <<'end'\n"
                                   "slurm-node gpu01 gpu alloc\nslurm-node gpu02 gpu mix\n"
                                   "slurm-node gpu03 gpu alloc*\nslurm-node gpu04 gpu idle~\n"
                                   "slurm-node gpu05 gpu drain$\nslurm-node gpu01 all alloc\nend");
        far_->add_program("squeue", "echo 'gpu0[1-1]'");
        far_->add_program("scontrol", "[ \"$3\" = 'gpu0[1-1]' ] && echo gpu01");
        const Finished out = hosts({"check", "far", "--json"});
        QCOMPARE(out.code, 0);
        const Json expected =
            Json::array({{{"name", "gpu"}, {"yours", 1}, {"others", 1}, {"idle", 1}, {"off", 2}},
                         {{"name", "all"}, {"yours", 1}, {"others", 0}, {"idle", 0}, {"off", 0}}});
        QCOMPARE(weft::config::json_of(out.out).at("partitions"), expected);
        const Finished text = hosts({"check", "far"});
        QVERIFY2(text.out.find("5 nodes: 1 yours, 1 others', 1 idle, 2 off") != std::string::npos,
                 text.out.c_str());
    }

    void a_host_is_looked_at() {
        const Finished out = hosts({"check", "far", "--json"});
        QCOMPARE(out.code, 0);
        const Json look = weft::config::json_of(out.out);
        for (const Json& one : look.at("checks")) {
            QVERIFY2(one.at("good").get<bool>(), one.dump().c_str());
        }
        QCOMPARE(look.at("runs").get<std::string>(), far_->runs().string());
        QVERIFY(look.at("doctor").contains("version"));
        QVERIFY(look.at("link_bytes_per_s").get<double>() > 0);
    }

    void what_is_wrong_with_a_host_is_said_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("program");
        QTest::addColumn<QString>("expected");
        QTest::addColumn<int>("code");
        QTest::newRow("unreachable") << "gone"
                                     << "weft"
                                     << "cannot be reached: ssh: Could not" << 6;
        QTest::newRow("no weft") << "far"
                                 << "/nowhere/weft"
                                 << "has no /nowhere/weft that can" << 1;
    }

    void what_is_wrong_with_a_host_is_said() {
        QFETCH(QString, name);
        QFETCH(QString, program);
        QFETCH(QString, expected);
        QFETCH(int, code);
        hosts({"remove", "far"});
        QCOMPARE(hosts({"add", name, "--program", program}).code, 0);
        const Finished out = hosts({"runs", name});
        QCOMPARE(out.code, code);
        QVERIFY2(out.err.find(expected.toStdString()) != std::string::npos, out.err.c_str());
    }

    void a_configuration_that_the_host_refuses_leaves_nothing() {
        const QString config =
            write_config(place_ / "config", weft::config::json_of(R"({"data": {"train": {
                "type": "csv", "path": "/not/there.csv", "kind": null, "features": null,
                "classes": null, "samples": null, "seed": null}}})"));
        const Finished out = hosts({"start", "far", config});
        QCOMPARE(out.code, 2);
        QVERIFY2(out.err.find("/not/there.csv") != std::string::npos, out.err.c_str());
        QVERIFY(!fs::exists(far_->runs()) || fs::is_empty(far_->runs()));
    }

    void data_are_brought() {
        const fs::path table = place_ / "my table.csv";
        std::ofstream(table) << "a,b\n1,2\n";
        const Finished out = hosts({"copy", "far", text_of(table)});
        QCOMPARE(out.code, 0);
        QCOMPARE(content_of(far_->runs() / "data" / "my table.csv"), std::string("a,b\n1,2\n"));
        QCOMPARE(QString::fromStdString(out.out).trimmed(),
                 text_of(far_->runs() / "data" / "my table.csv"));
    }

    void a_run_begins_there_once_its_data_are_there() {
        const fs::path folder = place_ / "with data";
        fs::create_directories(folder);
        std::ofstream table(folder / "table.csv");
        table << "a,b,kind\n";
        for (int i = 0; i < 60; ++i) {
            table << i << ',' << i * i % 7 << ',' << (i % 2 == 0 ? "even" : "odd") << '\n';
        }
        table.close();
        std::ofstream(folder / "run.json") << R"({
            "data": {"train": {"type": "csv", "path": "table.csv", "targets": "kind"}},
            "model": {"type": "mlp", "hidden": [4]},
            "training": {"length": {"steps": 3}, "global_batch_size": 8}})";
        const QString config = text_of(folder / "run.json");
        QCOMPARE(hosts({"start", "far", config}).code, 2); // its table is not there
        const Finished out = hosts({"start", "far", config, "--with-data"});
        QVERIFY2(out.code == 0, out.err.c_str());
        QVERIFY2(out.err.find("Bringing " + (folder / "table.csv").string()) != std::string::npos,
                 out.err.c_str());
        const fs::path run = QString::fromStdString(out.out).trimmed().toStdString();
        const auto document = weft::config::json_of(content_of(run / "config.json"));
        QCOMPARE(document.at("data").at("train").at("path").get<std::string>(),
                 (far_->runs() / "data" / "table.csv").string());
        QTRY_COMPARE_WITH_TIMEOUT(train::read_run_info(run).state, std::string("finished"), 30000);
    }

    void a_run_is_followed_commanded_and_gone_on_with() {
        const fs::path there = started(1000000);
        QVERIFY(train::is_run_folder(there));
        const fs::path mirror = here() / there.filename();
        QProcess follower;
        follower.setProgram(WEFT_PROGRAM);
        follower.setArguments({"hosts", "follow", "far", text_of(there.filename())});
        follower.setEnvironment(QProcess::systemEnvironment() + environment());
        QString said;
        connect(&follower, &QProcess::readyReadStandardError,
                [&] { said += QString::fromUtf8(follower.readAllStandardError()); });
        follower.start();
        QTRY_VERIFY_WITH_TIMEOUT(said.contains("follows"), 30000);
        // As if it were a run of this machine.
        QVERIFY(train::is_live(mirror));
        const Finished paused = weft({"tell", text_of(mirror), "pause"});
        QVERIFY2(paused.code == 0, paused.err.c_str());
        QTRY_VERIFY_WITH_TIMEOUT(
            content_of(there / "events.jsonl").find("\"paused\"") != std::string::npos, 30000);
        // Nobody is reached for a while, in which the run goes on.
        far_->cut();
        QTRY_VERIFY_WITH_TIMEOUT(said.contains("the connection is lost"), 30000);
        QCOMPARE(weft({"tell", text_of(there), "resume"}).code, 0);
        QCOMPARE(weft({"tell", text_of(there), "checkpoint"}).code, 0);
        far_->mend();
        QTRY_VERIFY_WITH_TIMEOUT(said.contains("the connection is back"), 60000);
        QCOMPARE(weft({"tell", text_of(mirror), "stop"}).code, 0);
        QVERIFY(follower.waitForFinished(60000));
        QCOMPARE(follower.exitCode(), 0);
        QCOMPARE(content_of(mirror / "events.jsonl"), content_of(there / "events.jsonl"));
        QVERIFY(!train::is_live(mirror));

        // From its last checkpoint, here and there: the same bits.
        QVERIFY(!fs::exists(mirror / "checkpoints"));
        const Finished fetched = hosts({"fetch", "far", text_of(there.filename())});
        QVERIFY2(fetched.code == 0, fetched.err.c_str());
        const std::int64_t step = last_step(there);
        for (const fs::path& run : {mirror, there}) {
            const Finished on =
                weft({"resume", text_of(run), "--max-steps", QString::number(step + 30)});
            QVERIFY2(on.code == 0 || on.code == kExitStopped, on.err.c_str());
        }
        const QString name =
            text_of(fs::path("checkpoints") /
                    (QStringLiteral("step-") + QString::number(step + 30).rightJustified(8, '0'))
                        .toStdString());
        const Finished compared =
            weft({"checkpoint", "diff", text_of(mirror) + "/" + name, text_of(there) + "/" + name});
        QVERIFY2(compared.code == 0, (compared.out + compared.err).c_str());

        // What has gone on by itself is not written over.
        const Finished again = hosts({"follow", "far", text_of(there.filename())});
        QCOMPARE(again.code, 2);
        QVERIFY2(again.err.find("has gone on by itself") != std::string::npos, again.err.c_str());
    }

    // Whoever looks at runs meanwhile must not take a part of one for a run.
    void a_run_is_here_once_its_record_is_whole() {
        const fs::path there = started(20);
        const fs::path mirror = here() / there.filename();
        far_->add_program("rsync", "[ ! -e '" + mirror.string() + "' ] || [ -e '" +
                                       (mirror / "config.json").string() +
                                       "' ] || touch \"$place/part\"\n" +
                                       "touch \"$place/called\"\nexec /usr/bin/rsync \"$@\"\n");
        QCOMPARE(hosts({"follow", "far", text_of(there.filename())}).code, 0);
        QVERIFY(fs::exists(place_ / "called"));
        QVERIFY(!fs::exists(place_ / "part"));
        QCOMPARE(content_of(mirror / "events.jsonl"), content_of(there / "events.jsonl"));
        // One that was broken off leaves no run, and goes on.
        fs::remove_all(mirror);
        far_->add_program("rsync", "exit 12\n");
        QVERIFY(hosts({"follow", "far", text_of(there.filename())}).code != 0);
        QVERIFY(!fs::exists(mirror));
        QCOMPARE(weft({"runs", "list"}).out.find(there.filename().string()), std::string::npos);
        fs::remove(place_ / "programs" / "rsync");
        QCOMPARE(hosts({"follow", "far", text_of(there.filename())}).code, 0);
        QVERIFY(train::is_run_folder(mirror));
    }

    void folders_of_others_are_left_alone() {
        const fs::path there = started(20);
        fs::create_directories(here() / there.filename());
        std::ofstream(here() / there.filename() / "mine.txt") << "mine";
        const QString name = text_of(there.filename());
        // A folder of that name is there: the copy gets the host's behind it.
        QCOMPARE(hosts({"follow", "far", name}).code, 0);
        QVERIFY(train::is_run_folder(here() / (there.filename().string() + "@far")));
        const Finished named = hosts({"follow", "far", name, "--to", text_of(here()) + "/" + name});
        QCOMPARE(named.code, 2);
        QVERIFY2(named.err.find("is something else") != std::string::npos, named.err.c_str());
        QCOMPARE(content_of(here() / there.filename() / "mine.txt"), std::string("mine"));
    }

    void a_checkpoint_that_is_not_there_is_told_with_those_that_are() {
        const fs::path there = started(20);
        QTRY_VERIFY_WITH_TIMEOUT(!train::is_live(there), 60000);
        const Finished out =
            hosts({"fetch", "far", text_of(there.filename()), "--checkpoint", "7000"});
        QCOMPARE(out.code, 2);
        QVERIFY2(out.err.find("of the steps") != std::string::npos, out.err.c_str());
    }
};

WEFT_TEST(HostsTest)
#include "hosts_test.moc"
