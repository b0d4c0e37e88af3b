// SPDX-License-Identifier: Apache-2.0
// Files of other programs are read in tests/data; here, what is told of files and refused.
#include "core/base/hdf5_arrays.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

using namespace weft;

class Hdf5ArraysTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;

    Path path(const char* name) const { return Path(dir_.path().toStdString()) / name; }

private slots:
    void arrays_are_listed_with_type_shape_and_place() {
        const std::vector<Hdf5Spec> specs = {{"b/real", Hdf5Type::f64, {2, 3}},
                                             {"a", Hdf5Type::i32, {4}}};
        const auto places = create_hdf5(path("own.h5"), specs);
        const std::vector<Hdf5Array> arrays = list_hdf5_arrays(path("own.h5"));
        QCOMPARE(arrays.size(), std::size_t(2));
        QCOMPARE(arrays[1].name, std::string("b/real"));
        QCOMPARE(arrays[1].shape, (std::vector<int64_t>{2, 3}));
        QCOMPARE(arrays[1].offset, places[0].offset);
        // 32 bits are read as 64, so they cannot be taken from the file as they are.
        QVERIFY(arrays[0].type == Hdf5Type::i64);
        QCOMPARE(arrays[0].bytes, 32);
        QCOMPARE(arrays[0].offset, -1);
    }

    void elements_are_converted() {
        const std::vector<Hdf5Spec> specs = {{"a", Hdf5Type::i32, {4}}};
        const auto places = create_hdf5(path("converted.h5"), specs);
        const std::vector<int32_t> written = {1, -2, 3, 1 << 30};
        File file(path("converted.h5"), File::Mode::read_write);
        file.write_at(std::as_bytes(std::span(written)), places[0].offset);
        file.close();
        std::vector<int64_t> read(4);
        const auto arrays = list_hdf5_arrays(path("converted.h5"));
        read_hdf5_array(path("converted.h5"), arrays[0], std::as_writable_bytes(std::span(read)));
        QCOMPARE(read, std::vector<int64_t>(written.begin(), written.end()));
    }

    void what_is_no_hdf5_file_is_refused() {
        File(path("text"), File::Mode::write_new).write("no HDF5");
        try {
            list_hdf5_arrays(path("text"));
            QFAIL("a text was read as HDF5");
        } catch (const Error& error) {
            QVERIFY(error.kind() == ErrorKind::data);
            QVERIFY(!error.hint().empty());
        }
    }
};

WEFT_TEST(Hdf5ArraysTest)
#include "hdf5_arrays_test.moc"
