// SPDX-License-Identifier: Apache-2.0
// A file of weights and hostile ones: what safetensors holds of other programs, and what we write
// for them.
#include "core/base/text.h"
#include "core/checkpoint/export.h"
#include "core/checkpoint/safetensors.h"
#include "tests/unit/checkpoint/checkpoint_support.h"

#include <QElapsedTimer>

#include <zlib.h>

namespace {

using namespace weft;
using namespace weft::checkpoint;
using namespace weft::checkpoint::test;
namespace fs = std::filesystem;

// By PyTorch's safetensors.torch.save_file: a.weight f32 [2,3] = 1.5 -2 0 3.25 1e-3 6e4; b.half f16
// [4] = 1 -0.5 65504 2^-24; c.brain bf16 [2] = 1 -2; d.small i8 [2]; e.scalar i64 [] = 7.
constexpr const char* kPeer =
    "68010000000000007b225f5f6d657461646174615f5f223a7b226e6f7465223a226279205079546f726368222c"
    "22666f726d6174223a227074227d2c22652e7363616c6172223a7b226474797065223a22493634222c22736861"
    "7065223a5b5d2c22646174615f6f666673657473223a5b302c385d7d2c22612e776569676874223a7b22647479"
    "7065223a22463332222c227368617065223a5b322c335d2c22646174615f6f666673657473223a5b382c33325d"
    "7d2c22632e627261696e223a7b226474797065223a2242463136222c227368617065223a5b325d2c2264617461"
    "5f6f666673657473223a5b33322c33365d7d2c22622e68616c66223a7b226474797065223a22463136222c2273"
    "68617065223a5b345d2c22646174615f6f666673657473223a5b33362c34345d7d2c22642e736d616c6c223a7b"
    "226474797065223a224938222c227368617065223a5b325d2c22646174615f6f666673657473223a5b34342c34"
    "365d7d7d2020202007000000000000000000c03f000000c000000000000050406f12833a00606a47803f00c000"
    "3c00b8ff7b0100ff02";

template <class T>
std::vector<T> values(const SafetensorsFile& file, const std::string& name) {
    const SafetensorsEntry* entry = file.find(name);
    if (entry == nullptr || !entry->type) {
        return {};
    }
    std::vector<T> out(static_cast<std::size_t>(entry->type->bytes()) / sizeof(T));
    read_safetensors_array(file, *entry, std::as_writable_bytes(std::span(out)));
    return out;
}

std::string file_of(const std::string& header, const std::string& data) {
    const std::uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

template <typename T>
T number(const std::string& text, std::size_t at) {
    T value{};
    std::memcpy(&value, text.data() + at, sizeof value);
    return value;
}

} // namespace

class ExportTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;
    fs::path path(const std::string& name) const {
        return fs::path(dir_.path().toStdString()) / name;
    }
    std::string problem_of(const std::string& bytes) const {
        write_all(path("hostile.safetensors"), bytes);
        try {
            read_safetensors(path("hostile.safetensors"));
        } catch (const Error& error) {
            return error.message();
        }
        return {};
    }

    /// A header of so many arrays without elements.
    static std::string empty_arrays(int count) {
        std::string header = "{";
        for (int i = 0; i < count; ++i) {
            header += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
                      "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
        }
        return file_of(header + "}", "");
    }

private slots:
    void many_arrays_are_read_in_linear_time_and_too_many_are_refused() {
        QElapsedTimer clock;
        clock.start();
        QCOMPARE(problem_of(empty_arrays(200'000)), std::string());
        const std::string problem = problem_of(empty_arrays(600'000));
        QVERIFY2(problem.find("more than 2,000,000 fields") != std::string::npos, problem.c_str());
        // A minute and more where every name is looked for among all before it.
#ifndef __SANITIZE_THREAD__ // ten times as slow
        QVERIFY(clock.elapsed() < 20'000);
#endif
    }

    void a_file_of_pytorch_is_read() {
        write_all(path("peer.safetensors"), QByteArray::fromHex(kPeer).toStdString());
        const SafetensorsFile file = read_safetensors(path("peer.safetensors"));
        QCOMPARE(file.tensors.size(), std::size_t{5});
        QCOMPARE(file.metadata.at("note"), std::string("by PyTorch"));
        QCOMPARE(values<float>(file, "a.weight"),
                 (std::vector<float>{1.5F, -2, 0, 3.25F, 1e-3F, 6e4F}));
        QCOMPARE(file.find("a.weight")->shape, std::string("[2,3]"));
        QVERIFY(file.find("b.half")->type == (ir::Type{ir::DType::f16, {4}}));
        QCOMPARE(values<std::uint16_t>(file, "b.half"), // 1, -0.5, 65504, 2^-24
                 (std::vector<std::uint16_t>{0x3c00, 0xb800, 0x7bff, 0x0001}));
        QCOMPARE(values<std::uint16_t>(file, "c.brain"),
                 (std::vector<std::uint16_t>{0x3f80, 0xc000}));
        QCOMPARE(values<std::int64_t>(file, "e.scalar"), std::vector<std::int64_t>{7});
        QVERIFY(!file.find("d.small")->type); // listed, though we have no such type
        QCOMPARE(file.find("d.small")->stored, std::string("I8"));
        QVERIFY(file.find("absent") == nullptr);
    }

    void hostile_headers_are_named_and_nothing_is_allocated_for_them() {
        const std::string four(4, 'x');
        const auto one = [&](const std::string& entry) {
            return file_of("{\"a\":" + entry + "}", four);
        };
        QCOMPARE(problem_of(one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})")),
                 std::string());
        const std::pair<std::string, const char*> cases[] = {
            {"", "shorter"},
            {std::string(8, '\xff'), "header says to be larger"},
            {file_of("[]", ""), "not a JSON object"},
            {file_of("{", ""), "header cannot be read: error: "},
            {one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"), "cannot be"},
            {one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})"), "cannot be"},
            {one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"), "cannot be"},
            {one(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), "bad number"},
            {one(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})"), "bad number"},
            {one(R"({"dtype":"F32","shape":"1","data_offsets":[0,4]})"), "no list"},
            {one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]})"),
             "larger than any memory"},
            {one(R"({"dtype":"Q4","shape":[1],"data_offsets":[0,4]})"), "unknown element type"},
            {one(R"({"shape":[1],"data_offsets":[0,4]})"), "no element type"},
            {one("3"), "no element type"},
            {file_of(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                     R"("b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
                     four),
             "overlaps"},
            {file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})", four), "hole"},
            {file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", four),
             "belong to no array"},
            {file_of(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                     R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})",
                     four),
             "twice"},
        };
        for (const auto& [bytes, part] : cases) {
            QVERIFY2(problem_of(bytes).find(part) != std::string::npos,
                     (std::string(part) + ": " + problem_of(bytes)).c_str());
        }
    }

    void an_exported_checkpoint_comes_back_from_safetensors() {
        const Arrays arrays = every_type();
        const Manifest manifest = write_checkpoint(path("run"), arrays.views(), record_of(7, 0.5));
        double share = 0;
        export_safetensors(manifest, exported(manifest, ExportWhat::everything),
                           path("out.safetensors"), [&](double done) { share = done; });
        QCOMPARE(share, 1.0);
        const SafetensorsFile file = read_safetensors(path("out.safetensors"));
        QCOMPARE(file.tensors.size(), arrays.views().size());
        QCOMPARE(file.metadata.at("step"), std::string("7"));
        for (const TensorView& view : arrays.views()) {
            const SafetensorsEntry* entry = file.find(view.name);
            QVERIFY(entry != nullptr && entry->type == view.type);
            const auto size = static_cast<std::int64_t>(ir::dtype_bytes(view.type.dtype));
            QCOMPARE(entry->offset % size, 0); // readers map the file and cast
            std::vector<std::byte> bytes(view.data.size());
            read_safetensors_array(file, *entry, bytes);
            QVERIFY(std::equal(bytes.begin(), bytes.end(), view.data.begin(), view.data.end()));
        }
        export_safetensors(manifest, exported(manifest, ExportWhat::weights),
                           path("weights.safetensors"));
        QVERIFY(read_safetensors(path("weights.safetensors")).find("layers.0.weight.m") == nullptr);
    }

    // Walks the archive as a reader does: end record, directory, local headers.
    void an_archive_for_numpy_has_every_array_with_its_checksum() {
        const Arrays arrays = every_type();
        const Manifest manifest = write_checkpoint(path("npz"), arrays.views(), record_of(7));
        export_npz(exported(manifest, ExportWhat::everything), path("out.npz"));
        const std::string zip = read_all(path("out.npz"));
        const std::size_t end = zip.rfind("PK\x05\x06");
        QVERIFY(end != std::string::npos);
        QCOMPARE(number<std::uint16_t>(zip, end + 10), std::uint16_t{7});
        const std::size_t end64 = zip.rfind("PK\x06\x06");
        std::size_t at = number<std::uint64_t>(zip, end64 + 48);
        std::vector<std::string> names;
        for (int i = 0; i < 7; ++i) {
            QCOMPARE(zip.substr(at, 4), std::string("PK\x01\x02"));
            const std::size_t name_size = number<std::uint16_t>(zip, at + 28);
            const std::size_t extra_size = number<std::uint16_t>(zip, at + 30);
            const std::string name = zip.substr(at + 46, name_size);
            const std::size_t extra = at + 46 + name_size;
            const auto bytes = number<std::uint64_t>(zip, extra + 4);
            const std::size_t local = number<std::uint64_t>(zip, extra + 20);
            QCOMPARE(zip.substr(local, 4), std::string("PK\x03\x04"));
            const std::size_t data = local + 30 + number<std::uint16_t>(zip, local + 26) +
                                     number<std::uint16_t>(zip, local + 28);
            const std::string content = zip.substr(data, bytes);
            QCOMPARE(static_cast<std::uint32_t>(crc32_z(
                         0, reinterpret_cast<const Bytef*>(content.data()), content.size())),
                     number<std::uint32_t>(zip, at + 16));
            QVERIFY(content.starts_with("\x93NUMPY"));
            const std::size_t head = 10u + number<std::uint16_t>(content, 8);
            QCOMPARE(head % 64, std::size_t{0});
            if (name == "layers.0.half.npy") { // bf16 as f32
                QVERIFY(content.find("'<f4'") < head);
                QCOMPARE(number<float>(content, head), 1.0F);
                QCOMPARE(number<float>(content, head + 4), -2.0F);
            }
            names.push_back(name.substr(0, name.size() - 4)); // without ".npy"
            at = extra + extra_size + number<std::uint16_t>(zip, at + 32);
        }
        QCOMPARE(names.size(), std::size_t{7});
        QVERIFY(std::is_sorted(names.begin(), names.end()));
    }

    void a_failed_export_leaves_no_file() {
        const Arrays arrays = every_type();
        const Manifest manifest = write_checkpoint(path("broken"), arrays.views(), record_of(7));
        const fs::path shard = manifest.path / manifest.shards[0].file;
        std::string bytes = read_all(shard);
        bytes[static_cast<std::size_t>(manifest.find("layers.0.weight")->pieces[0].offset)] ^= 1;
        write_all(shard, bytes);
        write_all(path("kept.npz"), "before");
        const auto weights = exported(manifest, ExportWhat::weights);
        QVERIFY_THROWS_EXCEPTION(Error, export_npz(weights, path("kept.npz")));
        QCOMPARE(read_all(path("kept.npz")), std::string("before"));
        QVERIFY(!fs::exists(path("kept.npz.part")));
    }

    void verifying_and_comparing_tell_how_far_they_are() {
        const Arrays arrays = every_type();
        const Manifest a = write_checkpoint(path("a"), arrays.views(), record_of(7));
        std::vector<double> shares;
        QVERIFY(verify(a, [&](double share) { shares.push_back(share); }).empty());
        QVERIFY(std::is_sorted(shares.begin(), shares.end()));
        QCOMPARE(shares.back(), 1.0);
        Arrays other;
        other.add<float>("w", "parameters", ir::DType::f32, {2}, {3, 4});
        Arrays changed;
        changed.add<float>("w", "parameters", ir::DType::f32, {2}, {3, 0});
        const Difference difference =
            compare(write_checkpoint(path("x"), other.views(), record_of(1)),
                    write_checkpoint(path("y"), changed.views(), record_of(1)));
        QCOMPARE(difference.tensors.at(0).norm_a, 5.0);
        QCOMPARE(difference.tensors.at(0).norm_b, 3.0);
        QCOMPARE(difference.tensors.at(0).norm_difference, 4.0);
        QCOMPARE(difference.tensors.at(0).max_absolute, 4.0);
    }

    void a_list_in_parts_comes_to_the_whole_list() {
        const Arrays arrays = every_type();
        for (int step = 1; step <= 12; ++step) {
            write_checkpoint(path("many"), arrays.views(), record_of(step, 1.0 / step));
        }
        fs::create_directories(path("many") / "step-00000099"); // damaged
        std::vector<Entry> entries = find_checkpoints(path("many"));
        QCOMPARE(entries.size(), std::size_t{13});
        QCOMPARE(entries.front().step, 1);
        QCOMPARE(entries.back().step, 99);
        for (Entry& entry : entries) {
            entry = read_entry(entry.path);
        }
        work_out_reasons(entries);
        const std::vector<Entry> whole = list_checkpoints(path("many"));
        for (std::size_t i = 0; i < whole.size(); ++i) {
            QCOMPARE(entries[i].path, whole[i].path);
            QCOMPARE(entries[i].problem, whole[i].problem);
            QCOMPARE(entries[i].record.kept_for, whole[i].record.kept_for);
        }
    }

    void a_pin_is_set_and_taken_away_and_metrics_stay() {
        const Arrays arrays = every_type();
        const Manifest before = write_checkpoint(path("pins"), arrays.views(), record_of(3, 0.5));
        QCOMPARE(set_pinned(before, true).record.kept_for, std::vector<std::string>{kByHand});
        QCOMPARE(list_checkpoints(path("pins")).at(0).record.kept_for.back(), std::string(kByHand));
        const Manifest after = set_pinned(read_manifest(before.path), false);
        QVERIFY(after.record.kept_for.empty());
        QVERIFY(after.record.metrics == before.record.metrics);
        QVERIFY(verify(after).empty());
    }
};

WEFT_TEST(ExportTest)
#include "export_test.moc"
