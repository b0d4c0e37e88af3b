// SPDX-License-Identifier: Apache-2.0
#include "core/base/file.h"
#include "core/data/transforms/transform_list.h"
#include "tests/data/data_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

using namespace weft;
using namespace weft::data::test;
using config::Json;

namespace {

/// Images f32[3,4,2] whose numbers are all different and above 0.
class Images final : public data::Source {
public:
    Images() {
        info_.input = {ir::DType::f32, {3, 4, 2}};
        info_.target = {ir::DType::i32, {}};
    }
    const data::SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return 1000; }
    void read(std::int64_t, std::span<std::byte> input, std::span<std::byte>) const override {
        const std::vector<float> values = image();
        std::memcpy(input.data(), values.data(), input.size());
    }
    std::int32_t label(std::int64_t) const override { return -1; }
    std::int64_t cache_bytes() const override { return 0; }
    std::string fingerprint() const override { return "images"; }

    static std::vector<float> image() {
        std::vector<float> values;
        for (int i = 0; i < 24; ++i) {
            values.push_back(static_cast<float>(i + 1));
        }
        return values;
    }

private:
    data::SampleInfo info_;
};

/// Images f32[7,9,C] as in peers/make_transforms.py.
class Pattern final : public data::Source {
public:
    explicit Pattern(std::int64_t channels) {
        info_.input = {ir::DType::f32, {7, 9, channels}};
        info_.target = {ir::DType::i32, {}};
    }
    const data::SampleInfo& info() const override { return info_; }
    std::int64_t samples() const override { return 100000; }
    void read(std::int64_t, std::span<std::byte> input, std::span<std::byte>) const override {
        const std::vector<float> values = image();
        std::memcpy(input.data(), values.data(), input.size());
    }
    std::int32_t label(std::int64_t) const override { return -1; }
    std::int64_t cache_bytes() const override { return 0; }
    std::string fingerprint() const override { return "pattern"; }

    std::vector<float> image() const {
        std::vector<float> values;
        for (std::int64_t i = 0; i < info_.input.shape.elements(); ++i) {
            values.push_back(static_cast<float>(i * 37 % 101) / 100.0F);
        }
        return values;
    }

private:
    data::SampleInfo info_;
};

/// A checked "transforms" list.
Json listed(const char* list) {
    Json section;
    section["train"] = config::json_of(R"({"type": "synthetic", "kind": "images"})");
    section["transforms"] = config::json_of(list);
    return normalised(section).at("transforms");
}

/// The images with a "transforms" list, given as JSON text.
std::shared_ptr<const data::Source> with(const char* list, bool training = true,
                                         std::uint64_t seed = 0) {
    return data::transformed(std::make_shared<Images>(), listed(list), seed, training);
}

std::vector<float> in_epoch(const data::Source& source, std::int64_t index, std::int64_t epoch) {
    std::vector<std::byte> input(static_cast<std::size_t>(source.info().input.bytes()));
    source.read_in_epoch(index, epoch, input, {});
    return floats(input);
}

float pixel(const std::vector<float>& image, int y, int x, int c) {
    const bool inside = y >= 0 && y < 3 && x >= 0 && x < 4;
    return inside ? image[static_cast<std::size_t>((y * 4 + x) * 2 + c)] : 0.0F;
}

std::vector<float> shifted(int down, int across) {
    std::vector<float> out;
    for (int y = 0; y < 3; ++y) {
        for (int x = 0; x < 4; ++x) {
            for (int c = 0; c < 2; ++c) {
                out.push_back(pixel(Images::image(), y + down, x + across, c));
            }
        }
    }
    return out;
}

std::vector<float> mirrored() {
    std::vector<float> out;
    for (int y = 0; y < 3; ++y) {
        for (int x = 3; x >= 0; --x) {
            for (int c = 0; c < 2; ++c) {
                out.push_back(pixel(Images::image(), y, x, c));
            }
        }
    }
    return out;
}

} // namespace

class TransformTest : public QObject {
    Q_OBJECT

private slots:
    void every_transform_has_a_test_here() {
        const std::set<std::string_view> tested = {"normalize",    "random_flip",
                                                   "random_crop",  "random_rotation",
                                                   "color_jitter", "random_erasing"};
        for (const data::TransformDef* transform : data::kTransforms) {
            QVERIFY2(tested.contains(transform->name), transform->name.data());
        }
    }

    void normalize_subtracts_and_divides_per_channel() {
        const auto source = with(R"([{"type": "normalize", "mean": [1, 2], "std": [2, 4]}])");
        const std::vector<float> out = input_floats(*source, 0);
        QCOMPARE(out[0], 0.0F);
        QCOMPARE(out[1], 0.0F);
        QCOMPARE(out[2], 1.0F);
        QCOMPARE(out[3], 0.5F);
    }

    void normalize_with_one_number_serves_every_channel() {
        const auto source = with(R"([{"type": "normalize", "mean": [1], "std": [2]}])");
        QCOMPARE(input_floats(*source, 0)[1], 0.5F);
    }

    void normalize_with_the_wrong_number_of_channels_is_refused() {
        const auto error =
            error_of([] { with(R"([{"type": "normalize", "mean": [1, 2, 3], "std": [1]}])"); });
        QVERIFY(error && error->where() == "/data/transforms/0/mean");
        QVERIFY(error_of([] {
                    with(R"([{"type": "normalize", "mean": [], "std": [1]}])");
                }).has_value());
    }

    // peers/make_transforms.py draws the same numbers and computes with SciPy and colorsys.
    void images_change_as_other_programs_change_them() {
        const Json cases = config::json_of(read_file(peer("transforms.json")));
        QVERIFY(cases.size() >= 27);
        for (const Json& one : cases) {
            Json section;
            section["train"] = config::json_of(R"({"type": "synthetic", "kind": "images"})");
            section["transforms"] = Json::array({one.at("transform")});
            const auto source =
                data::transformed(std::make_shared<Pattern>(one.at("channels").get<std::int64_t>()),
                                  normalised(section).at("transforms"), 7, true);
            const std::vector<float> out = in_epoch(*source, one.at("sample").get<std::int64_t>(),
                                                    one.at("epoch").get<std::int64_t>());
            const auto expected = one.at("expected").get<std::vector<float>>();
            QCOMPARE(out.size(), expected.size());
            for (std::size_t i = 0; i < out.size(); ++i) {
                QVERIFY2(std::abs(out[i] - expected[i]) < 2e-5F,
                         (one.at("transform").dump() + " element " + std::to_string(i) + ": " +
                          std::to_string(out[i]) + " for " + std::to_string(expected[i]))
                             .c_str());
            }
        }
    }

    void a_normalize_without_numbers_learns_them_from_training_samples() {
        const Json list = listed(R"([{"type": "normalize"}])");
        const Json fitted = data::fitted_transforms(list, Pattern(3));
        // All samples are alike: the moments of one image, in two passes.
        const std::vector<float> image = Pattern(3).image();
        for (std::size_t c = 0; c < 3; ++c) {
            double mean = 0;
            double squares = 0;
            for (std::size_t i = c; i < image.size(); i += 3) {
                mean += static_cast<double>(image[i]) / 63;
            }
            for (std::size_t i = c; i < image.size(); i += 3) {
                squares += std::pow(static_cast<double>(image[i]) - mean, 2) / 63;
            }
            QVERIFY(std::abs(fitted[0].at("mean")[c].get<double>() - mean) < 1e-9);
            QVERIFY(std::abs(fitted[0].at("std")[c].get<double>() - std::sqrt(squares)) < 1e-9);
        }
        const auto source = data::transformed(std::make_shared<Pattern>(3), fitted, 0, false);
        QCOMPARE(data::fitted_for(*source, list), fitted);
        QCOMPARE(data::fitted_for(Pattern(3), list), list);
    }

    void validation_is_normalised_by_what_training_samples_taught() {
        const data::DataSet set = open(config::json_of(R"({
            "train": {"type": "synthetic", "kind": "images", "samples": 400},
            "validation": {"type": "synthetic", "kind": "images", "samples": 50, "seed": 9},
            "transforms": [{"type": "normalize"}]})"));
        const Json fitted = data::fitted_for(*set.train, Json());
        QVERIFY(!fitted[0].at("mean").is_null());
        QCOMPARE(data::fitted_for(*set.validation, Json()), fitted);
        double sum = 0;
        double squares = 0;
        std::int64_t count = 0;
        for (std::int64_t i = 0; i < set.train->samples(); ++i) {
            for (const float value : input_floats(*set.train, i)) {
                sum += static_cast<double>(value);
                squares += static_cast<double>(value) * static_cast<double>(value);
                ++count;
            }
        }
        QVERIFY(std::abs(sum / static_cast<double>(count)) < 1e-3);
        QVERIFY(std::abs(squares / static_cast<double>(count) - 1) < 1e-2);
    }

    void a_jitter_behind_normalize_is_refused() {
        const auto error = error_of([] {
            with(R"([{"type": "normalize", "mean": [0], "std": [1]}, {"type": "color_jitter"}])");
        });
        QVERIFY(error && error->where() == "/data/transforms/1");
    }

    void colours_of_gray_images_are_refused() {
        for (const char* list : {R"([{"type": "color_jitter", "hue": 0.1}])",
                                 R"([{"type": "color_jitter", "saturation": 0.1}])"}) {
            const auto error = error_of(
                [&] { data::transformed(std::make_shared<Pattern>(1), listed(list), 0, true); });
            QVERIFY(error && error->where() == "/data/transforms/0");
        }
    }

    void an_impossible_range_of_erasing_is_refused() {
        const auto error =
            error_of([] { with(R"([{"type": "random_erasing", "area": [0.5, 0.2]}])"); });
        QVERIFY(error && error->where() == "/data/transforms/0/area");
        QVERIFY(error_of([] {
                    with(R"([{"type": "random_erasing", "area": [0.5, 1.2]}])");
                }).has_value());
    }

    void a_flip_mirrors_half_of_the_images() {
        const auto source = with(R"([{"type": "random_flip"}])");
        int flipped = 0;
        for (std::int64_t i = 0; i < 1000; ++i) {
            const std::vector<float> out = in_epoch(*source, i, 0);
            QVERIFY(out == mirrored() || out == Images::image());
            flipped += out == mirrored() ? 1 : 0;
        }
        // Binomial with deviation sqrt(250) = 15.8: five of these.
        QVERIFY(std::abs(flipped - 500) < 80);
    }

    void a_crop_shows_every_shift() {
        const auto source = with(R"([{"type": "random_crop", "padding": 1}])");
        std::set<std::vector<float>> seen;
        for (std::int64_t i = 0; i < 1000; ++i) {
            seen.insert(in_epoch(*source, i, 0));
        }
        std::set<std::vector<float>> expected;
        for (int down = -1; down <= 1; ++down) {
            for (int across = -1; across <= 1; ++across) {
                expected.insert(shifted(down, across));
            }
        }
        QVERIFY(seen == expected);
    }

    void a_padding_wider_than_the_image_is_safe() {
        const auto source = with(R"([{"type": "random_crop", "padding": 9}])");
        for (std::int64_t i = 0; i < 1000; ++i) {
            QCOMPARE(in_epoch(*source, i, 0).size(), std::size_t(24));
        }
    }

    void chance_is_a_function_of_seed_epoch_and_sample() {
        const char* list = R"([{"type": "random_flip"}, {"type": "random_crop"}])";
        const auto run = [&](std::uint64_t seed, std::int64_t epoch) {
            const auto source = with(list, true, seed);
            std::vector<std::vector<float>> out;
            for (std::int64_t i = 0; i < 50; ++i) {
                out.push_back(in_epoch(*source, i, epoch));
            }
            return out;
        };
        QVERIFY(run(1, 0) == run(1, 0));
        QVERIFY(run(1, 0) != run(1, 1));
        QVERIFY(run(1, 0) != run(2, 0));
    }

    void evaluation_sees_no_chance() {
        const char* list = R"([{"type": "random_flip", "probability": 1.0}])";
        QCOMPARE(in_epoch(*with(list, false), 0, 3), Images::image());
        QCOMPARE(input_floats(*with(list, true), 0), Images::image());
        QCOMPARE(in_epoch(*with(list, true), 0, 3), mirrored());
    }

    void transforms_of_text_are_refused() {
        const auto error = error_of([] {
            open(config::json_of(R"({"train": {"type": "synthetic", "kind": "tokens", "length": 4},
                                 "transforms": [{"type": "random_flip"}]})"));
        });
        QVERIFY(error && error->where() == "/data/transforms/0");
    }
};

WEFT_TEST(TransformTest)
#include "transform_test.moc"
