// SPDX-License-Identifier: GPL-3.0-or-later
// Train on my data: what people drop on the window, from good to hopeless. Either it trains, or
// every fault is named; nothing crashes and the draft is kept until somebody says otherwise.
#include "core/base/hdf5_file.h"
#include "tests/support/weft_test.h"
#include "tests/ui/filled_buttons.h"
#include "tests/ui/studio_fixture.h"
#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "ui/models/column_model.h"
#include "ui/pages/home/home_page.h"
#include "ui/pages/home/offer_panel.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QDropEvent>
#include <QHeaderView>
#include <QImage>
#include <QLabel>
#include <QMimeData>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTableView>
#include <QUrl>

#include <random>

namespace {

using namespace weft;
using test::write_file;
namespace fs = std::filesystem;
using State = ui::DataOffer::State;

constexpr int kPromisedMs = 120000; // the promise: within two minutes

// 6x6 pixels, four channels, as print shops save them; no library of ours can write one.
constexpr auto kCmykJpeg =
    "/9j/7gAOQWRvYmUAZAAAAAAC/9sAQwANCQoLCggNCwoLDg4NDxMgFRMSEhMnHB4XIC4pMTAuKS0sMzpKPjM2"
    "RjcsLUBXQUZMTlJTUjI+WmFaUGBKUVJP/9sAQwEODg4TERMmFRUmTzUtNU9PT09PT09PT09PT09PT09PT09P"
    "T09PT09PT09PT09PT09PT09PT09PT09PT09PT09P/8AAFAgABgAGBAEiAAIRAQMRAQQiAP/EABUAAQEAAAAA"
    "AAAAAAAAAAAAAAAG/8QAGxABAAEFAQAAAAAAAAAAAAAAAKECBRQVU1X/xAAVAQEBAAAAAAAAAAAAAAAAAAAE"
    "Bv/EABsRAAIBBQAAAAAAAAAAAAAAAAAEFQFSU5Gx/9oADgQBAAIRAxEEAAA/AKrWV94AQ8m5krsFFJ2dLfAu"
    "vpQA/9k=";

/// What somebody dropped on the window, and what Home says of it.
struct Drop {
    /// With a draft, so that it is seen whether it is kept.
    Drop() {
        fixture.studio().draft().setDocument(config::json_of(test::tiny_config()), fixture.root());
        home = static_cast<ui::HomePage*>(fixture.window().page("home"));
        fs::create_directories(folder());
    }
    fs::path folder() const { return fixture.root() / "brought"; }
    ui::DataOffer& offer() const { return home->offerPanel()->offer(); }

    void drop(const QStringList& paths) {
        QMimeData data;
        QList<QUrl> urls;
        for (const QString& path : paths) {
            urls << QUrl::fromLocalFile(path);
        }
        data.setUrls(urls);
        // Qt gives a drop only to a widget that a drag has entered.
        QDragEnterEvent enter({400, 400}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&fixture.window(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent event(QPointF(400, 400), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&fixture.window(), &event);
    }
    void drop(const fs::path& path) { drop(QStringList{ui::pathText(path)}); }
    bool settled() const {
        return (offer().state() == State::Found && !offer().isWorking()) ||
               offer().state() == State::Nothing;
    }
    /// Every word on the page.
    QString words() const {
        QString all;
        for (const QLabel* label : home->offerPanel()->findChildren<QLabel*>()) {
            all += label->text() + '\n';
        }
        return all;
    }
    void click(const char* name) {
        auto* button = home->offerPanel()->findChild<QPushButton*>(name);
        QVERIFY(button != nullptr && button->isEnabled());
        QTest::mouseClick(button, Qt::LeftButton);
        ++clicks;
    }
    void escape() {
        fixture.window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&fixture.window())); // or no shortcut works
        QTest::keyClick(home->offerPanel(), Qt::Key_Escape);
    }
    /// Trains what was found for as long as it takes to be evaluated once after some steps.
    void train() {
        click("offerStart");
        QTRY_COMPARE_WITH_TIMEOUT(fixture.window().currentPage(), QString("train"), kPromisedMs);
        QTRY_VERIFY_WITH_TIMEOUT(
            fixture.studio().run().step() > 20 || !fixture.studio().isTraining(), kPromisedMs);
        QVERIFY2(fixture.studio().run().step() > 0, "it trained");
        fixture.studio().control().stopNow();
        QTRY_VERIFY_WITH_TIMEOUT(!fixture.studio().isTraining(), kPromisedMs);
        QVERIFY(fixture.studio().run().state() == train::RunState::stopped ||
                fixture.studio().run().state() == train::RunState::finished);
    }

    test::StudioFixture fixture;
    ui::HomePage* home;
    int clicks = 0;
};

/// 300 fruits: comma as the decimal mark, some weights missing, sorts in words.
std::string fruit_table() {
    std::mt19937 random(3); // the same table every time
    std::string table = "Größe;Gewicht;Farbe;Sorte\n";
    const char* sorts[] = {"Apfel", "Birne", "Quitte"};
    const char* colours[] = {"rot", "grün", "gelb"};
    for (int i = 0; i < 300; ++i) {
        const int sort = i % 3;
        const int size = 60 + 20 * sort + static_cast<int>(random() % 10);
        table += std::to_string(size / 10) + "," + std::to_string(size % 10) + ";";
        table += i % 17 == 0 ? "" : std::to_string(100 + 50 * sort) + "," + std::to_string(i % 10);
        table += std::string(";") + colours[(sort + i / 100) % 3] + ";" + sorts[sort] + "\n";
    }
    return table;
}

QImage picture(int width, int height, QImage::Format format, int kind) {
    QImage image(width, height, QImage::Format_ARGB32);
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const int wave = (kind == 0 ? x : y) * 255 / (kind == 0 ? width : height);
            image.setPixel(x, y, qRgba(wave, 255 - wave, 40 + 100 * kind, 128 + wave / 2));
        }
    }
    return image.convertToFormat(format);
}

void save(const QImage& image, const fs::path& path) {
    QVERIFY2(image.save(ui::pathText(path)), path.c_str());
}

/// 200 JPEGs of mixed size in two folders, and among them what is found in real folders.
void fill_with_pictures(const fs::path& folder) {
    const fs::path across = folder / "Längs";
    const fs::path down = folder / "Über Kreuz";
    fs::create_directories(across);
    fs::create_directories(down);
    for (int i = 0; i < 200; ++i) {
        const fs::path& to = i % 2 == 0 ? across : down;
        const auto format = i % 5 == 4 ? QImage::Format_Grayscale8 : QImage::Format_RGB32;
        save(picture(20 + i % 30, 24 + i % 17, format, i % 2),
             to / ("Bild für Übung " + std::to_string(i) + ".jpg"));
    }
    save(picture(30, 30, QImage::Format_ARGB32, 0), across / "durchsichtig.png");
    const QByteArray cmyk = QByteArray::fromBase64(kCmykJpeg);
    write_file(down / "druckerei.jpg", cmyk.toStdString());
    write_file(down / "kaputt.jpg", "this is no picture");
    write_file(folder / "Thumbs.db", "junk");
}

} // namespace

constexpr std::int64_t kPoints = 240;
constexpr std::int64_t kFeatures = 8;

/// Points around three centres, and which each belongs to.
struct Points {
    Points() {
        std::mt19937 random(7); // the same points every time
        for (std::int64_t i = 0; i < kPoints; ++i) {
            const std::int64_t label = i % 3;
            labels.push_back(label);
            for (std::int64_t j = 0; j < kFeatures; ++j) {
                const float noise = static_cast<float>(random() % 100) / 100.0F;
                inputs.push_back(static_cast<float>((label + j) % 3) + noise);
            }
        }
    }
    std::vector<float> inputs;        // [kPoints,kFeatures]
    std::vector<std::int64_t> labels; // [kPoints]
};

/// As numpy.save writes it (NumPy NEP 1, version 1.0).
template <class T>
void write_npy(const fs::path& path, const std::string& type, const std::string& shape,
               const std::vector<T>& values) {
    std::string head =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    head.resize(117, ' '); // with the preamble of 10 bytes a multiple of 64
    head += '\n';
    std::string text("\x93NUMPY\x01\x00", 8);
    text += static_cast<char>(head.size());
    text += '\0';
    text += head;
    text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    write_file(path, text);
}

void write_hdf5(const fs::path& path, const Points& points) {
    const Hdf5Spec specs[] = {{"x", Hdf5Type::f32, {kPoints, kFeatures}},
                              {"y", Hdf5Type::i64, {kPoints}}};
    const std::vector<Hdf5Dataset> places = create_hdf5(path, specs);
    File file(path, File::Mode::read_write);
    file.write_at(std::as_bytes(std::span(points.inputs)), places[0].offset);
    file.write_at(std::as_bytes(std::span(points.labels)), places[1].offset);
    file.close();
}

/// Short stories, a line each.
std::string stories() {
    std::string lines;
    for (int i = 0; i < 400; ++i) {
        lines += R"({"id": )" + std::to_string(i) + R"(, "text": "On day )" + std::to_string(i) +
                 R"( the weaver put thread upon thread until the cloth was whole."})" + "\n";
    }
    return lines;
}

class OfferTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void years_are_no_thousands_and_both_ends_look_alike() {
        data::Column year;
        year.name = "year";
        year.kind = data::Column::Kind::number;
        year.whole_numbers = true;
        year.minimum = 1900;
        year.maximum = 2023;
        data::Column price = year;
        price.minimum = 1900;
        price.maximum = 250000;
        ui::ColumnModel model;
        model.setColumns({year, price}, {});
        const auto kind = [&](int row) {
            return model.index(row, ui::ColumnModel::KindColumn).data().toString();
        };
        QCOMPARE(kind(0), QString("whole number, 1900 to 2023"));
        QCOMPARE(kind(1), QString("whole number, 1,900 to 250,000"));
    }

    void dates_are_said_to_be_dates() {
        data::Column date;
        date.name = "when";
        date.kind = data::Column::Kind::date;
        date.earliest = "2022-01-01 00:00";
        date.latest = "2022-11-28 00:42";
        date.has_times = true;
        data::Column unclear = date;
        unclear.kind = data::Column::Kind::text;
        unclear.unclear_dates = true;
        ui::ColumnModel model;
        model.setColumns({date, unclear}, {});
        const auto kind = [&](int row) {
            return model.index(row, ui::ColumnModel::KindColumn).data().toString();
        };
        QCOMPARE(kind(0), QString("date and time, 2022-01-01 to 2022-11-28"));
        QCOMPARE(kind(1), QString("dates, day or month first?"));
    }

    void a_table_with_semicolons_gaps_and_words_is_trained() {
        Drop drop;
        write_file(drop.folder() / "früchte.csv", fruit_table());
        drop.drop(drop.folder() / "früchte.csv");
        QCOMPARE(drop.fixture.window().currentPage(), QString("home"));
        QTRY_VERIFY_WITH_TIMEOUT(drop.settled(), kPromisedMs);
        QCOMPARE(drop.offer().found().format, std::string("csv"));
        QCOMPARE(drop.offer().targets(), QStringList{"Sorte"});
        const auto& columns = drop.offer().found().columns;
        QCOMPARE(columns.size(), std::size_t{4});
        QCOMPARE(columns[1].missing, 18); // every seventeenth of 300
        QVERIFY(columns[2].kind == data::Column::Kind::category);
        // What training would see is shown before anything starts, and the draft is untouched.
        QTRY_VERIFY_WITH_TIMEOUT(!drop.offer().preview().samples().empty(), kPromisedMs);
        QCOMPARE(drop.fixture.studio().draft().name(), QString("tiny"));
        drop.train();
        // The run is the draft: every page shows it.
        QCOMPARE(
            drop.fixture.studio().draft().document()["data"]["train"]["type"].get<std::string>(),
            std::string("csv"));
        QVERIFY(drop.fixture.studio().draft().isValid());
    }

    void another_column_can_be_predicted() {
        Drop drop;
        write_file(drop.folder() / "fruits.csv", fruit_table());
        drop.drop(drop.folder() / "fruits.csv");
        QTRY_VERIFY_WITH_TIMEOUT(drop.settled(), kPromisedMs);
        auto* table = drop.home->offerPanel()->findChild<QTableView*>("offerColumns");
        const QAbstractItemModelTester tester(table->model());
        const QModelIndex size = table->model()->index(0, ui::ColumnModel::NameColumn);
        QCOMPARE(size.data(Qt::CheckStateRole).toInt(), static_cast<int>(Qt::Unchecked));
        table->setCurrentIndex(size);
        table->setFocus();
        QTest::keyClick(table, Qt::Key_Space);
        QVERIFY(drop.offer().isWorking());
        QTRY_VERIFY_WITH_TIMEOUT(drop.settled(), kPromisedMs);
        QCOMPARE(drop.offer().targets(), QStringList{"Größe"});
        QVERIFY(drop.offer().run().has_value());
        QTRY_VERIFY_WITH_TIMEOUT(drop.offer().preview().facts() != nullptr, kPromisedMs);
        QCOMPARE(drop.offer().preview().facts()->info.classes, 0); // a number now
        // The last one cannot be unticked: something has to be predicted.
        QTest::keyClick(table, Qt::Key_Space);
        QCOMPARE(drop.offer().targets(), QStringList{"Größe"});
    }

    void long_examples_end_in_dots_and_are_read_when_pointed_at() {
        Drop drop;
        std::string rows = "remark,size,kind\n";
        for (int i = 0; i < 60; ++i) {
            rows += std::string(60, static_cast<char>('a' + i % 3)) + "," + std::to_string(i) +
                    (i % 2 == 0 ? ",x\n" : ",y\n");
        }
        write_file(drop.folder() / "remarks.csv", rows);
        drop.drop(drop.folder() / "remarks.csv");
        QTRY_VERIFY_WITH_TIMEOUT(drop.settled(), kPromisedMs);
        const auto* columns = drop.home->offerPanel()->findChild<QTableView*>("offerColumns");
        QTRY_COMPARE(columns->model()->rowCount(), 3);
        QCOMPARE(columns->rowHeight(0), columns->rowHeight(1));
        const QModelIndex example = columns->model()->index(0, ui::ColumnModel::ExampleColumn);
        QCOMPARE(example.data(Qt::ToolTipRole), example.data());
        QVERIFY(example.data().toString().size() > 180); // three of them
    }

    void nothing_is_cut_in_a_small_window_nor_with_large_text() {
        Drop drop;
        QMainWindow& window = drop.fixture.window();
        window.resize(1024, 680);
        write_file(drop.folder() / "fruits.csv", fruit_table());
        drop.drop(drop.folder() / "fruits.csv");
        QTRY_VERIFY_WITH_TIMEOUT(drop.settled(), kPromisedMs);
        const auto* columns = drop.home->offerPanel()->findChild<QTableView*>("offerColumns");
        const auto* samples = drop.home->offerPanel()->findChild<QTableView*>("dataTable");
        const auto* settings = drop.home->offerPanel()->findChild<QScrollArea*>("offerSettings");
        QTRY_VERIFY_WITH_TIMEOUT(samples->model()->rowCount() > 0, kPromisedMs);
        QVERIFY(!settings->isAncestorOf(samples)); // side by side
        const auto all_seen = [](const QAbstractItemView& table, const QHeaderView& sections) {
            for (int i = 0; i < sections.count(); ++i) {
                const int needed = sections.orientation() == Qt::Horizontal
                                       ? table.sizeHintForColumn(i)
                                       : table.sizeHintForRow(i);
                if (sections.isSectionHidden(i) || sections.sectionSize(i) < needed) {
                    return false;
                }
            }
            return true;
        };
        QTRY_VERIFY(all_seen(*columns, *columns->verticalHeader()));
        QTRY_VERIFY(!columns->isColumnHidden(ui::ColumnModel::MissingColumn));
        QTRY_COMPARE(columns->verticalScrollBar()->maximum(), 0);
        for (int i = 0; i < 20; ++i) {
            drop.fixture.window().actions().get(ui::action::kTextLarger)->trigger();
        }
        QTRY_VERIFY(all_seen(*samples, *samples->horizontalHeader()));
        QTRY_VERIFY(all_seen(*columns, *columns->verticalHeader()));
        QTRY_COMPARE(columns->verticalScrollBar()->maximum(), 0);
        QTRY_VERIFY(settings->isAncestorOf(samples)); // all scrolls as one
    }

    void two_hundred_pictures_of_all_kinds_are_trained_and_the_broken_one_is_named() {
        Drop drop;
        fill_with_pictures(drop.folder());
        drop.drop(drop.folder());
        QTRY_VERIFY_WITH_TIMEOUT(drop.settled(), kPromisedMs);
        QCOMPARE(drop.offer().state(), State::Found);
        QCOMPARE(drop.offer().found().format, std::string("images"));
        QTRY_VERIFY_WITH_TIMEOUT(!drop.offer().preview().samples().empty(), kPromisedMs);
        const auto facts = drop.offer().preview().facts();
        QCOMPARE(facts->info.class_names, (std::vector<std::string>{"Längs", "Über Kreuz"}));
        const data::DataSet& set = drop.offer().preview().set();
        // 200 JPEGs, one PNG, one from the print shop; not the broken one.
        QCOMPARE(set.train->samples() + set.validation->samples(), 202);
        const auto said = [&](const auto& notes) {
            return std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
                return note.find("kaputt.jpg") != std::string::npos;
            });
        };
        QVERIFY(said(drop.offer().preview().notes()));
        // The page counts files until they are opened, then what can be used of them.
        QCOMPARE(drop.offer().found().summary, std::string("203 image files in 2 folders"));
        QVERIFY2(drop.words().contains("kaputt.jpg"), qPrintable(drop.words()));
        QVERIFY2(
            drop.words().contains(QString("%1 samples to train with").arg(set.train->samples())),
            qPrintable(drop.words()));
        drop.train();
    }

    void arrays_and_texts_are_trained_with_at_most_four_clicks_data() {
        QTest::addColumn<QString>("format");
        QTest::addColumn<QString>("file");
        QTest::newRow("npy") << "npy"
                             << "X.npy";
        QTest::newRow("hdf5") << "hdf5"
                              << "points.h5";
        QTest::newRow("jsonl") << "jsonl"
                               << "stories.jsonl";
    }
    void arrays_and_texts_are_trained_with_at_most_four_clicks() {
        QFETCH(QString, format);
        QFETCH(QString, file);
        Drop drop;
        const Points points;
        if (format == "npy") {
            write_npy(drop.folder() / "X.npy", "<f4",
                      std::to_string(kPoints) + ", " + std::to_string(kFeatures), points.inputs);
            write_npy(drop.folder() / "y.npy", "<i8", std::to_string(kPoints) + ",", points.labels);
        } else if (format == "hdf5") {
            write_hdf5(drop.folder() / "points.h5", points);
        } else {
            write_file(drop.folder() / "stories.jsonl", stories());
        }
        drop.drop(drop.folder() / file.toStdString());
        QTRY_VERIFY_WITH_TIMEOUT(drop.settled(), kPromisedMs);
        QCOMPARE(drop.offer().found().format, format.toStdString());
        QTRY_VERIFY_WITH_TIMEOUT(!drop.offer().preview().samples().empty(), kPromisedMs);
        drop.train();
        QVERIFY(drop.clicks <= 4);
        QCOMPARE(
            drop.fixture.studio().draft().document()["data"]["train"]["type"].get<std::string>(),
            format.toStdString());
    }

    void the_zone_lights_up_while_files_are_dragged_over_the_window() {
        Drop drop;
        auto* zone = drop.home->findChild<QWidget*>("dropZone");
        QTRY_VERIFY(zone->isVisible());
        const QImage before = zone->grab().toImage();
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile("/tmp")});
        QDragEnterEvent enter({400, 400}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&drop.fixture.window(), &enter);
        QVERIFY(zone->grab().toImage() != before);
        QDragLeaveEvent leave;
        QApplication::sendEvent(&drop.fixture.window(), &leave);
        QCOMPARE(zone->grab().toImage(), before);
    }

    void what_cannot_be_trained_on_is_named_data() {
        QTest::addColumn<QString>("what");
        for (const char* what : {"an empty folder", "a folder of junk", "a file of no bytes",
                                 "a binary called csv", "a header alone", "a picture alone"}) {
            QTest::addRow("%s", what) << QString(what);
        }
    }

    void what_cannot_be_trained_on_is_named() {
        QFETCH(QString, what);
        Drop drop;
        fs::path path = drop.folder();
        if (what == "a folder of junk") {
            write_file(path / "a.exe", std::string(2000, '\1'));
            write_file(path / "b.dll", std::string("MZ\0\2", 4));
        } else if (what == "a file of no bytes") {
            path /= "nothing.csv";
            write_file(path, "");
        } else if (what == "a binary called csv") {
            std::mt19937 random(5); // bytes without meaning, the same every time
            std::string noise;
            for (int i = 0; i < 5000; ++i) {
                noise += static_cast<char>(random());
            }
            path /= "noise.csv";
            write_file(path, noise);
        } else if (what == "a header alone") {
            path /= "header.csv";
            write_file(path, "a;b;c\n");
        } else if (what == "a picture alone") {
            path /= "one.png";
            save(picture(10, 10, QImage::Format_RGB32, 0), path);
        }
        drop.drop(path);
        QTRY_VERIFY_WITH_TIMEOUT(drop.settled(), kPromisedMs);
        // Either there is nothing, or there is no run: and it is said why.
        QVERIFY(drop.offer().state() == State::Nothing || !drop.offer().run());
        auto* start = drop.home->offerPanel()->findChild<QPushButton*>("offerStart");
        QVERIFY(!start->isEnabled());
        const bool said =
            drop.offer().state() == State::Nothing
                ? !drop.offer().problems().empty()
                : !drop.offer().found().problems.empty() || !drop.offer().runProblem().isEmpty();
        QVERIFY2(said, qPrintable(drop.words()));
        // The way back leaves everything as it was.
        drop.escape();
        QCOMPARE(drop.offer().state(), State::None);
        QCOMPARE(drop.fixture.studio().draft().name(), QString("tiny"));
    }

    void a_file_that_vanishes_while_it_is_looked_at_is_named() {
        Drop drop;
        const fs::path path = drop.folder() / "there.csv";
        write_file(path, fruit_table());
        drop.drop(path);
        fs::remove(path);
        QTRY_VERIFY_WITH_TIMEOUT(drop.settled(), kPromisedMs);
        // It may have been read before it went; then opening it says so.
        if (drop.offer().run()) {
            QTRY_VERIFY_WITH_TIMEOUT(
                drop.offer().preview().state() != ui::DataPreview::State::Opening, kPromisedMs);
        }
        drop.drop(path);
        QVERIFY(drop.offer().state() != State::Looking); // what is not there is not looked at
    }

    void only_one_button_is_filled_at_a_time() {
        Drop page;
        const auto filled = [&] { return test::filled_buttons(page.fixture.window()); };
        QTRY_COMPARE(filled(), QStringList{"run.start.button"});
        write_file(page.folder() / "fruit.csv", fruit_table());
        page.drop(page.folder() / "fruit.csv");
        QTRY_VERIFY_WITH_TIMEOUT(page.settled(), kPromisedMs);
        QCOMPARE(filled(), QStringList{"offerStart"});
        page.fixture.window().showPage("data");
        QCOMPARE(filled(), QStringList{"run.start.button"});
        page.fixture.window().showPage("home");
        QCOMPARE(filled(), QStringList{"offerStart"});
        page.escape();
        QTRY_COMPARE(filled(), QStringList{"run.start.button"});
    }

    void of_several_files_the_first_is_opened_and_that_is_said() {
        Drop drop;
        write_file(drop.folder() / "a.csv", fruit_table());
        write_file(drop.folder() / "b.csv", fruit_table());
        QSignalSpy said(&drop.fixture.studio(), &ui::Studio::troubled);
        drop.drop({ui::pathText(drop.folder() / "a.csv"), ui::pathText(drop.folder() / "b.csv")});
        QCOMPARE(said.size(), 1);
        QVERIFY(said[0][0].toString().contains("a.csv"));
        QCOMPARE(drop.offer().path().filename().string(), std::string("a.csv"));
        QTRY_VERIFY_WITH_TIMEOUT(drop.settled(), kPromisedMs);
    }

    void files_are_chosen_by_keyboard_too() {
        Drop drop;
        write_file(drop.folder() / "fruits.csv", fruit_table());
        drop.home->askForPath = [&](const QString&, bool folder) {
            return folder ? QString() : ui::pathText(drop.folder() / "fruits.csv");
        };
        drop.home->findChild<QAction*>("chooseFile")->trigger();
        QTRY_VERIFY_WITH_TIMEOUT(drop.settled(), kPromisedMs);
        QCOMPARE(drop.offer().state(), State::Found);
        drop.click("offerEdit");
        QCOMPARE(drop.fixture.window().currentPage(), QString("data"));
        // What was the draft before comes back by undo.
        QCOMPARE(drop.fixture.studio().draft().name(), QString("fruits"));
        drop.fixture.studio().draft().undo();
        QCOMPARE(drop.fixture.studio().draft().name(), QString("tiny"));
    }

    void leaving_while_files_are_looked_at_is_safe() {
        Drop drop;
        fill_with_pictures(drop.folder());
        drop.drop(drop.folder());
        // A quick machine may have seen everything before anybody looks.
        QTRY_VERIFY_WITH_TIMEOUT(drop.offer().state() != State::None, kPromisedMs);
        drop.escape();
        QCOMPARE(drop.offer().state(), State::None);
        drop.drop(drop.folder());
        drop.fixture.reopen(); // and closing the window in the middle of it
        QVERIFY(drop.fixture.window().isVisible());
    }
};

WEFT_TEST(OfferTest)
#include "offer_test.moc"
