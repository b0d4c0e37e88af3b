// SPDX-License-Identifier: GPL-3.0-or-later
// The studio in a language that does not exist: every text is longer and marked, so that words
// which no translator can reach, and controls with no room for longer ones, are found. And the
// studio on a desktop that writes numbers with a comma.
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "ui/screens/screen_list.h"
#include "widgets/painting.h"

#include <QAbstractButton>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QTableView>
#include <QTranslator>
#include <QTreeView>

namespace {

using namespace weft;

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

class PseudoLocale : public QTranslator {
public:
    QString translate(const char*, const char* source, const char*, int) const override {
        return lengthened(QString::fromUtf8(source));
    }
    bool isEmpty() const override { return false; }
};

bool has_words(const QString& text) {
    return std::count_if(text.begin(), text.end(), [](QChar c) { return c.isLetter(); }) > 2;
}

QString place(const QWidget* widget) {
    QStringList names;
    for (const QWidget* at = widget; at != nullptr && names.size() < 4; at = at->parentWidget()) {
        names << (at->objectName().isEmpty() ? at->metaObject()->className() : at->objectName());
    }
    return names.join(" in ");
}

} // namespace

class PseudoLocaleTest : public QObject {
    Q_OBJECT

    PseudoLocale language_;

    // Buttons and fields of the page that is shown, with what is wrong about them.
    static QStringList faults(QWidget& window) {
        QStringList found;
        const auto buttons = window.findChildren<QAbstractButton*>();
        for (const QAbstractButton* button : buttons) {
            if (!button->isVisible()) {
                continue;
            }
            const QString text = button->text();
            // Names of things (runs, presets, fields, formats) are data, and so marked by the code
            // that shows them.
            if (has_words(text) && !text.contains(kOpen) && !button->property("isData").toBool()) {
                found << QString("not translated: \"%1\" (%2)").arg(text, place(button));
            }
            if (!text.isEmpty() && button->width() < button->minimumSizeHint().width()) {
                found << QString("no room: \"%1\" has %2 of %3 px (%4)")
                             .arg(text)
                             .arg(button->width())
                             .arg(button->minimumSizeHint().width())
                             .arg(place(button));
            }
        }
        const auto edits = window.findChildren<QLineEdit*>();
        for (const QLineEdit* edit : edits) {
            if (edit->isVisible() && has_words(edit->placeholderText()) &&
                !edit->placeholderText().contains(kOpen)) {
                found << QString("not translated: \"%1\" (%2)")
                             .arg(edit->placeholderText(), place(edit));
            }
        }
        return found;
    }

private slots:
    void initTestCase() { QCoreApplication::installTranslator(&language_); }
    void cleanupTestCase() {
        QCoreApplication::removeTranslator(&language_);
        QLocale::setDefault(QLocale::c());
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
        for (const ui::ScreenRecord* record : ui::allScreens()) {
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
