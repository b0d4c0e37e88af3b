// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/base/log.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <atomic>
#include <sys/stat.h>
#include <thread>
#include <vector>

using namespace weft;
using test::error_of;

class FileTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;
    Path root() const { return dir_.path().toStdString(); }

private slots:
    void what_is_written_is_read_back() {
        const std::string content("line\n\0bytes\xff", 12);
        write_file_atomically(root() / "a", content);
        QVERIFY(read_file(root() / "a") == content);
        write_file_atomically(root() / "a", "shorter");
        QCOMPARE(read_file(root() / "a"), std::string("shorter"));
        QVERIFY(!std::filesystem::exists(root() / "a.part"));
    }

    void a_missing_file_is_named_with_the_reason() {
        const auto error = error_of([&] { read_file(root() / "none"); });
        QVERIFY(error);
        QVERIFY(error->kind() == ErrorKind::runtime);
        QVERIFY(error->message().find("none") != std::string::npos);
        QVERIFY(error->text().find("No such file") != std::string::npos);
        QVERIFY(!error->hint().empty());
    }

    void the_kind_of_an_error_is_the_callers() {
        const auto error = error_of([&] { read_file(root() / "none", 10, ErrorKind::checkpoint); });
        QVERIFY(error && error->kind() == ErrorKind::checkpoint);
    }

    void a_folder_is_not_a_file() {
        QVERIFY(error_of([&] { read_file(root()); }));
        QVERIFY(error_of([&] { write_file_atomically(root() / "no" / "such", "x"); }));
    }

    void a_pipe_is_refused_and_not_waited_for() {
        const Path pipe = root() / "pipe";
        QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
        const auto error = error_of([&] { read_file(pipe, 10, ErrorKind::data); });
        QVERIFY(error && error->kind() == ErrorKind::data);
        QVERIFY2(error->text().find("this is a pipe") != std::string::npos, error->text().c_str());
        QVERIFY(!error->hint().empty());
    }

    void a_failed_atomic_write_leaves_the_old_content() {
        make_directories(root() / "target" / "child");
        QVERIFY(error_of([&] { write_file_atomically(root() / "target", "x"); }));
        QVERIFY(std::filesystem::is_directory(root() / "target" / "child"));
        QVERIFY(!std::filesystem::exists(root() / "target.part"));
    }

    void many_writers_of_one_file_never_mix_or_fail() {
        constexpr int kWriters = 4;
        constexpr int kWrites = 50;
        const Path path = root() / "shared";
        write_file_atomically(path, std::string(1000, 'z'));
        std::atomic<int> failed = 0;
        std::atomic<bool> over = false;
        int mixed = 0;
        {
            std::vector<std::jthread> writers;
            for (int writer = 0; writer < kWriters; ++writer) {
                writers.emplace_back([&, writer] {
                    const std::string content(static_cast<std::size_t>(1000 * (writer + 1)),
                                              static_cast<char>('a' + writer));
                    for (int i = 0; i < kWrites; ++i) {
                        failed += error_of([&] { write_file_atomically(path, content); }) ? 1 : 0;
                    }
                });
            }
            const std::jthread ending([&] {
                for (std::jthread& writer : writers) {
                    writer.join();
                }
                over = true;
            });
            while (!over) {
                const std::string seen = read_file(path);
                const bool whole =
                    !seen.empty() && seen == std::string(seen.size(), seen.front()) &&
                    (seen.front() == 'z' ||
                     seen.size() == static_cast<std::size_t>(seen.front() - 'a' + 1) * 1000);
                mixed += whole ? 0 : 1;
            }
        }
        QCOMPARE(failed.load(), 0);
        QCOMPARE(mixed, 0);
        QVERIFY(!std::filesystem::exists(root() / "shared.part"));
    }

    void who_changes_a_part_of_a_file_waits_for_the_one_before() {
        constexpr int kRounds = 50;
        const Path path = root() / "counter";
        write_file_atomically(path, "0");
        {
            const auto count = [&] {
                for (int i = 0; i < kRounds; ++i) {
                    FileReplacement replacement(path);
                    const int value = std::stoi(read_file(path));
                    replacement.part().write(std::to_string(value + 1));
                    replacement.commit();
                }
            };
            const std::jthread first(count);
            const std::jthread second(count);
        }
        QCOMPARE(read_file(path), std::to_string(2 * kRounds));
    }

    void what_a_killed_writer_left_is_removed_and_a_living_ones_part_stays() {
        const Path path = root() / "killed";
        File(root() / "killed.part", File::Mode::write_new).write("half of a long content");
        write_file_atomically(path, "new");
        QCOMPARE(read_file(path), std::string("new"));
        File(root() / "killed.part", File::Mode::write_new).write("half");
        remove_stray_part(path);
        QVERIFY(!std::filesystem::exists(root() / "killed.part"));
        FileReplacement replacement(path);
        replacement.part().write("newer");
        remove_stray_part(path);
        replacement.commit();
        QCOMPARE(read_file(path), std::string("newer"));
    }

    void a_file_over_the_limit_is_refused() {
        write_file_atomically(root() / "big", std::string(100, 'x'));
        QVERIFY(error_of([&] { read_file(root() / "big", 99); }));
        QCOMPARE(read_file(root() / "big", 100).size(), size_t{100});
    }

    void ranges_are_written_and_read_at_offsets() {
        File file(root() / "ranges", File::Mode::write_new);
        file.resize(100);
        const std::string text = "hello";
        file.write_at(std::as_bytes(std::span(text)), 50);
        file.sync();
        file.close();
        const File reader(root() / "ranges", File::Mode::read);
        QCOMPARE(reader.size(), int64_t{100});
        std::string got(5, ' ');
        reader.read_at(std::as_writable_bytes(std::span(got)), 50);
        QCOMPARE(got, text);
        const auto error =
            error_of([&] { reader.read_at(std::as_writable_bytes(std::span(got)), 98); });
        QVERIFY(error && error->text().find("ends at byte 100") != std::string::npos);
        QVERIFY(error_of([&] { File(root() / "ranges", File::Mode::write_new); }));
    }

    void appends_go_to_the_end() {
        for (const char* line : {"one\n", "two\n"}) {
            File file(root() / "lines", File::Mode::append);
            file.write(line);
        }
        QCOMPARE(read_file(root() / "lines"), std::string("one\ntwo\n"));
    }

    void a_full_disk_is_reported_with_a_hint() {
        if (!std::filesystem::exists("/dev/full")) {
            QSKIP("this system has no /dev/full");
        }
        File file("/dev/full", File::Mode::read_write);
        const auto error = error_of([&] { file.write("x"); });
        QVERIFY(error && error->text().find("No space left") != std::string::npos);
        QVERIFY(error->hint().find("space") != std::string::npos);
    }

    void sizes_and_renames_work_on_trees() {
        make_directories(root() / "tree" / "sub");
        write_file_atomically(root() / "tree" / "a", std::string(10, 'x'));
        write_file_atomically(root() / "tree" / "sub" / "b", std::string(7, 'x'));
        std::filesystem::create_symlink(root() / "tree" / "a", root() / "tree" / "link");
        QCOMPARE(directory_bytes(root() / "tree"), int64_t{17});
        rename_durably(root() / "tree", root() / "moved");
        QVERIFY(!std::filesystem::exists(root() / "tree"));
        remove_tree(root() / "moved");
        remove_tree(root() / "moved");
        QVERIFY(!std::filesystem::exists(root() / "moved"));
        QVERIFY(disk_free_bytes(root() / "not" / "yet" / "there") > 0);
        QCOMPARE(directory_bytes(root() / "gone"), int64_t{0});
    }

    void a_log_reaches_its_file_and_its_listener() {
        std::vector<std::pair<LogLevel, std::string>> heard;
        LogSettings settings;
        settings.console = LogLevel::off;
        settings.file = root() / "logs" / "run.log";
        settings.listener = [&](LogLevel level, std::string_view text) {
            heard.emplace_back(level, text);
        };
        const Log log(settings);
        log.debug("quiet");
        log.warning("loud {}"); // braces are text, not a format
        log.flush();
        QCOMPARE(heard.size(), size_t{2});
        QVERIFY(heard[1].first == LogLevel::warning && heard[1].second == "loud {}");
        const std::string content = read_file(settings.file);
        QVERIFY(content.find("quiet") != std::string::npos);
        QVERIFY(content.find("loud {}") != std::string::npos);
    }

    void a_log_that_cannot_open_its_file_says_so() {
        LogSettings settings;
        settings.console = LogLevel::off;
        settings.file = root(); // a folder
        QVERIFY(error_of([&] { const Log log(settings); }));
    }
};

WEFT_TEST(FileTest)
#include "file_test.moc"
