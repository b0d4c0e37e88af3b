// SPDX-License-Identifier: Apache-2.0
// What TensorBoard files hold beside scalars: a real one, whose content TensorBoard's own reader
// gives as below (write_tensorboard_kinds.py wrote it), values in TensorFlow 2's way, and damage.
#include "core/base/error.h"
#include "core/base/protobuf.h"
#include "core/data/files/image_codec.h"
#include "core/train/logging/tensorboard_media.h"
#include "core/train/logging/tensorboard_writer.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <cmath>
#include <fstream>
#include <map>

namespace {

using namespace weft;
using namespace weft::train;
using protobuf::Writer;
namespace fs = std::filesystem;

constexpr const char* kEvents = "events.out.tfevents.100.host";

const MediaSeries* series_of(const MediaIndex& index, const std::string& tag) {
    for (const MediaSeries& one : index.series) {
        if (one.tag == tag) {
            return &one;
        }
    }
    return nullptr;
}

Writer tensor_of_texts(const std::vector<std::string>& texts) {
    Writer out;
    out.add_varint(1, 7); // DT_STRING
    for (const std::string& text : texts) {
        out.add_bytes(8, text);
    }
    return out;
}

/// An event with one value: its plug-in and its tensor.
std::string tensor_event(std::int64_t step, const char* tag, const char* plugin,
                         const Writer& tensor) {
    Writer name;
    name.add_bytes(1, plugin);
    Writer metadata;
    metadata.add(1, name);
    Writer value;
    value.add_bytes(1, tag);
    value.add(9, metadata);
    value.add(8, tensor);
    Writer summary;
    summary.add(1, value);
    Writer event;
    event.add_double(1, 100.0);
    event.add_integer(2, step);
    event.add(5, summary);
    return framed_record(event.text());
}

} // namespace

class TensorboardMediaTest : public QObject {
    Q_OBJECT

    QTemporaryDir dir_;

    fs::path written(const char* name, const std::string& bytes) const {
        const fs::path folder = fs::path(dir_.path().toStdString()) / name;
        fs::create_directories(folder);
        std::ofstream(folder / kEvents, std::ios::binary) << bytes;
        return folder;
    }
    fs::path kinds() const {
        const fs::path folder = written("kinds", "");
        fs::copy_file(fs::path(WEFT_TEST_DATA) / "tensorboard_kinds.tfevents", folder / kEvents,
                      fs::copy_options::overwrite_existing);
        return folder;
    }
    template <class T>
    T first(const fs::path& folder, const std::string& tag) const {
        const MediaIndex index = index_media(folder);
        const MediaSeries* series = series_of(index, tag);
        return std::get<T>(read_media(folder, series->kind, series->places.front()));
    }

private slots:
    // Each bucket is counted again, number by number.
    void histograms_that_we_write_count_the_numbers_between_their_edges() {
        const std::vector<float> values{-3, -1.5F, -1e-3F, 0, 0, 0.5F, 0.6F, 7, 1e-9F};
        Spread spread;
        spread.add(weft::ir::DType::f32, values.data(), std::ssize(values));
        Spread none;
        Spread zeros;
        const std::vector<float> two_zeros{0, 0};
        zeros.add(weft::ir::DType::f32, two_zeros.data(), 2);
        const fs::path folder = fs::path(dir_.path().toStdString()) / "own";
        fs::create_directories(folder);
        TensorboardWriter writer(folder, 100, "host");
        writer.add_histograms(
            101, 5, {{"weights/a", &spread}, {"weights/none", &none}, {"weights/zeros", &zeros}});
        const MediaIndex index = index_media(folder);
        QVERIFY(index.problems.empty());
        QCOMPARE(index.series.size(), std::size_t{2}); // of nothing there is nothing
        QCOMPARE(index.series[0].tag, std::string("weights/a"));
        QCOMPARE(index.series[0].places.at(0).step, std::int64_t{5});
        const auto read = std::get<MediaHistogram>(
            read_media(folder, MediaKind::histogram, index.series[0].places.at(0)));
        QCOMPARE(read.total(), double(values.size()));
        QCOMPARE(read.left.front(), -3.0);
        QCOMPARE(read.right.back(), 7.0);
        for (std::size_t i = 0; i < read.counts.size(); ++i) {
            QVERIFY(i == 0 || read.left[i] == read.right[i - 1]);
            double inside = 0;
            for (const float value : values) {
                // A number at an edge between positive buckets is in the upper one.
                const bool in =
                    value > 0 ? double(value) >= read.left[i] &&
                                    (double(value) < read.right[i] || (i + 1 == read.counts.size()))
                              : (double(value) > read.left[i] ||
                                 (i == 0 && double(value) == read.left[i])) &&
                                    double(value) <= read.right[i];
                inside += in ? 1 : 0;
            }
            QCOMPARE(read.counts[i], inside);
        }
        const auto nothing_else = std::get<MediaHistogram>(
            read_media(folder, MediaKind::histogram, index.series[1].places.at(0)));
        QCOMPARE(nothing_else.total(), 2.0);
    }

    void every_kind_of_a_writer_is_found_or_named() {
        const MediaIndex index = index_media(kinds());
        QVERIFY(index.problems.empty());
        QCOMPARE(index.scalars, std::int64_t{3}); // loss twice, final once
        const MediaSeries* pictures = series_of(index, "pictures/half");
        QVERIFY(pictures != nullptr && pictures->kind == MediaKind::image);
        QCOMPARE(pictures->places.size(), std::size_t{2});
        QCOMPARE(pictures->places[1].step, std::int64_t{5});
        QCOMPARE(pictures->places[1].time, 105.0);
        const std::map<std::string, MediaKind> others = {{"weights", MediaKind::histogram},
                                                         {"tone", MediaKind::audio},
                                                         {"notes/text_summary", MediaKind::text},
                                                         {"pr", MediaKind::pr_curve}};
        for (const auto& [tag, kind] : others) {
            const MediaSeries* series = series_of(index, tag);
            QVERIFY2(series != nullptr && series->kind == kind, tag.c_str());
            QCOMPARE(series->places.front().step, std::int64_t{3});
        }
        QCOMPARE(index.series.size(), others.size() + 1);
        std::map<std::string, std::string> named;
        for (const UnshownData& one : index.unshown) {
            QVERIFY(one.count > 0 && one.reason.ends_with("."));
            named[one.what] = one.tag;
        }
        const std::map<std::string, std::string> expected = {
            {"meshes", "shape_VERTEX"},
            {"a layout of charts", "custom_scalars__config__"},
            {"graphs", ""}};
        QVERIFY(named == expected);
    }

    void values_are_those_that_tensorboard_reads() {
        const fs::path folder = kinds();
        const auto images = first<MediaImages>(folder, "pictures/half");
        const data::Image image =
            data::decode_image(std::as_bytes(std::span(images.encoded.front())), "half", {});
        QCOMPARE(image.width, std::int64_t{6});
        QCOMPARE(image.height, std::int64_t{4});
        QCOMPARE(image.pixels[0], std::uint8_t{255}); // red on the left
        QCOMPARE(image.pixels[1], std::uint8_t{0});
        QCOMPARE(image.pixels[3 * 5], std::uint8_t{0});

        const auto histogram = first<MediaHistogram>(folder, "weights");
        QCOMPARE(histogram.left, (std::vector<double>{-1, 0, 1}));
        QCOMPARE(histogram.right, (std::vector<double>{0, 1, 2})); // 1e20 is where values end
        QCOMPARE(histogram.counts, (std::vector<double>{1, 3, 1}));
        QCOMPARE(histogram.total(), 5.0);

        const auto audio = first<MediaAudio>(folder, "tone");
        QCOMPARE(audio.rate, 8000.0);
        QCOMPARE(audio.channels, 1);
        QCOMPARE(audio.wav.size(), std::size_t{204});

        QCOMPARE(first<MediaText>(folder, "notes/text_summary").texts,
                 (std::vector<std::string>{"**bold** words, \u00e4"}));

        const auto curve = first<MediaPrCurve>(folder, "pr");
        QCOMPARE(curve.recall, (std::vector<double>{1, 1, 0.5, 0.5, 0}));
        QCOMPARE(curve.precision[0], 0.5);
        QVERIFY(std::abs(curve.precision[1] - 2.0 / 3.0) < 1e-6);
    }

    // tensorboard/plugins/{image,histogram}/summary_v2.py
    void values_as_tensorflow_2_writes_them() {
        Writer buckets;
        buckets.add_varint(1, 2); // DT_DOUBLE
        const std::vector<double> rows = {0, 1, 4, 1, 3, 2};
        buckets.add_bytes(4, {reinterpret_cast<const char*>(rows.data()), rows.size() * 8});
        const fs::path folder =
            written("two", tensor_event(1, "cat", "images",
                                        tensor_of_texts({"6", "4", "\xff\xd8one", "b"})) +
                               tensor_event(1, "w", "histograms", buckets));
        QCOMPARE(first<MediaImages>(folder, "cat").encoded,
                 (std::vector<std::string>{"\xff\xd8one", "b"}));
        QCOMPARE(first<MediaHistogram>(folder, "w").right, (std::vector<double>{1, 3}));
        QCOMPARE(media_files(first<MediaHistogram>(folder, "w")).at(0).bytes,
                 std::string("left,right,count\n0,1,4\n1,3,2\n"));
    }

    void every_picture_of_a_value_becomes_a_file() {
        const std::vector<MediaFile> files =
            media_files(MediaImages{{"\xff\xd8one", "GIF8two", "\x89PNGthree"}});
        QCOMPARE(files.size(), std::size_t{3});
        QCOMPARE(files[0].ending, std::string(".jpg"));
        QCOMPARE(files[1].ending, std::string(".gif"));
        QCOMPARE(files[2].ending, std::string(".png"));
        QCOMPARE(files[2].bytes, std::string("\x89PNGthree"));
    }

    void a_program_that_goes_back_takes_what_came_after() {
        std::string bytes;
        for (const std::int64_t step : {1, 2, 3, 2}) {
            bytes += tensor_event(step, "words", "text", tensor_of_texts({"x"}));
        }
        const MediaIndex index = index_media(written("back", bytes));
        std::vector<std::int64_t> steps;
        for (const MediaPlace& place : index.series.at(0).places) {
            steps.push_back(place.step);
        }
        QCOMPARE(steps, (std::vector<std::int64_t>{1, 2}));
    }

    void what_is_damaged_is_named_and_the_rest_is_there() {
        const std::string good = tensor_event(1, "words", "text", tensor_of_texts({"x"}));
        std::string bad = good;
        bad[20] = static_cast<char>(bad[20] ^ 1);
        const MediaIndex index = index_media(written("bad", good + bad + good));
        QCOMPARE(index.series.at(0).places.size(), std::size_t{2});
        QCOMPARE(index.problems.size(), std::size_t{1});

        const fs::path folder = written("gone", tensor_event(1, "w", "images", Writer()));
        const MediaPlace place = index_media(folder).series.at(0).places.at(0);
        const auto empty = test::error_of([&] { read_media(folder, MediaKind::image, place); });
        QVERIFY(empty && empty->text().find("no image") != std::string::npos);
        written("gone", "");
        const auto gone = test::error_of([&] { read_media(folder, MediaKind::image, place); });
        QVERIFY(gone && gone->text().find("no such value") != std::string::npos);
    }
};

WEFT_TEST(TensorboardMediaTest)
#include "tensorboard_media_test.moc"
