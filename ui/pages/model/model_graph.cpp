// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/model/model_graph.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/controls.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"
#include "widgets/views/graph_view.h"

#include <QKeyEvent>
#include <QPushButton>
#include <QShortcut>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kLeastWidth = 220;

/// The block right around a block; empty: the model.
std::string levelAround(const std::string& path) {
    std::string outer;
    if (!path.empty()) {
        for (std::string at = childOf(path, ""); at != path; at = childOf(path, at)) {
            outer = at;
        }
    }
    return outer;
}

} // namespace

ModelGraph::ModelGraph(QWidget* parent)
    : Surface(widgets::Role::Surface, parent), header_(new widgets::SectionHeader(tr("Graph"))),
      up_(new QPushButton(widgets::icon("chevron-up"), tr("Up"))),
      progress_(new widgets::ProgressLine), scroll_(new widgets::GraphScroll) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    up_->setObjectName("graphUp");
    up_->setToolTip(tr("The blocks around these (Backspace)"));
    up_->hide();
    widgets::setCompact(up_);
    connect(up_, &QPushButton::clicked, this, &ModelGraph::leave);
    header_->addControl(up_);
    auto* fit = new QPushButton(tr("Fit"));
    fit->setObjectName("graphFit");
    fit->setToolTip(tr("The whole graph (F)"));
    widgets::setCompact(fit);
    header_->addControl(fit);
    column->addWidget(header_);
    progress_->setAccessibleName(tr("Laying out the graph"));
    column->addWidget(progress_);
    scroll_->setMinimumWidth(kLeastWidth);
    scroll_->view()->setObjectName("modelGraph");
    scroll_->view()->setAccessibleName(tr("Graph of the blocks"));
    connect(fit, &QPushButton::clicked, scroll_, &widgets::GraphScroll::fit);
    connect(scroll_->view(), &widgets::PaintedView::cursorChanged, this, [this](int node) {
        if (!pathAt(node).empty()) {
            emit blockChosen(pathAt(node));
        }
    });
    scroll_->view()->installEventFilter(this);
    auto* out = new QShortcut(QKeySequence(Qt::Key_Backspace), scroll_->view());
    out->setContext(Qt::WidgetShortcut);
    connect(out, &QShortcut::activated, this, &ModelGraph::leave);
    column->addWidget(scroll_, 1);
}

// Nodes are as large as their words.
void ModelGraph::changeEvent(QEvent* event) {
    Surface::changeEvent(event);
    if (event->type() == QEvent::FontChange && outline_ != nullptr) {
        draw();
    }
}

void ModelGraph::expectOutline() {
    progress_->setBusy(true);
}

void ModelGraph::setOutline(std::shared_ptr<const ModelOutline> outline) {
    outline_ = std::move(outline);
    if (outline_->find(level_) == nullptr) {
        level_.clear();
    }
    draw();
}

void ModelGraph::choose(const std::string& path, const std::vector<std::string>& all) {
    chosen_ = path;
    all_chosen_ = all;
    const bool known = outline_ && outline_->find(path) != nullptr;
    if (known && path != level_ && levelAround(path) != level_) {
        enter(levelAround(path));
    } else {
        mark();
    }
}

std::string ModelGraph::pathAt(int node) const {
    return node >= 0 && node < static_cast<int>(paths_.size())
               ? paths_[static_cast<std::size_t>(node)]
               : std::string();
}

void ModelGraph::draw() {
    progress_->setBusy(true);
    drawing_.start(
        [outline = outline_, level = level_](const std::stop_token& stop) {
            Drawing out;
            out.graph = blockGraph(*outline, level, out.paths);
            out.layout = widgets::layoutGraph(out.graph, widgets::graphNodeSizes(out.graph), stop);
            return out;
        },
        [this](Drawing drawing) { take(std::move(drawing)); });
}

void ModelGraph::take(Drawing drawing) {
    progress_->setBusy(false);
    paths_ = std::move(drawing.paths);
    {
        const QSignalBlocker blocker(scroll_->view()); // what is chosen stays
        scroll_->view()->setGraph(std::move(drawing.graph), std::move(drawing.layout));
    }
    mark();
    up_->setVisible(!level_.empty());
    header_->setSubtitle(level_.empty() ? tr("Enter goes in · a double click, too")
                                        : toQString(level_));
    if (std::exchange(fits_, false)) {
        scroll_->fit();
    }
}

void ModelGraph::mark() {
    const QSignalBlocker blocker(scroll_->view());
    std::vector<int> marked;
    for (const std::string& path : all_chosen_) {
        marked.push_back(nodeOf(path));
    }
    const int node = nodeOf(chosen_);
    scroll_->view()->setMarked(std::move(marked));
    scroll_->view()->setCursorItem(node);
    scroll_->showNode(node);
}

int ModelGraph::nodeOf(const std::string& path) const {
    const auto at = [this](const std::string& block) {
        const auto found = std::find(paths_.begin(), paths_.end(), block);
        return block.empty() || found == paths_.end() ? -1
                                                      : static_cast<int>(found - paths_.begin());
    };
    const std::string block = path.empty() ? path : childOf(path, level_);
    const ModelBlock* level = outline_ ? outline_->find(level_) : nullptr;
    if (block.empty() || level == nullptr || at(block) >= 0) {
        return at(block);
    }
    int node = -1; // equal blocks follow the one that is drawn
    for (const std::string& child : level->children) {
        node = at(child) >= 0 ? at(child) : node;
        if (child == block) {
            return node;
        }
    }
    return -1;
}

void ModelGraph::enter(const std::string& path) {
    level_ = path;
    fits_ = true;
    draw();
}

/// To the block around: "blocks.0" is one part of a path.
void ModelGraph::leave() {
    if (!level_.empty()) {
        enter(levelAround(level_));
    }
}

/// A double click or Enter goes into a block; a click alone chooses it.
bool ModelGraph::eventFilter(QObject* watched, QEvent* event) {
    const bool twice = event->type() == QEvent::MouseButtonDblClick;
    const bool key = event->type() == QEvent::KeyPress;
    const int code = key ? static_cast<QKeyEvent*>(event)->key() : 0;
    if (watched != scroll_->view() || (!twice && code != Qt::Key_Return && code != Qt::Key_Enter)) {
        return Surface::eventFilter(watched, event);
    }
    const std::string path = pathAt(scroll_->view()->cursorItem());
    const ModelBlock* block = outline_ && !path.empty() ? outline_->find(path) : nullptr;
    if (block != nullptr && !block->children.empty() && path != level_) {
        enter(path);
    }
    return true;
}

} // namespace weft::ui
