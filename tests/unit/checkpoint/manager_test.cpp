// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"
#include "core/checkpoint/manifest_json.h"
#include "tests/unit/checkpoint/checkpoint_support.h"

#include <atomic>
#include <csignal>

#include <sys/resource.h>

#include <thread>

using namespace weft;
using namespace weft::checkpoint;
using namespace weft::checkpoint::test;

namespace {

ManagerOptions options_of(const Folder& folder, bool async = true) {
    ManagerOptions options;
    options.folder = folder.path() / "checkpoints";
    options.async = async;
    return options;
}

/// Writes past `bytes` of any file fail with EFBIG while this lives: a full disk at a chosen place.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        getrlimit(RLIMIT_FSIZE, &before_);
        rlimit limit = before_;
        limit.rlim_cur = bytes;
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    void (*handler_)(int);
    rlimit before_{};
};

std::ptrdiff_t entries_in(const std::filesystem::path& folder) {
    return std::distance(std::filesystem::directory_iterator(folder), {});
}

} // namespace

class ManagerTest : public QObject {
    Q_OBJECT

private slots:
    void a_background_save_holds_what_was_there_at_the_call() {
        const Folder folder;
        Manager manager(options_of(folder));
        std::vector<float> values(1 << 20, 1.0F);
        const TensorView view{
            "x", "parameters", {ir::DType::f32, {1 << 20}}, std::as_bytes(std::span(values))};
        manager.save({&view, 1}, record_of(1));
        std::fill(values.begin(), values.end(), 2.0F);
        manager.wait();
        const std::vector<Saved> saved = manager.take_finished();
        QCOMPARE(saved.size(), std::size_t(1));
        QVERIFY2(saved[0].error.empty(), saved[0].error.c_str());
        QCOMPARE(saved[0].kept_for, std::vector<std::string>{"newest"});
        QVERIFY(saved[0].bytes > (4 << 20));
        std::vector<float> read(values.size());
        read_tensor(read_manifest(saved[0].path), "x", std::as_writable_bytes(std::span(read)));
        QVERIFY(read == std::vector<float>(1 << 20, 1.0F));
    }

    void the_staging_copy_is_reused() {
        const Folder folder;
        Manager manager(options_of(folder));
        const Arrays arrays = every_type();
        manager.save(arrays.views(), record_of(1));
        const std::int64_t bytes = manager.staging_bytes();
        QVERIFY(bytes > 0);
        manager.save(arrays.views(), record_of(2));
        QCOMPARE(manager.staging_bytes(), bytes);
        manager.wait();
        const std::vector<Saved> saved = manager.take_finished();
        QCOMPARE(saved.size(), std::size_t(2));
        QCOMPARE(saved[0].step, 1);
        QCOMPARE(saved[1].step, 2);
        QVERIFY(manager.take_finished().empty());
    }

    void memory_that_was_reserved_is_that_of_the_saves() {
        const Folder folder;
        Manager manager(options_of(folder));
        const Arrays arrays = every_type();
        manager.reserve(arrays.views());
        const std::int64_t bytes = manager.staging_bytes();
        QVERIFY(bytes > 0);
        manager.save(arrays.views(), record_of(1));
        manager.wait();
        QCOMPARE(manager.staging_bytes(), bytes);
        const std::vector<Saved> saved = manager.take_finished();
        QCOMPARE(saved.size(), std::size_t(1));
        QVERIFY2(saved[0].error.empty(), saved[0].error.c_str());
        QVERIFY(verify(read_manifest(saved[0].path)).empty());
    }

    void arrays_that_are_nobody_elses_are_not_copied() {
        const Folder folder;
        Manager manager(options_of(folder));
        const auto values = std::make_shared<std::vector<float>>(1000, 1.5F);
        const std::vector<TensorView> views{
            {"x", "parameters", {ir::DType::f32, {1000}}, std::as_bytes(std::span(*values))}};
        manager.save(views, record_of(1), values);
        QCOMPARE(manager.staging_bytes(), 0);
        QCOMPARE(values.use_count(), 2); // nobody has asked whether it is done
        manager.wait();
        QCOMPARE(values.use_count(), 1);
        const std::vector<Saved> saved = manager.take_finished();
        QCOMPARE(saved.size(), std::size_t(1));
        std::vector<float> read(values->size());
        read_tensor(read_manifest(saved[0].path), "x", std::as_writable_bytes(std::span(read)));
        QVERIFY(read == *values);
    }

    void what_a_save_waits_for_the_one_before_is_told() {
        const Folder folder;
        const SystemClock clock;
        std::atomic<double> until_s{0};
        ManagerOptions options = options_of(folder);
        options.check = [&] { // a disk that is busy for 50 ms
            until_s = clock.steady_s() + 0.05;
            while (clock.steady_s() < until_s) {
                std::this_thread::yield();
            }
        };
        Manager manager(options);
        manager.save(every_type().views(), record_of(1));
        while (until_s == 0) {
            std::this_thread::yield(); // it is being written
        }
        const double left_ms = (until_s - clock.steady_s()) * 1000;
        manager.save(every_type().views(), record_of(2));
        manager.wait();
        const double prepared_s = clock.steady_s();
        manager.prepare();
        while (clock.steady_s() < prepared_s + 0.01) {
            std::this_thread::yield(); // what the caller does itself
        }
        manager.save(every_type().views(), record_of(3));
        manager.wait();
        const std::vector<Saved> saved = manager.take_finished();
        QCOMPARE(saved.size(), std::size_t(3));
        QVERIFY(saved[1].waited_ms >= left_ms);
        QVERIFY(saved[1].blocked_ms >= saved[1].waited_ms);
        QVERIFY(saved[2].blocked_ms >= saved[2].waited_ms + 9.9);
    }

    void a_save_without_background_needs_no_copy() {
        const Folder folder;
        Manager manager(options_of(folder, false));
        manager.save(every_type().views(), record_of(1));
        QCOMPARE(manager.staging_bytes(), 0);
        QCOMPARE(manager.take_finished().size(), std::size_t(1));
    }

    void the_end_waits_for_the_save_in_flight() {
        const Folder folder;
        { Manager(options_of(folder)).save(every_type().views(), record_of(1)); }
        QCOMPARE(steps_in(folder.path() / "checkpoints"), std::vector<std::int64_t>{1});
    }

    void metrics_that_come_after_the_save_are_added() {
        const Folder folder;
        Manager manager(options_of(folder));
        manager.save(every_type().views(), record_of(5));
        manager.save(every_type().views(), record_of(5, 0.25));
        manager.wait();
        const std::vector<Saved> saved = manager.take_finished();
        QCOMPARE(saved[1].kept_for, (std::vector<std::string>{"newest", "best"}));
        Record by_hand = record_of(5);
        by_hand.kept_for = {"by hand"};
        manager.save(every_type().views(), by_hand);
        manager.wait();
        const Record record = read_manifest(saved[1].path).record;
        QCOMPARE(record.metrics["validation/loss"].get<double>(), 0.25);
        QCOMPARE(record.kept_for, std::vector<std::string>{"by hand"});
    }

    void left_overs_of_a_killed_process_go_at_the_next_save() {
        const Folder folder;
        const std::filesystem::path path = options_of(folder).folder;
        std::filesystem::create_directories(path / ".tmp-step-00000003");
        write_all(path / ".tmp-step-00000003/arrays-00000.h5", "half");
        write_checkpoint(path, every_type().views(), record_of(1));
        write_all(path / "step-00000001/manifest.json.part", "half");
        Manager manager(options_of(folder));
        manager.save(every_type().views(), record_of(4));
        manager.wait();
        QCOMPARE(entries_in(path), 2);
        QVERIFY(!std::filesystem::exists(path / "step-00000001/manifest.json.part"));
    }

    void copies_and_foreign_folders_of_the_user_stay() {
        const Folder folder;
        ManagerOptions options = options_of(folder, false);
        options.keep_latest = 1;
        options.keep_best = 0;
        Manager manager(options);
        manager.save(every_type().views(), record_of(1));
        std::filesystem::copy(options.folder / "step-00000001", options.folder / "my favourite",
                              std::filesystem::copy_options::recursive);
        std::filesystem::create_directory(options.folder / "step-00000002");
        manager.save(every_type().views(), record_of(3));
        QVERIFY(!std::filesystem::exists(options.folder / "step-00000001"));
        QVERIFY(std::filesystem::exists(options.folder / "my favourite/manifest.json"));
        QVERIFY(std::filesystem::exists(options.folder / "step-00000002"));
    }

    void a_copy_under_the_name_of_the_step_to_save_is_set_aside_and_told() {
        const Folder folder;
        const ManagerOptions options = options_of(folder, false);
        Manager manager(options);
        manager.save(every_type().views(), record_of(1));
        std::filesystem::copy(options.folder / "step-00000001", options.folder / "step-00000002",
                              std::filesystem::copy_options::recursive);
        manager.save(every_type().views(), record_of(2));
        const std::vector<Saved> saved = manager.take_finished();
        QCOMPARE(saved.at(1).error, std::string());
        QVERIFY(saved.at(1).warning.find("unusable-step-00000002") != std::string::npos);
        QCOMPARE(steps_in(options.folder), (std::vector<std::int64_t>{1, 2}));
        QVERIFY(verify(read_manifest(options.folder / "step-00000002")).empty());
        QVERIFY(read_manifest(options.folder / "unusable-step-00000002").record.step == 1);
    }

    void a_mark_by_hand_and_metrics_of_the_run_never_undo_each_other() {
        constexpr int kRounds = 40;
        const Folder folder;
        const ManagerOptions options = options_of(folder, false);
        Manager manager(options);
        manager.save(every_type().views(), record_of(5));
        const std::filesystem::path path = options.folder / "step-00000005";
        const Manifest first = read_manifest(path);
        int lost = 0;
        std::vector<std::string> problems;
        for (int i = 0; i < kRounds; ++i) {
            const bool pinned = i % 2 == 0;
            const double loss = 1.0 / (i + 1);
            std::optional<Error> refused;
            {
                const std::jthread studio(
                    [&] { refused = error_of([&] { set_pinned(first, pinned); }); });
                manager.save(every_type().views(), record_of(5, loss));
            }
            for (const Saved& saved : manager.take_finished()) {
                if (!saved.error.empty()) {
                    problems.push_back(saved.error);
                }
            }
            if (refused) {
                problems.push_back(refused->message());
            }
            const Record record = read_manifest(path).record;
            lost += record.metrics["validation/loss"].get<double>() != loss ||
                            record.kept_for.empty() == pinned
                        ? 1
                        : 0;
        }
        QVERIFY2(problems.empty(), problems.empty() ? "" : problems.front().c_str());
        QCOMPARE(lost, 0);
    }

    void a_temporary_folder_that_somebody_writes_into_stays() {
        const Folder folder;
        const ManagerOptions options = options_of(folder, false);
        const std::filesystem::path living = options.folder / ".tmp-step-00000003";
        std::filesystem::create_directories(living);
        std::filesystem::create_directories(options.folder / ".tmp-step-00000004");
        File writing(living / kWritingName, File::Mode::write_new);
        QVERIFY(writing.try_lock());
        Manager manager(options);
        manager.save(every_type().views(), record_of(9));
        QVERIFY(std::filesystem::exists(living));
        QVERIFY(!std::filesystem::exists(options.folder / ".tmp-step-00000004"));
        QVERIFY(error_of([&] {
                    write_checkpoint(options.folder, every_type().views(), record_of(3));
                }).has_value());
        writing.close();
        manager.save(every_type().views(), record_of(10));
        QVERIFY(!std::filesystem::exists(living));
    }

    void a_full_disk_at_any_place_leaves_the_older_checkpoints_whole() {
        const Folder folder;
        ManagerOptions options = options_of(folder, false);
        options.keep_latest = 1;
        Manager manager(options);
        manager.save(every_type().views(), record_of(1));
        QVERIFY(manager.take_finished().at(0).error.empty());
        const Manifest old = read_manifest(options.folder / "step-00000001");
        const auto largest = static_cast<rlim_t>(old.shards[0].bytes);
        for (rlim_t bytes = 0; bytes < largest; bytes += 509) {
            {
                const FileSizeLimit limit(bytes);
                manager.save(every_type().views(), record_of(2));
            }
            const std::vector<Saved> saved = manager.take_finished();
            QCOMPARE(saved.size(), std::size_t(1));
            QVERIFY2(!saved[0].error.empty(), std::to_string(bytes).c_str());
            QCOMPARE(entries_in(options.folder), 1);
            QVERIFY(verify(old).empty());
        }
        manager.save(every_type().views(), record_of(2));
        QVERIFY(manager.take_finished().at(0).error.empty());
        QCOMPARE(steps_in(options.folder), std::vector<std::int64_t>{2});
    }

    void a_folder_that_cannot_be_written_is_an_error_of_the_save() {
        const Folder folder;
        const ManagerOptions options = options_of(folder);
        write_all(options.folder, "a file where the folder should be");
        Manager manager(options);
        manager.save(every_type().views(), record_of(1));
        manager.wait();
        const std::vector<Saved> saved = manager.take_finished();
        QCOMPARE(saved.size(), std::size_t(1));
        QVERIFY(saved[0].error.find(options.folder.string()) != std::string::npos);
    }
};

WEFT_TEST(ManagerTest)
#include "manager_test.moc"
