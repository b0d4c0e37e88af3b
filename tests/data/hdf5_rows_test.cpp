// SPDX-License-Identifier: Apache-2.0
// Rows of chunked arrays that h5py wrote (peers/make_peers.py, chunks.h5).
#include "core/base/file.h"
#include "core/base/hdf5_rows.h"
#include "tests/data/data_support.h"

#include <algorithm>
#include <cstring>
#include <thread>

using namespace weft;
using namespace weft::data::test;

namespace {

const Hdf5Array& array_named(const std::vector<Hdf5Array>& arrays, const std::string& name) {
    return *std::find_if(arrays.begin(), arrays.end(),
                         [&](const Hdf5Array& array) { return array.name == name; });
}

template <class T>
std::vector<T> rows_of(const Hdf5Rows& rows, std::int64_t first, std::int64_t count,
                       std::int64_t width) {
    std::vector<T> out(static_cast<std::size_t>(count * width));
    rows.read(first, count, std::as_writable_bytes(std::span(out)));
    return out;
}

/// 0.25 (6 i + k) - 7, row after row.
template <class T>
std::vector<T> many(std::int64_t first, std::int64_t count) {
    std::vector<T> out;
    for (std::int64_t i = 6 * first; i < 6 * (first + count); ++i) {
        out.push_back(static_cast<T>(0.25 * static_cast<double>(i) - 7));
    }
    return out;
}

} // namespace

class Hdf5RowsTest : public QObject {
    Q_OBJECT

private slots:
    void rows_are_those_that_were_written_data() {
        QTest::addColumn<QString>("name");
        QTest::newRow("gzip, shuffle and fletcher32") << "x";
        QTest::newRow("a row in two chunks") << "parts";
        QTest::newRow("chunks without filters") << "plain";
        QTest::newRow("another byte order") << "big";
    }

    void rows_are_those_that_were_written() {
        QFETCH(QString, name);
        const auto arrays = list_hdf5_arrays(peer("chunks.h5"));
        const Hdf5Array& array = array_named(arrays, name.toStdString());
        const Hdf5Rows rows(peer("chunks.h5"), array);
        for (const auto& [first, count] :
             {std::pair(0, 300), {0, 1}, {63, 2}, {64, 64}, {199, 101}, {299, 1}, {10, 0}}) {
            QCOMPARE(rows_of<float>(rows, first, count, 6), many<float>(first, count));
        }
    }

    void a_checksum_of_reals_with_eight_bytes_is_right_too() {
        const auto arrays = list_hdf5_arrays(peer("chunks.h5"));
        const Hdf5Rows rows(peer("chunks.h5"), array_named(arrays, "checked"));
        QCOMPARE(rows_of<double>(rows, 0, 300, 6), many<double>(0, 300));
        QCOMPARE(rows.rows_together(), 100);
    }

    void shuffled_elements_of_every_size_come_back() {
        const auto arrays = list_hdf5_arrays(peer("chunks.h5"));
        const Hdf5Rows eight(peer("chunks.h5"), array_named(arrays, "eight"));
        QCOMPARE(rows_of<double>(eight, 0, 300, 6), many<double>(0, 300));
        const Hdf5Rows two(peer("chunks.h5"), array_named(arrays, "two"));
        const auto wide = rows_of<std::int64_t>(two, 0, 300, 6);
        for (std::size_t i = 0; i < wide.size(); ++i) {
            QCOMPARE(wide[i], static_cast<std::int64_t>(i) - 28);
        }
    }

    // Where h5py's own lzf is installed as a plugin the rows are right.
    void a_filter_that_is_not_there_is_told() {
        const auto arrays = list_hdf5_arrays(peer("chunks.h5"));
        const Hdf5Rows rows(peer("chunks.h5"), array_named(arrays, "packed"));
        const auto error =
            error_of([&] { QCOMPARE(rows_of<float>(rows, 0, 300, 6), many<float>(0, 300)); });
        QVERIFY(!error || error->hint().find("filter") != std::string::npos);
    }

    // One chunk of three was stored; elsewhere the file says 5.
    void what_was_never_stored_has_the_value_that_the_file_names() {
        const auto arrays = list_hdf5_arrays(peer("chunks.h5"));
        const Hdf5Rows rows(peer("chunks.h5"), array_named(arrays, "holes"));
        const auto all = rows_of<float>(rows, 0, 300, 6);
        const auto stored = many<float>(150, 10);
        QVERIFY(std::equal(stored.begin(), stored.end(), all.begin() + 6 * 150));
        QCOMPARE(std::count(all.begin(), all.end(), 5.0F), 6 * 290);
    }

    void chunks_that_cut_every_dimension_are_put_together() {
        const auto arrays = list_hdf5_arrays(peer("chunks.h5"));
        const Hdf5Rows rows(peer("chunks.h5"), array_named(arrays, "cube"));
        const auto some = rows_of<float>(rows, 5, 20, 35);
        for (std::size_t i = 0; i < some.size(); ++i) {
            QCOMPARE(some[i], static_cast<float>(5 * 35 + i));
        }
    }

    void several_threads_read_at_once() {
        const auto arrays = list_hdf5_arrays(peer("chunks.h5"));
        const Hdf5Rows rows(peer("chunks.h5"), array_named(arrays, "x"));
        std::vector<std::vector<float>> read(4);
        {
            std::vector<std::jthread> threads;
            for (std::size_t i = 0; i < read.size(); ++i) {
                threads.emplace_back([&, i] {
                    read[i] = rows_of<float>(rows, static_cast<std::int64_t>(i) * 70, 90, 6);
                });
            }
        }
        for (std::size_t i = 0; i < read.size(); ++i) {
            QCOMPARE(read[i], many<float>(static_cast<std::int64_t>(i) * 70, 90));
        }
    }

    // Whatever byte is turned: an error with the place, or the numbers that were written.
    void a_damaged_chunk_is_refused_with_its_place() {
        const std::string whole = read_file(peer("chunks.h5"));
        const Folder folder;
        int placed = 0;
        for (std::size_t at = 4096; at < whole.size(); at += 997) {
            std::string damaged = whole;
            damaged[at] = static_cast<char>(~damaged[at]);
            const auto path = folder.write("damaged.h5", damaged);
            const auto error = error_of([&] {
                const auto arrays = list_hdf5_arrays(path);
                const auto found = std::find_if(arrays.begin(), arrays.end(), [](const auto& one) {
                    return one.name == "x" && one.problem.empty();
                });
                if (found != arrays.end() && found->shape == std::vector<std::int64_t>{300, 6}) {
                    const Hdf5Rows rows(path, *found);
                    QCOMPARE(rows_of<float>(rows, 0, 300, 6), many<float>(0, 300));
                }
            });
            QVERIFY(!error || error->kind() == ErrorKind::data);
            placed += error && error->text().find("its chunk at [") != std::string::npos ? 1 : 0;
        }
        QVERIFY(placed > 0);
    }
};

WEFT_TEST(Hdf5RowsTest)
#include "hdf5_rows_test.moc"
