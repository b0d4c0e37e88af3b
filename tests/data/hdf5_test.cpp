// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/base/hdf5_arrays.h"
#include "core/base/hdf5_file.h"
#include "core/data/recognise.h"
#include "tests/data/data_support.h"

#include <cstring>

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

Json hdf5_section(const std::string& path, const char* more = "{}") {
    Json train = config::json_of(more);
    train.update(Json{{"type", "hdf5"}, {"path", path}, {"scale", "none"}});
    return {{"train", train}, {"validation", nullptr}};
}

} // namespace

class Hdf5Test : public QObject {
    Q_OBJECT

private slots:
    // packed.h5 with a few bytes of its structure changed: libhdf5 1.10.8 ends with SIGSEGV on
    // each.
    void a_file_that_crashes_the_library_is_told_and_crashes_nothing_else() {
        for (const char* name : {"crashing1.h5", "crashing2.h5"}) {
            const auto error = error_of([&] {
                open({{"train", {{"type", "hdf5"}, {"path", peer(name)}}}});
            });
            QVERIFY2(error.has_value(), name);
            QVERIFY(error->kind() == ErrorKind::data);
            QCOMPARE(error->where(), std::filesystem::path(peer(name)).string());
            QVERIFY2(error->text().find("in a process of its own") != std::string::npos,
                     error->text().c_str());
        }
    }

    // Chunked, shuffled, gzip-compressed, big-endian; in groups; the only two data sets.
    void a_packed_file_of_h5py_reads_as_it_was_written() {
        const data::DataSet set = open(hdf5_section(peer("packed.h5")));
        QCOMPARE(ir::to_text(set.train->info().input), std::string("f32[6]"));
        QCOMPARE(set.train->info().classes, 3);
        QCOMPARE(set.train->samples(), 4);
        for (int i = 0; i < 4; ++i) {
            QCOMPARE(input_floats(*set.train, i), peer_row(i));
        }
        QCOMPARE(set.train->label(0), 2);
        QVERIFY(set.notes.front().find("'measured/values' is taken as inputs") !=
                std::string::npos);
    }

    void a_plain_file_of_h5py_is_read_sample_by_sample() {
        const data::DataSet set = open(hdf5_section(peer("plain.h5")));
        QCOMPARE(input_floats(*set.train, 3), peer_row(3));
        QCOMPARE(ir::to_text(set.train->info().target), std::string("f32[1]"));
        QCOMPARE(set.train->target_scale().mean, std::vector<double>{0.5 * 9 - 3});
        // Four targets of eight bytes; the inputs stay in the file.
        QCOMPARE(set.train->cache_bytes(), 32);
    }

    void labels_of_minus_and_plus_one_are_refused_with_the_way_out() {
        const Folder folder;
        const auto path = folder.path() / "signs.h5";
        const std::vector<Hdf5Spec> specs = {{"x", Hdf5Type::f64, {3, 1}},
                                             {"y", Hdf5Type::i64, {3}}};
        const std::vector<Hdf5Dataset> placed = create_hdf5(path, specs);
        const std::vector<double> inputs = {1, 2, 3};
        const std::vector<std::int64_t> targets = {1, -1, 1};
        {
            File file(path, File::Mode::read_write);
            file.write_at(std::as_bytes(std::span(inputs)), placed[0].offset);
            file.write_at(std::as_bytes(std::span(targets)), placed[1].offset);
        }
        const auto error = error_of(
            [&] { open(hdf5_section(path.string(), R"({"inputs": "x", "targets": "y"})")); });
        QVERIFY(error.has_value());
        QVERIFY2(error->message().find("target 1 is the first -1") != std::string::npos,
                 error->message().c_str());
    }

    void data_sets_are_named_by_settings() {
        const data::DataSet set =
            open(hdf5_section(peer("plain.h5"), R"({"inputs": "/x", "targets": "flags"})"));
        QCOMPARE(set.train->info().classes, 2);
        QCOMPARE(set.train->label(3), 1);
    }

    void mistakes_list_what_there_is() {
        const auto none = error_of(
            [] { open(hdf5_section(peer("plain.h5"), R"({"inputs": "z", "targets": "y"})")); });
        QVERIFY(none && none->hint().find("'flags'") != std::string::npos);
        const auto text = error_of(
            [] { open(hdf5_section(peer("plain.h5"), R"({"inputs": "names", "targets": "y"})")); });
        QVERIFY(text && text->text().find("no numbers") != std::string::npos);
    }

    void truncated_files_are_refused() {
        const std::string whole = read_file(peer("packed.h5"));
        const Folder folder;
        for (std::size_t bytes = 0; bytes < whole.size(); bytes += 97) {
            const auto path = folder.write("cut.h5", whole.substr(0, bytes));
            const auto error = error_of([&] { open(hdf5_section(path.string())); });
            QVERIFY2(error.has_value(), std::to_string(bytes).c_str());
            QCOMPARE(error->kind(), ErrorKind::data);
        }
    }

    void damaged_bytes_are_refused_or_change_nothing_but_numbers() {
        const std::string whole = read_file(peer("packed.h5"));
        const Folder folder;
        int refused = 0;
        for (std::size_t at = 8; at < whole.size(); at += 61) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(~damaged[at]);
            const auto path = folder.write("damaged.h5", damaged);
            const auto error = error_of([&] {
                const data::DataSet set = open(hdf5_section(path.string()));
                for (std::int64_t i = 0; i < set.train->samples(); ++i) {
                    input_floats(*set.train, i);
                }
            });
            refused += error.has_value() ? 1 : 0;
            QVERIFY(!error || error->kind() == ErrorKind::data);
        }
        QVERIFY(refused > 0);
    }

    void our_own_containers_are_read_too() {
        const Folder folder;
        const std::filesystem::path path = folder.path() / "own.h5";
        const std::vector<Hdf5Spec> specs = {{"x", Hdf5Type::f32, {2, 2}},
                                             {"y", Hdf5Type::i32, {2}}};
        const auto places = create_hdf5(path, specs);
        const std::vector<float> x = {1, 2, 3, 4};
        const std::vector<std::int32_t> y = {1, 0};
        File file(path, File::Mode::read_write);
        file.write_at(std::as_bytes(std::span(x)), places[0].offset);
        file.write_at(std::as_bytes(std::span(y)), places[1].offset);
        file.close();
        const data::DataSet set = open(hdf5_section(path.string()));
        QCOMPARE(input_floats(*set.train, 1), (std::vector<float>{3, 4}));
        QCOMPARE(set.train->label(0), 1);
    }

    // Rows and bytes follow from the shapes in peers/make_peers.py: a good chunk has 1 MiB.
    void chunks_that_do_not_suit_rows_are_told_with_those_that_do() {
        const auto notes = [](const std::string& name) {
            Json section;
            section["train"] = {{"type", "hdf5"},
                                {"path", peer("chunk_shapes.h5")},
                                {"inputs", name},
                                {"targets", name + "_y"}};
            const data::Recognised found = data::describe(normalised(section), {});
            std::string out = found.problems.empty() ? "" : "problem: " + found.problems.front();
            for (const data::Note& note : found.notes) {
                out += note + "\n";
            }
            return out;
        };
        const auto has = [](const std::string& text, const std::string& part) {
            return text.find(part) != std::string::npos;
        };
        const std::string columns = notes("columns");
        QVERIFY2(has(columns, "a row lies in 64 chunks, and 1,000 rows, 250.0 KiB"),
                 columns.c_str());
        QVERIFY2(has(columns, "h5repack -l columns:CHUNK=4096x64"), columns.c_str());
        const std::string large = notes("large");
        QVERIFY2(has(large, "40,000 rows, 19.5 MiB, are unpacked together"), large.c_str());
        QVERIFY2(has(large, "h5repack -l large:CHUNK=2048x128"), large.c_str());
        const std::string tiny = notes("tiny");
        QVERIFY2(has(tiny, "each holds 16 B, and 1,200 are looked up one by one"), tiny.c_str());
        const std::string fine = notes("fine");
        QVERIFY2(!has(fine, "h5repack") && !has(fine, "problem"), fine.c_str());
    }
};

WEFT_TEST(Hdf5Test)
#include "hdf5_test.moc"
