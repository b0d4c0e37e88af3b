// SPDX-License-Identifier: GPL-3.0-or-later
// Every dialog over the smallest window, with the text as large as it may be: it is no larger than
// the window, and nothing in it is cut off.
#include "tests/support/weft_test.h"
#include "tests/ui/dialogs.h"
#include "ui/plurals.h"

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>

namespace {

using namespace weft;
using test::place_of;

constexpr QSize kSmallest(1024, 680);

bool is_dialog_control(const QWidget* widget) {
    return qobject_cast<const QAbstractButton*>(widget) != nullptr ||
           qobject_cast<const QLineEdit*>(widget) != nullptr ||
           qobject_cast<const QComboBox*>(widget) != nullptr ||
           qobject_cast<const QAbstractSpinBox*>(widget) != nullptr;
}

/// What is inside a scroll area is reached by scrolling.
bool scrolls(const QWidget* viewport) {
    const auto* area = qobject_cast<const QAbstractScrollArea*>(viewport->parentWidget());
    return area != nullptr && area->viewport() == viewport;
}

bool sticks_out(const QWidget* widget, const QWidget* dialog) {
    for (const QWidget* around = widget->parentWidget(); around != nullptr && !scrolls(around);
         around = around->parentWidget()) {
        const QRect place(widget->mapTo(around, QPoint()), widget->size());
        if (!around->rect().contains(place)) {
            return true;
        }
        if (around == dialog) {
            return false;
        }
    }
    return false;
}

bool is_cut(const QLabel* label) {
    if (label->text().isEmpty() || label->textFormat() == Qt::RichText) {
        return false;
    }
    return label->wordWrap() ? label->height() < label->heightForWidth(label->width())
                             : label->width() < label->sizeHint().width();
}

QStringList faults_of_dialog(QWidget* dialog) {
    QStringList out;
    if (dialog->width() > kSmallest.width() || dialog->height() > kSmallest.height()) {
        out << QString("it is %1 x %2 px large").arg(dialog->width()).arg(dialog->height());
    }
    for (const QWidget* widget : dialog->findChildren<QWidget*>()) {
        if (!widget->isVisible()) {
            continue;
        }
        const auto* label = qobject_cast<const QLabel*>(widget);
        if (label != nullptr && is_cut(label)) {
            out << QString("\"%1\" has %2 x %3 px")
                       .arg(label->text())
                       .arg(label->width())
                       .arg(label->height());
        }
        if ((label != nullptr || is_dialog_control(widget)) && sticks_out(widget, dialog)) {
            out << place_of(widget) + " sticks out";
        }
        const auto* button = qobject_cast<const QAbstractButton*>(widget);
        const bool icon = button != nullptr && button->text().isEmpty(); // as large as it is made
        if (is_dialog_control(widget) && !icon &&
            widget->width() < widget->minimumSizeHint().width()) {
            out << QString("%1 has %2 of %3 px")
                       .arg(place_of(widget))
                       .arg(widget->width())
                       .arg(widget->minimumSizeHint().width());
        }
    }
    return out;
}

} // namespace

class DialogFitTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void nothing_of_a_dialog_is_cut_off_data() {
        QTest::addColumn<double>("text");
        for (const double text : {1.0, widgets::kLargestText}) {
            QTest::addRow("%g", text) << text;
        }
    }

    void nothing_of_a_dialog_is_cut_off() {
        QFETCH(double, text);
        test::StudioFixture fixture(test::pictures_config());
        test::finish_a_run(fixture);
        ui::Preferences preferences = fixture.studio().settings().values();
        preferences.font_scale = text;
        QCOMPARE(fixture.studio().settings().set(preferences), QString());
        fixture.window().resize(kSmallest);
        QStringList found;
        for (const test::DialogRecord& record : test::all_dialogs()) {
            QWidget* dialog = record.open(fixture);
            QVERIFY2(dialog != nullptr && dialog->isVisible(), record.name);
            QStringList wrong;
            static_cast<void>(QTest::qWaitFor( // layouts follow each other in turns of the loop
                [&] {
                    wrong = faults_of_dialog(dialog);
                    return wrong.isEmpty();
                },
                2000));
            for (const QString& one : wrong) {
                found << QString("%1: %2").arg(record.name, one);
            }
            dialog->close();
        }
        QVERIFY2(found.isEmpty(), qPrintable('\n' + found.join('\n')));
    }
};

WEFT_TEST(DialogFitTest)
#include "dialog_fit_test.moc"
