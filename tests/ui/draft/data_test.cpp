// SPDX-License-Identifier: GPL-3.0-or-later
// The Data page: what a draft trains on, as training sees it.
#include "core/base/clock.h"
#include "core/data/loader.h"
#include "tests/support/weft_test.h"
#include "tests/ui/patience.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/draft.h"
#include "ui/pages/data/data_page.h"
#include "ui/samples/data_sample_panel.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/views/bar_list.h"
#include "widgets/views/image_grid.h"
#include "widgets/views/token_view.h"

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSlider>
#include <QTableView>
#include <QTemporaryDir>

#include <cmath>
#include <cstring>

namespace {

using namespace weft;
using test::kPatienceMs;
using test::write_file;

config::Json images_run() {
    return config::json_of(R"({
  "schema_version": 1, "name": "pictures", "seed": 7,
  "data": {"train": {"type": "synthetic", "kind": "images", "shape": [8, 8, 3], "classes": 4,
                     "samples": 400},
           "transforms": [{"type": "random_flip"}]},
  "model": {"type": "mlp", "hidden": [8]}})");
}

config::Json text_run(const std::string& path) {
    config::Json run = config::json_of(R"({
  "schema_version": 1, "name": "text",
  "data": {"train": {"type": "text", "path": ""}},
  "model": {"type": "gpt2", "layers": 1, "width": 16, "heads": 2, "context": 16}})");
    run["data"]["train"]["path"] = path;
    return run;
}

/// The Data page over a studio of its own, with a draft on it.
struct ShownData {
    explicit ShownData(const config::Json& document) {
        fixture.studio().draft().setDocument(document, fixture.root());
        fixture.window().showPage("data");
        page = static_cast<ui::DataPage*>(fixture.window().page("data"));
    }
    template <class T>
    T* find(const char* name) const {
        T* found = page->findChild<T*>(name);
        if (found == nullptr) {
            qFatal("no widget named %s on the page", name);
        }
        return found;
    }
    bool ready() const {
        return page->preview().facts() != nullptr && !page->preview().isReading() &&
               !page->preview().samples().empty();
    }
    void press(int key) {
        fixture.window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&fixture.window())); // or no shortcut works
        QTest::keyClick(page, static_cast<Qt::Key>(key));
    }
    QString message() const {
        QString all;
        for (const QLabel* label : find<QWidget>("dataMessage")->findChildren<QLabel*>()) {
            all += label->text() + '\n';
        }
        return all;
    }

    test::StudioFixture fixture;
    ui::DataPage* page;
};

} // namespace

class DataTest : public QObject {
    Q_OBJECT

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void a_long_opening_says_how_far_it_is_and_can_be_stopped() {
        ui::Draft draft;
        draft.setDocument(images_run(), "/tmp");
        ui::DataPreview preview(draft); // nobody looks: it does not begin by itself
        QCOMPARE(preview.state(), ui::DataPreview::State::Opening);
        test::StudioFixture fixture;
        ui::DataSamplePanel part(preview, &fixture.window());
        part.resize(700, 500);
        part.show();
        part.raise();
        const auto words = [&part] {
            QString all;
            for (const QLabel* label :
                 part.findChild<QWidget*>("dataMessage")->findChildren<QLabel*>()) {
                all += label->text() + '\n';
            }
            return all;
        };
        auto* stop = part.findChild<QPushButton*>("stopOpening");
        auto* retry = part.findChild<QPushButton*>("retryData");
        QTRY_VERIFY(!stop->isVisible());
        ManualClock clock;
        const data::OnOpening hear = preview.news().begin(&clock);
        data::Opening opening{.name = "prices.csv",
                              .unit = "rows",
                              .total = 1000000,
                              .total_bytes = 100,
                              .pass = 1,
                              .passes = 2};
        hear(opening);
        clock.advance(12);
        opening.pass = 2;
        opening.done = 412000;
        opening.bytes = 50; // three quarters of two passes: 12 of 16 s
        hear(opening);
        QTRY_VERIFY2(words().contains("412,000 of 1,000,000 rows"), qPrintable(words()));
        QVERIFY2(words().contains("about " + widgets::formatDuration(4) + " left"),
                 qPrintable(words()));
        QTRY_VERIFY(stop->isVisible());
        QTest::mouseClick(stop, Qt::LeftButton);
        QCOMPARE(preview.state(), ui::DataPreview::State::Stopped);
        QVERIFY2(words().contains("Opening was stopped"), qPrintable(words()));
        QTRY_VERIFY(retry->isVisible() && !stop->isVisible());
        QTest::mouseClick(retry, Qt::LeftButton);
        QCOMPARE(preview.state(), ui::DataPreview::State::Opening);
    }

    void samples_shown_are_those_that_training_reads() {
        ShownData view(images_run());
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        const compile::RunConfig& config = view.fixture.studio().draft().config();
        const data::DataSet set =
            data::open_data(config.section("data"), {config.base_dir, 0, config.seed});
        const auto& shown = view.page->preview().samples();
        QVERIFY(shown.size() > 10);
        std::vector<std::byte> input(static_cast<std::size_t>(set.train->info().input.bytes()));
        for (const ui::SampleView& sample : shown) {
            set.train->read_in_epoch(sample.index, 0, input, {});
            QCOMPARE(sample.values.size() * sizeof(float), input.size());
            QVERIFY(std::memcmp(sample.values.data(), input.data(), input.size()) == 0);
            QCOMPARE(sample.label, set.train->label(sample.index));
        }
        QCOMPARE(view.find<widgets::ImageGrid>("dataImages")->itemCount(),
                 static_cast<int>(shown.size()));
    }

    void mixed_samples_are_those_of_training_with_both_classes() {
        config::Json run = images_run();
        run["data"]["mix"] = config::json_of(R"([{"type": "cutmix"}])");
        ShownData view(run);
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        const compile::RunConfig& config = view.fixture.studio().draft().config();
        const data::DataSet set =
            data::open_data(config.section("data"), {config.base_dir, 0, config.seed});
        const data::Sampler sampler(*set.train, config.shuffle, config.seed);
        data::LoaderOptions options;
        options.batch_size = set.train->samples();
        options.mixing =
            data::mixing_of(config.section("data").at("mix"), set.train->info(), config.seed);
        data::Loader loader(set.train, sampler, options, {});
        const data::Batch& batch = *loader.next();
        const auto bytes = static_cast<std::size_t>(set.train->info().input.bytes());
        int mixed = 0;
        const auto& images = view.find<widgets::ImageGrid>("dataImages")->images();
        const auto& shown = view.page->preview().samples();
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const auto row = static_cast<std::size_t>(sampler.position(0, shown[i].index));
            QVERIFY(std::memcmp(shown[i].values.data(), batch.inputs.data() + row * bytes, bytes) ==
                    0);
            QCOMPARE(shown[i].other.share, batch.shares[row]);
            if (batch.shares[row] < 1 && batch.others[row] != shown[i].label) {
                const QString percent = QString::number(std::lround(100 * batch.shares[row]));
                QVERIFY2(images[i].caption.startsWith(percent + " % "),
                         qPrintable(images[i].caption));
                QVERIFY(images[i].note.endsWith(" % " + QString::number(batch.others[row])));
                ++mixed;
            }
        }
        QVERIFY(mixed > 10);
        QVERIFY(view.find<QPushButton>("reroll")->isEnabled());
    }

    // Of 400 samples 360 are looked at: where the others are is said.
    void the_samples_of_each_part_are_counted() {
        ShownData view(images_run());
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        QVERIFY2(view.find<QLabel>("samplesShown")->text().startsWith("0 to 59 of 360"),
                 qPrintable(view.find<QLabel>("samplesShown")->text()));
        QStringList facts;
        for (const QLabel* label : view.page->findChildren<QLabel*>()) {
            facts << label->accessibleName();
        }
        QVERIFY2(facts.contains("Samples: 360 train, 40 validate"), qPrintable(facts.join('\n')));
    }

    void re_roll_shows_the_next_epoch_by_button_and_by_key() {
        ShownData view(images_run());
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        const auto values = [&] {
            std::vector<std::vector<float>> all;
            for (const ui::SampleView& sample : view.page->preview().samples()) {
                all.push_back(sample.values);
            }
            return all;
        };
        const auto first = values();
        QVERIFY(view.find<QPushButton>("reroll")->isEnabled());
        QTest::mouseClick(view.find<QPushButton>("reroll"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(view.ready() && values() != first, kPatienceMs);
        QCOMPARE(view.page->preview().epoch(), 1);
        view.press(Qt::Key_R);
        QCOMPARE(view.page->preview().epoch(), 2);
        // Validation samples are never changed at random.
        view.page->preview().setSplit(ui::DataSplit::Validation);
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        QVERIFY(!view.find<QPushButton>("reroll")->isEnabled());
    }

    void a_class_that_is_clicked_is_the_only_one_shown() {
        ShownData view(images_run());
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        auto* bars = view.find<widgets::BarList>("classBars");
        QCOMPARE(bars->itemCount(), 4);
        qint64 sum = 0;
        for (const widgets::CountBar& bar : bars->bars()) {
            sum += bar.count;
        }
        QCOMPARE(sum, 360); // 400 less a tenth for validation
        QTest::mouseClick(bars, Qt::LeftButton, {}, bars->item(2).rect.center().toPoint());
        QCOMPARE(view.page->preview().chosenClass(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        for (const ui::SampleView& sample : view.page->preview().samples()) {
            QCOMPARE(sample.label, 2);
        }
        QCOMPARE(view.page->preview().available(), bars->bars()[2].count);
        // The same again: all of them.
        QTest::mouseClick(bars, Qt::LeftButton, {}, bars->item(2).rect.center().toPoint());
        QCOMPARE(view.page->preview().chosenClass(), -1);
    }

    void paging_goes_to_the_end_and_not_beyond() {
        ShownData view(images_run());
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        const ui::DataPreview& preview = view.page->preview();
        view.press(Qt::Key_PageDown);
        QCOMPARE(preview.first(), preview.pageSize());
        auto* place = view.find<QLineEdit>("samplesPlace");
        place->setFocus();
        place->selectAll();
        QTest::keyClicks(place, "355");
        QTest::keyClick(place, Qt::Key_Return);
        QCOMPARE(preview.first(), 355);
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        QCOMPARE(preview.samples().size(), std::size_t{5});
        QVERIFY(!view.find<QPushButton>("samplesOn")->isEnabled());
        place->selectAll();
        QTest::keyClicks(place, "nonsense");
        QTest::keyClick(place, Qt::Key_Return);
        QCOMPARE(preview.first(), 355);
    }

    void the_split_is_changed_in_the_draft_and_undone() {
        ShownData view(images_run());
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        auto* slider = view.find<QSlider>("splitSlider");
        slider->setFocus();
        QTest::keyClick(slider, Qt::Key_PageUp); // by ten
        ui::Draft& draft = view.fixture.studio().draft();
        QCOMPARE(draft.config().section("data").at("validation").at("split").get<double>(), 0.2);
        QTRY_VERIFY_WITH_TIMEOUT(
            view.ready() && view.page->preview().set().validation->samples() == 80, kPatienceMs);
        draft.undo();
        QCOMPARE(slider->value(), 10);
    }

    void text_is_shown_as_its_tokens() {
        test::StudioFixture fixture; // only for its folder
        const std::string text = "Grüße an alle, die dies lesen.\nEnde.\n";
        std::string content;
        for (int i = 0; i < 20; ++i) {
            content += text;
        }
        write_file(fixture.root() / "words.txt", content);
        ShownData view(text_run((fixture.root() / "words.txt").string()));
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        const auto& runs = view.find<widgets::TokenView>("dataTokens")->runs();
        QVERIFY(!runs.empty());
        QCOMPARE(runs[0].tokens.size(), 16); // the context
        // "Grüße an": ü and ß are two bytes each, and each is a token.
        QCOMPARE(runs[0].tokens.mid(0, 8).join('|'), QString("G|r|C3|BC|C3|9F|e|·"));
        QVERIFY(!view.find<widgets::BarList>("classBars")->isVisible());
        QVERIFY(runs[0].stretches.empty()); // everything is learnt
        QVERIFY(!view.find<QLabel>("tokenLegend")->isVisible());
        QVERIFY(!view.find<widgets::BarList>("lengthBars")->isVisible()); // one text
    }

    void of_a_chat_what_is_learnt_is_told_from_what_is_read() {
        test::StudioFixture fixture; // only for its folder
        const auto file = fixture.root() / "chat.jsonl";
        write_file(file, R"({"prompt": "ab", "completion": "cd"}
{"prompt": "hello there", "completion": "a long answer"}
)");
        config::Json run = text_run("");
        run["data"]["train"] = {{"type", "chat"},
                                {"path", file.string()},
                                {"template", "own"},
                                {"own", {{"user", "U{content}"}, {"assistant", "A{content}"}}}};
        run["data"]["validation"] = nullptr;
        ShownData view(run);
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        const widgets::TokenRun& first = view.find<widgets::TokenView>("dataTokens")->runs().at(0);
        // "UabAcd" of 16 positions: the last token is only a target, the other five are read.
        QCOMPARE(first.tokens.join('|'), QString("U|a|b|A|c|d|× 11"));
        QStringList parts;
        for (const widgets::TokenStretch& stretch : first.stretches) {
            parts << QString("%1 from %2").arg(stretch.name).arg(stretch.first);
        }
        QCOMPARE(parts.join(", "), QString("read from 0, learnt from 4, padding from 6"));
        QVERIFY(view.find<QLabel>("tokenLegend")->isVisible());

        // 5 and 25 positions; the context of 16 cuts the second.
        const auto* bars = view.find<widgets::BarList>("lengthBars");
        QTRY_VERIFY_WITH_TIMEOUT(bars->isVisible(), kPatienceMs);
        qint64 within = 0, beyond = 0;
        for (int i = 0; i < bars->itemCount(); ++i) {
            (i < bars->mark() ? within : beyond) += bars->bars()[static_cast<std::size_t>(i)].count;
        }
        QCOMPARE(within, 1);
        QCOMPARE(beyond, 1);
        const QString note = view.find<QLabel>("lengthNote")->text();
        QVERIFY2(note.contains("50 % of the conversations (1)") && note.contains("cut off"),
                 qPrintable(note));
        // 5 + 16 of 32 positions hold something.
        QVERIFY2(note.contains("34 % of all positions are padding"), qPrintable(note));
    }

    void conversations_packed_into_one_window_are_parted() {
        test::StudioFixture fixture; // only for its folder
        const auto file = fixture.root() / "chat.jsonl";
        write_file(file, R"({"prompt": "ab", "completion": "cd"}
{"prompt": "e", "completion": "f"}
)");
        config::Json run = text_run("");
        run["data"]["train"] = {{"type", "chat"},
                                {"path", file.string()},
                                {"template", "own"},
                                {"own", {{"user", "U{content}"}, {"assistant", "A{content}"}}},
                                {"pack", true}};
        run["data"]["validation"] = nullptr;
        ShownData view(run);
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        const auto& runs = view.find<widgets::TokenView>("dataTokens")->runs();
        QCOMPARE(runs.size(), std::size_t{1});
        // "UabAcd" and "UeAf": 5 and 3 positions of 16.
        QCOMPARE(runs[0].tokens.join('|'), QString("U|a|b|A|c|d|U|e|A|f|× 8"));
        QStringList parts;
        for (const widgets::TokenStretch& stretch : runs[0].stretches) {
            parts << QString("%1 from %2").arg(stretch.name).arg(stretch.first);
        }
        QCOMPARE(parts.join(", "), QString("read from 0, learnt from 4, next from 6, "
                                           "learnt from 9, padding from 10"));
        const auto* note = view.find<QLabel>("lengthNote");
        QTRY_VERIFY_WITH_TIMEOUT(note->text().contains("one sample"), kPatienceMs);
    }

    void a_tokenizer_is_chosen_for_text_and_its_tokens_are_shown() {
        config::Json run = text_run("/usr/share/common-licenses/GPL-2");
        ShownData view(run);
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        auto* chooser = view.find<QWidget>("dataTokenizer");
        QVERIFY(chooser->isVisible());
        view.fixture.studio().draft().setField("data.tokenizer", WEFT_SOURCE_DIR
                                               "/tests/unit/tokenizer/peers/gpt2.json");
        QTRY_VERIFY(chooser->findChild<QLineEdit*>()->text().endsWith("gpt2.json"));
        const auto classes = [&] {
            return view.ready() ? view.page->preview().facts()->info.classes : std::int64_t{0};
        };
        QTRY_COMPARE_WITH_TIMEOUT(classes(), std::int64_t{600}, kPatienceMs);
        // The licence begins with its centred name: runs of spaces and words are tokens.
        const auto& runs = view.find<widgets::TokenView>("dataTokens")->runs();
        QVERIFY(runs[0].tokens.join(QString()).contains("·GNU·GENERAL·PUBLIC"));
        QVERIFY(runs[0].tokens.contains("·GNU"));
        view.fixture.studio().draft().setDocument(images_run(), view.fixture.root());
        QTRY_VERIFY_WITH_TIMEOUT(view.ready() && !chooser->isVisible(), kPatienceMs);
    }

    void features_are_a_table_with_what_is_predicted() {
        ShownData view(config::json_of(test::tiny_config()));
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        auto* table = view.find<QTableView>("dataTable");
        const QAbstractItemModelTester tester(table->model());
        QVERIFY(table->isVisible());
        QCOMPARE(table->model()->columnCount(), 1 + 1 + 16); // number, class, features
        QCOMPARE(table->model()->headerData(1, Qt::Horizontal).toString(), QString("class"));
    }

    void a_table_is_shown_as_its_file_has_it_and_as_the_network_sees_it() {
        QTemporaryDir folder;
        const std::filesystem::path file = folder.filePath("houses.csv").toStdString();
        std::string rows = "area,roof,price\n";
        for (int i = 0; i < 40; ++i) {
            rows += std::to_string(50 + i) + (i % 2 == 0 ? ".5,flat," : ",steep,") +
                    std::to_string(100000 + 1000 * i) + "\n";
        }
        write_file(file, rows);
        config::Json run = config::json_of(test::tiny_config());
        run["data"]["train"] = {{"type", "csv"}, {"path", file.string()}};
        ShownData view(run);
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        auto* table = view.find<QTableView>("dataTable");
        const QAbstractItemModelTester tester(table->model());
        const auto titles = [table] {
            QStringList all;
            for (int i = 0; i < table->model()->columnCount(); ++i) {
                all << table->model()->headerData(i, Qt::Horizontal).toString();
            }
            return all;
        };
        const auto cell = [table](int column) {
            return table->model()->index(0, column).data().toString();
        };
        auto* seen = view.find<widgets::SegmentedControl>("samplesSeen");
        QTRY_VERIFY(seen->isVisible());
        QCOMPARE(titles(), (QStringList{"sample", "price", "area", "roof"}));
        const int row = (cell(1).remove(',').toInt() - 100000) / 1000; // of the file
        QCOMPARE(cell(2), QString::number(50 + row + (row % 2 == 0 ? 0.5 : 0), 'f', 2));
        QCOMPARE(cell(3), QString(row % 2 == 0 ? "flat" : "steep"));
        QCOMPARE(table->model()->index(0, 3).data(Qt::TextAlignmentRole).toInt(),
                 static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter));

        seen->setFocus();
        QTest::keyClick(seen->findChildren<QAbstractButton*>().front(), Qt::Key_Right);
        QCOMPARE(titles(), (QStringList{"sample", "price", "area", "roof=flat", "roof=steep"}));
        QCOMPARE(cell(3), QString(row % 2 == 0 ? "1" : "0"));
        const ui::SampleView& sample = view.page->preview().samples().front();
        QVERIFY(std::abs(cell(2).toDouble() - static_cast<double>(sample.values[0])) < 0.001);
        // Numbers of a column end at the same place.
        const auto decimals = [table](int at) {
            const QString text = table->model()->index(at, 2).data().toString();
            return text.size() - text.indexOf('.');
        };
        for (int at = 0; at < table->model()->rowCount(); ++at) {
            QCOMPARE(decimals(at), decimals(0));
        }
    }

    void data_without_columns_of_a_file_have_one_look() {
        ShownData view(config::json_of(test::tiny_config()));
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        QVERIFY(!view.find<widgets::SegmentedControl>("samplesSeen")->isVisible());
    }

    void a_file_that_was_moved_is_located() {
        test::StudioFixture elsewhere;
        const std::string content(4000, 'x');
        write_file(elsewhere.root() / "now.txt", content);
        ShownData view(text_run("gone.txt"));
        QTRY_VERIFY_WITH_TIMEOUT(view.message().contains("not where it was"), kPatienceMs);
        QCOMPARE(view.page->navState(), widgets::NavState::Error);
        QString asked;
        view.page->askForPath = [&](const QString& title, bool folder) {
            asked = title;
            return folder ? QString() : ui::pathText(elsewhere.root() / "now.txt");
        };
        QTest::mouseClick(view.find<QPushButton>("locateData"), Qt::LeftButton);
        QVERIFY(asked.contains("gone.txt"));
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
        QCOMPARE(view.page->navState(), widgets::NavState::Valid);
    }

    void a_broken_file_is_named_and_the_page_lives_on() {
        test::StudioFixture elsewhere;
        write_file(elsewhere.root() / "train-images-idx3-ubyte", "this is no picture");
        write_file(elsewhere.root() / "train-labels-idx1-ubyte", "");
        config::Json run = images_run();
        run["data"]["train"] = {{"type", "idx"}, {"path", elsewhere.root().string()}};
        ShownData view(run);
        QTRY_VERIFY_WITH_TIMEOUT(view.message().contains("cannot be opened"), kPatienceMs);
        QVERIFY(view.message().contains("train-images-idx3-ubyte"));
        // The next draft is opened as if nothing had been.
        view.fixture.studio().draft().setDocument(images_run(), view.fixture.root());
        QTRY_VERIFY_WITH_TIMEOUT(view.ready(), kPatienceMs);
    }

    void after_a_stop_what_is_open_can_still_be_looked_at() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(images_run(), fixture.root());
        ui::DataPreview preview(fixture.studio().draft());
        preview.setPageSize(4);
        preview.setActive(true);
        const auto first = [&preview] {
            return preview.isReading() || preview.samples().empty() ? std::int64_t{-1}
                                                                    : preview.samples()[0].index;
        };
        QTRY_VERIFY_WITH_TIMEOUT(first() >= 0, kPatienceMs);
        const std::int64_t before = first();
        preview.stopOpening();
        preview.setFirst(4);
        QTRY_VERIFY_WITH_TIMEOUT(first() >= 0 && first() != before, kPatienceMs);
        preview.setSplit(ui::DataSplit::Validation);
        QTRY_VERIFY_WITH_TIMEOUT(preview.facts() != nullptr, kPatienceMs);
        QCOMPARE(preview.facts()->problem, QString());
    }

    void without_data_the_page_says_so_and_offers_a_set() {
        ShownData view(config::Json::object());
        QVERIFY(view.find<QWidget>("dataEmpty")->isVisible());
        QCOMPARE(view.page->navState(), widgets::NavState::Empty);
    }

    void what_is_being_opened_when_the_page_goes_is_begun_again_when_it_comes_back() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(images_run(), fixture.root());
        ui::DataPreview preview(fixture.studio().draft());
        preview.setActive(true);
        preview.setActive(false);
        // By the time another view of the draft has opened it, this one has let go.
        ui::DataPreview other(fixture.studio().draft());
        other.setActive(true);
        QTRY_COMPARE_WITH_TIMEOUT(other.state(), ui::DataPreview::State::Ready, kPatienceMs);
        ui::backgroundPool()->waitForDone();
        QCoreApplication::processEvents();
        QCOMPARE(preview.state(), ui::DataPreview::State::Opening);
        preview.setActive(true);
        QTRY_COMPARE_WITH_TIMEOUT(preview.state(), ui::DataPreview::State::Ready, kPatienceMs);
    }

    void data_is_opened_only_while_the_page_is_looked_at() {
        test::StudioFixture fixture;
        fixture.studio().draft().setDocument(images_run(), fixture.root());
        auto* page = static_cast<ui::DataPage*>(fixture.window().page("data"));
        // By the time another view of the draft has opened it, the page has not begun.
        ui::DataPreview other(fixture.studio().draft());
        other.setActive(true);
        QTRY_COMPARE_WITH_TIMEOUT(other.state(), ui::DataPreview::State::Ready, kPatienceMs);
        QCOMPARE(page->preview().state(), ui::DataPreview::State::Opening);
        fixture.window().showPage("data");
        QTRY_COMPARE_WITH_TIMEOUT(page->preview().state(), ui::DataPreview::State::Ready,
                                  kPatienceMs);
    }
};

WEFT_TEST(DataTest)
#include "data_test.moc"
