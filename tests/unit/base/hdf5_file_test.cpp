// SPDX-License-Identifier: Apache-2.0
#include "core/base/hdf5_file.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <hdf5.h>

#include <cstring>
#include <functional>
#include <optional>
#include <thread>

using namespace weft;
using test::error_of;

namespace {

bool says(const std::optional<Error>& error, const char* part) {
    return error && error->message().find(part) != std::string::npos;
}

} // namespace

class Hdf5FileTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;
    Path file(const char* name) const { return dir_.filePath(name).toStdString(); }

    // A file made by the library itself; `fill` puts something hostile into it.
    Path hostile(const char* name, const std::function<void(hid_t)>& fill) const {
        const Path path = file(name);
        const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        fill(id);
        H5Fclose(id);
        return path;
    }

    static std::optional<Error> refusal(const Path& path) {
        return error_of([&] { read_hdf5_index(path); });
    }

private slots:
    void payload_written_at_the_offsets_is_what_the_library_reads() {
        const std::vector<Hdf5Spec> specs = {{"blocks.0.weight", Hdf5Type::f32, {2, 3}},
                                             {"optimizer/m/blocks.0.weight", Hdf5Type::bf16, {4}},
                                             {"optimizer/count", Hdf5Type::i64, {}},
                                             {"empty", Hdf5Type::u8, {0, 5}}};
        const auto placed = create_hdf5(file("a.h5"), specs, {{"format", "weft"}, {"none", ""}});
        QCOMPARE(placed.size(), specs.size());
        const std::vector<float> weights = {1, 2, 3, 4, 5, 6};
        const std::vector<uint16_t> moments = {0x3f80, 0x4000, 0x4040, 0x4080};
        const int64_t count = 12345678901;
        {
            File payload(file("a.h5"), File::Mode::read_write);
            payload.write_at(std::as_bytes(std::span(weights)), placed[0].offset);
            payload.write_at(std::as_bytes(std::span(moments)), placed[1].offset);
            payload.write_at(std::as_bytes(std::span(&count, 1)), placed[2].offset);
        }
        const hid_t id = H5Fopen(file("a.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
        const hid_t weight = H5Dopen2(id, "blocks.0.weight", H5P_DEFAULT);
        std::vector<float> got(6);
        QVERIFY(H5Dread(weight, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, got.data()) >= 0);
        H5Dclose(weight);
        const hid_t counter = H5Dopen2(id, "optimizer/count", H5P_DEFAULT);
        int64_t got_count = 0;
        QVERIFY(H5Dread(counter, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &got_count) >= 0);
        H5Dclose(counter);
        H5Fclose(id);
        QVERIFY(got == weights);
        QCOMPARE(got_count, count);
    }

    void the_index_says_what_was_created() {
        const std::vector<Hdf5Spec> specs = {
            {"z", Hdf5Type::f64, {3}},        {"a/b/c", Hdf5Type::bf16, {2, 2}},
            {"a/b/half", Hdf5Type::f16, {3}}, {"n", Hdf5Type::u16, {1}},
            {"empty", Hdf5Type::i32, {0}},    {"scalar", Hdf5Type::i64, {}}};
        const auto placed = create_hdf5(file("b.h5"), specs, {{"key", "v\u00e4lue"}});
        const Hdf5Index index = read_hdf5_index(file("b.h5"));
        QCOMPARE(index.datasets.size(), specs.size());
        QCOMPARE(index.attributes.at("key"), std::string("v\u00e4lue"));
        for (const Hdf5Dataset& expected : placed) {
            const Hdf5Dataset* found = index.find(expected.name);
            QVERIFY2(found != nullptr, expected.name.c_str());
            QVERIFY(found->type == expected.type);
            QVERIFY(found->shape == expected.shape);
            QCOMPARE(found->offset, expected.offset);
            QCOMPARE(found->bytes, expected.bytes);
        }
        QVERIFY(index.find("missing") == nullptr);
        QVERIFY(looks_like_hdf5(file("b.h5")));
    }

    void data_sets_do_not_overlap() {
        std::vector<Hdf5Spec> specs;
        for (int i = 0; i < 200; ++i) {
            specs.push_back({"t" + std::to_string(i), Hdf5Type::f32, {i * 17}});
        }
        auto placed = create_hdf5(file("many.h5"), specs);
        std::erase_if(placed, [](const auto& dataset) { return dataset.bytes == 0; });
        std::sort(placed.begin(), placed.end(),
                  [](const auto& a, const auto& b) { return a.offset < b.offset; });
        for (size_t i = 1; i < placed.size(); ++i) {
            QVERIFY(placed[i - 1].offset + placed[i - 1].bytes <= placed[i].offset);
        }
        QCOMPARE(read_hdf5_index(file("many.h5")).datasets.size(), size_t{200});
    }

    void equal_arguments_give_equal_bytes() {
        const std::vector<Hdf5Spec> specs = {{"g/a", Hdf5Type::f32, {5}},
                                             {"b", Hdf5Type::bf16, {7}}};
        create_hdf5(file("e1.h5"), specs, {{"k", "v"}});
        create_hdf5(file("e2.h5"), specs, {{"k", "v"}});
        QVERIFY(read_file(file("e1.h5")) == read_file(file("e2.h5")));
    }

    void a_name_used_twice_leaves_no_file() {
        const std::vector<Hdf5Spec> specs = {{"a", Hdf5Type::f32, {5}}, {"a", Hdf5Type::f32, {5}}};
        const auto error = error_of([&] { create_hdf5(file("twice.h5"), specs); });
        QVERIFY(says(error, "'a'"));
        QVERIFY(!std::filesystem::exists(file("twice.h5")));
    }

    void an_existing_file_is_not_touched() {
        write_file_atomically(file("old.h5"), "precious");
        QVERIFY(error_of([&] { create_hdf5(file("old.h5"), {}); }));
        QCOMPARE(read_file(file("old.h5")), std::string("precious"));
    }

    void impossible_shapes_and_names_are_refused() {
        const std::vector<Hdf5Spec> huge = {
            {"x", Hdf5Type::f64, {int64_t{1} << 40, int64_t{1} << 40}}};
        QVERIFY(says(error_of([&] { create_hdf5(file("huge.h5"), huge); }), "63 bits"));
        for (const char* name : {"", "/a", "a//b", "a/../b", "."}) {
            const std::vector<Hdf5Spec> specs = {{name, Hdf5Type::f32, {1}}};
            QVERIFY2(error_of([&] { create_hdf5(file("name.h5"), specs); }), name);
        }
    }

    void links_to_other_places_are_refused() {
        const Path external = hostile("external.h5", [](hid_t id) {
            H5Lcreate_external("/etc/passwd", "/x", id, "link", H5P_DEFAULT, H5P_DEFAULT);
        });
        QVERIFY(says(refusal(external), "'link'"));
        const Path soft = hostile("soft.h5", [](hid_t id) {
            H5Lcreate_soft("/nowhere", id, "link", H5P_DEFAULT, H5P_DEFAULT);
        });
        QVERIFY(says(refusal(soft), "link to another place"));
    }

    void storage_in_other_files_is_refused() {
        const Path path = hostile("storage.h5", [](hid_t id) {
            const hsize_t size = 8;
            const hid_t space = H5Screate_simple(1, &size, nullptr);
            const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
            H5Pset_external(creation, "/etc/passwd", 0, 8);
            H5Dclose(H5Dcreate2(id, "x", H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
            H5Pclose(creation);
            H5Sclose(space);
        });
        QVERIFY(says(refusal(path), "lie in other files"));
    }

    void virtual_data_sets_are_refused() {
        const Path path = hostile("virtual.h5", [](hid_t id) {
            const hsize_t size = 8;
            const hid_t space = H5Screate_simple(1, &size, nullptr);
            const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
            H5Pset_virtual(creation, space, "/tmp/other.h5", "/x", space);
            H5Dclose(H5Dcreate2(id, "x", H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
            H5Pclose(creation);
            H5Sclose(space);
        });
        QVERIFY(says(refusal(path), "virtual"));
    }

    void chunked_and_filtered_data_sets_are_refused() {
        const Path path = hostile("chunked.h5", [](hid_t id) {
            const hsize_t size = 8;
            const hid_t space = H5Screate_simple(1, &size, nullptr);
            const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
            H5Pset_chunk(creation, 1, &size);
            H5Pset_deflate(creation, 1);
            H5Dclose(H5Dcreate2(id, "x", H5T_STD_U8LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
            H5Pclose(creation);
            H5Sclose(space);
        });
        QVERIFY(says(refusal(path), "chunked"));
    }

    void other_element_types_are_refused() {
        const Path path = hostile("type.h5", [](hid_t id) {
            const hid_t space = H5Screate(H5S_SCALAR);
            H5Dclose(
                H5Dcreate2(id, "x", H5T_IEEE_F64BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            H5Sclose(space);
        });
        QVERIFY(says(refusal(path), "element type"));
    }

    void a_declared_data_set_without_storage_is_refused() {
        const Path path = hostile("late.h5", [](hid_t id) {
            const hsize_t size = 8;
            const hid_t space = H5Screate_simple(1, &size, nullptr);
            H5Dclose(
                H5Dcreate2(id, "x", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
            H5Sclose(space);
        });
        QVERIFY(says(refusal(path), "never stored"));
    }

    void cycles_of_groups_end() {
        const Path path = hostile("cycle.h5", [](hid_t id) {
            const hid_t group = H5Gcreate2(id, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            H5Lcreate_hard(id, "/", group, "up", H5P_DEFAULT, H5P_DEFAULT);
            H5Gclose(group);
        });
        QVERIFY(says(refusal(path), "nested deeper"));
    }

    // Every prefix of a file, and every file with one byte changed, is an error or an index whose
    // data sets lie inside the file; never a crash.
    void damaged_files_are_errors_or_stay_inside_the_file() {
        create_hdf5(file("whole.h5"), std::vector<Hdf5Spec>{{"a", Hdf5Type::f32, {300}}},
                    {{"k", "v"}});
        const std::string whole = read_file(file("whole.h5"));
        int refused = 0;
        const auto attempt = [&](const std::string& content) {
            write_file_atomically(file("damaged.h5"), content);
            try {
                for (const auto& dataset : read_hdf5_index(file("damaged.h5")).datasets) {
                    QVERIFY(dataset.offset >= 0 && dataset.bytes >= 0);
                    QVERIFY(dataset.offset + dataset.bytes <= static_cast<int64_t>(content.size()));
                }
            } catch (const Error& error) {
                QVERIFY(error.kind() == ErrorKind::checkpoint);
                ++refused;
            }
        };
        for (size_t size = 0; size < whole.size(); size += 97) {
            attempt(whole.substr(0, size));
        }
        const int cut_short = refused;
        QVERIFY(cut_short > 0);
        for (size_t at = 0; at < 400; at += 3) {
            std::string changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ 0x5a);
            attempt(changed);
        }
        QVERIFY(refused > cut_short);
    }

    void not_an_hdf5_file_is_said() {
        write_file_atomically(file("text"), "hello there, this is not one");
        QVERIFY(says(refusal(file("text")), "not a readable HDF5 file"));
        QVERIFY(!looks_like_hdf5(file("text")));
        const auto error = error_of([&] { read_hdf5_index(file("absent"), ErrorKind::data); });
        QVERIFY(error && error->kind() == ErrorKind::data);
    }

    void threads_may_create_and_read_at_once() {
        std::vector<std::jthread> threads;
        std::atomic<int> good = 0;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < 10; ++i) {
                    const Path path =
                        file(("t" + std::to_string(t) + "-" + std::to_string(i)).c_str());
                    create_hdf5(path, std::vector<Hdf5Spec>{{"x", Hdf5Type::f32, {t + 1}}});
                    good += read_hdf5_index(path).datasets.at(0).shape.at(0) == t + 1 ? 1 : 0;
                }
            });
        }
        threads.clear();
        QCOMPARE(good.load(), 40);
    }
};

WEFT_TEST(Hdf5FileTest)
#include "hdf5_file_test.moc"
