// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/checkpoint/checkpoint_support.h"

#include <QProcess>
#include <QStandardPaths>

using namespace weft;
using namespace weft::checkpoint;
using namespace weft::checkpoint::test;

class RoundTripTest : public QObject {
    Q_OBJECT

private slots:
    void every_element_type_comes_back_bitwise() {
        const Folder folder;
        const Arrays arrays = every_type();
        const Manifest written = write_checkpoint(folder.path(), arrays.views(), record_of(500));
        QCOMPARE(written.path, folder.path() / "step-00000500");
        const Manifest read = read_manifest(written.path);
        QCOMPARE(read.tensors.size(), arrays.views().size());
        for (const TensorView& view : arrays.views()) {
            const TensorInfo* tensor = read.find(view.name);
            QVERIFY(tensor != nullptr);
            QVERIFY(tensor->type == view.type);
            QCOMPARE(tensor->kind, view.kind);
            std::vector<std::byte> bytes(view.data.size());
            read_tensor(read, view.name, bytes);
            QVERIFY(std::equal(bytes.begin(), bytes.end(), view.data.begin(), view.data.end()));
        }
        QVERIFY(verify(read).empty());
    }

    void the_record_comes_back() {
        const Folder folder;
        Record record = record_of(12, 0.41);
        record.environment["threads"] = 2;
        record.config["name"] = "Grüße";
        record.kept_for = {"by hand"};
        record.epoch = 0.1 + 0.2; // needs all 17 digits
        write_checkpoint(folder.path(), every_type().views(), record);
        const Record read = read_manifest(folder.path() / folder_name(12)).record;
        QCOMPARE(read.step, record.step);
        QCOMPARE(read.epoch, record.epoch);
        QVERIFY(read.counters == record.counters);
        QVERIFY(read.metrics == record.metrics);
        QCOMPARE(read.metric_step, record.metric_step);
        QVERIFY(read.environment == record.environment);
        QVERIFY(read.config == record.config);
        QCOMPARE(read.kept_for, record.kept_for);
    }

    void the_tokenizer_lies_in_the_checkpoint() {
        const Folder folder;
        Record record = record_of(12);
        record.tokenizer = std::make_shared<const std::string>("{\"model\": \"ä\"}\n");
        const Manifest manifest = write_checkpoint(folder.path(), every_type().views(), record);
        QCOMPARE(read_tokenizer_of(manifest), *record.tokenizer);
        QCOMPARE(read_all(manifest.path / kTokenizerName), *record.tokenizer);
        QVERIFY(verify(manifest).empty());
        // What comes later leaves it.
        QCOMPARE(read_tokenizer_of(set_pinned(manifest, true)), *record.tokenizer);
        // Of other bytes it is told, of another length the checkpoint is not whole.
        write_all(manifest.path / kTokenizerName, "{\"model\": \"ö\"}\n");
        QVERIFY(error_of([&] { read_tokenizer_of(manifest); }).has_value());
        QCOMPARE(verify(manifest).size(), std::size_t{1});
        write_all(manifest.path / kTokenizerName, "{}");
        QVERIFY(error_of([&] { read_manifest(manifest.path); }).has_value());
        const Folder other;
        QCOMPARE(
            read_tokenizer_of(write_checkpoint(other.path(), every_type().views(), record_of(1))),
            std::string());
    }

    void bytes_are_those_on_disk() {
        const Folder folder;
        const Manifest manifest =
            write_checkpoint(folder.path(), every_type().views(), record_of(1));
        std::int64_t bytes = 0;
        for (const auto& entry : std::filesystem::directory_iterator(manifest.path)) {
            bytes += static_cast<std::int64_t>(entry.file_size());
        }
        QCOMPARE(manifest.bytes, bytes);
    }

    void an_existing_complete_checkpoint_is_left_as_it_is() {
        const Folder folder;
        write_checkpoint(folder.path(), every_type().views(), record_of(3));
        const std::string before = read_all(folder.path() / "step-00000003/manifest.json");
        Arrays other;
        other.add<float>("x", "parameters", ir::DType::f32, {1}, {1});
        const Manifest again = write_checkpoint(folder.path(), other.views(), record_of(3));
        QCOMPARE(read_all(folder.path() / "step-00000003/manifest.json"), before);
        QVERIFY(again.find("layers.0.weight") != nullptr);
    }

    void a_damaged_checkpoint_is_replaced() {
        const Folder folder;
        write_checkpoint(folder.path(), every_type().views(), record_of(3));
        write_all(folder.path() / "step-00000003/manifest.json", "{}");
        write_checkpoint(folder.path(), every_type().views(), record_of(3));
        QVERIFY(verify(read_manifest(folder.path() / "step-00000003")).empty());
        QCOMPARE(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
    }

    void a_record_can_be_brought_up_to_date() {
        const Folder folder;
        Manifest manifest = write_checkpoint(folder.path(), every_type().views(), record_of(3));
        Record record = record_of(3, 0.5);
        record.kept_for = {"by hand"};
        manifest = update_record(manifest, record);
        QVERIFY(read_manifest(manifest.path).record.metrics == record.metrics);
        QCOMPARE(read_manifest(manifest.path).record.kept_for, record.kept_for);
        QVERIFY(verify(manifest).empty());
    }

    void equal_states_give_equal_shards() {
        const Folder a;
        const Folder b;
        write_checkpoint(a.path(), every_type().views(), record_of(3));
        write_checkpoint(b.path(), every_type().views(), record_of(3));
        QCOMPARE(read_all(a.path() / "step-00000003/arrays-00000.h5"),
                 read_all(b.path() / "step-00000003/arrays-00000.h5"));
    }

    void a_state_without_arrays_is_a_checkpoint() {
        const Folder folder;
        const Manifest manifest = write_checkpoint(folder.path(), {}, record_of(0));
        QVERIFY(verify(manifest).empty());
    }

    void an_unknown_array_is_named() {
        const Folder folder;
        const Manifest manifest =
            write_checkpoint(folder.path(), every_type().views(), record_of(1));
        const auto error = error_of([&] { read_tensor(manifest, "absent", {}); });
        QVERIFY(error && error->text().find("'absent'") != std::string::npos);
        QCOMPARE(error->kind(), ErrorKind::checkpoint);
    }

    void another_program_reads_the_shard() {
        if (QStandardPaths::findExecutable("h5dump").isEmpty()) {
            QSKIP("h5dump (Debian package hdf5-tools) is not installed");
        }
        const Folder folder;
        const Manifest manifest =
            write_checkpoint(folder.path(), every_type().views(), record_of(1));
        const QString shard = QString::fromStdString((manifest.path / "arrays-00000.h5").string());
        const auto dumped = [&](const QString& name) {
            QProcess program;
            program.start("h5dump", {"-y", "-w", "0", "-d", name, shard});
            program.waitForFinished();
            const QString text = QString::fromUtf8(program.readAllStandardOutput());
            const qsizetype begin = text.indexOf("DATA {") + 6;
            return text.mid(begin, text.indexOf('}', begin) - begin).simplified().remove(' ');
        };
        QCOMPARE(dumped("/parameters/layers.0.weight"), QString("1.5,-2,0,-0,9.99995e-41,3e+38"));
        QCOMPARE(dumped("/parameters/layers.0.half"), QString("16256,49152"));
        QCOMPARE(dumped("/optimizer/layers.0.weight.m"), QString("0.1,-1e+300"));
        QCOMPARE(dumped("/state/steps"), QString("-7"));
        QCOMPARE(dumped("/state/keys"), QString("-9223372036854775808,9223372036854775807"));
        QCOMPARE(dumped("/state/bytes"), QString("0,1,127,128,255"));
    }
};

WEFT_TEST(RoundTripTest)
#include "round_trip_test.moc"
