// SPDX-License-Identifier: GPL-3.0-or-later
// Forms from field tables: every field can be shown, edits by mouse and keyboard arrive in the
// draft and can be taken back, what is wrong is said and kept.
#include "core/compile/config/run_config.h"
#include "core/config/pointer.h"
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/convert.h"
#include "ui/forms/field_finder.h"
#include "ui/forms/form.h"
#include "ui/forms/number_input.h"
#include "ui/forms/number_text.h"
#include "ui/forms/simple_editors.h"
#include "ui/forms/table_form.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"

#include <QComboBox>
#include <QCompleter>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>

namespace {

using namespace weft;
using config::Json;

/// A form of a small draft in a window of its own.
class ShownForm {
public:
    explicit ShownForm(const std::string& pointer, Json document = Json::object())
        : draft(std::make_unique<ui::Draft>()) {
        Json whole = config::json_of(test::tiny_config());
        whole.update(document);
        draft->setDocument(whole, "/tmp");
        source = std::make_unique<ui::FormSource>(*draft);
        form = new ui::Form(*source, pointer);
        scroll.setWidgetResizable(true);
        scroll.setWidget(form);
        scroll.resize(700, 600);
        scroll.show();
    }

    template <class T = QWidget>
    T* find(const QString& name) const {
        auto* found = form->findChild<T*>(name);
        if (found == nullptr) {
            qFatal("no widget named %s", qPrintable(name));
        }
        return found;
    }
    const Json* at(const std::string& pointer) const { return source->given(pointer); }
    /// Selects what stands there and types over it.
    void type(const QString& name, const QString& text) const {
        auto* box = find(name);
        box->setFocus();
        QTest::keyClick(box, Qt::Key_A, Qt::ControlModifier);
        text.isEmpty() ? QTest::keyClick(box, Qt::Key_Delete) : QTest::keyClicks(box, text);
    }
    QStringList problems() const {
        QStringList out;
        for (const QLabel* label : form->findChildren<QLabel*>("fieldProblem")) {
            if (label->isVisibleTo(form)) {
                out.append(label->text());
            }
        }
        return out;
    }

    std::unique_ptr<ui::Draft> draft;
    std::unique_ptr<ui::FormSource> source;
    QScrollArea scroll;
    ui::Form* form;
};

const config::Field& real_field() {
    static const config::Field field = config::real_field("x", 0.5, "A number.");
    return field;
}

const config::Field& integer_field() {
    static const config::Field field = config::integer_field("n", 5, "A count.");
    return field;
}

/// The smallest value that a table takes for an item of each of its types.
Json item_of(const config::Field& field, const config::RecordType* type);

Json filled(const config::FieldTable& table) {
    Json out = Json::object();
    for (const config::Field& field : table) {
        if (field.required || field.type == config::FieldType::list ||
            field.type == config::FieldType::record ||
            (field.type == config::FieldType::object && !field.one_of)) {
            out[field.name] = item_of(field, nullptr);
        }
    }
    return out;
}

Json item_of(const config::Field& field, const config::RecordType* type) {
    switch (field.type) {
    case config::FieldType::object: return filled(field.fields);
    case config::FieldType::list: return Json::array({item_of(field.item.front(), nullptr)});
    case config::FieldType::record: {
        const config::RecordType& chosen = type != nullptr ? *type : field.records.front();
        Json out = {{"type", chosen.name}};
        out.update(filled(chosen.fields));
        return out;
    }
    case config::FieldType::integer:
    case config::FieldType::real: return 1;
    case config::FieldType::choice: return field.choices.front();
    case config::FieldType::boolean: return true;
    case config::FieldType::map: return Json::object();
    case config::FieldType::any: return nullptr;
    case config::FieldType::text:
    case config::FieldType::path: return "x";
    }
    return nullptr;
}

/// Every field below a pointer is on a form of it, for every type of every record.
void walk_fields(const config::FieldTable& table, const std::string& at, const QWidget* root,
                 QStringList& missing) {
    for (const config::Field& field : table) {
        const std::string pointer = config::pointer_to(at, field.name);
        if (root->findChild<ui::FieldBox*>("box:" + QString::fromStdString(pointer)) == nullptr) {
            missing.append(QString::fromStdString(pointer));
        }
        if (field.type == config::FieldType::object && !field.one_of) {
            walk_fields(field.fields, pointer, root, missing);
        }
    }
}

} // namespace

class FormTest : public QObject {
    Q_OBJECT

private slots:
    void a_setting_is_said_in_a_few_words_data() {
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("words");
        QTest::newRow("text") << "\"adamw\""
                              << "adamw";
        QTest::newRow("number") << "0.0003"
                                << "3e-4";
        QTest::newRow("nothing") << "null"
                                 << "–";
        QTest::newRow("flag") << "true"
                              << "true";
        QTest::newRow("length") << "{\"steps\": 500}"
                                << "500 steps";
        QTest::newRow("axes") << "[[\"data\", 4], [\"model\", 2]]"
                              << "data=4 × model=2";
        QTest::newRow("list") << "[0.9, 0.999]"
                              << "0.9, 0.999";
        QTest::newRow("record") << R"({"type": "warmup_cosine", "warmup_steps": 100})"
                                << "warmup_cosine, warmup_steps 100";
        QTest::newRow("groups") << R"([{"match": "*.bias", "weight_decay": 0.0}, {"match": "*"}])"
                                << "(match *.bias, weight_decay 0), (match *)";
        QTest::newRow("empty list") << "[]"
                                    << "–";
    }
    void a_setting_is_said_in_a_few_words() {
        QFETCH(QString, value);
        QFETCH(QString, words);
        QCOMPARE(ui::settingText(config::json_of(value.toStdString())), words);
    }

    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void what_is_said_of_a_field_is_in_the_words_of_its_editor() {
        for (const char* part : {"/data", "/training", "/checkpoint", "/mesh", "/optimizer"}) {
            const ShownForm shown(part);
            for (const auto* widget : shown.form->findChildren<QWidget*>()) {
                const auto* label = qobject_cast<const QLabel*>(widget);
                for (const QString& text : {widget->toolTip(), widget->accessibleDescription(),
                                            label != nullptr ? label->text() : QString()}) {
                    QVERIFY2(!text.contains("null") && !text.contains("{\"") &&
                                 !text.contains("[0"),
                             qPrintable(text));
                }
            }
        }
    }

    void a_typed_number_is_that_number_or_none_data() {
        QTest::addColumn<QString>("typed");
        QTest::addColumn<bool>("integer");
        QTest::addColumn<double>("wanted"); // NaN: refused
        const double refused = std::numeric_limits<double>::quiet_NaN();
        const auto row = [](const char* typed, bool integer, double wanted) {
            QTest::addRow("%s %s", typed, integer ? "integer" : "real")
                << QString::fromUtf8(typed) << integer << wanted;
        };
        row("0.001", false, 0.001);
        row("0,001", false, 0.001);
        row("0,5", false, 0.5);
        row("3,25e-4", false, 3.25e-4);
        row("1e-3", false, 1e-3);
        row(".5", false, 0.5);
        row("-2", false, -2);
        row("1 000", false, 1000);
        row("1,000", false, refused); // 1 or 1000
        row("1.000", false, 1.0);
        row("12,500,000", false, 12.5e6);
        row("1,234.5", false, 1234.5);
        row("1.234,5", false, 1234.5);
        row("1,23,4", false, refused);
        row("abc", false, refused);
        row("1e999", false, refused);
        row("5,000", true, 5000);
        row("5.000", true, refused); // 5 or 5000
        row("1.000.000", true, 1e6);
        row("1e6", true, 1e6);
        row("2,5", true, 2.5); // the engine says that it must be an integer
        row("0x10", true, refused);
    }

    void a_typed_number_is_that_number_or_none() {
        QFETCH(QString, typed);
        QFETCH(bool, integer);
        QFETCH(double, wanted);
        const ui::TypedNumber read =
            ui::readNumber(typed, integer ? integer_field() : real_field());
        if (std::isnan(wanted)) {
            QVERIFY(!read.value);
            QVERIFY(!read.problem.isEmpty());
        } else {
            QVERIFY2(read.value.has_value(), qPrintable(read.problem));
            QCOMPARE(read.value->get<double>(), wanted);
        }
    }

    void bytes_are_typed_with_their_unit() {
        const config::Field bytes = config::integer_field("budget", nullptr, "").in("bytes");
        QCOMPARE(ui::readNumber("8 GiB", bytes).value->get<std::int64_t>(), 8589934592);
        QCOMPARE(ui::readNumber("1,5 GB", bytes).value->get<std::int64_t>(), 1500000000);
        QVERIFY(!ui::readNumber("8 GiB", integer_field()).value);
    }

    void steps_of_reals_go_by_their_first_digit() {
        const auto step = [](double from, int steps) {
            return ui::steppedNumber(from, real_field(), steps).get<double>();
        };
        QCOMPARE(step(3e-4, 1), 4e-4);
        QCOMPARE(step(1e-3, -1), 9e-4);
        QCOMPARE(step(9e-4, 1), 1e-3);
        QCOMPARE(step(0.0, 1), 0.01);
        config::Field above = config::real_field("x", 1.0, "").above(0.0);
        QVERIFY(ui::steppedNumber(1e-3, above, -20).get<double>() > 0.0);
        config::Field few = config::integer_field("n", 1, "").range(1, 3);
        QCOMPARE(ui::steppedNumber(3, few, 1), Json(3));
        QCOMPARE(ui::steppedNumber(1, few, -1), Json(1));
    }

    void every_field_of_the_table_has_its_place_in_a_form() {
        ShownForm shown("");
        QStringList missing;
        walk_fields(compile::run_config_table(), "", shown.form, missing);
        QCOMPARE(missing, QStringList());
    }

    void every_type_of_every_record_has_its_form_data() {
        QTest::addColumn<QString>("pointer");
        QTest::addColumn<QString>("type");
        for (const char* path : {"data.train", "model", "loss", "optimizer", "lr_schedule"}) {
            const config::Field* field = config::find_field(compile::run_config_table(), path);
            QVERIFY(field != nullptr);
            for (const config::RecordType& type : field->records) {
                QTest::addRow("%s %s", path, type.name.c_str())
                    << "/" + QString(path).replace('.', '/') << QString::fromStdString(type.name);
            }
        }
    }

    void every_type_of_every_record_has_its_form() {
        QFETCH(QString, pointer);
        QFETCH(QString, type);
        ShownForm shown(pointer.toStdString());
        const config::Field& field = *shown.source->field(pointer.toStdString());
        const auto found =
            std::find_if(field.records.begin(), field.records.end(),
                         [&](const auto& one) { return QString::fromStdString(one.name) == type; });
        shown.source->set(pointer.toStdString(), item_of(field, &*found));
        QStringList missing;
        walk_fields(found->fields, pointer.toStdString(), shown.form, missing);
        QCOMPARE(missing, QStringList());
        QVERIFY(shown.form->findChildren<ui::FieldEditor*>().size() >= 1);
    }

    void every_kind_of_layer_has_its_form_inside_a_list() {
        ShownForm shown("/model");
        const config::Field layers =
            config::find_field(compile::run_config_table(), "model.layers")->item.empty()
                ? config::Field{}
                : *shown.source->field("/model");
        Json list = Json::array();
        const config::Field* item = nullptr;
        for (const config::RecordType& model : layers.records) {
            if (model.name == "sequential") {
                item = model.fields.front().item.data();
            }
        }
        QVERIFY(item != nullptr);
        for (const config::RecordType& layer : item->records) {
            list.push_back(item_of(*item, &layer));
        }
        shown.source->set("/model", {{"type", "sequential"}, {"layers", list}});
        QStringList missing;
        for (std::size_t i = 0; i < item->records.size(); ++i) {
            walk_fields(item->records[i].fields, "/model/layers/" + std::to_string(i), shown.form,
                        missing);
        }
        QCOMPARE(missing, QStringList());
    }

    void a_number_is_typed_stepped_and_undone_as_one_edit() {
        ShownForm shown("/training");
        const std::string pointer = "/training/global_batch_size";
        const Json before = *shown.at(pointer);
        const QString box = "field:" + QString::fromStdString(pointer);
        shown.type(box, "96");
        QCOMPARE(*shown.at(pointer), Json(96));
        QTest::keyClick(shown.find(box), Qt::Key_Up);
        QTest::keyClick(shown.find(box), Qt::Key_Up);
        QCOMPARE(*shown.at(pointer), Json(98));
        QTest::keyClick(shown.find(box), Qt::Key_Return);
        QTest::keyClick(shown.find(box), Qt::Key_Down);
        QCOMPARE(*shown.at(pointer), Json(97));
        shown.draft->undo(); // the step after Enter
        QCOMPARE(*shown.at(pointer), Json(98));
        shown.draft->undo(); // all that was typed and stepped before
        QCOMPARE(*shown.at(pointer), before);
        QVERIFY(!shown.draft->canUndo());
        shown.draft->redo();
        QCOMPARE(*shown.at(pointer), Json(98));
    }

    void other_edits_between_end_a_step_of_undo() {
        ShownForm shown("/training");
        const Json before = *shown.at("/training/global_batch_size");
        shown.type("field:/training/global_batch_size", "77");
        QTest::mouseClick(shown.find("field:/training/deterministic"), Qt::LeftButton);
        shown.type("field:/training/global_batch_size", "78");
        shown.draft->undo();
        QCOMPARE(*shown.at("/training/global_batch_size"), Json(77));
        shown.draft->undo();
        shown.draft->undo();
        QCOMPARE(*shown.at("/training/global_batch_size"), before);
    }

    void a_comma_is_a_decimal_comma_and_never_a_thousand() {
        const QLocale german(QLocale::German, QLocale::Germany);
        QLocale::setDefault(german);
        ShownForm shown("/optimizer");
        QVERIFY(QTest::qWaitForWindowActive(&shown.scroll)); // or no box loses the focus
        shown.type("field:/optimizer/learning_rate", "0,002");
        QCOMPARE(shown.at("/optimizer/learning_rate")->get<double>(), 0.002);
        QTest::keyClick(shown.find("field:/optimizer/learning_rate"), Qt::Key_Tab);
        QCOMPARE(shown.find<QAbstractSpinBox>("field:/optimizer/learning_rate")->text(),
                 QString("0.002"));
        shown.type("field:/optimizer/learning_rate", "1,000");
        QVERIFY(!shown.draft->isValid());
        QTRY_VERIFY(shown.problems().join(' ').contains("1000"));
        QLocale::setDefault(QLocale::c());
    }

    void what_is_no_number_is_said_kept_and_can_be_put_right() {
        ShownForm shown("/training");
        const QString box = "field:/training/global_batch_size";
        shown.type(box, "many");
        QTest::keyClick(shown.find(box), Qt::Key_Return);
        QCOMPARE(*shown.at("/training/global_batch_size"), Json("many"));
        QVERIFY(!shown.draft->isValid());
        QCOMPARE(shown.find<QAbstractSpinBox>(box)->text(), QString("many"));
        QVERIFY(shown.problems().join(' ').contains("many"));
        shown.type(box, "32");
        QVERIFY(shown.draft->isValid());
        QCOMPARE(shown.problems(), QStringList());
    }

    void a_text_is_as_good_as_a_list_in_a_field_of_any_kind() {
        const Json train = {{"type", "csv"}, {"path", "houses.csv"}, {"targets", "price"}};
        ShownForm shown("/data/train", {{"data", {{"train", train}}}});
        QVERIFY(shown.draft->isValid());
        const auto* box = shown.find<QLineEdit>("field:/data/train/targets");
        QCOMPARE(box->text(), QString("price"));
        QCOMPARE(shown.problems(), QStringList());
        shown.type("field:/data/train/targets", "rooms");
        QCOMPARE(*shown.at("/data/train/targets"), Json("rooms"));
        QCOMPARE(shown.problems(), QStringList());
        shown.type("field:/data/train/targets", "rooms, area");
        QCOMPARE(QString::fromStdString(shown.at("/data/train/targets")->dump()),
                 QString(R"(["rooms","area"])"));
        shown.draft->setField("data.train.targets", {"price", "area"});
        QCOMPARE(box->text(), QString("price, area"));
        shown.draft->setField("data.train.targets", {"price, in euro", "area"});
        QCOMPARE(box->text(), QString(R"(["price, in euro","area"])")); // or they would be three
    }

    void the_engines_words_stand_below_the_field() {
        ShownForm shown("/training");
        shown.type("field:/training/ema_decay", "1.5");
        const auto problems = shown.source->problems("/training/ema_decay");
        QCOMPARE(problems.size(), std::size_t{1});
        QTRY_COMPARE(shown.problems().size(), 1); // after the moment that typing is given
        QVERIFY(shown.problems()[0].contains(QString::fromStdString(problems[0].message)));
        QVERIFY(shown.problems()[0].contains(QString::fromStdString(problems[0].hint)));
    }

    void none_is_typed_or_left_empty() {
        ShownForm shown("/training");
        QVERIFY(QTest::qWaitForWindowActive(&shown.scroll)); // or no box loses the focus
        const QString box = "field:/training/max_grad_norm";
        shown.type(box, "none");
        QVERIFY(shown.at("/training/max_grad_norm")->is_null());
        shown.type(box, "2");
        QCOMPARE(shown.at("/training/max_grad_norm")->get<double>(), 2.0);
        shown.type(box, "");
        QVERIFY(shown.at("/training/max_grad_norm")->is_null());
        QTest::keyClick(shown.find(box), Qt::Key_Tab);
        QCOMPARE(shown.find<QAbstractSpinBox>(box)->text(), QString("none"));
        QVERIFY(shown.draft->isValid());
    }

    void what_is_added_is_complete_where_it_can_be() {
        ShownForm shown("/data/transforms");
        QTest::mouseClick(shown.find("add:/data/transforms"), Qt::LeftButton);
        QVERIFY(shown.source->problems("/data/transforms").empty());
        QTest::mouseClick(shown.find("add:/data/transforms"), Qt::LeftButton);
        const Json* all = shown.at("/data/transforms");
        QVERIFY(all->at(0).at("type") != all->at(1).at("type"));
        QVERIFY(shown.source->problems("/data/transforms").empty());
    }

    void a_switch_that_may_be_left_to_the_engine_has_three_places() {
        ShownForm shown("/data/train",
                        {{"data", {{"train", {{"type", "csv"}, {"path", "t.csv"}}}}}});
        auto* header = shown.find<widgets::SegmentedControl>("field:/data/train/header");
        QCOMPARE(header->currentIndex(), 0); // null: it is recognised
        const auto places = header->findChildren<QAbstractButton*>();
        places[1]->click();
        QCOMPARE(*shown.at("/data/train/header"), Json(true));
        places[2]->click();
        QCOMPARE(*shown.at("/data/train/header"), Json(false));
        QCOMPARE(header->currentIndex(), 2);
        shown.draft->setField("data.train.header", nullptr);
        QCOMPARE(header->currentIndex(), 0);
    }

    void null_is_called_by_what_it_means() {
        ShownForm shown("/data/train",
                        {{"data", {{"train", {{"type", "csv"}, {"path", "t.csv"}}}}}});
        QCOMPARE(shown.find<QComboBox>("field:/data/train/separator")->currentText(),
                 QString("auto"));
        // The data's own test part counts where no other is named.
        const ShownForm data("/data", {{"data", {{"test", nullptr}}}});
        QCOMPARE(data.find<QComboBox>("field:/data/test")->currentText(), QString("auto"));
        const ShownForm clipped("/training", {{"training", {{"max_grad_norm", nullptr}}}});
        QCOMPARE(clipped.find<QAbstractSpinBox>("field:/training/max_grad_norm")->text(),
                 QString("none"));
    }

    void an_emptied_box_and_the_reset_button_go_back_to_the_default() {
        ShownForm shown("/checkpoint");
        QVERIFY(QTest::qWaitForWindowActive(&shown.scroll)); // or no box loses the focus
        const QString box = "field:/checkpoint/keep_latest";
        shown.type(box, "7");
        QVERIFY(shown.find("reset:/checkpoint/keep_latest")->isVisible());
        shown.type(box, "");
        QVERIFY(shown.at("/checkpoint/keep_latest") == nullptr);
        QTest::keyClick(shown.find(box), Qt::Key_Tab);
        QCOMPARE(shown.find<QAbstractSpinBox>(box)->text(), QString("2"));
        QVERIFY(!shown.find("reset:/checkpoint/keep_latest")->isVisible());
        shown.type(box, "7");
        QTest::mouseClick(shown.find("reset:/checkpoint/keep_latest"), Qt::LeftButton);
        QVERIFY(shown.at("/checkpoint/keep_latest") == nullptr);
    }

    void a_cadence_changes_its_amount_and_its_unit() {
        ShownForm shown("/evaluation");
        shown.type("field:/evaluation/every", "25");
        auto* unit = shown.find<widgets::SegmentedControl>("unit:/evaluation/every");
        const auto units = unit->findChildren<QAbstractButton*>();
        QCOMPARE(units[0]->text(), QString("steps"));
        QTest::mouseClick(units[0], Qt::LeftButton);
        QCOMPARE(*shown.at("/evaluation/every"), Json({{"steps", 25}}));
        shown.type("field:/evaluation/every", "50");
        QCOMPARE(*shown.at("/evaluation/every"), Json({{"steps", 50}}));
    }

    void a_cadence_can_be_none() {
        ShownForm shown("/checkpoint");
        auto* unit = shown.find<QComboBox>("unit:/checkpoint/every");
        unit->setFocus();
        QTest::keyClick(unit, Qt::Key_End);
        QVERIFY(shown.at("/checkpoint/every")->is_null());
        QTest::keyClick(unit, Qt::Key_Home);
        QCOMPARE(shown.at("/checkpoint/every")->begin().key(), std::string("steps"));
    }

    void a_list_grows_moves_and_shrinks() {
        ShownForm shown(
            "/optimizer",
            {{"optimizer", {{"type", "adamw"}, {"groups", Json::array({{{"match", "*.bias"}}})}}}});
        QTest::mouseClick(shown.find("add:/optimizer/groups"), Qt::LeftButton);
        QCOMPARE(shown.at("/optimizer/groups")->size(), std::size_t{2});
        QCOMPARE(shown.at("/optimizer/groups")->at(0).at("match"), Json("*.bias"));
        shown.type("field:/optimizer/groups/1/match", "wte*");
        QTest::mouseClick(shown.find("chevron-up:/optimizer/groups/1"), Qt::LeftButton);
        QCOMPARE(shown.at("/optimizer/groups")->at(0).at("match"), Json("wte*"));
        QTest::mouseClick(shown.find("copy:/optimizer/groups/0"), Qt::LeftButton);
        QCOMPARE(shown.at("/optimizer/groups")->size(), std::size_t{3});
        QTest::mouseClick(shown.find("close:/optimizer/groups/2"), Qt::LeftButton);
        QCOMPARE(shown.at("/optimizer/groups")->size(), std::size_t{2});
    }

    void a_list_of_a_fixed_length_neither_grows_nor_shrinks() {
        ShownForm shown("/optimizer", {{"optimizer", {{"type", "adamw"}}}});
        QVERIFY(!shown.find("add:/optimizer/betas")->isVisible());
        QVERIFY(shown.form->findChild<QWidget*>("close:/optimizer/betas/0") == nullptr);
        shown.draft->setField("optimizer.betas", {0.9, 0.99, 0.999});
        QVERIFY(shown.problems().join(' ').contains("expected 2 items, found 3"));
        QTest::mouseClick(shown.find("close:/optimizer/betas/1"), Qt::LeftButton);
        QCOMPARE(QString::fromStdString(shown.at("/optimizer/betas")->dump()),
                 QString("[0.9,0.999]"));
        QCOMPARE(shown.problems(), QStringList());
        shown.draft->setField("optimizer.betas", {0.9, 2});
        QVERIFY(shown.problems().join(' ').contains("betas.1: "));
    }

    void a_fixed_list_that_may_be_none_begins_with_all_its_items() {
        ShownForm shown("/data/train",
                        {{"data", {{"train", {{"type", "images"}, {"path", "pictures"}}}}}});
        QTest::mouseClick(shown.find("set:/data/train/size"), Qt::LeftButton);
        QCOMPARE(shown.at("/data/train/size")->size(), std::size_t{2});
        QVERIFY(!shown.find("add:/data/train/size")->isVisible());
    }

    void an_item_of_a_default_list_can_be_edited_at_once() {
        ShownForm shown("/optimizer", {{"optimizer", {{"type", "adamw"}}}});
        shown.type("field:/optimizer/betas/1", "0,95");
        const Json& betas = *shown.at("/optimizer/betas");
        QCOMPARE(betas.size(), std::size_t{2});
        QCOMPARE(betas[1].get<double>(), 0.95);
        QVERIFY(shown.draft->isValid());
    }

    void another_type_keeps_what_both_have() {
        ShownForm shown(
            "/optimizer",
            {{"optimizer", {{"type", "adamw"}, {"learning_rate", 0.007}, {"eps", 1e-7}}}});
        auto* types = shown.find<QComboBox>("field:/optimizer");
        types->setFocus();
        QTest::keyClicks(types, "sgd");
        QTRY_COMPARE(shown.at("/optimizer/type")->get<std::string>(), std::string("sgd"));
        QCOMPARE(shown.at("/optimizer/learning_rate")->get<double>(), 0.007);
        QVERIFY(shown.at("/optimizer/eps") == nullptr);
        QVERIFY(shown.draft->isValid());
        QVERIFY(shown.form->findChild<ui::FieldBox*>("box:/optimizer/momentum") != nullptr);
        shown.draft->undo();
        QCOMPARE(shown.at("/optimizer/eps")->get<double>(), 1e-7);
    }

    void a_map_takes_keys_with_any_sign_and_renames_in_place() {
        ShownForm shown("/mesh/specs");
        QTest::mouseClick(shown.find("add:/mesh/specs"), Qt::LeftButton);
        auto* key = shown.find<QLineEdit>("key:/mesh/specs/*");
        key->selectAll();
        QTest::keyClicks(key, "a/b=c");
        QTest::keyClick(key, Qt::Key_Return);
        QCOMPARE(shown.at("/mesh/specs")->begin().key(), std::string("a/b=c"));
        shown.type("field:/mesh/specs/a~1b=c", "P(data)");
        QCOMPARE(shown.at("/mesh/specs")->at("a/b=c"), Json("P(data)"));
        QTest::mouseClick(shown.find("remove:/mesh/specs/a~1b=c"), Qt::LeftButton);
        QVERIFY(shown.at("/mesh/specs")->empty());
    }

    void a_chosen_path_below_the_configurations_folder_stays_relative() {
        ShownForm shown("/init");
        auto* editor = shown.form->findChild<ui::PathEditor*>();
        QVERIFY(editor != nullptr);
        editor->take("/tmp/data/x.bin");
        QCOMPARE(*shown.at("/init/from"), Json("data/x.bin"));
        editor->take("/usr/share/x.bin");
        QCOMPARE(*shown.at("/init/from"), Json("/usr/share/x.bin"));
    }

    void a_name_that_is_no_field_is_said_and_can_be_removed() {
        ShownForm shown("/training");
        shown.source->set("/training/batch", 3);
        QVERIFY(!shown.draft->isValid());
        QVERIFY(shown.problems().join(' ').contains("batch"));
        QTest::mouseClick(shown.find("remove:/training/batch"), Qt::LeftButton);
        QVERIFY(shown.draft->isValid());
    }

    void fields_for_experts_wait_until_they_are_asked_for_or_given() {
        ShownForm shown("/training", {{"training", {{"deterministic", false}}}});
        QVERIFY(shown.find("box:/training/deterministic")->isVisible());
        QVERIFY(!shown.find("box:/training/memory_budget")->isVisible());
        QTest::mouseClick(shown.find("experts:/training"), Qt::LeftButton);
        QVERIFY(shown.find("box:/training/memory_budget")->isVisible());
    }

    void a_pointer_leads_to_its_field_and_opens_what_hides_it() {
        ShownForm shown("");
        QVERIFY(ui::showField(shown.form, "/training/memory_budget"));
        QVERIFY(shown.find("box:/training/memory_budget")->isVisible());
        QTRY_VERIFY(shown.find("field:/training/memory_budget")->hasFocus());
        QVERIFY(ui::showField(shown.form, "/optimizer/betas/1"));
        QVERIFY(shown.find("field:/optimizer/betas/1")->hasFocus());
        QVERIFY(ui::showField(shown.form, "/checkpoint/every/steps"));
        QVERIFY(shown.find("field:/checkpoint/every")->hasFocus());
        QVERIFY(!ui::showField(shown.form, "/nothing"));
    }

    void no_help_speaks_the_language_of_the_file() {
        QStringList wrong;
        const std::function<void(const config::FieldTable&, const std::string&)> walk =
            [&](const config::FieldTable& table, const std::string& above) {
                for (const config::Field& field : table) {
                    const std::string at = above + "." + field.name;
                    for (const QString& text : {ui::helpText(field), ui::nullMeaning(field)}) {
                        static const QRegularExpression kFile("\\bnull\\b|\\{\"|<");
                        if (text.contains(kFile)) {
                            wrong << ui::toQString(at) + ": " + text;
                        }
                    }
                    walk(field.fields, at);
                    walk(field.item, at);
                    for (const config::RecordType& type : field.records) {
                        walk(type.fields, at + "." + type.name);
                    }
                }
            };
        walk(compile::run_config_table(), "");
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join('\n')));
    }

    void beside_auto_stands_what_it_means() {
        ShownForm shown("/data/test");
        const auto* help = shown.find<widgets::TextLabel>("recordHelp");
        QCOMPARE(help->text(), QString("The format's own test split if it has one."));
    }

    void a_field_is_found_by_a_word_of_its_help() {
        ShownForm shown("/training");
        ui::FieldFinder finder(*shown.source);
        std::string chosen;
        connect(&finder, &ui::FieldFinder::fieldChosen, &finder,
                [&](const std::string& pointer) { chosen = pointer; });
        finder.show();
        finder.setText("moving average"); // not typed: offscreen there is no window for the list
        QTest::keyClick(&finder, Qt::Key_Return);
        QCOMPARE(chosen, std::string("/training/ema_decay"));
    }

    void a_draft_that_is_no_json_cannot_be_changed_by_a_form() {
        ShownForm shown("/training");
        shown.draft->setText("{ \"seed\": 3, // mine\n");
        QVERIFY(!shown.find("box:/training/precision")->isEnabled());
        shown.source->set("/seed", 4);
        QCOMPARE(shown.draft->text(), std::string("{ \"seed\": 3, // mine\n"));
    }

    void undo_keys_in_a_box_are_the_drafts() {
        test::StudioFixture fixture;
        fixture.studio().opener().open(fixture.preset());
        ui::FormSource source(fixture.studio().draft());
        ui::Form form(source, "/training");
        form.setParent(&fixture.window(), Qt::Widget);
        form.show();
        auto* box = form.findChild<QWidget*>("field:/training/global_batch_size");
        const Json before = *source.given("/training/global_batch_size");
        fixture.window().activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&fixture.window())); // or no shortcut works
        box->setFocus();
        QTest::keyClick(box, Qt::Key_Up);
        QVERIFY(*source.given("/training/global_batch_size") != before);
        QTest::keyClick(box, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(*source.given("/training/global_batch_size"), before);
    }
};

WEFT_TEST(FormTest)
#include "form_test.moc"
