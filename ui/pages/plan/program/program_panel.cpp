// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/program/program_panel.h"

#include "core/base/error.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/plan/plan_preview.h"
#include "ui/pages/table.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/line_view.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/views/graph_view.h"

#include <QComboBox>
#include <QCompleter>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPushButton>
#include <QShortcut>
#include <QStackedWidget>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kPassWidth = 288;
constexpr int kSearchWidth = 80;      // at least; both at text size 1
constexpr int kMostNodes = 600;       // more is no picture any more
constexpr double kReadableZoom = 0.7; // a larger graph is scrolled
enum ProgramForm { TextForm, GraphForm };
enum ProgramSheet { TextSheet, GraphSheet, ProgramMessageSheet };
enum PassColumn { PassNameColumn, PassMsColumn, PassAddedColumn, PassRemovedColumn, PassColumns };

using widgets::Role;
using widgets::TextStyle;

struct TraceResult {
    std::shared_ptr<const std::vector<ProgramTrace>> traces;
    QString problem;
};

struct GraphResult {
    widgets::Graph graph;
    widgets::GraphLayout layout;
    QString problem;
};

GraphResult makeGraph(const QStringList& lines, const QString& layer, const std::stop_token& stop) {
    GraphResult result;
    try {
        result.graph = programGraph(lines.join('\n'), layer);
    } catch (const Error& error) {
        result.problem = toQString(error.message());
        return result;
    }
    const auto nodes = static_cast<int>(result.graph.nodes.size());
    if (nodes > kMostNodes) {
        result.problem =
            QObject::tr("%1 ops are too many for a picture. Choose a layer.").arg(nodes);
        return result;
    }
    result.layout = widgets::layoutGraph(result.graph, widgets::graphNodeSizes(result.graph), stop);
    return result;
}

QStandardItem* programCell(const QString& text, bool number) {
    auto* item = new QStandardItem(text);
    item->setEditable(false);
    if (number) {
        item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
        item->setFont(widgets::Theme::current().font(TextStyle::Mono));
    }
    return item;
}

} // namespace

ProgramPanel::ProgramPanel(PlanPreview& preview, QWidget* parent)
    : QWidget(parent), preview_(preview) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    splitter_ = new widgets::ThinSplitter(Qt::Horizontal);
    splitter_->addWidget(createPasses());
    splitter_->addWidget(createText());
    splitter_->setStretchFactor(1, 1);
    arrangeSides();
    column->addWidget(splitter_);
    connect(&preview_, &PlanPreview::changed, this, &ProgramPanel::request);
}

QWidget* ProgramPanel::createPasses() {
    auto* side = new widgets::Surface;
    side->setMinimumWidth(220);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* header = new widgets::SectionHeader(tr("Passes"));
    program_ = new QComboBox;
    program_->setObjectName("programChoice");
    program_->setAccessibleName(tr("Program"));
    program_->setMinimumWidth(132);
    widgets::setCompact(program_);
    header->addControl(program_);
    column->addWidget(header);
    pass_model_ = new QStandardItemModel(0, PassColumns, this);
    pass_model_->setHorizontalHeaderLabels({tr("pass"), tr("ms"), tr("new"), tr("gone")});
    for (const int number : {PassMsColumn, PassAddedColumn, PassRemovedColumn}) {
        pass_model_->horizontalHeaderItem(number)->setTextAlignment(Qt::AlignRight);
    }
    passes_ = createTable(pass_model_, "passTable", tr("Passes"));
    passes_->horizontalHeader()->setSectionResizeMode(PassNameColumn, QHeaderView::Stretch);
    passes_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    passes_->installEventFilter(this);
    column->addWidget(passes_, 1);
    connect(program_, &QComboBox::currentIndexChanged, this, &ProgramPanel::showProgram);
    connect(passes_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &ProgramPanel::showPass);
    return side;
}

QWidget* ProgramPanel::createText() {
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Program"));
    form_ = new widgets::SegmentedControl({tr("Text"), tr("Graph")});
    form_->setObjectName("programForm");
    form_->setCompact(true);
    form_->setAccessibleName(tr("Show as"));
    header_->addControl(form_);
    layer_ = new QComboBox;
    layer_->setObjectName("layerChoice");
    layer_->setAccessibleName(tr("Layer"));
    layer_->setToolTip(tr("Show the ops of one layer"));
    layer_->setEditable(true);
    layer_->setInsertPolicy(QComboBox::NoInsert);
    layer_->completer()->setCompletionMode(QCompleter::PopupCompletion);
    layer_->completer()->setFilterMode(Qt::MatchContains);
    layer_->setMinimumWidth(150);
    widgets::setCompact(layer_);
    header_->addControl(layer_);
    search_ = new QLineEdit;
    search_->setObjectName("programSearch");
    search_->setPlaceholderText(tr("Search"));
    search_->setAccessibleName(tr("Search the program"));
    search_->setToolTip(
        tr("Ctrl+F; Enter and F3 go to the next, Shift with them to the one before"));
    search_->setClearButtonEnabled(true);
    search_->setMaximumWidth(200);
    widgets::setCompact(search_);
    header_->addControl(search_);
    found_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    found_->setMinimumWidth(64);
    header_->addControl(found_);
    column->addWidget(header_);
    column->addWidget(new widgets::Hairline);
    stack_ = new QStackedWidget;
    text_ = new widgets::LineView;
    text_->setObjectName("programText");
    stack_->addWidget(text_);
    graph_ = new widgets::GraphScroll;
    graph_->setObjectName("programGraph");
    stack_->addWidget(graph_);
    message_ = new widgets::EmptyState("mesh");
    message_->setObjectName("programMessage");
    stack_->addWidget(message_);
    column->addWidget(stack_, 1);
    connect(form_, &widgets::SegmentedControl::currentIndexChanged, this, &ProgramPanel::narrow);
    connect(layer_, &QComboBox::currentTextChanged, this, &ProgramPanel::narrow);
    connect(search_, &QLineEdit::textChanged, this, [this] { search(0); });
    const auto key = [this](const QKeySequence& keys, int step) {
        auto* shortcut = new QShortcut(keys, this);
        shortcut->setContext(Qt::WidgetWithChildrenShortcut);
        connect(shortcut, &QShortcut::activated, this, [this, step] { search(step); });
    };
    key(QKeySequence("F3"), 1);
    key(QKeySequence("Shift+F3"), -1);
    key(QKeySequence("Shift+Return"), -1);
    connect(search_, &QLineEdit::returnPressed, this, [this] { search(1); });
    return panel;
}

void ProgramPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    request();
}

void ProgramPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        arrangeSides();
    }
}

bool ProgramPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == passes_ &&
        (event->type() == QEvent::Resize || event->type() == QEvent::FontChange)) {
        arrangePasses();
    }
    return QWidget::eventFilter(watched, event);
}

void ProgramPanel::arrangeSides() {
    const auto passes = static_cast<int>(kPassWidth * widgets::Theme::current().fontScale());
    splitter_->setSizes({passes, 1440 - passes});
    search_->setMinimumWidth(
        static_cast<int>(kSearchWidth * widgets::Theme::current().fontScale()));
}

// Names are whole; what a pass added and removed goes where there is no room for it.
void ProgramPanel::arrangePasses() {
    const QFont font = widgets::Theme::current().font(TextStyle::Body);
    double name = 0;
    for (int row = 0; row < pass_model_->rowCount(); ++row) {
        name = std::max(name, widgets::textWidth(font, pass_model_->item(row)->text()));
    }
    passes_->showColumn(PassAddedColumn);
    passes_->showColumn(PassRemovedColumn);
    setColumnWidths(
        passes_,
        {{PassMsColumn, "100.0"}, {PassAddedColumn, "1,000"}, {PassRemovedColumn, "1,000"}});
    double left = passes_->viewport()->width() - name - 2 * widgets::space::kControl;
    for (const int column : {PassMsColumn, PassAddedColumn, PassRemovedColumn}) {
        left -= passes_->columnWidth(column);
    }
    passes_->setColumnHidden(PassAddedColumn, left < 0);
    passes_->setColumnHidden(PassRemovedColumn, left < 0);
}

// The text belongs to a plan: it is made again when there is another, and only when it is looked
// at.
void ProgramPanel::request() {
    const auto digest = preview_.digest();
    const bool stale = preview_.isStale() || !preview_.isComplete();
    text_->setEnabled(!stale);
    passes_->setEnabled(!stale);
    if (!isVisible() || !digest || stale || digest == of_) {
        return;
    }
    of_ = digest;
    if (!traces_) {
        message_->setTitle(tr("Running the passes…"));
        message_->setText({});
        stack_->setCurrentIndex(ProgramMessageSheet);
    }
    tracing_.start(
        [config = preview_.config(), hardware = hardwareOf(preview_.config(), preview_.hardware())](
            const std::stop_token& stop) {
            TraceResult result;
            try {
                result.traces = std::make_shared<const std::vector<ProgramTrace>>(
                    traceProgram(config, hardware, stop));
            } catch (const Error& error) {
                result.problem = toQString(error.message());
            }
            return result;
        },
        [this](const TraceResult& result) { take(result.traces, result.problem); });
}

void ProgramPanel::take(std::shared_ptr<const std::vector<ProgramTrace>> traces,
                        const QString& problem) {
    traces_ = std::move(traces);
    const QString before = program_->currentText();
    {
        const QSignalBlocker quiet(program_);
        program_->clear();
        for (std::size_t i = 0; traces_ && i < traces_->size(); ++i) {
            program_->addItem((*traces_)[i].program);
        }
        const int same = program_->findText(before);
        program_->setCurrentIndex(same >= 0 ? same : std::max(0, program_->findText("train_step")));
    }
    if (!problem.isEmpty()) {
        message_->setTitle(tr("The passes cannot run"));
        message_->setText(problem);
        stack_->setCurrentIndex(ProgramMessageSheet);
        return;
    }
    showProgram();
}

const PassText* ProgramPanel::current() const {
    const int program = program_->currentIndex();
    const int pass = passes_->currentIndex().row();
    if (!traces_ || program < 0 || program >= static_cast<int>(traces_->size())) {
        return nullptr;
    }
    const auto& passes = (*traces_)[static_cast<std::size_t>(program)].passes;
    return pass >= 0 && pass < static_cast<int>(passes.size())
               ? &passes[static_cast<std::size_t>(pass)]
               : nullptr;
}

void ProgramPanel::showProgram() {
    const int program = program_->currentIndex();
    if (!traces_ || program < 0) {
        return;
    }
    const int before = passes_->currentIndex().row();
    pass_model_->removeRows(0, pass_model_->rowCount());
    for (const PassText& pass : (*traces_)[static_cast<std::size_t>(program)].passes) {
        const bool first = pass_model_->rowCount() == 0;
        const auto count = [&](int lines) {
            return first ? QString() : pass.numbers_only ? QStringLiteral("–") : formatCount(lines);
        };
        pass_model_->appendRow(
            {programCell(pass.pass, false),
             programCell(first ? QString() : QString::number(pass.ms, 'f', 1), true),
             programCell(count(pass.added), true), programCell(count(pass.removed), true)});
        if (pass.numbers_only) {
            pass_model_->item(pass_model_->rowCount() - 1)
                ->setToolTip(tr("Only the numbers of values changed"));
        }
    }
    arrangePasses();
    const int rows = pass_model_->rowCount();
    passes_->selectRow(before >= 0 && before < rows ? before : rows - 1);
    showPass();
}

void ProgramPanel::showPass() {
    const PassText* pass = current();
    if (pass == nullptr) {
        return;
    }
    text_->lineModel()->setText(pass->lines, pass->fresh);
    const auto lines = static_cast<int>(pass->lines.size());
    header_->setSubtitle(
        tr("%1 line(s) · after %2", nullptr, lines).arg(formatCount(lines), pass->pass));
    fillLayers();
    narrow();
}

void ProgramPanel::fillLayers() {
    const QString before = layer_->currentText();
    const QSignalBlocker quiet(layer_);
    layer_->clear();
    layer_->addItem(tr("All layers"));
    layer_->addItems(layersOf(text_->lineModel()->lines()));
    layer_->setCurrentIndex(std::max(0, layer_->findText(before)));
}

// A layer that is being typed counts once it is one.
void ProgramPanel::narrow() {
    const PassText* pass = current();
    if (pass == nullptr) {
        return;
    }
    const int chosen = layer_->findText(layer_->currentText());
    const QString layer = chosen > 0 ? layer_->itemText(chosen) : QString();
    std::vector<int> shown;
    for (qsizetype i = 0; i < pass->lines.size(); ++i) {
        if (isOfLayer(pass->lines[i], layer)) {
            shown.push_back(static_cast<int>(i));
        }
    }
    text_->lineModel()->setShown(std::move(shown));
    const bool graph = form_->currentIndex() == GraphForm;
    search_->setEnabled(!graph);
    if (graph) {
        drawGraph();
    } else {
        drawing_.drop();
        stack_->setCurrentIndex(TextSheet);
        search(0);
    }
}

// step 0: from the cursor on, itself included.
void ProgramPanel::search(int step) {
    const QString needle = search_->text();
    text_->setNeedle(needle);
    const std::vector<int> rows = text_->lineModel()->find(needle);
    if (needle.isEmpty() || rows.empty()) {
        found_->setText(needle.isEmpty() ? QString() : tr("not found"));
        found_->setRole(needle.isEmpty() ? Role::Muted : Role::Error);
        return;
    }
    const int at = text_->currentIndex().row();
    auto found = step > 0 ? std::upper_bound(rows.begin(), rows.end(), at)
                          : std::lower_bound(rows.begin(), rows.end(), at);
    if (step < 0) {
        found = found == rows.begin() ? rows.end() - 1 : found - 1;
    } else if (found == rows.end()) {
        found = rows.begin();
    }
    found_->setRole(Role::Muted);
    found_->setText(tr("%1 of %2").arg(found - rows.begin() + 1).arg(rows.size()));
    text_->goTo(*found);
}

void ProgramPanel::drawGraph() {
    const PassText* pass = current();
    const int chosen = layer_->findText(layer_->currentText());
    const QString layer = chosen > 0 ? layer_->itemText(chosen) : QString();
    message_->setTitle(tr("Drawing the graph…"));
    message_->setText({});
    stack_->setCurrentIndex(ProgramMessageSheet);
    drawing_.start([lines = pass->lines,
                    layer](const std::stop_token& stop) { return makeGraph(lines, layer, stop); },
                   [this](GraphResult result) {
                       if (form_->currentIndex() != GraphForm) {
                           return;
                       }
                       if (!result.problem.isEmpty()) {
                           message_->setTitle(tr("No picture"));
                           message_->setText(result.problem);
                           stack_->setCurrentIndex(ProgramMessageSheet);
                           return;
                       }
                       stack_->setCurrentIndex(GraphSheet);
                       graph_->view()->setGraph(std::move(result.graph), std::move(result.layout));
                       graph_->fit();
                       graph_->view()->setZoom(std::max(kReadableZoom, graph_->view()->zoom()));
                   });
}

void ProgramPanel::focusSearch() {
    form_->setCurrentIndex(TextForm);
    search_->setFocus(Qt::ShortcutFocusReason);
    search_->selectAll();
}

} // namespace weft::ui
