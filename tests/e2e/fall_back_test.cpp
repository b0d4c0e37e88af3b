// SPDX-License-Identifier: Apache-2.0
// A resume whose newest checkpoint cannot be used goes on from the one before and says so.
#include "core/base/file.h"
#include "core/checkpoint/manifest_json.h"
#include "core/train/record/run_folder.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <fstream>

using namespace weft;
using namespace weft::test;
using config::Json;
namespace fs = std::filesystem;

namespace {

constexpr int kNewest = 20;
constexpr int kBefore = 14; // one is saved every 7 steps, and at the end of a call

/// The bytes of the first array of a checkpoint, one of them changed.
void damage_payload(const fs::path& folder) {
    const auto manifest = checkpoint::read_manifest(folder);
    const checkpoint::PieceInfo& piece = manifest.tensors.front().pieces.front();
    std::fstream file(manifest.path / piece.shard, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(piece.offset);
    const char flipped = static_cast<char>(~file.get());
    file.seekp(piece.offset);
    file.put(flipped);
}

/// Seals a manifest anew that says something else.
void seal_with(const fs::path& folder, const std::function<void(checkpoint::Record&)>& change) {
    checkpoint::Manifest manifest = checkpoint::read_manifest(folder);
    change(manifest.record);
    write_file_atomically(folder / checkpoint::kManifestName, checkpoint::manifest_text(manifest));
}

bool warned_of(const fs::path& run, const std::string& text) {
    const auto events = events_of(run);
    return std::any_of(events.begin(), events.end(), [&](const train::Event& event) {
        const auto* warning = std::get_if<train::WarningEvent>(&event.payload);
        return warning != nullptr && warning->message.find(text) != std::string::npos;
    });
}

} // namespace

class FallBackTest : public QObject, private TestFolder {
    Q_OBJECT

    QString config_;

    /// A copy of a run that was stopped after kNewest steps.
    fs::path stopped_run(const char* name) const {
        fs::copy(path("stopped"), path(name), fs::copy_options::recursive);
        return path(name);
    }
    static fs::path step(const fs::path& run, int number) {
        return run / "checkpoints" / checkpoint::folder_name(number);
    }

    void goes_on_from_the_one_before(const char* name) {
        const Finished resumed = run_weft({"resume", text(name)});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        QVERIFY2(resumed.err.find("step-00000020 cannot be used") != std::string::npos,
                 resumed.err.c_str());
        QVERIFY(warned_of(path(name), "step-00000020 cannot be used"));
        const auto events = events_of(path(name));
        QVERIFY(std::any_of(events.begin(), events.end(), [](const train::Event& event) {
            const auto* from = std::get_if<train::ResumedEvent>(&event.payload);
            return from != nullptr && from->step == kBefore;
        }));
        // Nothing is lost but time: it ends where a run without damage ends.
        const Finished diff = run_weft({"checkpoint", "diff", text("whole"), text(name)});
        QVERIFY2(diff.code == 0, diff.out.c_str());
        QVERIFY(fs::exists(path(name) / "checkpoints" / "unusable-step-00000020"));
    }

private slots:
    void initTestCase() {
        config_ = write_config(path("configs"), {{"checkpoint", {{"on_improvement", false}}}});
        QCOMPARE(run_weft({"train", config_, "--run-dir", text("whole")}).code, 0);
        QCOMPARE(run_weft({"train", config_, "--run-dir", text("stopped"), "--max-steps",
                           QString::number(kNewest)})
                     .code,
                 0);
        QVERIFY(fs::exists(step(path("stopped"), kBefore)));
    }

    void a_changed_array_in_the_newest_checkpoint() {
        damage_payload(step(stopped_run("payload"), kNewest));
        goes_on_from_the_one_before("payload");
    }

    void a_cut_manifest_of_the_newest_checkpoint() {
        fs::resize_file(step(stopped_run("manifest"), kNewest) / checkpoint::kManifestName, 100);
        goes_on_from_the_one_before("manifest");
    }

    void a_fork_leaves_the_damaged_one_where_it_is() {
        const fs::path run = stopped_run("parent");
        damage_payload(step(run, kNewest));
        const Finished fork =
            run_weft({"resume", text("parent"), "--fork", text("fork"), "--max-steps", "15"});
        QVERIFY2(fork.code == 0, fork.err.c_str());
        QVERIFY(warned_of(path("fork"), "step-00000020 cannot be used"));
        QVERIFY(fs::exists(step(run, kNewest)));
    }

    void a_checkpoint_that_was_asked_for_is_not_replaced_by_another() {
        damage_payload(step(stopped_run("asked"), kNewest));
        QCOMPARE(run_weft({"resume", text("asked"), "--from", "20"}).code, 3);
    }

    void a_run_none_of_whose_checkpoints_can_be_used_does_not_begin_anew() {
        const fs::path run = stopped_run("none");
        for (const auto& entry : checkpoint::list_checkpoints(run / "checkpoints")) {
            fs::resize_file(entry.path / checkpoint::kManifestName, 100);
        }
        const std::size_t events = events_of(run).size();
        const Finished resumed = run_weft({"resume", text("none")});
        QCOMPARE(resumed.code, 3);
        QVERIFY2(resumed.err.find("no usable checkpoint") != std::string::npos,
                 resumed.err.c_str());
        QCOMPARE(events_of(run).size(), events);
    }

    void a_copy_under_the_name_of_a_later_step_does_not_stop_a_run() {
        const fs::path run = stopped_run("copied");
        // 21 and 28 are steps at which the run saves.
        fs::copy(step(run, kNewest), step(run, 21), fs::copy_options::recursive);
        fs::copy(step(run, kBefore), step(run, 28), fs::copy_options::recursive);
        const Finished resumed = run_weft({"resume", text("copied")});
        QVERIFY2(resumed.code == 0, resumed.err.c_str());
        QVERIFY(warned_of(run, "step-00000021 cannot be used"));
        QVERIFY(warned_of(run, "step-00000028 held step 14"));
        QCOMPARE(run_weft({"checkpoint", "diff", text("whole"), text("copied")}).code, 0);
    }

    void a_sealed_manifest_that_no_run_writes_is_refused_data() {
        using Change = std::function<void(checkpoint::Record&)>;
        QTest::addColumn<Change>("change");
        QTest::newRow("position below 0") << Change(
            [](checkpoint::Record& record) { record.counters["cursor"]["position"] = -1; });
        QTest::newRow("epoch below 0")
            << Change([](checkpoint::Record& record) { record.counters["cursor"]["epoch"] = -3; });
        QTest::newRow("position of 2^64 - 1") << Change(
            [](checkpoint::Record& record) { record.counters["cursor"]["position"] = UINT64_MAX; });
        QTest::newRow("samples below 0")
            << Change([](checkpoint::Record& record) { record.counters["samples"] = -1; });
        QTest::newRow("multiplier -1") << Change([](checkpoint::Record& record) {
            record.counters["live"]["learning_rate_multiplier"] = -1;
        });
        QTest::newRow("extra steps below 0") << Change(
            [](checkpoint::Record& record) { record.counters["live"]["extra_steps"] = -5; });
        QTest::newRow("another step")
            << Change([](checkpoint::Record& record) { record.step = record.metric_step = 19; });
    }
    void a_sealed_manifest_that_no_run_writes_is_refused() {
        QFETCH(const std::function<void(checkpoint::Record&)>, change);
        const QByteArray name = QByteArray("sealed ") + QTest::currentDataTag();
        const fs::path run = stopped_run(name.constData());
        const QString folder = QString::fromStdString(step(run, kNewest).string());
        QCOMPARE(run_weft({"checkpoint", "verify", folder}).code, 0);
        seal_with(step(run, kNewest), change);
        const Finished verified = run_weft({"checkpoint", "verify", folder});
        QVERIFY2(verified.code == 3, verified.out.c_str());
        QCOMPARE(run_weft({"resume", text(name), "--from", "20"}).code, 3);
        QCOMPARE(run_weft({"resume", text(name)}).code, 0); // from the one before
        QVERIFY(warned_of(run, "step-00000020 cannot be used"));
    }
};

WEFT_TEST(FallBackTest)
#include "fall_back_test.moc"
