// SPDX-License-Identifier: GPL-3.0-or-later
// F1: beside what the page is for, the reference that `weft help TOPIC` prints, by keys.
#include "core/compile/config/run_config.h"
#include "core/train/reference/reference.h"
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "ui/forms/field_box.h"
#include "ui/models/reference_model.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"

#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QDialog>
#include <QLineEdit>
#include <QScrollBar>
#include <QTableView>

#include <algorithm>

namespace {

using namespace weft;

// A key with the focus on a control of a window.
void press_in(QWidget& window, QWidget& at, Qt::Key key) {
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    at.setFocus();
    QTest::keyClick(&at, key);
}

QString written_name(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

} // namespace

class HelpTest : public QObject {
    Q_OBJECT

private slots:
    void f1_searches_the_reference_by_keys_alone() {
        test::StudioFixture fixture;
        press_in(fixture.window(), fixture.window(), Qt::Key_F1);
        auto* help = fixture.window().findChild<QDialog*>("helpDialog");
        QVERIFY(help != nullptr && help->isVisible());
        auto* tab = help->findChild<widgets::SegmentedControl*>("helpTab");
        press_in(*help, *tab->findChild<QAbstractButton*>(), Qt::Key_Right);
        auto* words = help->findChild<QLineEdit*>("referenceWords");
        QVERIFY(words != nullptr && words->isVisible());
        const auto said = [help](const char* name) {
            return help->findChild<widgets::TextLabel*>(name)->text();
        };
        // A name of every section of every topic is found by typing it.
        for (const train::ReferencePage* page : train::reference_pages()) {
            for (const train::ReferenceSection& section : page->sections) {
                if (section.names.empty()) {
                    continue;
                }
                const train::ReferenceName& one = section.names.back();
                const QString name = written_name(one.name);
                words->clear();
                QTest::keyClicks(words, name);
                auto* table = help->findChild<QTableView*>("referenceTable");
                const auto* model = static_cast<ui::ReferenceModel*>(table->model());
                bool found = false;
                for (int row = 0; row < model->rowCount() && !found; ++row) {
                    found = model->entry(row).name == name &&
                            model->entry(row).topic.toStdString() == page->topic &&
                            model->entry(row).section.toStdString() == section.title;
                }
                QVERIFY2(found, qPrintable(name));
            }
        }
        // A setting: found by two of its words, chosen with Down, explained with its default.
        words->clear();
        QTest::keyClicks(words, "training.max_grad_norm");
        press_in(*help, *words, Qt::Key_Down);
        QCOMPARE(help->focusWidget()->objectName(), QString("referenceTable"));
        const config::Field* norm =
            config::find_field(compile::run_config_table(), "training.max_grad_norm");
        QVERIFY(norm != nullptr);
        QCOMPARE(said("referenceName"), QString("training.max_grad_norm"));
        QCOMPARE(said("referenceMeaning"), QString::fromStdString(norm->help));
        QVERIFY(said("referenceFacts")
                    .contains("default " + QString::fromStdString(norm->default_value.dump())));
        QVERIFY(said("referencePlace").startsWith("weft help config"));
        // What is not there is said.
        words->clear();
        QTest::keyClicks(words, "nobody has called anything so");
        QCOMPARE(said("referenceName"), QString("Nothing is called that"));
    }

    void the_columns_of_the_reference_share_its_width_by_need_data() {
        QTest::addColumn<double>("text");
        for (const double text : {1.0, widgets::kLargestText}) {
            QTest::addRow("%g", text) << text;
        }
    }

    void the_columns_of_the_reference_share_its_width_by_need() {
        QFETCH(double, text);
        test::StudioFixture fixture;
        ui::Preferences preferences = fixture.studio().settings().values();
        preferences.font_scale = text;
        QCOMPARE(fixture.studio().settings().set(preferences), QString());
        press_in(fixture.window(), fixture.window(), Qt::Key_F1);
        auto* help = fixture.window().findChild<QDialog*>("helpDialog");
        help->resize(720, 620);
        help->findChild<widgets::SegmentedControl*>("helpTab")->setCurrentIndex(1);
        auto* words = help->findChild<QLineEdit*>("referenceWords");
        auto* table = help->findChild<QTableView*>("referenceTable");
        using Model = ui::ReferenceModel;
        const auto width = [table](int column) { return table->columnWidth(column); };
        for (const char* typed : {"", "schema_version"}) { // names of 61 letters; of 14
            words->setText(typed);
            QTRY_VERIFY(width(Model::MeaningColumn) >= table->viewport()->width() / 3);
            // Nobody is cut while another has room to spare.
            const int fair = width(Model::MeaningColumn) -
                             table->verticalScrollBar()->sizeHint().width() - Model::ColumnCount;
            for (const int column : {Model::NameColumn, Model::SectionColumn}) {
                const int needed =
                    static_cast<QAbstractItemView*>(table)->sizeHintForColumn(column);
                QVERIFY2(width(column) >= std::min(needed, fair), typed);
            }
        }
        QVERIFY(width(Model::MeaningColumn) > table->viewport()->width() / 2);
    }

    void keys_are_changed_from_where_they_are_told() {
        test::StudioFixture fixture;
        press_in(fixture.window(), fixture.window(), Qt::Key_F1);
        auto* help = fixture.window().findChild<QDialog*>("helpDialog");
        auto* tab = help->findChild<widgets::SegmentedControl*>("helpTab");
        auto* change = help->findChild<QAbstractButton*>("helpChangeKeys");
        QVERIFY(change->isVisible());
        tab->setCurrentIndex(1);
        QVERIFY(!change->isVisible());
        help->close();
        press_in(fixture.window(), fixture.window(), Qt::Key_F1); // on the tab it was left at
        QVERIFY(help->isVisible() && !change->isVisible());
        tab->setCurrentIndex(0);
        QVERIFY(change->isVisible());
    }

    void f1_on_a_field_finds_it_in_the_reference() {
        test::StudioFixture fixture;
        QCOMPARE(fixture.studio().opener().open(fixture.preset()), QString());
        fixture.window().showPage("training");
        const auto boxes = fixture.window().page("training")->findChildren<ui::FieldBox*>();
        const auto found = std::find_if(boxes.begin(), boxes.end(), [](const ui::FieldBox* box) {
            return box->isVisible() && box->field().name == "learning_rate";
        });
        QVERIFY(found != boxes.end());
        press_in(fixture.window(), *(*found)->editor()->findChild<QLineEdit*>(), Qt::Key_F1);
        auto* help = fixture.window().findChild<QDialog*>("helpDialog");
        auto* tab = help->findChild<widgets::SegmentedControl*>("helpTab");
        press_in(*help, *tab->findChild<QAbstractButton*>(), Qt::Key_Right);
        QCOMPARE(help->findChild<widgets::TextLabel*>("referenceName")->text(),
                 QString("optimizer.learning_rate"));
    }

    void rows_are_narrowed_by_topic_and_by_every_word() {
        ui::ReferenceModel model;
        const QAbstractItemModelTester tester(&model);
        const int all = model.rowCount();
        int of_topics = 0;
        for (const ui::ReferenceTopic& topic : ui::ReferenceModel::topics()) {
            model.show(topic.topic, {});
            QVERIFY2(model.rowCount() > 3, qPrintable(topic.topic));
            of_topics += model.rowCount();
        }
        QCOMPARE(of_topics, all);
        model.show("commands",
                   "PAUSE step"); // "Waits after this step, ...", "One step of a paused run"
        QVERIFY(model.rowCount() >= 2 && model.rowCount() < 6);
        for (int row = 0; row < model.rowCount(); ++row) {
            const ui::ReferenceEntry& entry = model.entry(row);
            const QString whole = entry.name + " " + entry.meaning + " " + entry.section;
            QVERIFY(whole.contains("pause", Qt::CaseInsensitive) &&
                    whole.contains("step", Qt::CaseInsensitive));
        }
        model.show("config", {});
        QVERIFY(model.rowOf("/model/layers/3/type") < 0); // no setting of its own
        const int units = model.rowOf("/model/layers/3/units");
        QVERIFY(units >= 0);
        QCOMPARE(model.entry(units).name, QString("model.layers[].units"));
    }
};

WEFT_TEST(HelpTest)
#include "help_test.moc"
