// SPDX-License-Identifier: Apache-2.0
// The file of a recording: whole again after reading, refused with its place when damaged.
#include "core/base/file.h"
#include "core/config/json.h"
#include "core/profile/recording.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"
#include "tests/unit/profile/made_up_recording.h"

using namespace weft;
using config::Json;

namespace {

profile::Recording written_recording() {
    return test::MadeUpRecording(2)
        .batch_after(7)
        .call(test::product("layers.0", 100), 250.125)
        .call(test::all_reduce(), 60, 20)
        .call(test::product("layers.0", 100), 290, 0, 1)
        .call(test::all_reduce(), 20, 0, 1)
        .host_after(3)
        .done();
}

} // namespace

class RecordingTest : public QObject, private test::TestFolder {
    Q_OBJECT

    std::filesystem::path damaged(const std::function<void(Json&)>& change) const {
        const auto file = profile::write_recording(path("run"), written_recording());
        Json json = config::json_of(read_file(file));
        change(json);
        write_file_atomically(file, json.dump());
        return file;
    }

private slots:
    void what_is_written_is_read_again() {
        profile::Recording recording = written_recording();
        recording.asked_steps = 20;
        recording.cut_short = "the run diverged";
        const auto file = profile::write_recording(path("run"), recording);
        QCOMPARE(file, path("run") / "profile" / "step-00000100.json");
        QVERIFY(profile::read_recording(file) == recording);
        QCOMPARE(profile::list_recordings(path("run")).size(), 1U);
        QVERIFY(profile::list_recordings(path("no-run")).empty());
    }

    void a_damaged_recording_is_refused_with_what_is_wrong_data() {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("said");
        QTest::newRow("no call") << "/devices/0/events/0"
                                 << "2"
                                 << "is of call 2 of 2";
        QTest::newRow("huge call") << "/devices/0/events/0"
                                   << "1e300"
                                   << "is of call";
        QTest::newRow("negative time") << "/devices/0/events/1"
                                       << "-1"
                                       << "'events'";
        QTest::newRow("endless") << "/devices/0/events/2"
                                 << "1e200"
                                 << "is no time";
        QTest::newRow("waits too long") << "/devices/0/events/7"
                                        << "61"
                                        << "waits longer";
        QTest::newRow("text for a time") << "/steps/0/end_us"
                                         << "\"soon\""
                                         << "'end_us'";
        QTest::newRow("backwards") << "/steps/0/computed_us"
                                   << "1"
                                   << "go backwards";
        QTest::newRow("events end early") << "/devices/1/events"
                                          << "[0,1,2]"
                                          << "end early";
        QTest::newRow("no list") << "/calls"
                                 << "{}"
                                 << "'calls' is no list";
        QTest::newRow("no step") << "/steps"
                                 << "[]"
                                 << "no step or no device";
        QTest::newRow("flag") << "/calls/0/exchange"
                              << "1"
                              << "'exchange'";
        QTest::newRow("later version") << "/weft_recording"
                                       << "3"
                                       << "version 3";
        QTest::newRow("null device") << "/devices/0"
                                     << "null"
                                     << "'name' is missing";
    }

    void a_damaged_recording_is_refused_with_what_is_wrong() {
        QFETCH(QString, pointer);
        QFETCH(QString, value);
        QFETCH(QString, said);
        const auto file = damaged([&](Json& json) {
            json[Json::json_pointer(pointer.toStdString())] = config::json_of(value.toStdString());
        });
        const auto error = test::error_of([&] { profile::read_recording(file); });
        QVERIFY(error);
        QCOMPARE(error->kind(), ErrorKind::data);
        QCOMPARE(error->where(), file.string());
        QVERIFY2(error->text().find(said.toStdString()) != std::string::npos,
                 error->text().c_str());
    }

    void every_cut_of_a_recording_is_refused() {
        const auto file = profile::write_recording(path("run"), written_recording());
        const std::string whole = read_file(file);
        for (std::size_t bytes = 0; bytes + 2 < whole.size(); bytes += 37) {
            write_file_atomically(file, whole.substr(0, bytes));
            QVERIFY(test::error_of([&] { profile::read_recording(file); }));
        }
    }
};

WEFT_TEST(RecordingTest)
#include "recording_test.moc"
