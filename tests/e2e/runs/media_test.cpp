// SPDX-License-Identifier: Apache-2.0
// weft runs media on a folder that PyTorch's SummaryWriter wrote.
#include "core/base/file.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <filesystem>

namespace {

using namespace weft::test;
namespace fs = std::filesystem;

} // namespace

class MediaCommandTest : public QObject, private TestFolder {
    Q_OBJECT

private slots:
    void what_is_there_is_listed_and_written_as_files() {
        fs::create_directories(path("logs"));
        fs::copy_file(WEFT_TENSORBOARD_KINDS, path("logs") / "events.out.tfevents.100.host");
        const Finished done = run_weft({"runs", "media", text("logs"), "--to", text("out")});
        QCOMPARE(done.code, 0);
        QVERIFY2(done.out.find("pictures/half") != std::string::npos, done.out.c_str());
        QVERIFY2(done.out.find("shape_VERTEX") != std::string::npos, done.out.c_str());
        const std::string sound = weft::read_file(path("out") / "tone" / "3.wav");
        QVERIFY(sound.starts_with("RIFF"));
        QCOMPARE(weft::read_file(path("out") / "weights" / "3.csv"),
                 std::string("left,right,count\n-1,0,1\n0,1,3\n1,2,1\n"));
    }

    void a_folder_without_event_files_is_said() {
        fs::create_directories(path("empty"));
        QCOMPARE(run_weft({"runs", "media", text("empty")}).code, 2);
        QCOMPARE(run_weft({"runs", "media", text("absent")}).code, 2);
    }
};

WEFT_TEST(MediaCommandTest)
#include "media_test.moc"
