// SPDX-License-Identifier: Apache-2.0
// Generated kernels in files, with a compiler that counts.
#include "kernels/cuda/code_store.h"
#include "kernels/cuda/module.h"
#include "tests/support/weft_test.h"

#include <atomic>
#include <filesystem>
#include <thread>

using weft::kernels::cuda::CodeStore;
using weft::kernels::cuda::stored_code;

namespace {

constexpr std::int64_t kRoom = 1 << 20;

/// Makes code that depends on the key alone, and counts.
class CountingCompiler {
public:
    std::vector<char> code(const CodeStore& store, const std::string& key) {
        return store.code(key, [&] {
            ++count_;
            return expected(key);
        });
    }
    static std::vector<char> expected(const std::string& key) {
        std::vector<char> code(1000);
        for (std::size_t i = 0; i < code.size(); ++i) {
            code[i] = static_cast<char>(key[i % key.size()] + static_cast<int>(i / key.size()));
        }
        return code;
    }
    int count() const { return count_; }

private:
    std::atomic<int> count_{0};
};

QStringList files_in(const QTemporaryDir& folder) {
    return QDir(folder.path()).entryList(QDir::Files, QDir::Name);
}

QByteArray content(const QString& path) {
    QFile file(path);
    return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

void overwrite(const QString& path, const QByteArray& bytes) {
    QFile file(path);
    QVERIFY(file.open(QFile::WriteOnly));
    QCOMPARE(file.write(bytes), bytes.size());
}

QByteArray with_flipped_bit(QByteArray bytes, qsizetype at) {
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    return bytes;
}

} // namespace

class CudaCodeStore : public QObject {
    Q_OBJECT

private slots:
    void cleanup() { weft_cuda_set_cache_folder(nullptr); }

    void what_one_process_has_compiled_the_next_one_reads() {
        const QTemporaryDir folder;
        CountingCompiler compiler;
        const std::string path = folder.filePath("made/with/its/parents").toStdString();
        for (int process = 0; process < 2; ++process) {
            const CodeStore store(path, kRoom);
            QCOMPARE(compiler.code(store, "a"), CountingCompiler::expected("a"));
        }
        QCOMPARE(compiler.count(), 1);
    }

    void another_text_compiler_or_gpu_is_compiled_for_itself() {
        const QTemporaryDir folder;
        CountingCompiler compiler;
        const CodeStore store(folder.path().toStdString(), kRoom);
        for (const char* key : {"sm_80 text NVRTC 13.0", "sm_90 text NVRTC 13.0",
                                "sm_80 other NVRTC 13.0", "sm_80 text NVRTC 13.1"}) {
            QCOMPARE(compiler.code(store, key), CountingCompiler::expected(key));
        }
        QCOMPARE(compiler.count(), 4);
        QCOMPARE(files_in(folder).size(), 4);
    }

    void a_damaged_file_is_compiled_again_and_mended_data() {
        QTest::addColumn<QByteArray>("damaged");
        const QTemporaryDir folder;
        CountingCompiler compiler;
        const CodeStore store(folder.path().toStdString(), kRoom);
        compiler.code(store, "a key");
        const QByteArray whole = content(folder.filePath(files_in(folder).at(0)));
        QVERIFY(whole.size() > 1000);
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("half a head") << whole.left(10);
        QTest::newRow("head alone") << whole.left(24);
        QTest::newRow("cut short") << whole.left(whole.size() - 1);
        QTest::newRow("too long") << whole + 'x';
        QTest::newRow("text") << QByteArray(2000, 'x');
        QTest::newRow("all ones") << QByteArray(26, '\xff');
        for (const qsizetype at : {qsizetype{0}, qsizetype{8}, qsizetype{16}, qsizetype{24},
                                   qsizetype{28}, qsizetype{29}, whole.size() - 1}) {
            QTest::addRow("bit %d", static_cast<int>(at)) << with_flipped_bit(whole, at);
        }
    }
    void a_damaged_file_is_compiled_again_and_mended() {
        QFETCH(QByteArray, damaged);
        const QTemporaryDir folder;
        CountingCompiler compiler;
        const CodeStore store(folder.path().toStdString(), kRoom);
        compiler.code(store, "a key");
        const QString path = folder.filePath(files_in(folder).at(0));
        const QByteArray whole = content(path);
        overwrite(path, damaged);
        QCOMPARE(compiler.code(store, "a key"), CountingCompiler::expected("a key"));
        QCOMPARE(compiler.count(), 2);
        QCOMPARE(content(path), whole);
    }

    // As where two keys have one hash: a file's name says nothing of what is in it.
    void the_file_of_another_key_is_not_taken() {
        const QTemporaryDir folder;
        CountingCompiler compiler;
        const CodeStore store(folder.path().toStdString(), kRoom);
        compiler.code(store, "first");
        const QString first = folder.filePath(files_in(folder).at(0));
        compiler.code(store, "other");
        QStringList names = files_in(folder);
        names.removeAll(QFileInfo(first).fileName());
        overwrite(folder.filePath(names.at(0)), content(first));
        QCOMPARE(compiler.code(store, "other"), CountingCompiler::expected("other"));
        QCOMPARE(compiler.count(), 3);
    }

    void those_used_longest_ago_go_where_files_are_too_large() {
        const QTemporaryDir folder;
        CountingCompiler compiler;
        const std::string path = folder.path().toStdString();
        // Three files of 1,000 bytes and their keys and heads.
        const CodeStore store(path, 3200);
        const auto age = [&](const QString& name, int hours) {
            std::filesystem::last_write_time(folder.filePath(name).toStdString(),
                                             std::filesystem::file_time_type::clock::now() -
                                                 std::chrono::hours(hours));
        };
        compiler.code(store, "a");
        age(files_in(folder).at(0), 3);
        compiler.code(store, "b");
        for (const QString& name : files_in(folder)) {
            age(name, 2);
        }
        compiler.code(store, "a"); // the latest use of the two
        compiler.code(store, "c");
        QCOMPARE(compiler.count(), 3);
        compiler.code(store, "d");
        QCOMPARE(files_in(folder).size(), 3);
        compiler.code(store, "a");
        QCOMPARE(compiler.count(), 4); // still there
        compiler.code(store, "b");
        QCOMPARE(compiler.count(), 5); // gone
    }

    void threads_that_want_the_same_code_leave_one_whole_file() {
        const QTemporaryDir folder;
        CountingCompiler compiler;
        const CodeStore store(folder.path().toStdString(), kRoom);
        std::vector<std::thread> threads;
        std::atomic<int> right{0};
        for (int t = 0; t < 8; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 50; ++i) {
                    const std::string key = "key " + std::to_string(i % 5);
                    right += compiler.code(store, key) == CountingCompiler::expected(key) ? 1 : 0;
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        QCOMPARE(right.load(), 400);
        QCOMPARE(files_in(folder).size(), 5);
        const int compiled = compiler.count();
        for (int i = 0; i < 5; ++i) {
            compiler.code(store, "key " + std::to_string(i));
        }
        QCOMPARE(compiler.count(), compiled);
    }

    void a_folder_that_cannot_be_written_to_is_told_and_not_taken() {
        const QTemporaryDir folder;
        QCOMPARE(weft_cuda_set_cache_folder(folder.path().toUtf8()), WEFT_OK);
        overwrite(folder.filePath("file"), "in the way");
        const QByteArray wrong = folder.filePath("file/below").toUtf8();
        QCOMPARE(weft_cuda_set_cache_folder(wrong), WEFT_LIBRARY_ERROR);
        QVERIFY2(QString(weft_last_error()).contains(wrong), weft_last_error());
        stored_code("key", [] { return CountingCompiler::expected("key"); });
        QCOMPARE(files_in(folder).size(), 2); // in the folder that was chosen before
    }

    void nothing_is_kept_where_no_folder_was_chosen() {
        int compiled = 0;
        for (int i = 0; i < 2; ++i) {
            stored_code("key", [&] {
                ++compiled;
                return std::vector<char>{'x'};
            });
        }
        QCOMPARE(compiled, 2);
    }
};

WEFT_TEST(CudaCodeStore)
#include "code_store_test.moc"
