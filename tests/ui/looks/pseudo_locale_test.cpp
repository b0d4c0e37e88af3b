// SPDX-License-Identifier: GPL-3.0-or-later
// The studio in a language that does not exist: every text is longer and marked, so that words
// which no translator can reach, and controls with no room for longer ones, are found. And the
// studio on a desktop that writes numbers with a comma.
#include "core/compile/config/run_config.h"
#include "tests/support/weft_test.h"
#include "tests/ui/dialogs.h"
#include "tests/ui/patience.h"
#include "ui/bridge/convert.h"
#include "ui/forms/number_input.h"
#include "ui/language.h"
#include "ui/pages/page_list.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/painting.h"

#include <QAbstractButton>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QProcess>
#include <QTableView>
#include <QTemporaryDir>
#include <QTranslator>
#include <QTreeView>
#include <QXmlStreamReader>

#include <mutex>
#include <set>

namespace {

using namespace weft;
using test::place_of;

constexpr QChar kOpen(0x27E6); // mathematical brackets, which no text of ours has
constexpr QChar kClose(0x27E7);

// About a third longer, as German is: every vowel twice. Places for values, tags and keys stay.
QString lengthened(const QString& text) {
    QString out;
    bool in_tag = false;
    for (int i = 0; i < text.size(); ++i) {
        const QChar c = text.at(i);
        in_tag = c == '<' ? true : (i > 0 && text.at(i - 1) == '>' ? false : in_tag);
        out += c;
        const bool is_value = i > 0 && text.at(i - 1) == '%';
        const bool is_key = i > 0 && text.at(i - 1) == '&';
        if (!in_tag && !is_value && !is_key && QStringLiteral("aeiou").contains(c)) {
            out += c;
        }
    }
    return kOpen + out + kClose;
}

using Words = std::set<std::pair<QString, QString>>; // context and source

/// What lupdate finds in the sources: nothing else can a translator translate.
Words words_of_sources() {
    const QTemporaryDir folder;
    const QString path = folder.filePath("studio.ts");
    QProcess lupdate;
    lupdate.setWorkingDirectory(WEFT_SOURCE_DIR);
    lupdate.start(WEFT_LUPDATE, {"-silent", "-locations", "none", "-I", ".", "ui", "widgets", "app",
                                 "-ts", path});
    QFile file(path);
    Words words;
    if (!lupdate.waitForFinished(test::kPatienceMs) || !file.open(QIODevice::ReadOnly)) {
        return words;
    }
    QXmlStreamReader xml(&file);
    QString context;
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement) {
            continue;
        }
        if (xml.name() == QLatin1String("name")) {
            context = xml.readElementText();
        } else if (xml.name() == QLatin1String("source")) {
            words.emplace(context, xml.readElementText());
        }
    }
    return words;
}

/// Qt's own words have a translation of its own.
bool is_of_qt(const QString& context) {
    return context.startsWith('Q') && context != QLatin1String("QObject");
}

/// With `words`, only those: what is asked for in another context stays as it is, and is kept.
class PseudoLocale : public QTranslator {
public:
    explicit PseudoLocale(Words words) : words_(std::move(words)) {}

    QString translate(const char* context, const char* source, const char*, int) const override {
        const QString text = QString::fromUtf8(source);
        const QString where = QString::fromUtf8(context);
        if (!words_.empty() && !is_of_qt(where) && !words_.contains({where, text})) {
            const std::lock_guard guard(mutex_);
            lost_.insert(QString("no translator finds \"%1\" in %2").arg(text, where));
            return {};
        }
        return lengthened(text);
    }
    bool isEmpty() const override { return false; }
    QStringList takeLost() {
        const std::lock_guard guard(mutex_);
        const std::set<QString> lost = std::exchange(lost_, {});
        return {lost.begin(), lost.end()};
    }

private:
    const Words words_;
    mutable std::mutex mutex_;
    mutable std::set<QString> lost_;
};

bool has_words(const QString& text) {
    return std::count_if(text.begin(), text.end(), [](QChar c) { return c.isLetter(); }) > 2;
}

/// What comes from the engine, and so is in English everywhere: names, units and help of fields,
/// and what a run was given.
void collect(const config::FieldTable& fields, QString& words) {
    for (const config::Field& field : fields) {
        words += ui::nullMeaning(field) + QLatin1Char('\n');
        for (const std::string& word : {field.name, field.unit, field.help}) {
            words += QString::fromStdString(word) + '\n';
        }
        for (const std::string& choice : field.choices) {
            words += QString::fromStdString(choice) + '\n';
        }
        collect(field.item, words);
        collect(field.fields, words);
        for (const config::RecordType& record : field.records) {
            words += QString::fromStdString(record.name + '\n' + record.help + '\n');
            collect(record.fields, words);
        }
    }
}

QString data_of(test::StudioFixture& fixture) {
    QString words;
    collect(compile::run_config_table(), words);
    words += QString::fromStdString(fixture.studio().draft().document().dump());
    const ui::RunModel& run = fixture.studio().run();
    const train::RunInfo info = train::read_run_info(run.folder());
    words +=
        QString::fromStdString('\n' + run.folder().string() + '\n' + info.model + '\n' + info.data);
    words += '\n' + run.name() + '\n' + run.stateReason() + '\n' +
             QString::fromStdString(run.config().document.dump());
    for (const auto& evaluation : run.evaluations()) {
        for (const auto& [name, value] : evaluation.metrics) {
            words += '\n' + QString::fromStdString(name);
        }
    }
    return words;
}

/// Figures and names, one or several between middle dots.
bool is_data(QString text, const QString& data) {
    static const QRegularExpression figure("^[~≈<≤+-]?\\d[\\d.,: ×%/]*\\S{0,4}$");
    text.remove(QChar(0x200B)); // where a line may break
    const QStringList parts = text.split(" · ");
    return text.contains("{\"") ||
           std::all_of(parts.begin(), parts.end(), [&](const QString& part) {
               return !has_words(part) || data.contains(part.trimmed()) ||
                      figure.match(part.trimmed()).hasMatch();
           });
}

/// Labels and titles of columns that no translator can reach.
QStringList fixed_words(QWidget& window, const QString& data) {
    QStringList found;
    const auto look = [&](const QString& text, const QWidget* widget) {
        if (has_words(text) && !text.contains(kOpen) && !is_data(text, data)) {
            found << QString("not translated: \"%1\" (%2)").arg(text, place_of(widget));
        }
    };
    for (const QLabel* label : window.findChildren<QLabel*>()) {
        if (label->isVisible() && !label->property("isData").toBool()) {
            look(label->text(), label);
        }
    }
    for (const auto* label : window.findChildren<widgets::ElidedLabel*>()) {
        if (label->isVisible()) {
            look(label->text(), label);
        }
    }
    for (const QHeaderView* header : window.findChildren<QHeaderView*>()) {
        for (int i = 0; header->isVisible() && i < header->count(); ++i) {
            look(header->model()->headerData(i, header->orientation()).toString(), header);
        }
    }
    return found;
}

} // namespace

class PseudoLocaleTest : public QObject {
    Q_OBJECT

    const Words words_ = words_of_sources();
    PseudoLocale language_{words_};

    // Buttons and fields of the page that is shown, with what is wrong about them.
    static QStringList faults(QWidget& window, const QString& data = {}) {
        QStringList found;
        const auto buttons = window.findChildren<QAbstractButton*>();
        for (const QAbstractButton* button : buttons) {
            if (!button->isVisible()) {
                continue;
            }
            const QString text = button->text();
            // Names of things (runs, presets, fields, formats) are data, and so marked by the code
            // that shows them.
            if (has_words(text) && !text.contains(kOpen) && !button->property("isData").toBool() &&
                !is_data(text, data)) {
                found << QString("not translated: \"%1\" (%2)").arg(text, place_of(button));
            }
            if (!text.isEmpty() && button->width() < button->minimumSizeHint().width()) {
                found << QString("no room: \"%1\" has %2 of %3 px (%4)")
                             .arg(text)
                             .arg(button->width())
                             .arg(button->minimumSizeHint().width())
                             .arg(place_of(button));
            }
        }
        const auto edits = window.findChildren<QLineEdit*>();
        for (const QLineEdit* edit : edits) {
            if (edit->isVisible() && has_words(edit->placeholderText()) &&
                !edit->placeholderText().contains(kOpen)) {
                found << QString("not translated: \"%1\" (%2)")
                             .arg(edit->placeholderText(), place_of(edit));
            }
        }
        return found;
    }

private slots:
    void initTestCase() { QCoreApplication::installTranslator(&language_); }
    void cleanup() {
        const QStringList lost = language_.takeLost();
        QVERIFY2(lost.isEmpty(), qPrintable('\n' + lost.join('\n')));
    }
    void cleanupTestCase() {
        QCoreApplication::removeTranslator(&language_);
        QLocale::setDefault(QLocale::c());
    }

    void the_words_of_the_sources_can_be_collected() {
        if (QByteArray(WEFT_LUPDATE).isEmpty()) {
            QSKIP("lupdate of Qt 6 is missing (qt6-l10n-tools): contexts are not looked at");
        }
        QVERIFY(words_.contains({"Pages", "Checkpoints"}));
        QVERIFY(words_.contains({"weft::ui::Actions", "Pause"}));
    }

    // Only nouns take the s of a plural: "1 field differ" comes of "%n field(s) differ".
    void no_verb_follows_a_number_of_things() {
        static const QRegularExpression verb(
            "\\((s|es)\\) (differ|are|were|have|do|need|hold|use|fit|wait|lie|go)\\b");
        for (const auto& [context, text] : words_) {
            QVERIFY2(!text.contains(verb), qPrintable(context + ": " + text));
        }
    }

    void the_users_language_is_loaded_where_there_is_one() {
        if (QByteArray(WEFT_LRELEASE).isEmpty()) {
            QSKIP("lrelease of Qt 6 is missing (qt6-l10n-tools)");
        }
        const QTemporaryDir folder;
        const std::filesystem::path root = ui::toPath(folder.path());
        test::write_file(root / "de.ts", R"(<?xml version="1.0"?><!DOCTYPE TS>
<TS version="2.1" language="de"><context><name>Pages</name><message><source>Data</source>
<translation>Daten</translation></message></context></TS>)");
        QCOMPARE(QProcess::execute(WEFT_LRELEASE, {"-silent", folder.filePath("de.ts"), "-qm",
                                                   folder.filePath("weft-studio_de.qm")}),
                 0);
        QVERIFY(!ui::installLanguage(*qApp, QLocale(QLocale::French), {folder.path()}));
        QVERIFY(ui::installLanguage(*qApp, QLocale(QLocale::German),
                                    {folder.filePath("none"), folder.path()}));
        {
            test::StudioFixture fixture;
            const QString text = fixture.window().actions().get("page.data")->text();
            QVERIFY2(text.contains("Daten"), qPrintable(text));
        }
        for (QTranslator* loaded : qApp->findChildren<QTranslator*>()) {
            if (loaded->language().startsWith("de")) {
                delete loaded;
            }
        }
    }

    void every_action_can_be_translated() {
        test::StudioFixture fixture;
        QStringList missing;
        for (const QAction* action : fixture.window().actions().all()) {
            if (!action->text().contains(kOpen) || !action->statusTip().contains(kOpen)) {
                missing << action->objectName();
            }
        }
        QVERIFY2(missing.isEmpty(), qPrintable(missing.join(", ")));
        for (const QAction* menu : fixture.window().menuBar()->actions()) {
            QVERIFY2(menu->text().contains(kOpen), qPrintable(menu->text()));
        }
    }

    void every_page_has_room_for_longer_words_data() {
        QTest::addColumn<QString>("page");
        QTest::addColumn<QSize>("size");
        for (const ui::PageRecord* record : ui::allPages()) {
            for (const QSize size : {QSize(1440, 900), QSize(1024, 680)}) {
                QTest::addRow("%s %d", record->id, size.width())
                    << QString::fromLatin1(record->id) << size;
            }
        }
    }

    void every_page_has_room_for_longer_words() {
        QFETCH(QString, page);
        QFETCH(QSize, size);
        test::StudioFixture fixture;
        fixture.window().resize(size);
        fixture.studio().draft().open(fixture.preset());
        fixture.window().showPage(page);
        QTRY_VERIFY(fixture.window().page(page)->isVisible());
        QCOMPARE(fixture.window().size(), size);
        QStringList found;
        static_cast<void>(QTest::qWaitFor( // the layout, group by group
            [&] {
                found = faults(fixture.window());
                return found.isEmpty();
            },
            1000));
        QVERIFY2(found.isEmpty(), qPrintable("\n" + found.join("\n")));
    }

    void every_page_of_a_run_has_room_for_longer_words_and_none_of_its_own() {
        test::StudioFixture fixture(test::pictures_config());
        fixture.window().resize(1024, 680);
        fixture.window().showPage("train");
        test::finish_a_run(fixture);
        const QString data = data_of(fixture);
        QStringList found;
        const auto look = [&](const QString& what) {
            QStringList here;
            static_cast<void>(QTest::qWaitFor( // the layout, group by group
                [&] {
                    here = faults(fixture.window(), data) + fixed_words(fixture.window(), data);
                    return here.isEmpty();
                },
                1000));
            for (const QString& one : here) {
                found << what + ": " + one;
            }
        };
        for (const ui::PageRecord* record : ui::allPages()) {
            const QString id = QString::fromLatin1(record->id);
            fixture.window().showPage(id);
            look(id);
            auto* part = fixture.window().findChild<widgets::SegmentedControl*>("predictionTab");
            for (int i = 0; id == "train" && i < part->count(); ++i) {
                part->setCurrentIndex(i);
                look(QString("train, part %1").arg(i));
            }
        }
        found.removeDuplicates();
        QVERIFY2(found.isEmpty(), qPrintable('\n' + found.join('\n')));
    }

    void every_dialog_has_room_for_longer_words_and_none_of_its_own() {
        test::StudioFixture fixture(test::pictures_config());
        test::finish_a_run(fixture);
        const QString data = data_of(fixture);
        QStringList found;
        for (const test::DialogRecord& record : test::all_dialogs()) {
            QWidget* dialog = record.open(fixture);
            QVERIFY2(dialog != nullptr && dialog->isVisible(), record.name);
            if (has_words(dialog->windowTitle()) && !dialog->windowTitle().contains(kOpen)) {
                found << QString("%1: its title \"%2\"").arg(record.name, dialog->windowTitle());
            }
            QStringList here;
            static_cast<void>(QTest::qWaitFor(
                [&] {
                    here = faults(*dialog, data) + fixed_words(*dialog, data);
                    return here.isEmpty();
                },
                500));
            for (const QString& one : here) {
                found << QString("%1: %2").arg(record.name, one);
            }
            dialog->close();
        }
        QVERIFY2(found.isEmpty(), qPrintable('\n' + found.join('\n')));
    }

    void numbers_are_written_alike_on_a_desktop_with_decimal_commas() {
        QLocale::setDefault(QLocale(QLocale::German));
        QCOMPARE(widgets::formatNumber(0.25, 3), QString("0.250")); // three digits that count
        QCOMPARE(widgets::formatCount(1234567), QString("1,234,567"));
        test::StudioFixture fixture;
        fixture.studio().draft().open(fixture.preset());
        fixture.studio().draft().setField("optimizer.learning_rate", 0.0025);
        // What is written for others has a point, whatever the desktop does.
        QVERIFY(fixture.studio().draft().text().find("0.0025") != std::string::npos);
        QVERIFY(fixture.studio().draft().isValid());
        fixture.reopen();
        QCOMPARE(fixture.studio().draft().config().section("optimizer").at("learning_rate"),
                 0.0025);
        QLocale::setDefault(QLocale::c());
    }
};

WEFT_TEST(PseudoLocaleTest)
#include "pseudo_locale_test.moc"
