// SPDX-License-Identifier: GPL-3.0-or-later
// The Model page: blocks by the engine's own building of the model, layers edited as a tree, and
// what does not fit, at its place.
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "tests/ui/studio_fixture.h"
#include "ui/bridge/draft/layer_edit.h"
#include "ui/bridge/draft/model_outline.h"
#include "ui/models/problem_model.h"
#include "ui/pages/model/layer_tree.h"
#include "ui/pages/model/model_page.h"
#include "widgets/controls/figure_strip.h"
#include "widgets/controls/messages.h"
#include "widgets/views/graph_view.h"

#include <QMenu>
#include <QPushButton>
#include <QTableView>

namespace {

using namespace weft;
using config::Json;

const Json kLayers = config::json_of(R"([
  {"type": "linear", "units": 32},
  {"type": "relu"},
  {"type": "residual", "layers": [{"type": "linear", "units": 32}, {"type": "gelu"}]},
  {"type": "branches", "join": "concat",
   "branches": [[{"type": "linear", "units": 8}], [{"type": "linear", "units": 4}]]},
  {"type": "linear"}])");

Json sequential(const Json& layers) {
    return {{"type", "sequential"}, {"layers", layers}};
}

std::shared_ptr<const ui::ModelOutline> outline_of(const Json& model) {
    Json document = config::json_of(test::tiny_config());
    document["model"] = model;
    const compile::CheckedRun checked = compile::read_run_config(document, "/tmp");
    return ui::outlineModel(checked.config,
                            train::outline_run_data(checked.config, train::PlanTarget{}).sample);
}

std::vector<std::string> node_titles(const widgets::Graph& graph) {
    std::vector<std::string> out;
    for (const widgets::GraphNode& node : graph.nodes) {
        out.push_back(node.title.toStdString());
    }
    return out;
}

} // namespace

class ModelTest : public QObject {
    Q_OBJECT

    static void show(test::StudioFixture& fixture, const Json& model) {
        Json document = config::json_of(test::tiny_config());
        document["model"] = model;
        fixture.studio().draft().setDocument(document, fixture.root());
        fixture.window().showPage("model");
        fixture.window().resize(1440, 900);
    }

    static ui::ModelPage* page(test::StudioFixture& fixture) {
        return static_cast<ui::ModelPage*>(fixture.window().page("model"));
    }

    static ui::RowTree* tree(test::StudioFixture& fixture) {
        return static_cast<ui::RowTree*>(fixture.find("layerTree"));
    }

    static const Json& layers(test::StudioFixture& fixture) {
        return fixture.studio().draft().document().at("model").at("layers");
    }

    static QTreeWidgetItem* row(test::StudioFixture& fixture, const QString& pointer) {
        QTreeWidgetItemIterator at(tree(fixture));
        for (; *at != nullptr; ++at) {
            if ((*at)->data(0, Qt::UserRole).toString() == pointer) {
                return *at;
            }
        }
        return nullptr;
    }

private slots:
    void init() { QTest::failOnWarning(QRegularExpression(".*")); }

    void blocks_hold_what_the_engine_builds() {
        // 16 features, 4 classes.
        const auto outline = outline_of(sequential(kLayers));
        QCOMPARE(outline->problem, QString());
        QCOMPARE(outline->blocks.at("").parameters,
                 std::int64_t{(16 * 32 + 32) + (32 * 32 + 32) + (32 * 8 + 8) + (32 * 4 + 4) +
                              (12 * 4 + 4)});
        QCOMPARE(outline->blocks.at("layers.2").parameters, std::int64_t{32 * 32 + 32});
        QCOMPARE(outline->blocks.at("layers.3.branches.1").parameters, std::int64_t{32 * 4 + 4});
        QCOMPARE(outline->blocks.at("layers.3").shape, std::string("[12]"));
        QCOMPARE(outline->blocks.at("layers.4").shape, std::string("[4]"));
        QVERIFY(outline->blocks.at("layers.0").flops >= 2.0 * 16 * 32);
    }

    void a_block_puts_out_what_it_gives_on_and_not_what_it_keeps() {
        Json document = config::json_of(test::tiny_config());
        document["data"] = {{"train",
                             {{"type", "synthetic"},
                              {"kind", "images"},
                              {"shape", {12, 10, 3}},
                              {"classes", 4},
                              {"samples", 64}}}};
        document["model"] = sequential(config::json_of(
            R"([{"type": "conv2d", "channels": 8}, {"type": "batch_norm"}, {"type": "relu"},
                {"type": "flatten"}, {"type": "linear"}])"));
        const compile::CheckedRun checked = compile::read_run_config(document, "/tmp");
        QVERIFY(checked.ok());
        const auto outline = ui::outlineModel(
            checked.config, train::outline_run_data(checked.config, train::PlanTarget{}).sample);
        QCOMPARE(outline->blocks.at("layers.1").shape, std::string("[12,10,8]"));
        QCOMPARE(outline->blocks.at("layers.4").shape, std::string("[4]"));
        std::vector<std::string> paths;
        const widgets::Graph graph = ui::blockGraph(*outline, "", paths);
        const auto norm = std::find(paths.begin(), paths.end(), "layers.1") - paths.begin();
        QCOMPARE(graph.nodes[static_cast<std::size_t>(norm)].title, QString("batch_norm"));
        QCOMPARE(graph.nodes[static_cast<std::size_t>(norm)].detail, QString("layers.1 · 16"));
    }

    void the_graph_of_a_level_shows_its_blocks_and_shapes() {
        const auto outline = outline_of(sequential(kLayers));
        std::vector<std::string> paths;
        const widgets::Graph graph = ui::blockGraph(*outline, "", paths);
        QCOMPARE(node_titles(graph), (std::vector<std::string>{"linear", "a sample", "relu",
                                                               "residual", "branches", "linear"}));
        // Equal kinds have one colour, others another; parts of several kinds have none.
        QCOMPARE(graph.nodes[0].slot, graph.nodes[5].slot);
        QVERIFY(graph.nodes[0].slot >= 0 && graph.nodes[2].slot >= 0);
        QVERIFY(graph.nodes[0].slot != graph.nodes[2].slot);
        QCOMPARE(graph.nodes[1].slot, -1);
        const auto edge = [&](const std::string& from, const std::string& to) {
            for (const widgets::GraphEdge& one : graph.edges) {
                if (paths[static_cast<std::size_t>(one.from)] == from &&
                    paths[static_cast<std::size_t>(one.to)] == to) {
                    return one.label;
                }
            }
            return QString("none");
        };
        QCOMPARE(edge("", "layers.0"), QString("[16]"));
        QCOMPARE(edge("layers.2", "layers.3"), QString("[32]"));
        QCOMPARE(edge("layers.3", "layers.4"), QString("[12]"));
        ui::blockGraph(*outline, "layers.3", paths);
        QVERIFY(std::count(paths.begin(), paths.end(), "layers.3.branches.0") == 1);
        QVERIFY(std::count(paths.begin(), paths.end(), "layers.3.branches.1") == 1);
    }

    void what_lays_a_sample_out_in_a_row_is_called_flatten() {
        Json document = config::json_of(test::tiny_config());
        document["data"] = {{"train", {{"type", "synthetic"}, {"kind", "images"}}}};
        const auto checked = compile::read_run_config(document, "/tmp");
        QVERIFY(checked.ok());
        const auto sample = train::outline_run_data(checked.config, train::PlanTarget{}).sample;
        QVERIFY(sample.input.shape.rank() > 1);
        const auto outline = ui::outlineModel(checked.config, sample);
        std::vector<std::string> paths;
        const widgets::Graph graph = ui::blockGraph(*outline, "", paths);
        const auto shown = [&](const QString& word) {
            return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
                return (node.title + node.detail).contains(word);
            });
        };
        QVERIFY(shown("flatten"));
        QVERIFY(!shown("reshape"));
    }

    void the_model_is_built_for_the_data_of_its_draft_and_no_other() {
        test::StudioFixture fixture;
        show(fixture, sequential(kLayers));
        QTRY_VERIFY(page(fixture)->outline());
        const auto before = page(fixture)->outline();
        fixture.window().showPage("home");
        // The next draft has other samples, and a model that the ones before would not fit.
        Json document = config::json_of(test::tiny_config());
        document["data"] = {{"train",
                             {{"type", "synthetic"},
                              {"kind", "tokens"},
                              {"length", 16},
                              {"vocab", 32},
                              {"samples", 64}}},
                            {"validation", nullptr}};
        document["model"] = {{"type", "gpt2"}, {"layers", 1},   {"width", 16},
                             {"heads", 2},     {"context", 16}, {"vocab", 32}};
        fixture.studio().draft().setDocument(document, fixture.root());
        fixture.window().showPage("model");
        QTRY_VERIFY(page(fixture)->outline() != before);
        QCOMPARE(page(fixture)->outline()->problem, QString());
        QVERIFY(!fixture.find("modelTrouble")->isVisible());
    }

    void a_layer_that_does_not_fit_is_named_at_its_edge() {
        Json broken = kLayers;
        broken[2]["layers"][0]["units"] = 31; // a residual keeps its shape
        const auto outline = outline_of(sequential(broken));
        QCOMPARE(outline->problem_path, std::string("layers.2"));
        QVERIFY(!outline->problem.isEmpty());
        QVERIFY(!outline->hint.isEmpty() && !outline->problem.contains(outline->hint)); // said once
        std::vector<std::string> paths;
        const widgets::Graph graph = ui::blockGraph(*outline, "", paths);
        const auto wrong = std::find(paths.begin(), paths.end(), "layers.2") - paths.begin();
        QCOMPARE(graph.nodes[static_cast<std::size_t>(wrong)].shade, 4);
        QVERIFY(std::any_of(graph.edges.begin(), graph.edges.end(), [&](const auto& edge) {
            return edge.wrong && edge.to == static_cast<int>(wrong);
        }));
        QVERIFY(std::find(paths.begin(), paths.end(), "layers.3") == paths.end());
    }

    void many_equal_blocks_are_one_node() {
        Json document = config::json_of(test::tiny_config());
        document["data"] = {{"train", {{"type", "text"}, {"path", "/usr/share/common-licenses"}}}};
        document["model"] = {
            {"type", "gpt2"}, {"layers", 6}, {"width", 32}, {"heads", 2}, {"context", 16}};
        const auto checked = compile::read_run_config(document, "/tmp");
        QVERIFY(checked.ok());
        const auto outline = ui::outlineModel(
            checked.config, train::outline_run_data(checked.config, train::PlanTarget{}).sample);
        std::vector<std::string> paths;
        const widgets::Graph graph = ui::blockGraph(*outline, "", paths);
        QCOMPARE(std::count_if(paths.begin(), paths.end(),
                               [](const auto& path) { return path.starts_with("blocks."); }),
                 std::ptrdiff_t{1});
        QVERIFY(graph.nodes.size() < 10);
    }

    void equal_blocks_with_others_between_them_stay_apart() {
        Json layers = Json::array();
        for (int i = 0; i < 6; ++i) {
            layers.push_back({{"type", "linear"}, {"units", 32}});
            layers.push_back({{"type", "relu"}});
        }
        layers.push_back({{"type", "linear"}});
        std::vector<std::string> paths;
        const widgets::Graph graph = ui::blockGraph(*outline_of(sequential(layers)), "", paths);
        QCOMPARE(graph.nodes.size(), layers.size() + 1); // and the sample
        QCOMPARE(graph.edges.size(), layers.size());     // a chain
    }

    void layers_move_within_and_between_lists() {
        const Json model = sequential(kLayers);
        const auto types = [](const Json& list) {
            std::string out;
            for (const Json& layer : list) {
                out += layer.at("type").get<std::string>() + " ";
            }
            return out;
        };
        Json moved = ui::withLayerMoved(model, "/model/layers/0", "/model/layers", 2);
        QCOMPARE(types(moved.at("layers")), std::string("relu linear residual branches linear "));
        // Into a list behind it, whose place changes by taking the layer out.
        moved = ui::withLayerMoved(model, "/model/layers/1", "/model/layers/2/layers", 2);
        QCOMPARE(types(moved.at("layers")), std::string("linear residual branches linear "));
        QCOMPARE(types(moved.at("layers").at(1).at("layers")), std::string("linear gelu relu "));
        moved = ui::withLayerMoved(model, "/model/layers/3/branches/0/0", "/model/layers", 0);
        QCOMPARE(types(moved.at("layers")),
                 std::string("linear linear relu residual branches linear "));
        QVERIFY(moved.at("layers").at(4).at("branches").at(0).empty());
        QCOMPARE(ui::withLayerMoved(model, "/model/layers/2", "/model/layers/2/layers", 0), model);
        QCOMPARE(ui::withoutLayer(model, "/model/layers/9"), model);
    }

    void the_list_of_an_mlp_is_the_same_network() {
        const auto mlp = outline_of({{"type", "mlp"}, {"hidden", {24, 12}}, {"dropout", 0.0}});
        const Json normal = {
            {"type", "mlp"}, {"hidden", {24, 12}}, {"activation", "relu"}, {"dropout", 0.0}};
        const auto list = outline_of(*ui::asSequential(normal));
        QCOMPARE(list->problem, QString());
        QCOMPARE(list->blocks.at("").parameters, mlp->blocks.at("").parameters);
        QCOMPARE(list->blocks.at("").flops, mlp->blocks.at("").flops);
        QVERIFY(!ui::asSequential({{"type", "gpt2"}}));
    }

    void every_kind_of_layer_can_be_added() {
        test::StudioFixture fixture;
        show(fixture, sequential(kLayers));
        ui::FormSource source(fixture.studio().draft());
        const config::Field* list = source.field("/model/layers");
        QVERIFY(list != nullptr);
        for (const config::RecordType& type : list->item.front().records) {
            const Json layer = ui::newLayer(*list, type.name);
            const auto checked = config::check_fields({{"layers", Json::array({layer})}}, {*list});
            QVERIFY2(checked.ok(), type.name.c_str());
        }
    }

    void layers_are_added_copied_moved_and_deleted_by_keys_and_buttons() {
        test::StudioFixture fixture;
        show(fixture, sequential(kLayers));
        auto* view = tree(fixture);
        view->setCurrentItem(row(fixture, "/model/layers/1"));
        view->setFocus();
        fixture.click("layerDuplicate");
        QCOMPARE(layers(fixture).size(), std::size_t{6});
        QCOMPARE(layers(fixture)[2], Json({{"type", "relu"}}));
        // What was made is chosen.
        QCOMPARE(view->currentItem(), row(fixture, "/model/layers/2"));
        fixture.click("layerUp");
        fixture.click("layerUp");
        QCOMPARE(layers(fixture)[0], Json({{"type", "relu"}}));
        fixture.click("layerDelete");
        QCOMPARE(layers(fixture), kLayers);
        fixture.studio().draft().undo();
        QCOMPARE(layers(fixture).size(), std::size_t{6});
        auto* add = static_cast<QPushButton*>(fixture.find("layerAdd"));
        emit_about_to_show(add->menu());
        view->setCurrentItem(row(fixture, "/model/layers/0"));
        add->menu()->findChild<QAction*>("layerAdd_dropout")->trigger();
        QCOMPARE(layers(fixture)[1].at("type"), Json("dropout"));
    }

    void several_layers_are_copied_moved_and_deleted_at_a_time() {
        test::StudioFixture fixture;
        show(fixture, sequential(kLayers));
        auto* view = tree(fixture);
        const auto click = [&](const char* pointer, Qt::KeyboardModifiers keys) {
            QTest::mouseClick(view->viewport(), Qt::LeftButton, keys,
                              view->visualItemRect(row(fixture, pointer)).center());
        };
        const auto types = [&] {
            QStringList out;
            for (const Json& layer : layers(fixture)) {
                out << QString::fromStdString(layer.at("type").get<std::string>());
            }
            return out.join(' ');
        };
        click("/model/layers/0", {});
        click("/model/layers/1", Qt::ControlModifier);
        QCOMPARE(view->selectedItems().size(), 2);
        fixture.click("layerDown");
        QCOMPARE(types(), QString("residual linear relu branches linear"));
        QCOMPARE(view->selectedItems().size(), 2); // those that were moved
        view->setFocus();
        fixture.press(Qt::Key_D, Qt::ControlModifier);
        QCOMPARE(types(), QString("residual linear relu linear relu branches linear"));
        QCOMPARE(view->selectedItems().size(), 2); // the copies
        fixture.press(Qt::Key_Delete);
        QCOMPARE(types(), QString("residual linear relu branches linear"));
        click("/model/layers/0", {});
        click("/model/layers/3", Qt::ControlModifier);
        QVERIFY(!fixture.find("layerUp")->isEnabled()); // one is the first already
        fixture.click("layerDelete");
        QCOMPARE(types(), QString("linear relu linear"));
        // Layers of several lists can only be deleted.
        show(fixture, sequential(kLayers));
        click("/model/layers/0", {});
        click("/model/layers/2/layers/0", Qt::ControlModifier);
        QVERIFY(!fixture.find("layerDuplicate")->isEnabled());
        fixture.click("layerDelete");
        QCOMPARE(types(), QString("relu residual branches linear"));
        QCOMPARE(layers(fixture)[1].at("layers").size(), std::size_t{1});
    }

    void the_graph_follows_what_is_selected() {
        test::StudioFixture fixture;
        show(fixture, sequential(kLayers));
        fixture.window().resize(1440, 500); // the graph is higher than its part
        auto* view = tree(fixture);
        auto* graph = static_cast<widgets::GraphView*>(fixture.find("modelGraph"));
        QTRY_COMPARE(graph->itemCount(), 6);
        const auto select = [&](const char* pointer) {
            view->setCurrentItem(row(fixture, pointer), 0,
                                 QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
        };
        const auto seen = [&] {
            return graph->visibleRegion().boundingRect().contains(
                graph->item(graph->cursorItem()).rect.center().toPoint());
        };
        select("/model/layers/4");
        QVERIFY(graph->item(graph->cursorItem()).name.contains("layers.4"));
        QVERIFY(seen());
        select("/model/layers/0");
        QVERIFY(seen());
        row(fixture, "/model/layers/1")->setSelected(true);
        QCOMPARE(graph->marked().size(), std::size_t{2});
        // What lies inside a block is shown with what is around it there.
        select("/model/layers/3/branches/1");
        QTRY_VERIFY(graph->cursorItem() >= 0 &&
                    graph->item(graph->cursorItem()).name.contains("branches.1"));
        QVERIFY(fixture.find("graphUp")->isVisible());
        select("/model/layers/1");
        QTRY_VERIFY(graph->cursorItem() >= 0 &&
                    graph->item(graph->cursorItem()).name.startsWith("relu"));
    }

    void the_graph_is_as_large_as_its_words_when_text_becomes_larger() {
        test::StudioFixture fixture;
        show(fixture, sequential(kLayers));
        auto* graph = static_cast<widgets::GraphView*>(fixture.find("modelGraph"));
        QTRY_COMPARE(graph->itemCount(), 6);
        const double before = graph->item(0).rect.height();
        ui::Preferences preferences = fixture.studio().settings().values();
        preferences.font_scale = 1.5;
        QCOMPARE(fixture.studio().settings().set(preferences), QString());
        QTRY_VERIFY(graph->item(0).rect.height() > 1.3 * before);
    }

    void how_a_model_begins_is_shown_with_the_model_alone() {
        test::StudioFixture fixture;
        show(fixture, sequential(kLayers));
        tree(fixture)->setCurrentItem(row(fixture, "/model"));
        QTRY_VERIFY(fixture.find("field:/init/from")->isVisible());
        tree(fixture)->setCurrentItem(row(fixture, "/model/layers/0"));
        QVERIFY(!fixture.find("field:/init/from")->isVisible());
        QVERIFY(page(fixture)->showField("/init/from"));
        QVERIFY(fixture.find("field:/init/from")->isVisible());
    }

    void a_chosen_layer_shows_its_settings() {
        test::StudioFixture fixture;
        show(fixture, sequential(kLayers));
        tree(fixture)->setCurrentItem(row(fixture, "/model/layers/0"));
        auto* units = fixture.find("field:/model/layers/0/units");
        QTRY_VERIFY(units->isVisible());
        units->setFocus();
        QTest::keyClick(units, Qt::Key_A, Qt::ControlModifier);
        QTest::keyClicks(units, "32");
        QTest::keyClick(units, Qt::Key_Up);
        QCOMPARE(layers(fixture)[0].at("units"), Json(33));
        // The row is still chosen, and so is its form.
        QCOMPARE(tree(fixture)->currentItem(), row(fixture, "/model/layers/0"));
        QCOMPARE(fixture.find("field:/model/layers/0/units"), units);
    }

    void totals_and_shapes_follow_an_edit() {
        test::StudioFixture fixture;
        show(fixture, sequential(kLayers));
        auto* figures = static_cast<widgets::FigureStrip*>(fixture.find("modelFigures"));
        const auto parameters = [figures] { return figures->figures()[0].value; };
        QTRY_VERIFY(!parameters().isEmpty());
        const QString before = parameters();
        QTRY_COMPARE(row(fixture, "/model/layers/4")->text(1), QString("[4]"));
        fixture.studio().draft().edit({{"/model/layers/2/layers/1", Json({{"type", "silu"}})},
                                       {"/model/layers/3/branches/0/0/units", 16}});
        QTRY_VERIFY(parameters() != before);
        QTRY_COMPARE(row(fixture, "/model/layers/3")->text(1), QString("[20]"));
    }

    void sizes_are_in_one_system_of_units() {
        test::StudioFixture fixture;
        show(fixture, sequential(kLayers)); // 2,048 parameters
        auto* figures = static_cast<widgets::FigureStrip*>(fixture.find("modelFigures"));
        QTRY_COMPARE(figures->figures()[0].value, QString("2,048"));
        for (const auto& [figure, bytes] : {std::pair(1, "8"), std::pair(2, "4")}) {
            const QString& value = figures->figures()[static_cast<std::size_t>(figure)].value;
            QVERIFY2(value.startsWith(bytes) && value.endsWith(" KiB"), qPrintable(value));
        }
    }

    void a_mismatch_is_a_problem_that_leads_to_the_layer() {
        test::StudioFixture fixture;
        Json broken = kLayers;
        broken[2]["layers"][0]["units"] = 31;
        show(fixture, sequential(broken));
        QTRY_VERIFY(fixture.find("modelTrouble")->isVisible());
        auto* table = static_cast<QTableView*>(fixture.find("problemsTable"));
        QTRY_COMPARE(table->model()->rowCount(), 1);
        QCOMPARE(table->model()->index(0, ui::ProblemModel::WhereColumn).data().toString(),
                 QString("model › layers.2"));
        QVERIFY(page(fixture)->navState() == widgets::NavState::Error);
        fixture.window().showPage("home");
        table->setCurrentIndex(table->model()->index(0, 0));
        QTest::keyClick(table, Qt::Key_Return);
        QCOMPARE(fixture.window().currentPage(), QString("model"));
        QCOMPARE(tree(fixture)->currentItem(), row(fixture, "/model/layers/2"));
        fixture.studio().draft().edit({{"/model/layers/2/layers/0/units", 32}});
        QTRY_VERIFY(!fixture.find("modelTrouble")->isVisible());
        QTRY_COMPARE(table->model()->rowCount(), 0);
    }

    void a_last_layer_that_gives_too_many_values_is_fixed_by_a_button() {
        test::StudioFixture fixture;
        show(fixture, sequential(config::json_of(R"([{"type": "linear", "units": 12}])")));
        auto* trouble = static_cast<widgets::Banner*>(fixture.find("modelTrouble"));
        QTRY_VERIFY(trouble->isVisible());
        QVERIFY2(trouble->accessibleName().contains("Set units to 4 or auto."),
                 qPrintable(trouble->accessibleName()));
        fixture.click("modelFix");
        QTRY_VERIFY(!trouble->isVisible());
        QCOMPARE(layers(fixture), config::json_of(R"([{"type": "linear"}])"));
    }

    void an_error_lies_over_the_page_while_the_mouse_is_there() {
        test::StudioFixture fixture;
        show(fixture, sequential(config::json_of(R"([{"type": "linear", "units": 4}])")));
        QWidget* figures = fixture.find("modelFigures");
        QTRY_VERIFY(figures->isVisible());
        const auto top = [&] { return figures->mapTo(&fixture.window(), QPoint()).y(); };
        const auto point = [&](const QPoint& at) {
            QTest::mouseMove(&fixture.window(), page(fixture)->mapTo(&fixture.window(), at));
        };
        point({200, 400});
        const int before = top();
        fixture.studio().draft().apply({"model.layers=[{\"type\":\"linear\",\"units\":12}]"});
        QTRY_VERIFY(fixture.find("modelTrouble")->isVisible());
        point({210, 400});
        QCOMPARE(top(), before);
        point({-20, 400}); // on the rail
        QTRY_COMPARE(top(), before + fixture.find("modelTrouble")->height());
    }

    void a_model_without_layers_is_an_empty_network_in_words() {
        test::StudioFixture fixture;
        show(fixture, sequential(config::json_of(R"([{"type": "linear", "units": 4}])")));
        auto* graph = page(fixture)->findChild<widgets::GraphView*>();
        QTRY_VERIFY(graph->itemCount() > 0);
        auto* figures = static_cast<widgets::FigureStrip*>(fixture.find("modelFigures"));
        QTRY_COMPARE(figures->figures().front().value, QString("68")); // 16 * 4 + 4
        tree(fixture)->setCurrentItem(row(fixture, "/model/layers/0"));
        fixture.click("layerDelete");
        QVERIFY(layers(fixture).empty());
        QTRY_COMPARE(graph->itemCount(), 0);
        QCOMPARE(figures->figures().front().value, QString("0"));
        auto* trouble = static_cast<widgets::Banner*>(fixture.find("modelTrouble"));
        QTRY_VERIFY(trouble->isVisible());
        const QString said = trouble->accessibleName();
        QVERIFY2(!said.isEmpty() && !said.contains('{') && !said.contains('/'), qPrintable(said));
    }

    void a_preset_model_is_a_form_and_a_tree_to_look_at() {
        test::StudioFixture fixture;
        show(fixture, {{"type", "mlp"}, {"hidden", {32}}});
        QTRY_COMPARE(tree(fixture)->topLevelItem(0)->childCount(), 2);
        QVERIFY(!fixture.find("layerAdd")->isVisible());
        QVERIFY(fixture.find("field:/model/hidden/0")->isVisible());
        fixture.click("convertSequential");
        QCOMPARE(fixture.studio().draft().document().at("model").at("type"), Json("sequential"));
        QVERIFY(fixture.studio().draft().isValid());
        QVERIFY(fixture.find("layerAdd")->isVisible());
    }

    void enter_on_a_block_goes_into_it_and_up_comes_back() {
        test::StudioFixture fixture;
        show(fixture, sequential(kLayers));
        auto* graph = static_cast<widgets::GraphView*>(fixture.find("modelGraph"));
        QTRY_VERIFY(graph->itemCount() == 6);
        for (int i = 0; i < graph->itemCount(); ++i) {
            if (graph->item(i).name.contains("layers.3")) {
                graph->setCursorItem(i);
            }
        }
        QCOMPARE(tree(fixture)->currentItem(), row(fixture, "/model/layers/3"));
        QTest::keyClick(graph, Qt::Key_Return);
        QTRY_VERIFY(graph->itemCount() < 6); // laid out off the GUI thread
        QTRY_VERIFY(fixture.find("graphUp")->isVisible());
        fixture.click("graphUp");
        QTRY_COMPARE(graph->itemCount(), 6);
    }

private:
    /// Fills the menu as opening it would.
    static void emit_about_to_show(QMenu* menu) { QMetaObject::invokeMethod(menu, "aboutToShow"); }
};

WEFT_TEST(ModelTest)
#include "model_test.moc"
