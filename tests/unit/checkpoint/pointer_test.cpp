// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/pointer.h"
#include "tests/unit/checkpoint/checkpoint_support.h"

using namespace weft;
using namespace weft::checkpoint;
using namespace weft::checkpoint::test;
namespace fs = std::filesystem;

class PointerTest : public QObject {
    Q_OBJECT

private slots:
    void a_checkpoint_can_be_found_by_the_file_that_points_to_it() {
        const Folder folder;
        const Manifest saved = write_checkpoint(folder.path(), every_type().views(), record_of(3));
        QCOMPARE(follow_pointer(saved.path / "checkpoint.weftckpt"), saved.path);
        // The folder may go elsewhere, with it.
        const fs::path moved = folder.path() / "moved";
        fs::rename(saved.path, moved);
        QCOMPARE(follow_pointer(moved / "checkpoint.weftckpt"), moved);
    }

    void a_checkpoint_without_one_is_complete() {
        const Folder folder;
        const Manifest saved = write_checkpoint(folder.path(), every_type().views(), record_of(3));
        const auto pointer_bytes =
            static_cast<std::int64_t>(fs::file_size(saved.path / "checkpoint.weftckpt"));
        fs::remove(saved.path / "checkpoint.weftckpt");
        const Manifest read = read_manifest(saved.path);
        QVERIFY(verify(read).empty());
        QCOMPARE(read.bytes, saved.bytes - pointer_bytes);
        QCOMPARE(list_checkpoints(folder.path()).at(0).problem, std::string());
    }

    void other_paths_are_what_they_are() {
        const Folder folder;
        fs::create_directories(folder.path() / "named.weftrun"); // a folder may have any name
        for (const fs::path& path : {folder.path(), folder.path() / "named.weftrun",
                                     folder.path() / "absent", fs::path("run.json"), fs::path()}) {
            QCOMPARE(follow_pointer(path), path);
        }
    }

    void one_that_leads_nowhere_says_so_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("problem");
        const QString run = QString::fromStdString(run_pointer_text());
        QTest::newRow("alone") << "run.weftrun" << run << "there is no run in";
        QTest::newRow("alone, of a checkpoint")
            << "a.weftckpt" << QString::fromStdString(checkpoint_pointer_text(3))
            << "there is no checkpoint in";
        QTest::newRow("of the other kind") << "a.weftckpt" << run << "does not say where";
        QTest::newRow("rubbish") << "run.weftrun"
                                 << "weft"
                                 << "does not point to";
        QTest::newRow("no object") << "run.weftrun"
                                   << "[1]"
                                   << "does not point to";
        QTest::newRow("newer") << "run.weftrun"
                               << R"({"schema_version": 9, "run": "."})"
                               << "newer version";
        QTest::newRow("no text") << "run.weftrun"
                                 << R"({"schema_version": 1, "run": 7})"
                                 << "does not say where";
        QTest::newRow("absent") << "other.weftrun" << QString() << "No such file";
    }
    void one_that_leads_nowhere_says_so() {
        QFETCH(QString, name);
        QFETCH(QString, text);
        QFETCH(QString, problem);
        const Folder folder;
        const fs::path file = folder.path() / name.toStdString();
        if (!text.isNull()) {
            write_all(file, text.toStdString());
        }
        const auto error = error_of([&] { follow_pointer(file); });
        QVERIFY(error.has_value());
        QCOMPARE(error->where(), file.string());
        QVERIFY2(error->message().find(problem.toStdString()) != std::string::npos,
                 error->message().c_str());
    }
};

WEFT_TEST(PointerTest)
#include "pointer_test.moc"
