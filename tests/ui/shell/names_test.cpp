// SPDX-License-Identifier: GPL-3.0-or-later
// What a screen reader says of every control: each has a name, on every page and in every dialog.
#include "tests/support/weft_test.h"
#include "tests/ui/dialogs.h"
#include "tests/ui/patience.h"
#include "tests/ui/small_gpt.h"
#include "ui/pages/data/data_page.h"
#include "ui/pages/page_list.h"
#include "ui/plurals.h"
#include "widgets/controls/controls.h"
#include "widgets/views/painted_view.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTextEdit>

namespace {

using namespace weft;
using config::Json;
using test::kPatienceMs;

bool is_part_of_another(const QWidget* widget) {
    const QWidget* around = widget->parentWidget();
    return widget->focusProxy() == around ||
           qobject_cast<const QAbstractSpinBox*>(around) != nullptr ||
           qobject_cast<const QComboBox*>(around) != nullptr ||
           qobject_cast<const QLineEdit*>(around) != nullptr || // its small buttons
           qobject_cast<const QHeaderView*>(widget) != nullptr ||
           widget->inherits("QTableCornerButton");
}

bool is_used(const QWidget* widget) {
    const bool control = qobject_cast<const QAbstractButton*>(widget) != nullptr ||
                         qobject_cast<const QLineEdit*>(widget) != nullptr ||
                         qobject_cast<const QComboBox*>(widget) != nullptr ||
                         qobject_cast<const QAbstractSpinBox*>(widget) != nullptr ||
                         qobject_cast<const QAbstractItemView*>(widget) != nullptr ||
                         qobject_cast<const QPlainTextEdit*>(widget) != nullptr ||
                         qobject_cast<const QTextEdit*>(widget) != nullptr ||
                         qobject_cast<const widgets::PaintedView*>(widget) != nullptr;
    const bool stop = (widget->focusPolicy() & Qt::TabFocus) != 0 &&
                      widget->focusProxy() == nullptr &&
                      qobject_cast<const QAbstractScrollArea*>(widget) == nullptr;
    return control || stop;
}

/// Given by itself, by a label beside it, or by the text on it.
QString name_of(QWidget* widget) {
    if (!widget->accessibleName().isEmpty()) {
        return widget->accessibleName();
    }
    for (const QLabel* label : widget->window()->findChildren<QLabel*>()) {
        if (label->buddy() == widget && !label->text().isEmpty()) {
            return label->text();
        }
    }
    // Of a box of choices Qt says the choice, which is no name.
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    return button != nullptr ? button->text() : QString();
}

QString place(const QWidget* widget) {
    QStringList names;
    for (const QWidget* at = widget; at != nullptr && names.size() < 5; at = at->parentWidget()) {
        names << at->metaObject()->className() +
                     (at->objectName().isEmpty() ? QString() : " \"" + at->objectName() + '"');
    }
    return names.join(" in ");
}

QStringList nameless(const QString& where, QWidget* page) {
    QStringList out;
    for (QWidget* widget : page->findChildren<QWidget*>()) {
        if (widget->isVisible() && widget->isEnabled() && is_used(widget) &&
            !is_part_of_another(widget) && name_of(widget).trimmed().isEmpty()) {
            out << where + ": " + place(widget);
        }
    }
    return out;
}

bool has_rows(QWidget* page, const char* view) {
    const auto* rows = page->findChild<QAbstractItemView*>(view);
    return rows != nullptr && rows->model()->rowCount() > 0;
}

/// What comes from the background is there.
bool is_full(QWidget* page, const QString& id, ui::Studio& studio) {
    return id == "data"          ? static_cast<ui::DataPage*>(page)->preview().facts() != nullptr
           : id == "plan"        ? has_rows(page, "tensorTree")
           : id == "checkpoints" ? has_rows(page, "checkpointTable")
           : id == "runs"        ? has_rows(page, "runTable")
           : id == "train"       ? !studio.run().samples().empty()
                                 : true;
}

} // namespace

class NamesTest : public QObject {
    Q_OBJECT

    /// Of a page and of each part of it.
    static QStringList look_through(test::StudioFixture& fixture, const QString& id) {
        fixture.window().showPage(id);
        QWidget* page = fixture.window().page(id);
        if (id == "plan") {
            static_cast<widgets::SegmentedControl*>(fixture.find("planTab"))->setCurrentIndex(0);
        }
        if (!QTest::qWaitFor([&] { return is_full(page, id, fixture.studio()); }, kPatienceMs)) {
            return {id + " stays empty"};
        }
        QTest::qWait(0); // the layout
        QStringList out = nameless(id, page);
        for (auto* part : page->findChildren<widgets::SegmentedControl*>()) {
            if (!part->objectName().endsWith("Tab") || !part->isVisible()) {
                continue;
            }
            for (int i = 0; i < part->count(); ++i) {
                part->setCurrentIndex(i);
                QTest::qWait(0);
                out += nameless(QString("%1, %2 %3").arg(id, part->objectName()).arg(i), page);
            }
        }
        return out;
    }

    static QString told(QStringList found) {
        found.removeDuplicates();
        return '\n' + found.join('\n');
    }

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }

    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void every_control_of_a_draft_has_a_name() {
        test::StudioFixture fixture;
        fixture.window().resize(1440, 900);
        Json document = test::small_gpt(test::kTwoByTwo);
        document["optimizer"] = {
            {"type", "adamw"},
            {"groups", Json::array({{{"match", "*.bias"}, {"weight_decay", 0.0}}})}};
        document["lr_schedule"] = {{"type", "warmup_cosine"}, {"warmup_steps", 10}};
        fixture.studio().draft().setDocument(document, fixture.root());
        QVERIFY(fixture.studio().draft().isValid());
        QStringList found;
        for (const char* id : {"home", "data", "model", "training", "plan"}) {
            found += look_through(fixture, id);
        }
        QVERIFY2(found.isEmpty(), qPrintable(told(found)));
    }

    void every_control_of_a_finished_run_has_a_name() {
        test::StudioFixture fixture(test::pictures_config());
        fixture.window().resize(1440, 900);
        fixture.window().showPage("train");
        test::finish_a_run(fixture);
        QStringList found;
        for (const char* id :
             {"home", "data", "model", "training", "train", "checkpoints", "runs"}) {
            found += look_through(fixture, id);
        }
        fixture.window().actions().get(ui::action::kConsole)->trigger();
        found += nameless("window", &fixture.window());
        fixture.window().actions().get(ui::action::kProblems)->trigger();
        found += nameless("window", &fixture.window());
        QVERIFY2(found.isEmpty(), qPrintable(told(found)));
    }

    void every_control_of_a_dialog_has_a_name() {
        test::StudioFixture fixture(test::pictures_config());
        test::finish_a_run(fixture);
        QStringList found;
        for (const test::DialogRecord& record : test::all_dialogs()) {
            QWidget* dialog = record.open(fixture);
            QVERIFY2(dialog != nullptr && dialog->isVisible(), record.name);
            QTest::qWait(0); // the layout
            found += nameless(record.name, dialog);
            dialog->close();
        }
        QVERIFY2(found.isEmpty(), qPrintable(told(found)));
    }
};

WEFT_TEST(NamesTest)
#include "names_test.moc"
