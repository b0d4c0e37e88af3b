// SPDX-License-Identifier: GPL-3.0-or-later
// What TensorBoard files hold beside scalars, in the studio: a file that PyTorch's SummaryWriter
// wrote (tests/unit/train/write_tensorboard_kinds.py), and values added while it is looked at.
#include "core/base/protobuf.h"
#include "core/train/logging/tensorboard_writer.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/media/media_values.h"
#include "ui/pages/live/media/media_card.h"
#include "ui/pages/live/media/media_panel.h"
#include "widgets/controls/controls.h"
#include "widgets/curves/line_chart.h"
#include "widgets/spread/histogram_view.h"
#include "widgets/views/image_grid.h"
#include "widgets/views/step_dots.h"

#include <QAbstractButton>
#include <QBuffer>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>

#include <cmath>
#include <fstream>

namespace {

using namespace weft;
using protobuf::Writer;
using test::kPatienceMs;
namespace fs = std::filesystem;

constexpr const char* kMediaFile = "events.out.tfevents.100.host";

/// An event with one value: its plug-in and its tensor.
std::string media_event(std::int64_t step, const char* tag, const char* plugin,
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
    return train::framed_record(event.text());
}

/// An event of one picture value in TensorFlow 2's way: width, height, then the pictures.
std::string pictures_event(std::int64_t step, const char* tag, int count) {
    QImage picture(2, 3, QImage::Format_RGB32);
    picture.fill(Qt::green);
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    picture.save(&buffer, "PNG");
    Writer tensor;
    tensor.add_varint(1, 7); // DT_STRING
    tensor.add_bytes(8, "2");
    tensor.add_bytes(8, "3");
    for (int i = 0; i < count; ++i) {
        tensor.add_bytes(8, png.toStdString());
    }
    return media_event(step, tag, "images", tensor);
}

/// The folder of a run with every kind that PyTorch writes.
fs::path every_kind(const test::StudioFixture& fixture) {
    const fs::path run = fixture.root() / "logs" / "kinds";
    fs::create_directories(run);
    fs::copy_file(fs::path(WEFT_SOURCE_DIR) / "tests/unit/train/tensorboard_kinds.tfevents",
                  run / kMediaFile);
    return run;
}

fs::path write_media_run(const test::StudioFixture& fixture, const std::string& events) {
    const fs::path run = fixture.root() / "logs" / "pictures";
    fs::create_directories(run);
    std::ofstream(run / kMediaFile, std::ios::binary) << events;
    return run;
}

enum class MediaView { Scalars, Pictures, Histograms, Texts, Sounds, Curves, NotShown };

void showView(const test::StudioFixture& fixture, MediaView view) {
    static_cast<widgets::SegmentedControl*>(fixture.find("foreignView"))
        ->setCurrentIndex(static_cast<int>(view));
}

/// The one card of a view, once its value has been read; null: it never was.
ui::MediaCard* cardOf(const test::StudioFixture& fixture, MediaView view) {
    showView(fixture, view);
    auto* panel = static_cast<ui::MediaPanel*>(fixture.find("mediaPanel"));
    const auto read = [panel] {
        return panel->cards().size() == 1 && !panel->cards()[0]->drawn().files.empty();
    };
    return QTest::qWaitFor(read, kPatienceMs) ? panel->cards()[0] : nullptr;
}

QStringList visibleViews(const test::StudioFixture& fixture) {
    QStringList out;
    for (const auto* button : fixture.find("foreignView")->findChildren<QAbstractButton*>()) {
        if (!button->isHidden()) {
            out << button->text();
        }
    }
    return out;
}

} // namespace

class ForeignMediaTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void every_kind_has_a_view_and_the_rest_is_named() {
        test::StudioFixture fixture;
        QCOMPARE(fixture.studio().opener().open(every_kind(fixture)), QString());
        fixture.window().showPage("train");
        const QStringList all{"Scalars",  "Pictures", "Histograms",
                              "Texts",    "Sounds",   "Precision and recall",
                              "Not shown"};
        QTRY_COMPARE_WITH_TIMEOUT(visibleViews(fixture), all, kPatienceMs);
        QVERIFY(fixture.find("scalarGrid")->isVisible());

        const ui::MediaCard* pictures = cardOf(fixture, MediaView::Pictures);
        QVERIFY(pictures != nullptr);
        const auto& shown = pictures->findChild<widgets::ImageGrid*>()->images();
        QCOMPARE(shown.size(), std::size_t{1});
        QCOMPARE(shown[0].image.size(), QSize(6, 4));
        QCOMPARE(shown[0].image.pixelColor(0, 0), QColor(255, 0, 0)); // red on the left
        QCOMPARE(shown[0].image.pixelColor(5, 0), QColor(0, 0, 0));

        const ui::MediaCard* histogram = cardOf(fixture, MediaView::Histograms);
        QVERIFY(histogram != nullptr);
        QCOMPARE(histogram->drawn().low, -1.0);
        QCOMPARE(histogram->drawn().high, 2.0);
        QCOMPARE(histogram->drawn().total, 5.0);
        const auto* bands = histogram->findChild<widgets::LineChart*>();
        QTRY_COMPARE_WITH_TIMEOUT(bands->pointCount(0) + bands->pointCount(1) > 0, true,
                                  kPatienceMs);

        const ui::MediaCard* text = cardOf(fixture, MediaView::Texts);
        QVERIFY(text != nullptr);
        QCOMPARE(text->findChild<QLabel*>("mediaText")->text(), QString("bold words, ä"));

        const ui::MediaCard* sound = cardOf(fixture, MediaView::Sounds);
        QVERIFY(sound != nullptr);
        QCOMPARE(sound->drawn().sound.rate, 8000.0);
        QCOMPARE(sound->drawn().sound.seconds, 0.01);
        QVERIFY(sound->findChild<QLabel*>("mediaNote")->text().contains("8,000 Hz"));

        const ui::MediaCard* curve = cardOf(fixture, MediaView::Curves);
        QVERIFY(curve != nullptr);
        QCOMPARE(curve->drawn().recall, (std::vector<double>{0, 0.5, 0.5, 1, 1}));
        QCOMPARE(curve->drawn().precision.back(), 0.5);

        showView(fixture, MediaView::NotShown);
        QStringList named;
        for (const auto* label : fixture.find("unshownPanel")->findChildren<QLabel*>()) {
            named << label->text();
        }
        for (const char* one : {"Meshes of shape_VERTEX: 1 value", "Graphs: 1 value",
                                "A layout of charts of custom_scalars__config__: 1 value",
                                "Three-dimensional meshes and point clouds are not drawn."}) {
            QVERIFY2(named.join(" | ").contains(one), qPrintable(named.join(" | ")));
        }
    }

    void a_step_is_chosen_and_what_comes_later_appears() {
        test::StudioFixture fixture;
        const fs::path run =
            write_media_run(fixture, pictures_event(1, "cat", 1) + pictures_event(5, "cat", 2));
        QCOMPARE(fixture.studio().opener().open(run), QString());
        fixture.window().showPage("train");
        ui::MediaCard* card = cardOf(fixture, MediaView::Pictures);
        QVERIFY(card != nullptr);
        const auto* step = card->findChild<QLabel*>("mediaStep");
        QCOMPARE(step->text(), QString("step 5"));
        card->findChild<widgets::StepDots*>()->setChosen(0);
        QCOMPARE(step->text(), QString("step 1"));
        // Another step of it and another tag: what was chosen stays.
        std::ofstream(run / kMediaFile, std::ios::app | std::ios::binary)
            << pictures_event(7, "cat", 3) << pictures_event(7, "two", 70);
        auto* panel = static_cast<ui::MediaPanel*>(fixture.find("mediaPanel"));
        QTRY_COMPARE_WITH_TIMEOUT(panel->cards().size(), std::size_t{2}, kPatienceMs);
        QCOMPARE(panel->cards()[0], card);
        QCOMPARE(step->text(), QString("step 1"));
        card->findChild<widgets::StepDots*>()->setChosen(2);
        QTRY_COMPARE_WITH_TIMEOUT(card->findChild<widgets::ImageGrid*>()->images().size(),
                                  std::size_t{3}, kPatienceMs);
        // Of very many pictures some are shown, and how many are not is said.
        const ui::MediaCard* many = panel->cards()[1];
        QTRY_COMPARE_WITH_TIMEOUT(many->drawn().pictures.size(), std::size_t{64}, kPatienceMs);
        QVERIFY(many->findChild<QLabel*>("mediaNote")
                    ->text()
                    .startsWith("Not shown of this step: 6 more"));
        static_cast<QLineEdit*>(fixture.find("mediaFilter"))->setText("tw");
        QCOMPARE(panel->cards().size(), std::size_t{1});
    }

    void what_is_shown_is_saved_as_it_was_written() {
        test::StudioFixture fixture;
        const fs::path run = every_kind(fixture);
        std::ofstream(run / kMediaFile, std::ios::app | std::ios::binary)
            << pictures_event(7, "a/cat", 3);
        QCOMPARE(fixture.studio().opener().open(run), QString());
        fixture.window().showPage("train");
        QTRY_COMPARE_WITH_TIMEOUT(visibleViews(fixture).size(), 7, kPatienceMs);
        static_cast<QLineEdit*>(fixture.find("mediaFilter"))->setText("cat");
        ui::MediaCard* pictures = cardOf(fixture, MediaView::Pictures);
        QVERIFY(pictures != nullptr);
        QSignalSpy pictures_saved(pictures, &ui::MediaCard::exported);
        pictures->saveTo(ui::pathText(fixture.root()));
        QVERIFY(pictures_saved.wait(kPatienceMs));
        QVERIFY(pictures_saved[0][0].toBool());
        for (const char* name : {"a-cat-7-1.png", "a-cat-7-3.png"}) {
            QCOMPARE(QImage(ui::pathText(fixture.root() / name)).size(), QSize(2, 3));
        }
        static_cast<QLineEdit*>(fixture.find("mediaFilter"))->clear();
        ui::MediaCard* sound = cardOf(fixture, MediaView::Sounds);
        QVERIFY(sound != nullptr);
        QSignalSpy sound_saved(sound, &ui::MediaCard::exported);
        sound->saveTo(ui::pathText(fixture.root() / "tone.wav"));
        QVERIFY(sound_saved.wait(kPatienceMs));
        QCOMPARE(fs::file_size(fixture.root() / "tone.wav"), std::uintmax_t{204});
        sound->saveTo(ui::pathText(fixture.root() / "nowhere" / "tone.wav"));
        QVERIFY(sound_saved.wait(kPatienceMs));
        QVERIFY(!sound_saved[1][0].toBool());
    }

    void a_picture_that_cannot_be_read_says_so() {
        test::StudioFixture fixture;
        Writer tensor;
        tensor.add_varint(1, 7); // DT_STRING
        for (const char* text : {"2", "3", "no picture"}) {
            tensor.add_bytes(8, text);
        }
        const fs::path run = write_media_run(fixture, media_event(1, "cat", "images", tensor));
        QCOMPARE(fixture.studio().opener().open(run), QString());
        fixture.window().showPage("train");
        const ui::MediaCard* card = cardOf(fixture, MediaView::Pictures);
        QVERIFY(card != nullptr);
        QVERIFY(card->findChild<QLabel*>("mediaNote")->text().startsWith("Damaged"));
        QCOMPARE(card->findChild<widgets::ImageGrid*>()->images()[0].caption,
                 QString("cannot be read"));
    }

    void a_run_of_pictures_alone_begins_with_them() {
        test::StudioFixture fixture;
        const fs::path run = write_media_run(fixture, pictures_event(1, "cat", 2));
        QCOMPARE(fixture.studio().opener().open(run), QString());
        fixture.window().showPage("train");
        auto* panel = static_cast<ui::MediaPanel*>(fixture.find("mediaPanel"));
        QTRY_VERIFY_WITH_TIMEOUT(panel->isVisible() && panel->cards().size() == 1, kPatienceMs);
        QCOMPARE(visibleViews(fixture), (QStringList{"Scalars", "Pictures"}));
    }

    void shares_of_a_histogram_lie_where_its_buckets_say() {
        // Four numbers, evenly from 0 to 4, and an empty bucket at either end.
        const train::MediaHistogram even{
            {-9, 0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, 9}, {0, 1, 1, 1, 1, 0}};
        const auto levels = ui::spreadLevels(even);
        for (std::size_t i = 0; i < levels.size(); ++i) {
            QVERIFY(std::abs(levels[i] - 4 * ui::kSpreadShares[i]) < 1e-12);
        }
    }

    // What TensorBoard 2.21.0 answers at data/plugin/distributions/distributions for the same file.
    void shares_are_those_that_tensorboard_draws() {
        const train::MediaHistogram weights{{-1, 0, 1}, {0, 1, 2}, {1, 3, 1}};
        const std::vector<double> theirs = {-1.0,
                                            -0.6659999999999999,
                                            -0.20650000000000002,
                                            0.18083333333333335,
                                            0.5,
                                            0.8191666666666667,
                                            1.2065,
                                            1.666,
                                            2.0};
        const auto levels = ui::spreadLevels(weights);
        for (std::size_t i = 0; i < levels.size(); ++i) {
            QVERIFY(std::abs(levels[i] - theirs[i]) < 1e-12);
        }
    }

    void lists_and_tables_of_a_text_stay_lines() {
        test::StudioFixture fixture;
        const std::string markdown =
            "# Step 5\n\nSome **bold** ![picture](/etc/hostname)\n\n"
            "- one\n- two\n\n1. first\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n";
        Writer tensor;
        tensor.add_varint(1, 7);
        tensor.add_bytes(8, markdown);
        const fs::path run = write_media_run(fixture, media_event(1, "notes", "text", tensor));
        const train::MediaIndex index = train::index_media(run);
        const ui::DrawnMedia drawn =
            ui::readDrawnMedia(run, train::MediaKind::text, index.series.at(0).places.at(0));
        QCOMPARE(drawn.texts, QStringList(QString::fromUtf8(
                                  "Step 5\nSome bold \n• one\n• two\n1. first\na   b\n1   2")));
    }

    void a_wave_holds_the_extremes_of_every_stretch() {
        const auto wav = [](std::uint16_t bits, const std::string& data) {
            const auto number = [](std::uint32_t value, int bytes) {
                std::string out;
                for (int i = 0; i < bytes; ++i) {
                    out += static_cast<char>(value >> (8 * i));
                }
                return out;
            };
            return "RIFF" + number(36, 4) + "WAVEfmt " + number(16, 4) + number(1, 2) +
                   number(1, 2) + number(4, 4) + number(4U * bits / 8U, 4) + number(bits / 8U, 2) +
                   number(bits, 2) + "data" + number(static_cast<std::uint32_t>(data.size()), 4) +
                   data;
        };
        const std::string eight("\x80\x00\xff\x80", 4); // 0, -1, nearly 1, 0
        const auto wave = ui::soundWave(wav(8, eight), 4);
        QVERIFY(wave.has_value());
        QCOMPARE(wave->seconds, 1.0);
        QCOMPARE(wave->channels.at(0), (std::vector<double>{-1, 0, 0, 127.0 / 128}));
        QCOMPARE(wave->at, (std::vector<double>{0, 0, 0.5, 0.5}));
        const auto fine = ui::soundWave(wav(24, std::string("\0\0\x80\0\0\x40", 6)), 100);
        QCOMPARE(fine->channels.at(0), (std::vector<double>{-1, -1, 0.5, 0.5}));
        QVERIFY(!ui::soundWave(wav(12, eight)).has_value());
        QVERIFY(!ui::soundWave("RIFF").has_value());
    }
};

WEFT_TEST(ForeignMediaTest)
#include "foreign_media_test.moc"
