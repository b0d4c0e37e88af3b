// SPDX-License-Identifier: Apache-2.0
// Damaged, cut short, foreign and hostile checkpoints.
#include "core/checkpoint/manifest_json.h"
#include "tests/unit/checkpoint/checkpoint_support.h"

using namespace weft;
using namespace weft::checkpoint;
using namespace weft::checkpoint::test;

namespace {

/// True when reading or verifying notices that something is wrong.
bool noticed(const std::filesystem::path& folder) {
    try {
        return !verify(read_manifest(folder)).empty();
    } catch (const Error& error) {
        return error.kind() == ErrorKind::checkpoint;
    }
}

std::filesystem::path saved(const Folder& folder) {
    return write_checkpoint(folder.path(), every_type().views(), record_of(7, 0.5)).path;
}

/// A manifest that says something else, with a good seal.
std::optional<Error> error_with(const std::function<void(Manifest&)>& change) {
    const Folder folder;
    Manifest manifest = read_manifest(saved(folder));
    change(manifest);
    write_all(manifest.path / kManifestName, manifest_text(manifest));
    return error_of([&] { read_manifest(manifest.path); });
}

void replace(const std::filesystem::path& file, const std::string& from, const std::string& to) {
    std::string text = read_all(file);
    const std::size_t at = text.find(from);
    QVERIFY(at != std::string::npos);
    write_all(file, text.replace(at, from.size(), to));
}

} // namespace

class DamageTest : public QObject {
    Q_OBJECT

private slots:
    void changed_bits_anywhere_in_the_manifest_are_noticed() {
        const Folder folder;
        const std::filesystem::path file = saved(folder) / kManifestName;
        const std::string whole = read_all(file);
        // One byte in seven, and every byte of the seal.
        for (std::size_t i = 0; i < whole.size(); i += i + 64 < whole.size() ? 7 : 1) {
            std::string changed = whole;
            changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
            write_all(file, changed);
            QVERIFY2(noticed(file.parent_path()), std::to_string(i).c_str());
        }
        write_all(file, whole);
        QVERIFY(!noticed(file.parent_path()));
    }

    void changed_bits_anywhere_in_a_shard_are_noticed() {
        const Folder folder;
        const std::filesystem::path file = saved(folder) / "arrays-00000.h5";
        const std::string whole = read_all(file);
        // Every byte where the file's structure begins, then one in 31.
        for (std::size_t i = 0; i < whole.size(); i += i < 128 ? 1 : 31) {
            std::string changed = whole;
            changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
            write_all(file, changed);
            QVERIFY2(noticed(file.parent_path()), std::to_string(i).c_str());
        }
        write_all(file, whole);
        QVERIFY(!noticed(file.parent_path()));
    }

    void a_changed_array_is_not_read() {
        const Folder folder;
        const Manifest manifest = read_manifest(saved(folder));
        const TensorInfo& tensor = *manifest.find("bytes");
        const std::filesystem::path file = manifest.path / tensor.pieces[0].shard;
        std::string content = read_all(file);
        content[static_cast<std::size_t>(tensor.pieces[0].offset) + 2] ^= 1;
        write_all(file, content);
        std::vector<std::byte> bytes(5);
        const auto error = error_of([&] { read_tensor(manifest, "bytes", bytes); });
        QVERIFY(error && error->text().find("checksum") != std::string::npos);
        QCOMPARE(error->where(), file.string());
    }

    void a_manifest_cut_short_anywhere_is_refused() {
        const Folder folder;
        const std::filesystem::path file = saved(folder) / kManifestName;
        const std::string whole = read_all(file);
        for (std::size_t bytes = 0; bytes < whole.size();
             bytes += bytes + 64 < whole.size() ? 7 : 1) {
            write_all(file, whole.substr(0, bytes));
            const auto error = error_of([&] { read_manifest(file.parent_path()); });
            QVERIFY2(error.has_value(), std::to_string(bytes).c_str());
        }
    }

    void a_shard_of_another_size_is_refused() {
        const Folder folder;
        const std::filesystem::path file = saved(folder) / "arrays-00000.h5";
        const std::string whole = read_all(file);
        for (const std::string& content :
             {std::string(), whole.substr(0, whole.size() - 1), whole + "x"}) {
            write_all(file, content);
            const auto error = error_of([&] { read_manifest(file.parent_path()); });
            QVERIFY(error && error->text().find("the manifest says") != std::string::npos);
        }
        std::filesystem::remove(file);
        const auto error = error_of([&] { read_manifest(file.parent_path()); });
        QVERIFY(error && error->text().find("missing") != std::string::npos);
    }

    void a_missing_marker_is_an_incomplete_checkpoint() {
        const Folder folder;
        const std::filesystem::path file = saved(folder) / kManifestName;
        const std::string whole = read_all(file);
        // The same JSON without its last member.
        write_all(file, whole.substr(0, whole.rfind(",\n")) + "\n}\n");
        auto error = error_of([&] { read_manifest(file.parent_path()); });
        QVERIFY(error && error->text().find("commit marker") != std::string::npos);
        std::filesystem::remove(file);
        error = error_of([&] { read_manifest(file.parent_path()); });
        QVERIFY(error && error->text().find("missing") != std::string::npos);
        QCOMPARE(exit_code(error->kind()), 3);
    }

    void a_newer_version_says_so() {
        const Folder folder;
        const std::filesystem::path file = saved(folder) / kManifestName;
        replace(file, "\"schema_version\": 1", "\"schema_version\": 3");
        const auto error = error_of([&] { read_manifest(file.parent_path()); });
        QVERIFY(error && error->text().find("newer version") != std::string::npos);
        QCOMPARE(error->hint(), std::string("Update Weft."));
    }

    void a_manifest_of_another_program_says_so() {
        const Folder folder;
        const std::filesystem::path file = saved(folder) / kManifestName;
        replace(file, "weft-checkpoint", "other-program");
        const auto error = error_of([&] { read_manifest(file.parent_path()); });
        QVERIFY(error && error->text().find("not a checkpoint of Weft") != std::string::npos);
    }

    void hostile_sizes_and_places_are_refused() {
        constexpr std::int64_t kMost = INT64_MAX;
        QVERIFY(!error_with([](Manifest&) {}).has_value());
        QVERIFY(
            error_with([](Manifest& m) { m.tensors[0].type.shape[0] = kMost / 2; }).has_value());
        QVERIFY(error_with([](Manifest& m) { m.tensors[0].type.shape[0] = 1 << 30; }).has_value());
        QVERIFY(error_with([](Manifest& m) { m.tensors[0].type.shape[0] = -1; }).has_value());
        QVERIFY(error_with([](Manifest& m) { m.tensors[0].pieces[0].offset = kMost; }).has_value());
        QVERIFY(error_with([](Manifest& m) { m.tensors[0].pieces[0].offset = -1; }).has_value());
        QVERIFY(error_with([](Manifest& m) { m.shards[0].bytes = kMost; }).has_value());
        QVERIFY(error_with([](Manifest& m) { m.tensors[1].name = m.tensors[0].name; }).has_value());
        QVERIFY(
            error_with([](Manifest& m) { m.tensors[0].pieces[0].shard = "other.h5"; }).has_value());
        QVERIFY(error_with([](Manifest& m) { m.record.step = -1; }).has_value());
        QVERIFY(error_with([](Manifest& m) { m.record.counters = 3; }).has_value());
    }

    void names_of_shards_never_leave_the_folder() {
        for (const char* name : {"../arrays-00000.h5", "/etc/passwd", "a/b", ".", "..", ""}) {
            const auto error = error_with([&](Manifest& manifest) {
                manifest.shards[0].file = name;
                for (TensorInfo& tensor : manifest.tensors) {
                    tensor.pieces[0].shard = name;
                }
            });
            QVERIFY2(error && error->text().find("plain file name") != std::string::npos, name);
        }
    }

    void arrays_that_overlap_or_are_misplaced_do_not_verify() {
        const Folder folder;
        Manifest manifest = read_manifest(saved(folder));
        manifest.tensors[0].pieces[0].offset += 4;
        write_all(manifest.path / kManifestName, manifest_text(manifest));
        QVERIFY(!verify(read_manifest(manifest.path)).empty());
        manifest.tensors[0].pieces[0].offset = manifest.tensors[2].pieces[0].offset;
        write_all(manifest.path / kManifestName, manifest_text(manifest));
        QVERIFY(!verify(read_manifest(manifest.path)).empty());
    }

    void a_pipe_in_place_of_a_file_does_not_block() {
        const Folder folder;
        const std::filesystem::path path = saved(folder);
        for (const char* name : {"arrays-00000.h5", kManifestName}) {
            std::filesystem::remove(path / name);
            std::filesystem::create_symlink("/dev/zero", path / name);
            const auto error = error_of([&] { read_manifest(path); });
            QVERIFY(error && error->text().find("not a regular file") != std::string::npos);
        }
    }

    void a_listing_shows_every_folder_with_its_reason() {
        const Folder folder;
        QVERIFY(list_checkpoints(folder.path() / "absent").empty());
        write_checkpoint(folder.path(), every_type().views(), record_of(20));
        write_checkpoint(folder.path(), every_type().views(), record_of(10));
        write_checkpoint(folder.path(), every_type().views(), record_of(30));
        std::filesystem::rename(folder.path() / "step-00000030", folder.path() / "step-00000031");
        std::filesystem::create_directory(folder.path() / ".tmp-step-00000040");
        std::filesystem::create_directory(folder.path() / "step-00000050");
        std::filesystem::create_directory(folder.path() / "notes");
        write_all(folder.path() / "a file", "x");
        const std::vector<Entry> entries = list_checkpoints(folder.path());
        std::vector<std::pair<std::int64_t, std::string>> seen;
        for (const Entry& entry : entries) {
            seen.emplace_back(entry.step, entry.problem.substr(0, 10));
        }
        const std::vector<std::pair<std::int64_t, std::string>> expected = {
            {-1, "not a chec"}, {10, ""}, {20, ""}, {30, "the folder"}, {40, "incomplete"}};
        QCOMPARE(seen.size(), std::size_t(6));
        QVERIFY(std::equal(expected.begin(), expected.end(), seen.begin()));
        QCOMPARE(seen[5].first, 50);
        QVERIFY(entries[5].problem.find("missing") != std::string::npos);
        QVERIFY(entries[1].bytes > 0 && entries[1].saved_time > 1.6e9);
    }
};

WEFT_TEST(DamageTest)
#include "damage_test.moc"
