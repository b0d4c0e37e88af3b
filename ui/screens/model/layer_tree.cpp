// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/model/layer_tree.h"

#include "core/base/text.h"
#include "core/config/pointer.h"
#include "ui/bridge/convert.h"
#include "widgets/card.h"
#include "widgets/icon.h"
#include "widgets/style.h"

#include <QDropEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QShortcut>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using config::Json;

enum Column { Name, Shape, Parameters };
constexpr int kPointer = Qt::UserRole;
constexpr int kPath = Qt::UserRole + 1;
constexpr int kButton = 28;
constexpr int kShapeWidth = 104;
constexpr int kParametersWidth = 64;
constexpr const char* kModel = "/model";
constexpr const char* kLayers = "/model/layers";

std::string textOf(const QTreeWidgetItem* item, int role) {
    return item == nullptr ? std::string() : item->data(Name, role).toString().toStdString();
}

QTreeWidgetItem* findItem(QTreeWidgetItem* below, int role, const std::string& text) {
    if (textOf(below, role) == text) {
        return below;
    }
    for (int i = 0; i < below->childCount(); ++i) {
        if (QTreeWidgetItem* found = findItem(below->child(i), role, text)) {
            return found;
        }
    }
    return nullptr;
}

QPushButton* toolButton(const char* icon, const QString& id, const QString& name) {
    auto* button = new QPushButton(widgets::icon(icon), {});
    button->setObjectName(id);
    button->setAccessibleName(name);
    button->setToolTip(name);
    button->setFixedWidth(kButton);
    widgets::setButtonKind(button, widgets::ButtonKind::Flat);
    widgets::setCompact(button);
    return button;
}

} // namespace

RowTree::RowTree(QWidget* parent) : QTreeWidget(parent) {
    setDragDropMode(QAbstractItemView::InternalMove);
    setDefaultDropAction(Qt::MoveAction);
}

// The rows follow the model; they are not moved here.
void RowTree::dropEvent(QDropEvent* event) {
    QTreeWidgetItem* row = currentItem();
    QTreeWidgetItem* target = itemAt(event->position().toPoint());
    const DropIndicatorPosition where = dropIndicatorPosition();
    event->setDropAction(Qt::IgnoreAction); // or the view would take the row away
    event->accept();
    if (row == nullptr || target == nullptr || row == target) {
        return;
    }
    if (where == OnItem) {
        emit rowMoved(row, target, target->childCount());
        return;
    }
    QTreeWidgetItem* parent = target->parent();
    const int index = parent == nullptr ? 0 : parent->indexOfChild(target);
    if (parent != nullptr) {
        emit rowMoved(row, parent, where == BelowItem ? index + 1 : index);
    }
}

LayerTree::LayerTree(FormSource& source, Draft& draft, QWidget* parent)
    : QWidget(parent), source_(source), draft_(draft), tree_(new RowTree) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* header = new widgets::SectionHeader(tr("Blocks"));
    add_ = toolButton("plus", "layerAdd", tr("Add a layer after the chosen one"));
    add_menu_ = new QMenu(add_);
    add_->setMenu(add_menu_);
    connect(add_menu_, &QMenu::aboutToShow, this, &LayerTree::fillAddMenu);
    duplicate_ = toolButton("copy", "layerDuplicate", tr("Duplicate the layer (Ctrl+D)"));
    up_ = toolButton("chevron-up", "layerUp", tr("Move the layer up (Alt+Up)"));
    down_ = toolButton("chevron-down", "layerDown", tr("Move the layer down (Alt+Down)"));
    remove_ = toolButton("trash", "layerDelete", tr("Delete the layer (Delete)"));
    for (QPushButton* button : {add_, duplicate_, up_, down_, remove_}) {
        header->addControl(button);
    }
    column->addWidget(header);
    tree_->setObjectName("layerTree");
    tree_->setAccessibleName(tr("Blocks of the model"));
    tree_->setColumnCount(3);
    tree_->setHeaderLabels({tr("Block"), tr("Puts out"), tr("Parameters")});
    tree_->setFrameShape(QFrame::NoFrame);
    tree_->setUniformRowHeights(true);
    tree_->header()->setStretchLastSection(false);
    tree_->header()->setSectionResizeMode(Name, QHeaderView::Stretch);
    tree_->header()->setSectionResizeMode(Shape, QHeaderView::Fixed);
    tree_->header()->setSectionResizeMode(Parameters, QHeaderView::Fixed);
    tree_->header()->resizeSection(Shape, kShapeWidth);
    tree_->header()->resizeSection(Parameters, kParametersWidth);
    column->addWidget(tree_, 1);
    convert_ = new QPushButton(tr("Convert to sequential"));
    convert_->setObjectName("convertSequential");
    convert_->setToolTip(tr("The same network as a list of layers that can be edited one by one"));
    auto* foot = new QHBoxLayout;
    foot->setContentsMargins(widgets::space::kGroup, widgets::space::kControl,
                             widgets::space::kGroup, widgets::space::kControl);
    foot->addWidget(convert_);
    foot->addStretch(1);
    column->addLayout(foot);
    connect(duplicate_, &QPushButton::clicked, this, &LayerTree::duplicate);
    connect(remove_, &QPushButton::clicked, this, &LayerTree::remove);
    connect(up_, &QPushButton::clicked, this, [this] { shift(-1); });
    connect(down_, &QPushButton::clicked, this, [this] { shift(1); });
    connect(convert_, &QPushButton::clicked, this, &LayerTree::convert);
    connect(tree_, &RowTree::rowMoved, this, &LayerTree::moved, Qt::QueuedConnection);
    connect(tree_, &QTreeWidget::currentItemChanged, this, [this] {
        updateButtons();
        if (!filling_) {
            emit chosen();
        }
    });
    const auto key = [this](const QKeySequence& keys, auto handler) {
        auto* shortcut = new QShortcut(keys, tree_);
        shortcut->setContext(Qt::WidgetShortcut);
        connect(shortcut, &QShortcut::activated, this, handler);
    };
    key(QKeySequence::Delete, [this] { remove(); });
    key(QKeySequence("Ctrl+D"), [this] { duplicate(); });
    key(QKeySequence("Alt+Up"), [this] { shift(-1); });
    key(QKeySequence("Alt+Down"), [this] { shift(1); });
    connect(&source_, &FormSource::changed, this, &LayerTree::rebuild);
    rebuild();
}

Json LayerTree::model() const {
    const Json* given = source_.given(kModel);
    return given == nullptr ? Json() : *given;
}

bool LayerTree::editable() const {
    return isSequential(model());
}

void LayerTree::setOutline(std::shared_ptr<const ModelOutline> outline) {
    outline_ = std::move(outline);
    if (editable()) {
        for (int i = 0; i < tree_->topLevelItemCount(); ++i) {
            describe(tree_->topLevelItem(i));
        }
    } else {
        shown_ = nullptr; // the rows are those of the outline
        rebuild();
    }
}

void LayerTree::rebuild() {
    const Json now = model();
    if (now == shown_ && tree_->topLevelItemCount() > 0) {
        return;
    }
    const std::string pointer = this->pointer();
    const std::string path = this->path();
    shown_ = now;
    {
        const QScopedValueRollback filling(filling_, true);
        tree_->clear();
        auto* root = new QTreeWidgetItem(tree_);
        const Json type = now.is_object() ? now.value("type", Json()) : Json();
        root->setText(Name, type.is_string() ? toQString(type.get<std::string>()) : tr("model"));
        root->setData(Name, kPointer, QString(kModel));
        root->setFlags(root->flags() & ~Qt::ItemIsDragEnabled);
        if (editable()) {
            fillLayers(root, layerTree(now));
        } else if (outline_) {
            fillBlocks(root, "");
        }
        describe(root);
        root->setExpanded(true);
        QTreeWidgetItem* again =
            editable() ? findItem(root, kPointer, pointer) : findItem(root, kPath, path);
        // What stood there is gone: what is there instead, or around.
        const auto place = placeOf(pointer);
        if (again == nullptr && place && place->index > 0) {
            again = findItem(root, kPointer, config::pointer_to(place->list, place->index - 1));
        }
        tree_->setCurrentItem(again == nullptr ? root : again);
    }
    updateButtons();
    emit chosen();
}

void LayerTree::fillLayers(QTreeWidgetItem* parent, const std::vector<LayerNode>& nodes) {
    for (const LayerNode& node : nodes) {
        auto* item = new QTreeWidgetItem(parent);
        const QString number = toQString(node.pointer).section('/', -1);
        item->setText(Name,
                      node.type.empty()
                          ? tr("branch %1").arg(number)
                          : (toQString(node.type) + "  " + toQString(node.summary)).trimmed());
        item->setToolTip(Name, toQString(node.path) + "  " + toQString(node.summary));
        item->setData(Name, kPointer, toQString(node.pointer));
        item->setData(Name, kPath, toQString(node.path));
        if (node.type.empty()) {
            item->setFlags(item->flags() & ~Qt::ItemIsDragEnabled);
        }
        fillLayers(item, node.children);
        item->setExpanded(true);
    }
}

void LayerTree::fillBlocks(QTreeWidgetItem* parent, const std::string& path) {
    const ModelBlock* block = outline_->find(path);
    if (block == nullptr) {
        return;
    }
    for (const std::string& child : block->children) {
        auto* item = new QTreeWidgetItem(parent);
        item->setText(Name, toQString(path.empty() ? child : child.substr(path.size() + 1)));
        item->setData(Name, kPointer, QString(kModel));
        item->setData(Name, kPath, toQString(child));
        item->setFlags(item->flags() & ~(Qt::ItemIsDragEnabled | Qt::ItemIsDropEnabled));
        fillBlocks(item, child);
    }
}

/// What the outline says of a row and those below it.
void LayerTree::describe(QTreeWidgetItem* item) const {
    const ModelBlock* block = outline_ ? outline_->find(textOf(item, kPath)) : nullptr;
    item->setText(Shape, block == nullptr ? QString() : toQString(block->shape));
    item->setText(Parameters, block == nullptr || block->parameters == 0
                                  ? QString()
                                  : toQString(format_count(block->parameters)));
    item->setTextAlignment(Parameters, Qt::AlignRight | Qt::AlignVCenter);
    const bool wrong = outline_ && !outline_->problem_path.empty() &&
                       textOf(item, kPath) == outline_->problem_path;
    item->setIcon(Name, wrong ? widgets::icon("error", widgets::Role::Error) : QIcon());
    if (wrong) {
        item->setToolTip(Name, outline_->problem + "\n" + outline_->hint);
    }
    for (int i = 0; i < item->childCount(); ++i) {
        describe(item->child(i));
    }
}

std::string LayerTree::pointer() const {
    const std::string found = textOf(tree_->currentItem(), kPointer);
    return found.empty() ? kModel : found;
}

std::string LayerTree::path() const {
    return textOf(tree_->currentItem(), kPath);
}

void LayerTree::choosePath(const std::string& path) {
    if (QTreeWidgetItem* found = findItem(tree_->invisibleRootItem(), kPath, path)) {
        tree_->setCurrentItem(found);
        tree_->scrollToItem(found);
    }
}

bool LayerTree::choosePointer(const std::string& pointer) {
    for (std::string at = pointer; at.size() > 1; at = at.substr(0, at.rfind('/'))) {
        if (QTreeWidgetItem* found = findItem(tree_->invisibleRootItem(), kPointer, at)) {
            tree_->setCurrentItem(found);
            tree_->scrollToItem(found);
            return true;
        }
    }
    return false;
}

std::string LayerTree::listOf(QTreeWidgetItem* item) const {
    const std::string at = textOf(item, kPointer);
    if (at == kModel) {
        return kLayers;
    }
    const Json* value = source_.given(at);
    if (value == nullptr) {
        return {};
    }
    return value->is_array()                                 ? at // a branch
           : value->is_object() && value->contains("layers") ? at + "/layers"
                                                             : std::string();
}

void LayerTree::fillAddMenu() {
    add_menu_->clear();
    const config::Field* layers = source_.field(kLayers);
    if (layers == nullptr) {
        return;
    }
    for (const config::RecordType& type : layers->item.front().records) {
        QAction* action = add_menu_->addAction(toQString(type.name));
        action->setObjectName("layerAdd_" + toQString(type.name));
        action->setToolTip(toQString(type.help));
        connect(action, &QAction::triggered, this, [this, name = type.name] { add(name); });
    }
    add_menu_->setToolTipsVisible(true);
    const Json* chosen = source_.given(pointer());
    if (chosen != nullptr && chosen->is_object() && chosen->contains("branches")) {
        add_menu_->addSeparator();
        connect(add_menu_->addAction(tr("a branch")), &QAction::triggered, this,
                &LayerTree::addBranch);
    }
}

void LayerTree::updateButtons() {
    const bool can = editable() && source_.isEditable();
    const auto place = placeOf(pointer());
    const Json* list = place ? source_.given(place->list) : nullptr;
    const bool one = can && list != nullptr;
    const QString why = can ? QString() : tr("Only the layers of a sequential model can be edited");
    for (QPushButton* button : {add_, duplicate_, up_, down_, remove_}) {
        button->setVisible(can);
    }
    add_->setEnabled(can);
    duplicate_->setEnabled(one);
    remove_->setEnabled(one);
    up_->setEnabled(one && place->index > 0);
    down_->setEnabled(one && place->index + 1 < list->size());
    tree_->setDragEnabled(can);
    convert_->setVisible(!can && draft_.isValid() && !draft_.isEmpty() &&
                         asSequential(draft_.config().section("model")).has_value());
}

void LayerTree::change(const Json& model, const std::string& choose) {
    if (model != this->model()) {
        source_.set(kModel, model);
    }
    if (!choose.empty()) {
        choosePointer(choose);
    }
    tree_->setFocus();
}

/// Into the chosen row when it holds layers, else after it.
void LayerTree::add(const std::string& type) {
    QTreeWidgetItem* item = tree_->currentItem();
    std::string list = listOf(item);
    std::size_t index = item == nullptr ? 0 : static_cast<std::size_t>(item->childCount());
    if (list.empty()) {
        const auto place = placeOf(pointer());
        list = place ? place->list : std::string(kLayers);
        index = place ? place->index + 1 : 0;
    }
    const config::Field* layers = source_.field(kLayers);
    change(withLayer(model(), list, index, newLayer(*layers, type)),
           config::pointer_to(list, index));
}

void LayerTree::addBranch() {
    const std::string at = pointer().substr(std::string(kModel).size()) + "/branches";
    Json changed = model();
    changed[Json::json_pointer(at)].push_back(Json::array());
    change(changed, pointer());
}

void LayerTree::duplicate() {
    const auto place = placeOf(pointer());
    const Json* layer = source_.given(pointer());
    if (!editable() || !place || layer == nullptr) {
        return;
    }
    change(withLayer(model(), place->list, place->index + 1, Json(*layer)),
           config::pointer_to(place->list, place->index + 1));
}

void LayerTree::remove() {
    const std::string at = pointer();
    if (editable() && placeOf(at)) {
        change(withoutLayer(model(), at), {}); // the row that is there then, or the one before
    }
}

void LayerTree::shift(int by) {
    const auto place = placeOf(pointer());
    const Json* list = place ? source_.given(place->list) : nullptr;
    if (!editable() || list == nullptr) {
        return;
    }
    const std::size_t to = place->index + static_cast<std::size_t>(by); // may wrap below zero
    if (to < list->size()) {
        change(withLayerMoved(model(), pointer(), place->list, by > 0 ? to + 1 : to),
               config::pointer_to(place->list, to));
    }
}

void LayerTree::moved(QTreeWidgetItem* row, QTreeWidgetItem* parent, int index) {
    const std::string from = textOf(row, kPointer);
    std::string list = listOf(parent);
    auto at = static_cast<std::size_t>(index);
    if (list.empty()) { // dropped on a layer that holds none: behind it
        const auto place = placeOf(textOf(parent, kPointer));
        if (!place) {
            return;
        }
        list = place->list;
        at = place->index + 1;
    }
    const auto before = placeOf(from);
    const bool same = before && before->list == list;
    change(withLayerMoved(model(), from, list, at),
           config::pointer_to(list, same && at > before->index ? at - 1 : at));
}

void LayerTree::convert() {
    if (const auto layers = asSequential(draft_.config().section("model"))) {
        change(*layers, kModel);
    }
}

} // namespace weft::ui
