// SPDX-License-Identifier: Apache-2.0
#include "core/data/kept_samples.h"

#include "core/base/file.h"
#include "core/data/loader.h"
#include "tests/data/data_support.h"
#include "tests/data/image_support.h"

#include <chrono>
#include <cstring>

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

namespace fs = std::filesystem;

/// As if written an hour ago.
void make_old(const fs::path& folder) {
    for (const auto& file : fs::recursive_directory_iterator(folder)) {
        fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
}

std::vector<fs::path> files_in(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code absent;
    for (const auto& file : fs::recursive_directory_iterator(folder, absent)) {
        if (file.is_regular_file()) {
            out.push_back(file.path());
        }
    }
    return out;
}

void flip_byte(const fs::path& path, std::int64_t offset) {
    File file(path, File::Mode::read_write);
    std::byte value{};
    file.read_at(std::span(&value, 1), offset);
    value ^= std::byte{0x10};
    file.write_at(std::span(&value, 1), offset);
}

std::shared_ptr<NumberSource> counted(std::int64_t samples) {
    return std::make_shared<NumberSource>(
        samples, [](std::int64_t i) { return static_cast<std::int32_t>(i % 7); });
}

std::shared_ptr<const data::Source> kept(std::shared_ptr<const data::Source> source,
                                         const Folder& folder, const std::string& key = "numbers",
                                         data::Notes* notes = nullptr) {
    data::Notes own;
    return data::kept_on_disk(std::move(source), {folder.path(), key, "train", false}, {},
                              notes != nullptr ? *notes : own);
}

std::string csv_rows(int count) {
    std::string out = "a,b,kind,price\n";
    for (int i = 0; i < count; ++i) {
        out += std::to_string(i * 7 % 101) + "," + std::to_string(i) + "," +
               (i % 3 == 0 ? "red" : "blue") + "," + std::to_string(i * 3) + "\n";
    }
    return out;
}

} // namespace

class KeptSamplesTest : public QObject {
    Q_OBJECT

private slots:
    void init() { qputenv("XDG_CACHE_HOME", cache_.path().c_str()); }
    void cleanup() {
        fs::remove_all(cache_.path() / "weft");
        qunsetenv("XDG_CACHE_HOME");
    }

    void images_are_those_that_were_decoded_and_need_their_files_no_more() {
        const Folder folder;
        for (int i = 0; i < 12; ++i) {
            const std::string name =
                std::string(i % 2 == 0 ? "cat" : "dog") + "/" + std::to_string(i) + ".png";
            fs::create_directories((folder.path() / name).parent_path());
            fs::copy_file(peer(i % 3 == 0   ? "rgb.png"
                               : i % 3 == 1 ? "alpha.png"
                                            : "palette.png"),
                          folder.path() / name);
        }
        make_old(folder.path());
        Json section = {{"train", {{"type", "images"}, {"path", folder.path().string()}}},
                        {"validation", {{"split", 0.25}}}};
        const data::DataSet plain = open(section);
        section["cache"] = "disk";
        const data::DataSet first = open(section);
        QVERIFY(noted(first, "were decoded and are kept in"));
        QVERIFY(plain.cache_bytes() > first.cache_bytes() + 12 * 6 * 8 * 3);
        const data::DataSet second = open(section);
        QVERIFY(noted(second, "samples of train are kept in"));
        fs::remove_all(folder.path());
        for (const data::DataSet* set : {&first, &second}) {
            for (std::int64_t i = 0; i < plain.train->samples(); ++i) {
                QCOMPARE(input_floats(*set->train, i), input_floats(*plain.train, i));
                QCOMPARE(set->train->label(i), plain.train->label(i));
            }
            QCOMPARE(input_floats(*set->validation, 1), input_floats(*plain.validation, 1));
        }
    }

    void rows_of_a_table_come_in_the_same_batches() {
        const Folder folder;
        const fs::path path = folder.write("rows.csv", csv_rows(4000));
        make_old(folder.path());
        Json section = {{"train", {{"type", "csv"}, {"path", path.string()}, {"targets", "price"}}},
                        {"cache", "none"}};
        const data::DataSet plain = open(section);
        section["cache"] = "disk";
        for (int opening = 0; opening < 2; ++opening) {
            const data::DataSet set = open(section);
            QCOMPARE(set.train->fingerprint(), plain.train->fingerprint());
            data::LoaderOptions options;
            options.batch_size = 100;
            options.endless = false;
            data::Loader one(plain.train, data::Sampler(*plain.train, true, 3, 4096), options, {});
            data::Loader two(set.train, data::Sampler(*set.train, true, 3, 4096), options, {});
            const auto expected = take(one, 100);
            QCOMPARE(expected.size(), std::size_t{36});
            QVERIFY(take(two, 100) == expected);
        }
    }

    void files_that_change_are_decoded_again() {
        const Folder folder;
        const fs::path path = folder.write("rows.csv", csv_rows(100));
        make_old(folder.path());
        const Json section = {
            {"train", {{"type", "csv"}, {"path", path.string()}, {"targets", "price"}}},
            {"cache", "disk"}};
        const std::vector<float> before = input_floats(*open(section).train, 0);
        std::string changed = csv_rows(100); // as long
        changed.replace(changed.find("\n0,0,red") + 1, 1, "9");
        folder.write("rows.csv", changed);
        QVERIFY(noted(open(section), "were written just now"));
        make_old(folder.path());
        fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
        const data::DataSet after = open(section);
        QVERIFY(noted(after, "were decoded"));
        QVERIFY(input_floats(*after.train, 0) != before);
    }

    void what_a_writer_began_and_did_not_end_is_not_there() {
        const Folder folder;
        const auto source = counted(500000); // four blocks
        source->broken = 400000;
        QVERIFY(error_of([&] { kept(source, folder); }).has_value());
        QVERIFY(files_in(folder.path()).empty());
        source->broken = -1;
        const auto whole = kept(source, folder);
        QCOMPARE(files_in(folder.path()).size(), std::size_t{1});
        for (const std::int64_t i : {0, 131071, 131072, 499999}) {
            QCOMPARE(input_floats(*whole, i).front(), static_cast<float>(i));
            QCOMPARE(target_integers(*whole, i).front(), static_cast<std::int32_t>(i % 7));
        }
    }

    void a_stop_leaves_nothing() {
        const Folder folder;
        std::stop_source stop;
        stop.request_stop();
        data::OpenContext context;
        context.stop = stop.get_token();
        data::Notes notes;
        QVERIFY(error_of([&] {
                    data::kept_on_disk(counted(1000), {folder.path(), "k", "train", false}, context,
                                       notes);
                }).has_value());
        QVERIFY(files_in(folder.path()).empty());
    }

    void flipped_bits_are_found_and_cut_files_are_written_again() {
        const Folder folder;
        kept(counted(1000), folder);
        const fs::path path = files_in(folder.path()).front();
        flip_byte(path, 4000);
        const auto error = error_of([&] { input_floats(*kept(counted(1000), folder), 7); });
        QVERIFY(error && error->where() == path.string());
        for (const std::int64_t from_end : {1, 20, 60, 66}) { // tail, key, sums
            fs::remove(path);
            kept(counted(1000), folder);
            flip_byte(path, static_cast<std::int64_t>(fs::file_size(path)) - from_end);
            data::Notes notes;
            const auto again = kept(counted(1000), folder, "numbers", &notes);
            QVERIFY(notes.front().find("were decoded") != std::string::npos);
            QCOMPARE(input_floats(*again, 500).front(), 500.0F);
        }
        fs::resize_file(path, fs::file_size(path) - 8);
        data::Notes notes;
        kept(counted(1000), folder, "numbers", &notes);
        QVERIFY(notes.front().find("were decoded") != std::string::npos);
    }

    void another_key_is_another_file() {
        const Folder folder;
        kept(counted(10), folder, "one");
        kept(counted(10), folder, "two");
        QCOMPARE(files_in(folder.path()).size(), std::size_t{2});
    }

    void a_damaged_sample_is_asked_for_again_until_it_is_mended() {
        const Folder folder;
        const auto source = counted(100);
        source->damaged = 42;
        kept(source, folder);
        const auto again = kept(source, folder);
        QVERIFY(error_of([&] { target_integers(*again, 42); }).has_value());
        QCOMPARE(input_floats(*again, 41).front(), 41.0F);
        source->damaged = -1;
        QCOMPARE(target_integers(*again, 42).front(), 42 % 7);
    }

    void a_disk_that_is_too_small_is_told_before_anything_is_written() {
        const Folder folder;
        const auto error = error_of([&] { kept(counted(1'000'000'000'000), folder); }); // 8 TB
        QVERIFY(error && error->text().find("free") != std::string::npos);
        QVERIFY(files_in(folder.path()).empty());
    }

    void data_that_are_not_decoded_are_refused() {
        for (const auto& [train, tokenizer] :
             {std::pair(R"({"type": "npy", "inputs": "x.npy"})", Json()),
              {R"({"type": "text", "path": "book.txt"})", Json()},
              {R"({"type": "jsonl", "path": "a.jsonl"})", Json("tokenizer.json")}}) {
            const Json section = {
                {"train", config::json_of(train)}, {"cache", "disk"}, {"tokenizer", tokenizer}};
            Json checked = config::check_fields(section, data::data_fields(), "/data").value;
            const config::Diagnostics found = data::check_data(checked, "/data");
            QVERIFY(!found.empty() && found.front().pointer == "/data/cache");
        }
    }

private:
    Folder cache_;
};

WEFT_TEST(KeptSamplesTest)
#include "kept_samples_test.moc"
