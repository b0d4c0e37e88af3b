// SPDX-License-Identifier: Apache-2.0
// Checkpoints of several writers: what comes back, what is read, and what is refused.
#include "core/checkpoint/array_reader.h"
#include "core/checkpoint/block_sums.h"
#include "core/checkpoint/manifest_json.h"
#include "tests/unit/checkpoint/piece_support.h"

#include <QProcess>
#include <QStandardPaths>

#include <mutex>
#include <random>

using namespace weft;
using namespace weft::checkpoint;
using namespace weft::checkpoint::test;

namespace {

constexpr unsigned kPiecesSeed = 20251122;

Manifest saved_by_three(const Folder& folder) {
    return write_checkpoint(folder.path(), state_of_three().views(), record_of_three(7));
}

/// An array of more than three blocks, in one piece.
Manifest saved_large(const Folder& folder) {
    PieceArrays arrays;
    arrays.add("table", {819, 1024}, {{{0, 0}, {819, 1024}}}, {0});
    return write_checkpoint(folder.path(), arrays.views(), record_of(1));
}

std::optional<Error> error_of_three_with(const std::function<void(Manifest&)>& change) {
    const Folder folder;
    Manifest manifest = read_manifest(saved_by_three(folder).path);
    change(manifest);
    write_all(manifest.path / kManifestName, manifest_text(manifest));
    return error_of([&] { read_manifest(manifest.path); });
}

void flip_byte(const std::filesystem::path& file, std::int64_t at) {
    std::string content = read_all(file);
    content[static_cast<std::size_t>(at)] ^= 1;
    write_all(file, content);
}

/// A block of the weight that spans all three pieces and none of them whole.
Placed inner_block() {
    return {{{3, 5}, {20, 22}}, {25, 30}, {2, 4}};
}

} // namespace

class PiecesTest : public QObject {
    Q_OBJECT

private slots:
    void each_writer_has_shards_of_its_own_and_arrays_come_back_whole() {
        const Folder folder;
        const Manifest written = saved_by_three(folder);
        const Manifest manifest = read_manifest(written.path);
        QCOMPARE(manifest.shards.size(), std::size_t(3));
        for (int writer = 0; writer < 3; ++writer) {
            QCOMPARE(manifest.shards[static_cast<std::size_t>(writer)].writer, writer);
        }
        QCOMPARE(manifest.find("weight")->pieces.size(), std::size_t(3));
        QVERIFY(manifest.record.mesh == record_of_three(7).mesh);
        QVERIFY(comes_back(manifest, state_of_three()));
        QVERIFY(verify(manifest).empty());
    }

    void padding_is_never_saved() {
        const Folder folder;
        const Manifest manifest = saved_by_three(folder);
        std::int64_t bytes = 0;
        for (const ShardInfo& shard : manifest.shards) {
            for (const auto& [first, end] : payload_ranges(manifest, shard.file)) {
                bytes += end - first;
            }
        }
        QCOMPARE(bytes, std::int64_t{(40 * 30 + 7 + 5) * 4});
    }

    void what_other_processes_have_they_write_and_one_commits() {
        const Folder folder;
        const PieceArrays arrays = state_of_three();
        // This process has what writer 0 holds; the others are asked.
        std::vector<TensorView> here = arrays.views();
        for (TensorView& view : here) {
            for (PieceView& piece : view.pieces) {
                piece.memory = piece.writer == 0 ? piece.memory : std::span<const std::byte>();
            }
        }
        std::mutex mutex;
        std::vector<int> asked;
        const WriteElsewhere elsewhere = [&](const ShardOrder& order) {
            std::vector<TensorView> theirs;
            for (const auto& [name, box] : order.pieces) {
                for (TensorView view : arrays.views()) {
                    std::erase_if(view.pieces, [&](const PieceView& piece) {
                        return !(piece.place.box == box) || piece.writer != order.writer;
                    });
                    if (view.name == name && !view.pieces.empty()) {
                        theirs.push_back(std::move(view));
                    }
                }
            }
            const std::lock_guard lock(mutex);
            asked.push_back(order.writer);
            return write_shard(order.file, theirs);
        };
        ManagerOptions options;
        options.folder = folder.path();
        options.elsewhere = elsewhere;
        Manager manager(options);
        manager.save(here, record_of_three(7));
        manager.wait();
        QCOMPARE(manager.take_finished().at(0).error, std::string());
        std::sort(asked.begin(), asked.end());
        QCOMPARE(asked, (std::vector<int>{1, 2}));
        // The copy has what this process has, in whole lines of 64 bytes, and no more.
        QCOMPARE(manager.staging_bytes(), std::int64_t{40 * 10 * 4 + 64});
        const Manifest manifest = read_manifest(folder.path() / folder_name(7));
        QVERIFY(verify(manifest).empty());
        QVERIFY(comes_back(manifest, arrays));
        const Folder other;
        const Manifest together = saved_by_three(other);
        for (const ShardInfo& shard : together.shards) {
            QVERIFY(read_all(manifest.path / shard.file) == read_all(together.path / shard.file));
        }
    }

    void a_shard_that_nobody_could_write_leaves_nothing_behind() {
        const Folder folder;
        std::vector<TensorView> here = state_of_three().views();
        for (TensorView& view : here) {
            for (PieceView& piece : view.pieces) {
                piece.memory = {};
            }
        }
        const auto fault = error_of([&] {
            write_checkpoint(folder.path(), here, record_of_three(7),
                             [](const ShardOrder& order) -> WrittenShard {
                                 throw Error(ErrorKind::device, "rank 2", order.file.string());
                             });
        });
        QVERIFY(fault.has_value() && fault->where() == "rank 2");
        QVERIFY(std::filesystem::is_empty(folder.path()));
    }

    void a_background_save_copies_pieces_and_no_more() {
        const Folder folder;
        ManagerOptions options;
        options.folder = folder.path();
        Manager manager(options);
        {
            const PieceArrays arrays = state_of_three();
            manager.save(arrays.views(), record_of_three(7));
        }
        manager.wait();
        // Each array takes whole lines of 64 bytes.
        QCOMPARE(manager.staging_bytes(), std::int64_t{40 * 30 * 4 + 64 + 64});
        QCOMPARE(manager.take_finished().at(0).error, std::string());
        QVERIFY(comes_back(read_manifest(folder.path() / folder_name(7)), state_of_three()));
    }

    void a_state_of_one_writer_is_readable_by_every_version() {
        const Folder folder;
        const Manifest one = write_checkpoint(folder.path(), every_type().views(), record_of(1));
        const std::string text = read_all(one.path / kManifestName);
        QVERIFY(text.find("\"schema_version\": 1") != std::string::npos);
        QVERIFY(text.find("pieces") == std::string::npos);
        const std::string sharded = read_all(saved_by_three(folder).path / kManifestName);
        QVERIFY(sharded.find("\"schema_version\": 2") != std::string::npos);
    }

    void any_block_is_read_to_its_place_and_nothing_else() {
        const Folder folder;
        const Manifest manifest = saved_by_three(folder);
        const TensorInfo& weight = *manifest.find("weight");
        std::mt19937 random(kPiecesSeed);
        const auto pick = [&](std::int64_t first, std::int64_t last) {
            return std::uniform_int_distribution<std::int64_t>(first, last)(random);
        };
        for (int trial = 0; trial < 500; ++trial) {
            const Box box{{pick(0, 20), pick(0, 15)}, {pick(1, 20), pick(1, 15)}};
            const Placed place{box, {box.count[0] + 2, box.count[1] + 3}, {1, pick(0, 3)}};
            std::vector<float> into(static_cast<std::size_t>(place.memory.elements()), -5);
            std::vector<float> expected = into;
            for (std::int64_t row = 0; row < box.count[0]; ++row) {
                for (std::int64_t column = 0; column < box.count[1]; ++column) {
                    const std::int64_t at = (row + 1) * place.memory[1] + place.at[1] + column;
                    expected[static_cast<std::size_t>(at)] =
                        static_cast<float>((box.start[0] + row) * 30 + box.start[1] + column);
                }
            }
            ArrayReader reader(manifest);
            reader.read(weight, place, std::as_writable_bytes(std::span(into)));
            QCOMPARE(into, expected);
            std::int64_t touched = 0; // pieces of less than a block are read whole
            for (const PieceUse& use : pieces_used(weight, box)) {
                touched += use.piece->box.elements() * 4;
            }
            QCOMPARE(reader.bytes_read(), touched);
        }
    }

    void what_is_used_of_the_pieces_is_said_beforehand() {
        const Folder folder;
        const Manifest manifest = saved_by_three(folder);
        const auto uses = pieces_used(*manifest.find("weight"), inner_block().box);
        QCOMPARE(uses.size(), std::size_t(3));
        // Columns 5 to 26 of rows 3 to 22: 5, 10 and 7 of each piece's ten.
        const std::int64_t columns[] = {5, 10, 7};
        for (std::size_t i = 0; i < uses.size(); ++i) {
            QCOMPARE(uses[i].bytes, 20 * columns[i] * 4);
            QCOMPARE(manifest.writer(uses[i].piece->shard), static_cast<int>(i));
        }
    }

    void a_changed_byte_next_to_the_block_that_is_read_is_noticed() {
        const Folder folder;
        const Manifest manifest = saved_by_three(folder);
        const TensorInfo& weight = *manifest.find("weight");
        // Column 9 of row 39, the last element of the first piece; columns 5 to 8 are read.
        flip_byte(manifest.path / weight.pieces[0].shard, weight.pieces[0].offset + 399 * 4);
        std::vector<std::byte> part(40 * 4 * 4);
        ArrayReader reader(manifest);
        const auto error = error_of([&] { reader.read(weight, dense({{0, 5}, {40, 4}}), part); });
        QVERIFY(error && error->text().find("checksum") != std::string::npos);
        reader.read(weight, dense({{0, 10}, {40, 4}}), part); // of the next piece
    }

    void what_several_take_is_read_once() {
        const Folder folder;
        const Manifest manifest = saved_by_three(folder);
        const TensorInfo& weight = *manifest.find("weight");
        std::vector<std::byte> first(40 * 30 * 4);
        std::vector<std::byte> second(first.size());
        std::vector<std::byte> part(40 * 15 * 4);
        const std::vector<Destination> all{{dense(whole_box(weight.type.shape)), first},
                                           {dense(whole_box(weight.type.shape)), second},
                                           {dense({{0, 5}, {40, 15}}), part}};
        ArrayReader reader(manifest);
        reader.read(weight, all);
        QCOMPARE(reader.bytes_read(), std::int64_t{40 * 30 * 4});
        const PieceArrays state = state_of_three();
        QVERIFY(std::equal(first.begin(), first.end(), state.whole(0).begin()));
        QVERIFY(first == second);
        std::vector<std::byte> alone(part.size());
        ArrayReader(manifest).read(weight, all[2].place, alone);
        QVERIFY(part == alone);
    }

    void a_part_of_a_large_piece_costs_the_blocks_that_it_touches() {
        const Folder folder;
        const Manifest manifest = saved_large(folder);
        const TensorInfo& table = *manifest.find("table");
        QCOMPARE(table.pieces[0].block_crc32c.size(), std::size_t(4)); // 3.2 MiB
        std::vector<float> row(1024);
        ArrayReader reader(manifest);
        // A row of 4 KiB; 256 of them make a block.
        reader.read(table, dense({{300, 0}, {1, 1024}}), std::as_writable_bytes(std::span(row)));
        QCOMPARE(reader.bytes_read(), kBlockBytes);
        QCOMPARE(row[7], 300 * 1024 + 7.0F);
        std::vector<float> column(819);
        ArrayReader all(manifest);
        all.read(table, dense({{0, 3}, {819, 1}}), std::as_writable_bytes(std::span(column)));
        QCOMPARE(all.bytes_read(), table.type.bytes());
        QCOMPARE(column[818], 818 * 1024 + 3.0F);
    }

    void a_checkpoint_without_sums_of_parts_is_checked_whole_before_a_part_is_used() {
        const Folder folder;
        Manifest manifest = saved_large(folder);
        manifest.tensors[0].pieces[0].block_crc32c.clear();
        write_all(manifest.path / kManifestName, manifest_text(manifest));
        manifest = read_manifest(manifest.path);
        QVERIFY(verify(manifest).empty());
        const TensorInfo& table = *manifest.find("table");
        QVERIFY(table.pieces[0].block_crc32c.empty());
        std::vector<float> row(1024);
        const auto bytes = std::as_writable_bytes(std::span(row));
        ArrayReader(manifest).read(table, dense({{300, 0}, {1, 1024}}), bytes);
        QCOMPARE(row[7], 300 * 1024 + 7.0F);
        // Far away from the row.
        flip_byte(manifest.path / table.pieces[0].shard, table.pieces[0].offset + 818 * 4096);
        QVERIFY(error_of([&] {
                    ArrayReader(manifest).read(table, dense({{300, 0}, {1, 1024}}), bytes);
                }).has_value());
    }

    void sums_of_parts_that_do_not_fit_the_piece_are_refused() {
        const Folder folder;
        const Manifest manifest = saved_large(folder);
        const auto refused = [&](const std::function<void(std::vector<std::uint32_t>&)>& change) {
            Manifest changed = manifest;
            change(changed.tensors[0].pieces[0].block_crc32c);
            write_all(manifest.path / kManifestName, manifest_text(changed));
            return error_of([&] { read_manifest(manifest.path); }).has_value() ||
                   !verify(read_manifest(manifest.path)).empty();
        };
        QVERIFY(!refused([](auto&) {}));
        QVERIFY(refused([](auto& sums) { sums.pop_back(); }));
        QVERIFY(refused([](auto& sums) { sums.push_back(0); }));
        QVERIFY(refused([](auto& sums) { sums[2] ^= 1; }));
    }

    void a_shard_whose_structure_changed_is_not_read() {
        const Folder folder;
        const Manifest manifest = saved_by_three(folder);
        const TensorInfo& weight = *manifest.find("weight");
        flip_byte(manifest.path / weight.pieces[0].shard, 9);
        std::vector<std::byte> bytes(static_cast<std::size_t>(weight.type.bytes()));
        const auto error = error_of([&] { read_tensor(manifest, "weight", bytes); });
        QVERIFY(error && error->text().find("structure") != std::string::npos);
    }

    void a_changed_piece_that_is_read_whole_is_noticed() {
        const Folder folder;
        const Manifest manifest = saved_by_three(folder);
        const TensorInfo& weight = *manifest.find("weight");
        const PieceInfo& piece = weight.pieces[1];
        flip_byte(manifest.path / piece.shard, piece.offset + 100);
        std::vector<std::byte> bytes(40 * 10 * 4);
        ArrayReader reader(manifest);
        const auto error = error_of([&] { reader.read(weight, dense(piece.box), bytes); });
        QVERIFY(error && error->text().find("[0:40, 10:20]") != std::string::npos);
        QCOMPARE(error->where(), (manifest.path / piece.shard).string());
        QCOMPARE(verify(manifest).size(), std::size_t(1));
    }

    void the_mesh_of_the_arrays_stays_when_the_record_changes() {
        const Folder folder;
        const Manifest manifest = saved_by_three(folder);
        const Manifest updated = update_record(manifest, record_of(7, 0.5));
        QVERIFY(updated.record.mesh == record_of_three(7).mesh);
        QVERIFY(verify(updated).empty());
    }

    void the_same_arrays_from_other_writers_compare_equal() {
        const Folder folder;
        const Manifest a = saved_by_three(folder);
        PieceArrays other;
        other.add("weight", {40, 30}, {{{0, 0}, {11, 30}}, {{11, 0}, {29, 30}}}, {1, 0});
        other.add("bias", {7}, {{{0}, {7}}}, {0});
        other.add("norm", {5}, {{{0}, {5}}}, {0});
        const Folder second;
        const Manifest b = write_checkpoint(second.path(), other.views(), record_of(7));
        QVERIFY(compare(a, b).equal());
    }

    void pieces_that_do_not_make_up_the_array_are_refused() {
        QVERIFY(!error_of_three_with([](Manifest&) {}).has_value());
        const auto refused = [](const std::function<void(std::vector<PieceInfo>&)>& change) {
            return error_of_three_with([&](Manifest& m) { change(m.tensors[0].pieces); })
                .has_value();
        };
        QVERIFY(refused([](auto& pieces) { pieces.pop_back(); }));
        QVERIFY(refused([](auto& pieces) { pieces.clear(); }));
        QVERIFY(refused([](auto& pieces) { pieces.push_back(pieces[0]); }));
        QVERIFY(refused([](auto& pieces) { pieces[0].box.start[1] = 1; }));
        QVERIFY(refused([](auto& pieces) { pieces[0].box.start[1] = -1; }));
        QVERIFY(refused([](auto& pieces) { pieces[0].box.start[1] = INT64_MAX; }));
        QVERIFY(refused([](auto& pieces) { pieces[0].box.count[0] = INT64_MAX; }));
        QVERIFY(refused([](auto& pieces) { pieces[0].box.count.push_back(1); }));
        QVERIFY(refused([](auto& pieces) { pieces[0].offset = INT64_MAX; }));
        QVERIFY(refused([](auto& pieces) { pieces[0].shard = "other.h5"; }));
        QVERIFY(error_of_three_with([](Manifest& m) { m.shards[0].writer = -1; }).has_value());
    }

    void more_pieces_than_can_be_checked_are_refused() {
        const Folder folder;
        Arrays arrays;
        arrays.add<float>("x", "parameters", ir::DType::f32, {1, 1, 1, 1, 1, 1, 1, 1}, {1});
        Manifest manifest = write_checkpoint(folder.path(), arrays.views(), record_of(1));
        PieceInfo nothing = manifest.tensors[0].pieces[0];
        std::fill_n(&nothing.box.count[0], 8, 0);
        manifest.tensors[0].pieces.resize(20000, nothing); // 2^8 corners each
        write_all(manifest.path / kManifestName, manifest_text(manifest));
        const auto error = error_of([&] { read_manifest(manifest.path); });
        QVERIFY(error && error->text().find("too long") != std::string::npos);
    }

    void another_program_reads_a_piece() {
        if (QStandardPaths::findExecutable("h5dump").isEmpty()) {
            QSKIP("h5dump (Debian package hdf5-tools) is not installed");
        }
        const Folder folder;
        const Manifest manifest = saved_by_three(folder);
        QProcess program;
        program.start("h5dump",
                      {"-y", "-w", "0", "-d", "/parameters/bias/4",
                       QString::fromStdString((manifest.path / "arrays-00002.h5").string())});
        program.waitForFinished();
        const QString text = QString::fromUtf8(program.readAllStandardOutput());
        const qsizetype begin = text.indexOf("DATA {") + 6;
        QCOMPARE(text.mid(begin, text.indexOf('}', begin) - begin).simplified().remove(' '),
                 QString("4,5,6"));
    }
};

WEFT_TEST(PiecesTest)
#include "pieces_test.moc"
