// SPDX-License-Identifier: Apache-2.0
// Data that somebody brings: looked at, a run suggested for it, trained, and asked about new files.
#include "tests/data/image_support.h"
#include "tests/e2e/weft_process.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <QElapsedTimer>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace {

using namespace weft::test;
using weft::config::Json;
using weft::config::json_of;
namespace fs = std::filesystem;
using weft::data::test::jpeg_bytes;
using weft::data::test::plain_image;
using weft::data::test::png_bytes;

void write(const fs::path& path, const std::string& content) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
}

/// "1,5" for 1.5
std::string german(double value) {
    std::string text = std::to_string(value);
    std::replace(text.begin(), text.end(), '.', ',');
    return text;
}

class OwnDataTest : public QObject, private TestFolder {
    Q_OBJECT

    static Json inspected(const QString& file) {
        const Finished done = run_weft({"data", "inspect", file, "--suggest", "--json"});
        return done.code == 0 ? json_of(done.out) : Json();
    }

    /// Trains what was suggested, with `changes`; the events of the run.
    std::vector<weft::train::Event> trained(const Json& inspection, const char* name,
                                            const QStringList& changes) {
        const fs::path config = path((std::string(name) + ".json").c_str());
        write(config, inspection.at("suggestion").at("configuration").dump());
        QStringList arguments = {"train", QString::fromStdString(config.string()), "--run-dir",
                                 text(name)};
        for (const QString& change : changes) {
            arguments << "--set" << change;
        }
        const Finished done = run_weft(arguments);
        if (done.code != 0) {
            qWarning("%s", done.err.c_str());
            return {};
        }
        return events_of(path(name));
    }

    static double last(const std::vector<weft::train::Event>& events, const std::string& metric) {
        for (auto event = events.rbegin(); event != events.rend(); ++event) {
            if (const auto* finished = std::get_if<weft::train::FinishedEvent>(&event->payload)) {
                for (const auto& [name, value] : finished->last) {
                    if (name == metric) {
                        return value;
                    }
                }
            }
        }
        return std::nan("");
    }

    static std::string warnings(const std::vector<weft::train::Event>& events) {
        std::string out;
        for (const auto& event : events) {
            if (const auto* warning = std::get_if<weft::train::WarningEvent>(&event.payload)) {
                out += warning->message + "\n";
            }
        }
        return out;
    }

private slots:
    // Price of a flat: 3000 per square metre and 50,000 more in town.
    void a_german_table_is_learnt_and_predicts_in_its_own_units() {
        std::string table = "Fläche;Lage;Bemerkung;Preis\r\n";
        for (int i = 0; i < 600; ++i) {
            const double area = 30 + i * 37 % 120;
            const bool town = i % 3 == 0;
            table += (i == 50 ? "" : german(area)) + ";" + (town ? "Stadt" : "Land") + ";\"Nr. " +
                     std::to_string(i) + "; schön\";" + german(3000 * area + (town ? 50'000 : 0)) +
                     "\r\n";
        }
        write(path("Wohnungen.csv"), table + "kaputt;1\r\n");
        const Json inspection = inspected(text("Wohnungen.csv"));
        QVERIFY(inspection.is_object());
        const Json& found = inspection.at("formats").at(0);
        QCOMPARE(found.at("format"), Json("csv"));
        QCOMPARE(found.at("outline").at("input"), Json("f32[3]"));
        const auto events = trained(inspection, "flats", {});
        // In units of the table: the mean price is 90,000 off. Nothing learns to less than 10 in
        // some thousand updates.
        const double error = last(events, "validation/mean_absolute_error");
        QVERIFY2(error > 10 && error < 10'000, std::to_string(error).c_str());
        const std::string told = warnings(events);
        QVERIFY2(told.find("line 602: it has 2 fields, not 4") != std::string::npos, told.c_str());
        QVERIFY2(told.find("missing in column 'Fläche'") != std::string::npos, told.c_str());

        write(path("neu.csv"), "Lage;Fläche\nStadt;80,0\nLand;120,0\n");
        const Finished done = run_weft({"predict", text("flats"), text("neu.csv"), "--json"});
        QVERIFY2(done.code == 0, done.err.c_str());
        const Json predictions = json_of(done.out).at("predictions");
        QCOMPARE(predictions.size(), std::size_t(2));
        const auto value = [&](std::size_t i) {
            return predictions.at(i).at("values").at(0).get<double>();
        };
        // A tenth of the spread of prices (about 110,000) is what the run was held to above.
        QVERIFY2(std::abs(value(0) - 290'000) < 25'000, done.out.c_str());
        QVERIFY2(std::abs(value(1) - 360'000) < 25'000, done.out.c_str());
        for (const char* wrong : {"nirgends.csv", "-5", "5-3"}) {
            const Finished refused = run_weft({"predict", text("flats"), "--", wrong});
            QCOMPARE(refused.code, 2);
            QVERIFY2(refused.err.find("neither a sample's number nor a file") != std::string::npos,
                     refused.err.c_str());
        }
    }

    // Two kinds of days, which alone tell the value: 1 from Monday to Friday, 9 at weekends.
    void days_of_the_week_are_learnt_from_dates() {
        std::string table = "day,remark,value\n";
        for (int i = 0; i < 700; ++i) {
            using namespace std::chrono;
            const year_month_day date = sys_days{year{2021} / 3 / 1} + days(i); // a Monday
            char day[32];
            std::snprintf(day, sizeof(day), "%02u.%02u.%d", unsigned(date.day()),
                          unsigned(date.month()), int(date.year()));
            table += std::string(day) + ",remark " + std::to_string(i) + "," +
                     (i % 7 < 5 ? "1.0" : "9.0") + (i % 2 == 0 ? "1" : "2") + "\n";
        }
        write(path("days.csv"), table);
        const auto events = trained(inspected(text("days.csv")), "days", {});
        QVERIFY(last(events, "validation/mean_absolute_error") < 0.1); // guessing: 0.8 or more
        QCOMPARE(warnings(events), std::string()); // a remark is nothing to mend
        const bool told = std::any_of(events.begin(), events.end(), [](const auto& event) {
            const auto* note = std::get_if<weft::train::NoteEvent>(&event.payload);
            return note != nullptr && note->message.find("'remark' is left out") == 7;
        });
        QVERIFY(told);

        // 2023-03-01 was a Wednesday, 2023-03-05 a Sunday; a file may write them otherwise.
        write(path("next.csv"), "day\n2023-03-01\n5.3.2023\n");
        const Finished done = run_weft({"predict", text("days"), text("next.csv"), "--json"});
        QVERIFY2(done.code == 0, done.err.c_str());
        const Json predictions = json_of(done.out).at("predictions");
        const auto value = [&](std::size_t i) {
            return predictions.at(i).at("values").at(0).get<double>();
        };
        QVERIFY2(value(0) < 4 && value(1) > 6, done.out.c_str());
    }

    // The colour tells the class. Sizes, colour modes and formats are mixed, one file is cut off.
    void two_hundred_images_of_all_kinds_train_within_two_minutes() {
        using Colour = std::vector<std::uint8_t>;
        for (int i = 0; i < 200; ++i) {
            const bool warm = i % 2 == 0;
            const Colour rgb = warm ? Colour{220, 90, 20} : Colour{20, 110, 210};
            const std::int64_t width = 20 + i * 53 % 400;
            const std::int64_t height = 20 + i * 31 % 300;
            const std::string at =
                std::string(warm ? "Äpfel & Birnen/" : "Meer/") + "Bild süß " + std::to_string(i);
            if (i % 10 == 3 || i % 10 == 6) {
                write(path("images") / (at + ".png"),
                      png_bytes(plain_image(width, height, {rgb[0], rgb[1], rgb[2], 200})));
            } else if (i % 10 == 5 || i % 10 == 8) {
                write(path("images") / (at + ".jpg"), // inks, inverted: what Adobe stores is light
                      jpeg_bytes(plain_image(width, height, {rgb[0], rgb[1], rgb[2], 255})));
            } else {
                write(path("images") / (at + ".jpg"), jpeg_bytes(plain_image(width, height, rgb)));
            }
        }
        write(path("images") / "Meer/kaputt.jpg",
              jpeg_bytes(plain_image(300, 300, {1, 2, 3})).substr(0, 800));
        QElapsedTimer timer;
        timer.start();
        const auto events =
            trained(inspected(text("images")), "colours",
                    {"training.length={\"epochs\": 3}", "lr_schedule.warmup_steps=5"});
        QVERIFY(timer.elapsed() < 120'000); // of the issue, on two cores
        QCOMPARE(last(events, "validation/accuracy"), 1.0);
        const std::string told = warnings(events);
        QVERIFY2(told.find("1 of 201 images cannot be used") != std::string::npos, told.c_str());
        QVERIFY2(told.find("Meer/kaputt.jpg: damaged JPEG") != std::string::npos, told.c_str());

        write(path("neu.jpg"), jpeg_bytes(plain_image(77, 55, {20, 110, 210})));
        const Finished done = run_weft({"predict", text("colours"), text("neu.jpg")});
        QVERIFY2(done.out.find("#0:  Meer") != std::string::npos, done.out.c_str());
    }

    // A table without anything to learn is readable as text: why it is no table is said all the same.
    void what_a_file_is_not_is_said_beside_what_it_is() {
        std::string table = "one,two\n";
        for (int i = 0; i < 200; ++i) {
            table += std::to_string(i) + ",same\n";
        }
        write(path("same.csv"), table);
        const Finished done = run_weft({"data", "inspect", text("same.csv")});
        QCOMPARE(done.code, 0);
        QVERIFY2(done.out.find("Not as csv: ") != std::string::npos, done.out.c_str());
        QVERIFY(done.out.find("the same value in the target column 'two'") != std::string::npos);
    }

    void what_cannot_be_read_exits_3_and_says_why() {
        write(path("empty.csv"), "");
        const Finished empty = run_weft({"data", "inspect", text("empty.csv")});
        QCOMPARE(empty.code, 3);
        QVERIFY2(empty.out.find("the table is empty") != std::string::npos, empty.out.c_str());
        const Finished absent = run_weft({"data", "inspect", text("absent")});
        QCOMPARE(absent.code, 3);
        QVERIFY(absent.out.find("no such file") != std::string::npos);
    }
};

} // namespace

WEFT_TEST(OwnDataTest)
#include "own_data_test.moc"
