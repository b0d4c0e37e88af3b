// SPDX-License-Identifier: Apache-2.0
// Event files of other programs: real ones, growing ones, restarted ones, damaged ones.
#include "core/base/error.h"
#include "core/train/logging/tensorboard_reader.h"
#include "core/train/logging/tensorboard_writer.h"
#include "tests/support/weft_test.h"
#include "tests/unit/train/peer_files.h"

#include <QTemporaryDir>

#include <cmath>
#include <fstream>

namespace {

using namespace weft::train;
namespace fs = std::filesystem;

std::string unhex(const char* text) {
    return QByteArray::fromHex(text).toStdString();
}

void write_bytes(const fs::path& path, const std::string& bytes, bool append = false) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, append ? std::ios::binary | std::ios::app : std::ios::binary) << bytes;
}

std::string point(std::int64_t step, double value, const char* tag = "a") {
    return framed_record(scalar_event(100.0 + double(step), step, {{tag, value}}));
}

const ScalarSeries* find(const std::vector<ScalarSeries>& series, const std::string& tag) {
    for (const ScalarSeries& one : series) {
        if (one.tag == tag) {
            return &one;
        }
    }
    return nullptr;
}

std::vector<ScalarSeries> read_all(const fs::path& folder, ScalarBatch* last = nullptr) {
    std::vector<ScalarSeries> series;
    TensorboardReader reader(folder);
    ScalarBatch batch = reader.read();
    append(series, batch);
    if (last != nullptr) {
        *last = std::move(batch);
    }
    return series;
}

constexpr const char* kName = "events.out.tfevents.100.host";

} // namespace

class TensorboardTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;
    fs::path folder(const char* name) const { return fs::path(dir_.path().toStdString()) / name; }

private slots:
    void files_of_tensorboardX_are_read() {
        write_bytes(folder("x") / kName, unhex(weft::test::kTensorboardX));
        ScalarBatch batch;
        const auto series = read_all(folder("x"), &batch);
        QCOMPARE(series.size(), std::size_t{2});
        QVERIFY(batch.problems.empty());
        const ScalarSeries* loss = find(series, "loss/train");
        QVERIFY(loss != nullptr);
        QCOMPARE(loss->step, (std::vector<double>{1, 2}));
        QCOMPARE(loss->value, (std::vector<double>{2.5, 1.25}));
        QCOMPARE(loss->time, (std::vector<double>{1000, 1001}));
        QCOMPARE(find(series, "acc")->value, std::vector<double>{0.5});
    }

    void files_of_pytorch_are_read_with_scalars_as_tensors() {
        write_bytes(folder("torch") / kName, unhex(weft::test::kTorch));
        const auto series = read_all(folder("torch"));
        QCOMPARE(find(series, "Loss/val")->value, std::vector<double>{0.75});
        // Only the first value of a tag names the plug-in. Written as f32.
        QCOMPARE(find(series, "new")->value, (std::vector<double>{double(0.1f), double(0.2f)}));
        QCOMPARE(find(series, "double")->value, std::vector<double>{0.1});
        QVERIFY(std::isnan(find(series, "nan")->value.at(0)));
        QCOMPARE(series.size(), std::size_t{4}); // words are no scalars
    }

    void hyperparameters_of_pytorch_are_read() {
        write_bytes(folder("hparams") / kName, unhex(weft::test::kTorchHparams));
        ScalarBatch batch;
        const auto series = read_all(folder("hparams"), &batch);
        QCOMPARE(batch.hparams.at("lr").get<double>(), 0.25);
        QCOMPARE(batch.hparams.at("opt").get<std::string>(), std::string("sgd"));
        QCOMPARE(batch.hparams.at("nesterov").get<double>(), 1.0); // PyTorch writes it as a number
        QCOMPARE(find(series, "final")->value, std::vector<double>{0.5});
    }

    void a_purge_takes_back_the_steps_of_the_file_before() {
        const fs::path run = folder("purge");
        write_bytes(run / "events.out.tfevents.100.host", framed_record(version_event(100)) +
                                                              point(1, 10) + point(2, 20) +
                                                              point(3, 33) + point(4, 44));
        write_bytes(run / "events.out.tfevents.200.host", unhex(weft::test::kTorchPurge));
        const auto series = read_all(run);
        QCOMPARE(series.at(0).step, (std::vector<double>{1, 2, 3}));
        QCOMPARE(series.at(0).value, (std::vector<double>{10, 20, 30}));
        QCOMPARE(series.at(0).taken_back, std::size_t{2});
    }

    void a_restart_without_a_purge_goes_back_by_its_steps() {
        const fs::path run = folder("restart");
        write_bytes(run / "events.out.tfevents.100.host",
                    point(1, 1) + point(2, 2) + point(3, 3) + point(1, 9, "b"));
        write_bytes(run / "events.out.tfevents.200.host", point(2, 22) + point(3, 33));
        const auto series = read_all(run);
        QCOMPARE(find(series, "a")->value, (std::vector<double>{1, 22, 33}));
        QCOMPARE(find(series, "b")->value, std::vector<double>{9}); // no step of it came again
    }

    // At every byte: what is complete is there, what is not is waited for, nothing is a fault.
    void a_record_counts_when_its_last_byte_is_there() {
        const std::string first = framed_record(version_event(100)) + point(1, 1);
        const std::string second = point(2, 2);
        for (std::size_t cut = 0; cut < second.size(); ++cut) {
            const fs::path run = folder("torn") / std::to_string(cut);
            write_bytes(run / kName, first + second.substr(0, cut));
            TensorboardReader reader(run);
            std::vector<ScalarSeries> series;
            ScalarBatch batch = reader.read();
            QVERIFY(batch.problems.empty());
            append(series, batch);
            QCOMPARE(series.at(0).step.size(), std::size_t{1});
            write_bytes(run / kName, second.substr(cut), true);
            append(series, reader.read());
            QCOMPARE(series.at(0).value, (std::vector<double>{1, 2}));
            QVERIFY(reader.read().points.empty());
        }
    }

    void new_files_and_new_tags_are_found_later() {
        const fs::path run = folder("grow");
        TensorboardReader reader(run);
        QVERIFY(reader.read().points.empty()); // not even the folder is there yet
        write_bytes(run / "events.out.tfevents.100.host", point(1, 1));
        QCOMPARE(reader.read().tags, std::vector<std::string>{"a"});
        write_bytes(run / "events.out.tfevents.200.host", point(2, 2) + point(2, 5, "b"));
        const ScalarBatch batch = reader.read();
        QCOMPARE(batch.tags, std::vector<std::string>{"b"});
        QCOMPARE(batch.points.size(), std::size_t{2});
        QCOMPARE(batch.points.at(1).tag, 1);
    }

    void a_limit_is_kept_and_nothing_is_lost_by_it() {
        const fs::path run = folder("limit");
        std::string bytes;
        for (int i = 1; i <= 1000; ++i) {
            bytes += point(i, i);
        }
        write_bytes(run / kName, bytes);
        TensorboardReader reader(run);
        std::vector<ScalarSeries> series;
        int looks = 0;
        for (bool more = true; more; ++looks) {
            const ScalarBatch batch = reader.read(300);
            QVERIFY(batch.points.size() <= 300);
            more = batch.more;
            append(series, batch);
        }
        QCOMPARE(looks, 4);
        QCOMPARE(series.at(0).step.size(), std::size_t{1000});
        QCOMPARE(series.at(0).value.back(), 1000.0);
    }

    void a_damaged_record_is_named_and_left_out() {
        const fs::path run = folder("damaged");
        std::string damaged = point(2, 2);
        damaged[damaged.size() - 6] ^= 1; // in the payload
        write_bytes(run / kName, point(1, 1) + damaged + point(3, 3));
        ScalarBatch batch;
        const auto series = read_all(run, &batch);
        QCOMPARE(series.at(0).step, (std::vector<double>{1, 3}));
        QCOMPARE(batch.problems.size(), std::size_t{1});
        QCOMPARE(batch.problems[0], std::string(kName) + ", byte " +
                                        std::to_string(point(1, 1).size()) +
                                        ": the checksum of a record is wrong; it is left out");
    }

    void a_damaged_length_ends_the_file_and_is_said_once() {
        const fs::path run = folder("length");
        std::string damaged = point(2, 2);
        damaged[0] ^= 1;
        write_bytes(run / kName, point(1, 1) + damaged + point(3, 3));
        TensorboardReader reader(run);
        const ScalarBatch batch = reader.read();
        QCOMPARE(batch.points.size(), std::size_t{1});
        QCOMPARE(batch.problems.size(), std::size_t{1});
        QVERIFY(batch.problems[0].find("damaged") != std::string::npos);
        QVERIFY(reader.read().problems.empty());
    }

    // A record that says it is a gibibyte must not cost one; nor must one that says 2^63.
    void a_length_that_promises_too_much_allocates_nothing() {
        for (const std::uint64_t length : {std::uint64_t{1} << 30, std::uint64_t{1} << 63}) {
            std::string head(8, '\0');
            std::memcpy(head.data(), &length, 8);
            const std::uint32_t sum = masked_crc32c(head);
            head.append(reinterpret_cast<const char*>(&sum), 4);
            const fs::path run = folder("promise") / std::to_string(length);
            write_bytes(run / kName, point(1, 1) + head + "xyz");
            TensorboardReader reader(run);
            QCOMPARE(reader.read().points.size(), std::size_t{1});
        }
    }

    void room_of_zeros_at_the_end_is_waited_for() {
        const fs::path run = folder("zeros");
        write_bytes(run / kName, point(1, 1) + std::string(4096, '\0'));
        ScalarBatch batch;
        QCOMPARE(read_all(run, &batch).at(0).step.size(), std::size_t{1});
        QVERIFY(batch.problems.empty());
    }

    // Any bytes under right checksums: every prefix and every single changed byte of real records.
    void hostile_payloads_are_passed_over() {
        const std::string real = unhex(weft::test::kTorch);
        std::uint64_t length = 0;
        int tried = 0;
        for (std::size_t at = 0; at + 16 <= real.size(); at += length + 16) {
            std::memcpy(&length, real.data() + at, 8);
            const std::string payload = real.substr(at + 12, length);
            const auto try_one = [&](const std::string& bytes) {
                TensorboardEvent event;
                read_tensorboard_event(
                    bytes, [](const TensorboardEvent&, const TensorboardValue&) {}, event);
                ++tried;
            };
            for (std::size_t i = 0; i <= payload.size(); ++i) {
                try_one(payload.substr(0, i));
            }
            for (std::size_t i = 0; i < payload.size(); ++i) {
                for (const char change : {'\x01', '\x80', '\xff'}) {
                    std::string bytes = payload;
                    bytes[i] = static_cast<char>(bytes[i] ^ change);
                    try_one(bytes);
                    read_hparams(bytes);
                }
            }
        }
        QVERIFY(tried > 1000);
        TensorboardEvent event;
        QVERIFY(!read_tensorboard_event(
            "\xff\xff\xff", [](const TensorboardEvent&, const TensorboardValue&) {}, event));
    }

    void what_our_own_writer_writes_comes_back() {
        const fs::path run = folder("own");
        fs::create_directories(run);
        TensorboardWriter writer(run, 100, "host");
        writer.add(101.5, 7, {{"train/loss", 0.5}, {"train/learning_rate", 0.25}});
        const auto series = read_all(run);
        QCOMPARE(find(series, "train/loss")->value, std::vector<double>{0.5});
        QCOMPARE(find(series, "train/learning_rate")->time, std::vector<double>{101.5});
    }
};

WEFT_TEST(TensorboardTest)
#include "tensorboard_test.moc"
