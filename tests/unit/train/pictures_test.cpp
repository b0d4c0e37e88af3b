// SPDX-License-Identifier: Apache-2.0
// Samples as pictures and arrays: read back by the readers of data.
#include "core/base/file.h"
#include "core/data/files/image_codec.h"
#include "core/data/files/npy_header.h"
#include "core/train/pictures/picture_sheet.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <cmath>
#include <cstring>

namespace {

using namespace weft;
using train::MadeSamples;

/// `count` images of 2 x 3 pixels and one channel, each of one value.
MadeSamples plain(const std::vector<float>& values) {
    MadeSamples out;
    out.shape = {std::ssize(values), 2, 3, 1};
    for (const float value : values) {
        out.values.insert(out.values.end(), 6, value);
    }
    return out;
}

data::Image decoded(const std::string& png) {
    return data::decode_image(std::as_bytes(std::span(png)), "test", {.channels = 1});
}

} // namespace

class PicturesTest : public QObject, private test::TestFolder {
    Q_OBJECT
private slots:
    void a_sheet_has_a_row_per_list_and_a_column_per_sample() {
        const data::Image image =
            decoded(train::picture_sheet({plain({0.0F, 0.2F, 0.4F}), plain({0.6F, 1.0F})}, {}));
        QCOMPARE(image.height, std::int64_t{4});
        QCOMPARE(image.width, std::int64_t{9});
        const auto at = [&](std::size_t row, std::size_t column) {
            return static_cast<int>(image.pixels[row * 9 + column]);
        };
        const int expected[2][3] = {{0, 51, 102}, {153, 255, 0}}; // the last place is empty
        for (std::size_t row = 0; row < 4; ++row) {
            for (std::size_t column = 0; column < 9; ++column) {
                QCOMPARE(at(row, column), expected[row / 2][column / 3]);
            }
        }
    }

    void a_grid_fills_row_after_row() {
        const data::Image image =
            decoded(train::picture_grid(plain({0.0F, 0.2F, 0.4F, 0.6F, 1.0F}), 2, {}));
        QCOMPARE(image.height, std::int64_t{6});
        QCOMPARE(image.width, std::int64_t{6});
        QCOMPARE(static_cast<int>(image.pixels[2 * 6]), 102);     // the third, below the first
        QCOMPARE(static_cast<int>(image.pixels[4 * 6 + 2]), 255); // the fifth
        QCOMPARE(static_cast<int>(image.pixels[4 * 6 + 3]), 0);
    }

    // ((p - 0.5) / 0.25 - 1) / 2 = x
    void what_was_normalised_twice_is_moved_back_twice() {
        const train::PixelScale scale = train::pixel_scale(
            config::json_of(R"([{"type": "normalize", "mean": [0.5], "std": [0.25]},
                                {"type": "normalize", "mean": [1, 1, 1], "std": [2, 2, 2]}])"));
        MadeSamples colours;
        colours.shape = {1, 1, 1, 3};
        colours.values = {0.0F, -1.0F, -1.5F};
        QCOMPARE(train::pixels(colours, 0, scale), (std::vector<float>{0.75F, 0.25F, 0.0F}));
    }

    void what_was_normalised_is_moved_back_and_kept_within_a_picture() {
        const train::PixelScale scale = train::pixel_scale(config::json_of(
            R"([{"type": "random_flip"}, {"type": "normalize", "mean": [0.5], "std": [0.25]}])"));
        const MadeSamples samples = plain({-2.0F, 0.0F, 1.0F, 9.0F, std::nanf("")});
        const float expected[] = {0.0F, 0.5F, 0.75F, 1.0F, 0.0F};
        for (std::int64_t i = 0; i < 5; ++i) {
            QCOMPARE(train::pixels(samples, i, scale).front(), expected[i]);
        }
        MadeSamples colours;
        colours.shape = {1, 1, 1, 3};
        colours.values = {1.0F, 1.0F, 1.0F};
        const std::vector<float> pixel =
            train::pixels(colours, 0, {{0.1F, 0.2F, 0.3F}, {0.0F, 0.1F, 0.2F}});
        QCOMPARE(pixel, (std::vector<float>{0.1F, 0.2F + 0.1F, 0.3F + 0.2F}));
    }

    void an_array_file_is_read_back_bit_for_bit() {
        for (const std::int64_t count : {1, 3, 1000}) {
            MadeSamples samples;
            samples.shape = {count, 2, 3, 1};
            for (std::int64_t i = 0; i < count * 6; ++i) {
                samples.values.push_back(static_cast<float>(i) / 7.0F);
            }
            const std::filesystem::path file = path("samples.npy");
            write_file_atomically(file, train::npy_file(samples));
            const data::NpyHeader header = data::read_npy_header(file);
            QCOMPARE(header.shape, (std::vector<std::int64_t>{count, 2, 3, 1}));
            QVERIFY(!header.fortran_order);
            const std::string bytes = read_file(file);
            const std::size_t size = samples.values.size() * sizeof(float);
            const std::size_t values = bytes.size() - size;
            QCOMPARE(values % 64, std::size_t{0});
            QVERIFY(std::memcmp(bytes.data() + values, samples.values.data(), size) == 0);
        }
    }
};

WEFT_TEST(PicturesTest)
#include "pictures_test.moc"
