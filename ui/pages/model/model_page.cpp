// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/model/model_page.h"

#include "core/base/error.h"
#include "core/ir/model_text.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/place_text.h"
#include "ui/forms/form.h"
#include "ui/forms/record_form.h"
#include "ui/pages/draft_header.h"
#include "ui/pages/drawings.h"
#include "ui/pages/model/layer_tree.h"
#include "ui/pages/model/model_graph.h"
#include "ui/pages/model/model_text_panel.h"
#include "ui/pages/page_list.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/figure_strip.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/shelf.h"
#include "widgets/look/style.h"

#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kModelPageTreeWidth = 340;
constexpr int kFormWidth = 340;
constexpr int kHalfHeight = 400; // of graph and text, in proportion to what there is
enum ModelSheet { ModelMessageSheet, ModelChoiceSheet, ModelEditSheet };

bool lacksModel(const config::Json& document) {
    return document.is_object() && !document.contains("model");
}

/// A network of nothing, which cannot be built.
bool hasNoLayers(const config::Json& document) {
    const config::Json::json_pointer layers("/model/layers");
    return document.contains(layers) && document.at(layers).is_array() &&
           document.at(layers).empty();
}

/// Whether what does not fit is the number of values that the network gives.
bool isLastLinear(const config::Json& document, const std::string& pointer) {
    const config::Json::json_pointer layers("/model/layers");
    if (!document.contains(layers) || document.at(layers).empty() ||
        pointer != "/model/layers/" + std::to_string(document.at(layers).size() - 1)) {
        return false;
    }
    const config::Json& last = document.at(layers).back();
    return last.is_object() && last.value("type", "") == "linear" && last.contains("units");
}

bool isOfModel(const std::string& pointer) {
    return pointer == "/model" || pointer.starts_with("/model/") || pointer == "/init" ||
           pointer.starts_with("/init/");
}

} // namespace

ModelPage::ModelPage(Studio& studio, Actions& actions)
    : studio_(studio), source_(studio.draft()), outlook_(studio.draft(), studio.planner().step),
      stack_(new QStackedWidget) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new DraftHeader(tr("Model"), source_, actions, this);
    connect(header_, &DraftHeader::fieldChosen, this, [this](const std::string& pointer) {
        if (!showField(pointer)) {
            emit fieldRequested(pointer);
        }
    });
    QPushButton* exporting = createExportButton(*this, [this] { return studio_.draft().name(); });
    exporting->setObjectName("modelExport");
    header_->addControl(exporting);
    column->addWidget(header_);
    trouble_ = new widgets::Banner(widgets::MessageKind::Error);
    trouble_->setObjectName("modelTrouble");
    trouble_->hide();
    message_ = new widgets::EmptyState("model");
    message_->setObjectName("modelMessage");
    addHomeButton(*message_, studio_.draft());
    stack_->addWidget(message_);
    stack_->addWidget(createChoice());
    stack_->addWidget(createParts());
    auto* shelf = new widgets::Shelf(stack_, widgets::Shelf::Edge::Top);
    shelf->add(trouble_);
    column->addWidget(shelf, 1);
    connect(&source_, &FormSource::changed, this, &ModelPage::update);
    connect(&outlook_, &RunOutlook::changed, this, [this] {
        makeOutline();
        refreshFigures();
    });
    update();
    refreshForm();
}

/// Models that are complete by their name.
QWidget* ModelPage::createChoice() {
    auto* choice = new widgets::EmptyState("model", tr("No model chosen"),
                                           tr("Choose the data first, and one that suits it is "
                                              "suggested. Or begin with one of these."));
    choice->setObjectName("modelChoice");
    QPushButton* data = choice->addButton(tr("Choose the data"));
    data->setObjectName("modelData");
    connect(data, &QPushButton::clicked, this, [this] { emit pageRequested("data"); });
    for (const config::RecordType& type : source_.field("/model")->records) {
        if (std::any_of(type.fields.begin(), type.fields.end(),
                        [](const config::Field& field) { return field.required; })) {
            continue;
        }
        QPushButton* button = choice->addButton(toQString(type.name), false);
        button->setObjectName("model." + toQString(type.name));
        button->setProperty("isData", true); // a name of the schema
        button->setToolTip(toQString(type.help));
        connect(button, &QPushButton::clicked, this, [this, name = type.name] {
            source_.set("/model", {{"type", name}});
        });
    }
    return choice;
}

QWidget* ModelPage::createParts() {
    auto* whole = new widgets::Surface;
    auto* column = new QVBoxLayout(whole);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* strip = new QWidget;
    auto* row = new QVBoxLayout(strip);
    row->setContentsMargins(widgets::space::kMargin, widgets::space::kControl,
                            widgets::space::kMargin, widgets::space::kControl);
    figures_ = new widgets::FigureStrip;
    figures_->setObjectName("modelFigures");
    figures_->setAccessibleName(tr("What the model comes to"));
    row->addWidget(figures_);
    column->addWidget(strip);
    column->addWidget(new widgets::Hairline);
    auto* splitter = new widgets::ThinSplitter(Qt::Horizontal, "modelSplitter");
    tree_ = new LayerTree(source_, studio_.draft());
    tree_->setMinimumWidth(240);
    graph_ = new ModelGraph;
    connect(tree_, &LayerTree::chosen, this, [this] {
        refreshForm();
        graph_->choose(tree_->path(), tree_->paths());
    });
    connect(graph_, &ModelGraph::blockChosen, tree_, &LayerTree::choosePath);
    splitter->addWidget(tree_);
    auto* middle = new widgets::ThinSplitter(Qt::Vertical, "modelMiddleSplitter");
    text_ = new ModelTextPanel(source_);
    middle->addWidget(graph_);
    middle->addWidget(text_);
    middle->setSizes({kHalfHeight, kHalfHeight});
    splitter->addWidget(middle);
    splitter->addWidget(createForm());
    splitter->setStretchFactor(0, 0);
    splitter->setStretchFactor(1, 1);
    splitter->setStretchFactor(2, 0);
    splitter->setSizes({kModelPageTreeWidth, 1440 - kModelPageTreeWidth - kFormWidth, kFormWidth});
    column->addWidget(splitter, 1);
    return whole;
}

QWidget* ModelPage::createForm() {
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    form_header_ = new widgets::SectionHeader(tr("Settings"));
    as_text_ = new QPushButton(tr("As program text"));
    as_text_->setObjectName("modelAsText");
    as_text_->setToolTip(tr("Writes the model op by op, to be edited as text"));
    widgets::setCompact(as_text_);
    connect(as_text_, &QPushButton::clicked, this, &ModelPage::turnIntoText);
    form_header_->addControl(as_text_);
    column->addWidget(form_header_);
    auto* content = new QWidget;
    auto* rows = new QVBoxLayout(content);
    rows->setContentsMargins(widgets::space::kGroup, widgets::space::kGroup, widgets::space::kGroup,
                             widgets::space::kGroup);
    rows->setSpacing(widgets::space::kGroup);
    init_ = new QWidget; // of the model, not of each of its layers
    auto* start = new QVBoxLayout(init_);
    start->setContentsMargins(0, 0, 0, 0);
    start->setSpacing(widgets::space::kGroup);
    start->addWidget(new widgets::Hairline);
    start->addWidget(new Form(source_, "/init"));
    rows->addWidget(init_);
    rows->addStretch(1);
    form_scroll_ = widgets::verticalScroll(content);
    form_scroll_->setObjectName("modelSettings");
    form_scroll_->setMinimumWidth(280);
    column->addWidget(form_scroll_, 1);
    return panel;
}

widgets::NavState ModelPage::navState() const {
    const Draft& draft = studio_.draft();
    if (draft.isEmpty() || !source_.isEditable()) {
        return draft.diagnostics().empty() ? widgets::NavState::Empty : widgets::NavState::Error;
    }
    if (lacksModel(draft.document())) {
        return widgets::NavState::Empty; // to be chosen
    }
    const ProblemCount count = countProblems(draft, isOfModel);
    return count.errors > 0     ? widgets::NavState::Error
           : count.warnings > 0 ? widgets::NavState::Warning
                                : widgets::NavState::Valid;
}

void ModelPage::update() {
    const Draft& draft = studio_.draft();
    const bool lacks = lacksModel(draft.document());
    header_->setProblems(lacks ? ProblemCount{} : countProblems(draft, isOfModel));
    stack_->setCurrentIndex(!source_.isEditable() ? ModelMessageSheet
                            : lacks               ? ModelChoiceSheet
                                                  : ModelEditSheet);
    if (!source_.isEditable()) {
        const bool none = draft.isEmpty() && draft.diagnostics().empty();
        message_->setIconName(none ? "model" : "problems");
        message_->setTitle(none ? tr("No draft to edit") : tr("The draft cannot be read"));
        message_->setText(none ? tr("Choose a preset on Home or open a configuration: this page "
                                    "then shows its network.")
                               : toQString(draft.diagnostics().front().message));
    }
    makeOutline();
    updateTrouble();
    emit navStateChanged();
}

void ModelPage::makeOutline() {
    const Draft& draft = studio_.draft();
    if (isVisible() && hasNoLayers(draft.document())) {
        outlined_.clear();
        outlining_.drop(); // what is being made is of other layers
        auto empty = std::make_shared<ModelOutline>();
        empty->blocks[""];
        takeOutline(std::move(empty));
        return;
    }
    if (!isVisible() || !draft.isValid() || draft.isEmpty() || !outlook_.data()) {
        return;
    }
    const data::SampleInfo& sample = outlook_.data()->sample;
    const std::string key = draft.config().section("model").dump() + ir::to_text(sample.input) +
                            ir::to_text(sample.target) + std::to_string(sample.classes);
    if (key == outlined_) {
        return;
    }
    outlined_ = key;
    graph_->expectOutline();
    outlining_.start(
        [config = draft.config(), sample] { return outlineModel(config, sample); },
        [this](std::shared_ptr<const ModelOutline> made) { takeOutline(std::move(made)); });
}

void ModelPage::takeOutline(std::shared_ptr<const ModelOutline> outline) {
    outline_ = std::move(outline);
    tree_->setOutline(outline_);
    graph_->setOutline(outline_);
    text_->setOutline(outline_);
    updateTrouble();
    refreshFigures();
}

/// The first mistake of the page: of a setting, else of a layer that does not fit.
void ModelPage::updateTrouble() {
    const config::Diagnostics& problems = studio_.draft().diagnostics();
    const auto mistake =
        std::find_if(problems.begin(), problems.end(), [](const config::Diagnostic& one) {
            return one.severity == config::Severity::error && isOfModel(one.pointer);
        });
    const bool misfit = studio_.draft().isValid() && outline_ && !outline_->problem.isEmpty();
    const bool lacks = lacksModel(studio_.draft().document());
    trouble_->setVisible((mistake != problems.end() || misfit) && !lacks);
    trouble_->clearButtons();
    std::string pointer;
    if (mistake != problems.end()) {
        pointer = mistake->pointer;
        trouble_->setText(placeText(pointer), toQString(mistake->message) +
                                                  (mistake->hint.empty() ? "" : ". ") +
                                                  toQString(mistake->hint));
    } else if (misfit) {
        pointer = compile::pointer_of_layer(outline_->problem_path);
        const bool text = ir::read_place(outline_->problem_path).has_value();
        trouble_->setText(text ? tr("The model's text has a mistake")
                               : tr("%1 does not fit").arg(toQString(outline_->problem_path)),
                          outline_->problem + (outline_->hint.isEmpty() ? "" : ". ") +
                              outline_->hint);
    } else {
        return;
    }
    QPushButton* show = trouble_->addButton(tr("Show"));
    connect(show, &QPushButton::clicked, this, [this, pointer] { showField(pointer); });
    const std::string units = pointer + "/units";
    if (misfit && isLastLinear(studio_.draft().document(), pointer)) {
        QPushButton* fix = trouble_->addButton(tr("Fix"));
        fix->setObjectName("modelFix");
        fix->setToolTip(tr("Lets it give as many values as the data needs"));
        connect(fix, &QPushButton::clicked, this, [this, units] {
            studio_.draft().edit({{units, std::nullopt}});
        });
    }
}

void ModelPage::turnIntoText() {
    using Written = std::pair<std::string, std::optional<Error>>;
    const Draft& draft = studio_.draft();
    if (!draft.isValid() || !outlook_.data()) {
        return;
    }
    runInBackground(
        this,
        [config = draft.config(), sample = outlook_.data()->sample]() -> Written {
            try {
                return {compile::text_of_model(config, sample), std::nullopt};
            } catch (const Error& error) {
                return {"", error};
            }
        },
        [this, before = draft.text()](const Written& written) {
            if (written.second) {
                trouble_->clearButtons();
                trouble_->setText(tr("The model stays as it is"),
                                  toQString(written.second->text()) + ". " +
                                      toQString(written.second->hint()));
                trouble_->show();
            } else if (studio_.draft().text() == before) {
                source_.set("/model", {{"type", "graph"}, {"text", written.first}});
            }
        });
}

void ModelPage::refreshFigures() {
    const auto digest = outlook_.digest();
    std::vector<widgets::Figure> figures;
    const std::int64_t parameters = outline_ ? outline_->blocks.at("").parameters : std::int64_t{0};
    figures.push_back({outline_ ? formatCount(parameters) : QString(), tr("parameters"),
                       tr("Elements of all weights, tied ones once")});
    figures.push_back({outline_ ? widgets::formatMemory(parameters * 4) : QString(), tr("as f32"),
                       tr("Weights are kept in f32")});
    figures.push_back({outline_ ? widgets::formatMemory(parameters * 2) : QString(), tr("as bf16"),
                       tr("What inference in bf16 would take")});
    figures.push_back({outline_ ? formatFlops(outline_->blocks.at("").flops) : QString(),
                       tr("FLOPs forward"), tr("Of one sample, a multiply-add counted as two")});
    figures.push_back({digest ? formatFlops(digest->plan->flops_per_step) : QString(),
                       tr("FLOPs a step"),
                       tr("Forward, backward and update of one global batch, as planned")});
    const auto* step = digest ? digest->plan->find("train_step") : nullptr;
    const auto bytes = step != nullptr ? plan::bytes_by_category(*digest->plan, *step)
                                       : std::vector<std::int64_t>{};
    figures.push_back(
        {bytes.empty()
             ? QString()
             : widgets::formatMemory(bytes[static_cast<std::size_t>(plan::Category::activations)]),
         tr("activations"), tr("At the peak of the training step, at this batch")});
    as_text_->setVisible(outline_ && outline_->problem.isEmpty() && !hasModelText(source_));
    figures_->setFigures(figures);
    figures_->setStale(outlook_.isStale());
}

void ModelPage::refreshForm() {
    const std::string pointer = tree_->pointer();
    const config::Field* field = source_.field(pointer);
    const bool record = field != nullptr && field->type == config::FieldType::record;
    const std::string wanted = record ? pointer : std::string("/model");
    form_header_->setTitle(wanted == "/model" ? tr("Model") : tr("Layer"));
    const auto selected = static_cast<int>(tree_->paths().size());
    form_header_->setSubtitle(wanted == "/model" ? QString()
                              : selected > 1
                                  ? tr("%1, the last of %2 selected")
                                        .arg(toQString(tree_->path()), QString::number(selected))
                                  : toQString(tree_->path()));
    init_->setVisible(wanted == "/model");
    if (wanted == form_pointer_ && form_ != nullptr) {
        return;
    }
    form_pointer_ = wanted;
    if (form_ != nullptr) {
        form_->hide();
        form_->deleteLater(); // one of its own controls may have asked for this
    }
    // Lists of layers are the tree's, a text has a place of its own.
    form_ = new RecordForm(source_, wanted, {"layers", "branches", "text"});
    static_cast<QVBoxLayout*>(form_scroll_->widget()->layout())->insertWidget(0, form_);
}

bool ModelPage::showField(const std::string& pointer) {
    if (!isOfModel(pointer) || !source_.isEditable()) {
        return false;
    }
    if (pointer == "/model/text" && hasModelText(source_)) {
        text_->showProblem();
        return true;
    }
    tree_->choosePointer(pointer.starts_with("/init") ? "/model" : pointer);
    return ui::showField(form_scroll_, pointer);
}

void ModelPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    outlook_.setActive(true);
    makeOutline();
}

void ModelPage::hideEvent(QHideEvent* event) {
    Page::hideEvent(event);
    outlook_.setActive(false);
}

const PageRecord kModelPage{
    "model", QT_TRANSLATE_NOOP("Pages", "Model"), "model",
    [](Studio& studio, Actions& actions) -> Page* { return new ModelPage(studio, actions); }};

} // namespace weft::ui
