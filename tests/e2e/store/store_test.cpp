// SPDX-License-Identifier: Apache-2.0
// A run whose checkpoints are copied to an object store, which is a server of this test's own.
#include "tests/e2e/weft_process.h"
#include "tests/support/store_server.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <fstream>

namespace {

using namespace weft::test;
namespace fs = std::filesystem;
using weft::config::Json;

class StoreTest : public QObject, private TestFolder {
    Q_OBJECT

    StoreServer server_;

    /// What the program needs to know, and a cache and a folder of runs of this test's own.
    QStringList surroundings(const StoreServer& server) const {
        return {"AWS_ACCESS_KEY_ID=" + QString(StoreServer::kKeyId),
                "AWS_SECRET_ACCESS_KEY=" + QString(StoreServer::kSecret),
                "AWS_ENDPOINT_URL=" + QString::fromStdString(server.endpoint()),
                "AWS_REGION=eu-test-1",
                "XDG_CACHE_HOME=" + text("cache"),
                "WEFT_RUNS=" + text("elsewhere")};
    }

    static std::vector<std::string> said(const std::vector<weft::train::Event>& events) {
        std::vector<std::string> out;
        for (const weft::train::Event& event : events) {
            if (const auto* note = std::get_if<weft::train::NoteEvent>(&event.payload)) {
                out.push_back(note->message);
            } else if (const auto* warning =
                           std::get_if<weft::train::WarningEvent>(&event.payload)) {
                out.push_back(warning->message);
            }
        }
        return out;
    }

    static bool any_has(const std::vector<std::string>& lines, const std::string& words) {
        return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.find(words) != std::string::npos;
        });
    }

private slots:
    void a_run_goes_on_elsewhere_from_its_copy_bit_for_bit() {
        const QString config = write_config(
            path(""),
            {{"checkpoint", {{"every", {{"steps", 10}}}, {"mirror", "s3://bucket/runs"}}}});
        const QStringList around = surroundings(server_);
        const Finished whole = run_weft(
            {"train", config, "--run-dir", text("whole"), "--set", "checkpoint.mirror=null"},
            around);
        QVERIFY2(whole.code == 0, whole.err.c_str());
        const Finished half =
            run_weft({"train", config, "--run-dir", text("half"), "--max-steps", "20"}, around);
        QVERIFY2(half.code == 0 || half.code == kExitStopped, half.err.c_str());
        QVERIFY(any_has(said(events_of(path("half"))), "step 20 is at s3://bucket/runs/half/"));
        QCOMPARE(server_.bad_signatures(), std::vector<std::string>());
        const Finished shown = run_weft(
            {"checkpoint", "show", "s3://bucket/runs/half/checkpoints/step-00000020"}, around);
        QVERIFY2(shown.code == 0, shown.err.c_str());
        QVERIFY2(shown.out.find("step 20") != std::string::npos, shown.out.c_str());
        const Finished same =
            run_weft({"checkpoint", "diff", text("half"), "s3://bucket/runs/half"}, around);
        QVERIFY2(same.code == 0, (same.out + same.err).c_str());
        const Finished rest = run_weft({"resume", "s3://bucket/runs/half"}, around);
        QVERIFY2(rest.code == 0, rest.err.c_str());
        const Finished equal =
            run_weft({"checkpoint", "diff", text("elsewhere/half"), text("whole")}, around);
        QVERIFY2(equal.code == 0, (equal.out + equal.err).c_str());
        const Finished again = run_weft({"resume", "s3://bucket/runs/half"}, around);
        QCOMPARE(again.code, 2); // it is here now
    }

    void a_store_that_refuses_costs_a_warning_and_no_step() {
        const StoreServer full;
        const QString config =
            write_config(path(""), {{"checkpoint", {{"mirror", "s3://bucket/runs"}}}});
        QStringList around = surroundings(full);
        around << "AWS_SECRET_ACCESS_KEY=another";
        const Finished done = run_weft({"train", config, "--run-dir", text("alone")}, around);
        QVERIFY2(done.code == 0, done.err.c_str());
        const auto lines = said(events_of(path("alone")));
        QVERIFY(any_has(lines, "Checkpoints were not copied to s3://bucket/runs/alone"));
        QVERIFY(any_has(lines, "Not copied to s3://bucket/runs: the checkpoint"));
    }

    void without_credentials_nothing_is_started() {
        const QString config =
            write_config(path(""), {{"checkpoint", {{"mirror", "s3://bucket/runs"}}}});
        const Finished done = run_weft({"train", config, "--run-dir", text("none")},
                                       {"AWS_ACCESS_KEY_ID=", "HOME=" + text("nowhere")});
        QCOMPARE(done.code, 2);
        QVERIFY2(done.err.find("AWS_ACCESS_KEY_ID") != std::string::npos, done.err.c_str());
        const Finished wrong = run_weft({"check", config, "--set", "checkpoint.mirror=\"/disk\""});
        QCOMPARE(wrong.code, 2);
        QVERIFY2(wrong.err.find("/checkpoint/mirror") != std::string::npos, wrong.err.c_str());
    }

    void data_of_a_store_are_fetched_once() {
        std::string rows = "a,b,y\n";
        for (int i = 0; i < 64; ++i) {
            rows += std::to_string(i % 7) + "," + std::to_string(i % 5) + "," +
                    std::to_string((i % 7 + i % 5) % 2) + "\n";
        }
        server_.set("/bucket/tables/small.csv", rows);
        const QString config = write_config(path(""), {{"data",
                                                        {{"train",
                                                          {{"type", "csv"},
                                                           {"path", "s3://bucket/tables/small.csv"},
                                                           {"targets", "y"},
                                                           {"task", "classification"},
                                                           {"kind", nullptr}, // of what is made up
                                                           {"features", nullptr},
                                                           {"classes", nullptr},
                                                           {"samples", nullptr},
                                                           {"seed", nullptr}}},
                                                         {"validation", {{"split", 0.25}}}}}});
        const auto fetches = [&] {
            const auto requests = server_.requests();
            return std::count(requests.begin(), requests.end(), "GET /bucket/tables/small.csv");
        };
        const Finished first =
            run_weft({"train", config, "--run-dir", text("rows1")}, surroundings(server_));
        QVERIFY2(first.code == 0, first.err.c_str());
        QCOMPARE(fetches(), 1);
        const Finished second =
            run_weft({"train", config, "--run-dir", text("rows2")}, surroundings(server_));
        QVERIFY2(second.code == 0, second.err.c_str());
        QCOMPARE(fetches(), 1);
        server_.set("/bucket/tables/small.csv", rows + "1,1,0\n");
        const Finished third =
            run_weft({"train", config, "--run-dir", text("rows3")}, surroundings(server_));
        QVERIFY2(third.code == 0, third.err.c_str());
        QCOMPARE(fetches(), 2);
    }
};

} // namespace

WEFT_TEST(StoreTest)
#include "store_test.moc"
