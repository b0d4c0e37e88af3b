// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/model/layer_tree.h"

#include "core/base/text.h"
#include "core/config/pointer.h"
#include "ui/bridge/convert.h"
#include "widgets/controls/card.h"
#include "widgets/controls/icon_button.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QMenu>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QShortcut>
#include <QStyledItemDelegate>
#include <QTreeWidgetItemIterator>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using config::Json;

enum LayerTreeColumn { LayerTreeNameColumn, LayerTreeShapeColumn, LayerTreeParametersColumn };
constexpr int kLayerTreePointer = Qt::UserRole;
constexpr int kPath = Qt::UserRole + 1;
constexpr int kShorter = Qt::UserRole + 2; // the row without the names of its settings
constexpr int kLayerTreeButton = 28;
constexpr int kWithShapes = 280; // at text size 1

std::string itemText(const QTreeWidgetItem* item, int role) {
    return item == nullptr ? std::string()
                           : item->data(LayerTreeNameColumn, role).toString().toStdString();
}

QTreeWidgetItem* findItem(QTreeWidgetItem* below, int role, const std::string& text) {
    if (itemText(below, role) == text) {
        return below;
    }
    for (int i = 0; i < below->childCount(); ++i) {
        if (QTreeWidgetItem* found = findItem(below->child(i), role, text)) {
            return found;
        }
    }
    return nullptr;
}

/// It alone, whatever keys are held.
void makeCurrent(QTreeWidget& tree, QTreeWidgetItem* item) {
    tree.setCurrentItem(item, LayerTreeNameColumn,
                        QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

/// Where a row has too little room, the names of its settings say least.
class LayerRow : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const QString shorter = index.data(kShorter).toString();
        const QStyle* style = option->widget->style();
        const int margin = style->pixelMetric(QStyle::PM_FocusFrameHMargin, option, option->widget);
        const int room =
            style->subElementRect(QStyle::SE_ItemViewItemText, option, option->widget).width() -
            2 * (margin + 1);
        if (!shorter.isEmpty() && option->fontMetrics.horizontalAdvance(option->text) > room) {
            option->text = shorter;
        }
    }
};

} // namespace

LayerTree::LayerTree(FormSource& source, Draft& draft, QWidget* parent)
    : QWidget(parent), source_(source), draft_(draft), tree_(new RowTree) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* header = new widgets::SectionHeader(tr("Blocks"));
    add_ = widgets::iconButton("plus", "layerAdd", tr("Add a layer after the chosen one"));
    add_menu_ = new QMenu(add_);
    add_->setMenu(add_menu_);
    connect(add_menu_, &QMenu::aboutToShow, this, &LayerTree::fillAddMenu);
    duplicate_ =
        widgets::iconButton("copy", "layerDuplicate", tr("Duplicate the selected layers (Ctrl+D)"));
    up_ = widgets::iconButton("chevron-up", "layerUp", tr("Move the selected layers up (Alt+Up)"));
    down_ = widgets::iconButton("chevron-down", "layerDown",
                                tr("Move the selected layers down (Alt+Down)"));
    remove_ =
        widgets::iconButton("trash", "layerDelete", tr("Delete the selected layers (Delete)"));
    for (QPushButton* button : {add_, duplicate_, up_, down_, remove_}) {
        button->setFixedWidth(kLayerTreeButton);
        header->addControl(button);
    }
    column->addWidget(header);
    tree_->setObjectName("layerTree");
    tree_->setAccessibleName(tr("Blocks of the model"));
    tree_->setColumnCount(3);
    tree_->setHeaderLabels({tr("Block"), tr("Puts out"), tr("Parameters")});
    tree_->headerItem()->setTextAlignment(LayerTreeParametersColumn,
                                          Qt::AlignRight | Qt::AlignVCenter);
    tree_->setFrameShape(QFrame::NoFrame);
    tree_->setUniformRowHeights(true);
    tree_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    tree_->header()->setStretchLastSection(false);
    tree_->header()->setSectionResizeMode(LayerTreeNameColumn, QHeaderView::Stretch);
    tree_->header()->setSectionResizeMode(LayerTreeShapeColumn, QHeaderView::ResizeToContents);
    tree_->header()->setSectionResizeMode(LayerTreeParametersColumn, QHeaderView::ResizeToContents);
    tree_->setItemDelegateForColumn(LayerTreeNameColumn, new LayerRow(tree_));
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
    connect(tree_, &QTreeWidget::itemSelectionChanged, this, [this] {
        if (!filling_) {
            updateButtons();
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

// In a narrow page names come first; shapes stand at the edges of the graph, too.
void LayerTree::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    tree_->setColumnHidden(LayerTreeShapeColumn,
                           width() < kWithShapes * widgets::Theme::current().fontScale());
}

std::string LayerTree::pointerOf(const QTreeWidgetItem* item) {
    return itemText(item, kLayerTreePointer);
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
        root->setText(LayerTreeNameColumn,
                      type.is_string() ? toQString(type.get<std::string>()) : tr("model"));
        root->setData(LayerTreeNameColumn, kLayerTreePointer, QString(kModel));
        root->setFlags(root->flags() & ~Qt::ItemIsDragEnabled);
        if (editable()) {
            fillLayers(root, layerTree(now));
        } else if (outline_) {
            fillBlocks(root, "");
        }
        describe(root);
        root->setExpanded(true);
        QTreeWidgetItem* again =
            editable() ? findItem(root, kLayerTreePointer, pointer) : findItem(root, kPath, path);
        // What stood there is gone: what is there instead, or around.
        const auto place = placeOf(pointer);
        if (again == nullptr && place && place->index > 0) {
            again = findItem(root, kLayerTreePointer,
                             config::pointer_to(place->list, place->index - 1));
        }
        makeCurrent(*tree_, again == nullptr ? root : again);
    }
    updateButtons();
    emit chosen();
}

void LayerTree::fillLayers(QTreeWidgetItem* parent, const std::vector<LayerNode>& nodes) {
    for (const LayerNode& node : nodes) {
        auto* item = new QTreeWidgetItem(parent);
        const QString number = toQString(node.pointer).section('/', -1);
        item->setText(LayerTreeNameColumn,
                      node.type.empty()
                          ? tr("branch %1").arg(number)
                          : (toQString(node.type) + "  " + toQString(node.summary)).trimmed());
        item->setData(LayerTreeNameColumn, kShorter,
                      (toQString(node.type) + "  " + toQString(node.values)).trimmed());
        item->setToolTip(LayerTreeNameColumn,
                         toQString(node.path) + "  " + toQString(node.summary));
        item->setData(LayerTreeNameColumn, kLayerTreePointer, toQString(node.pointer));
        item->setData(LayerTreeNameColumn, kPath, toQString(node.path));
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
        item->setText(LayerTreeNameColumn,
                      toQString(path.empty() ? child : child.substr(path.size() + 1)));
        item->setData(LayerTreeNameColumn, kLayerTreePointer, QString(kModel));
        item->setData(LayerTreeNameColumn, kPath, toQString(child));
        item->setFlags(item->flags() & ~(Qt::ItemIsDragEnabled | Qt::ItemIsDropEnabled));
        fillBlocks(item, child);
    }
}

/// What the outline says of a row and those below it.
void LayerTree::describe(QTreeWidgetItem* item) const {
    const ModelBlock* block = outline_ ? outline_->find(itemText(item, kPath)) : nullptr;
    item->setText(LayerTreeShapeColumn, block == nullptr ? QString() : toQString(block->shape));
    item->setText(LayerTreeParametersColumn, block == nullptr || block->parameters == 0
                                                 ? QString()
                                                 : toQString(format_count(block->parameters)));
    item->setTextAlignment(LayerTreeParametersColumn, Qt::AlignRight | Qt::AlignVCenter);
    const bool wrong = outline_ && !outline_->problem_path.empty() &&
                       itemText(item, kPath) == outline_->problem_path;
    item->setIcon(LayerTreeNameColumn,
                  wrong ? widgets::icon("error", widgets::Role::Error) : QIcon());
    if (wrong) {
        item->setToolTip(LayerTreeNameColumn, outline_->problem + "\n" + outline_->hint);
    }
    for (int i = 0; i < item->childCount(); ++i) {
        describe(item->child(i));
    }
}

std::string LayerTree::pointer() const {
    const std::string found = itemText(tree_->currentItem(), kLayerTreePointer);
    return found.empty() ? kModel : found;
}

std::string LayerTree::path() const {
    return itemText(tree_->currentItem(), kPath);
}

std::vector<std::string> LayerTree::paths() const {
    std::vector<std::string> out;
    for (const QTreeWidgetItem* item : tree_->selectedItems()) {
        out.push_back(itemText(item, kPath));
    }
    return out;
}

std::vector<std::string> LayerTree::selectedLayers() const {
    std::vector<std::string> out;
    for (QTreeWidgetItemIterator row(tree_); *row != nullptr; ++row) {
        const std::string at = pointerOf(*row);
        const bool inside = !out.empty() && at.starts_with(out.back() + "/");
        if ((*row)->isSelected() && placeOf(at) && !inside) {
            out.push_back(at);
        }
    }
    return out;
}

std::vector<std::size_t> LayerTree::placesInList() const {
    std::vector<std::size_t> out;
    std::string list;
    for (const std::string& layer : selectedLayers()) {
        const auto place = placeOf(layer);
        if (!out.empty() && place->list != list) {
            return {};
        }
        list = place->list;
        out.push_back(place->index);
    }
    return out;
}

void LayerTree::selectLayers(const std::string& list, const std::vector<std::size_t>& places) {
    choosePointer(config::pointer_to(list, places.front()));
    for (const std::size_t place : places) {
        if (QTreeWidgetItem* found = findItem(tree_->invisibleRootItem(), kLayerTreePointer,
                                              config::pointer_to(list, place))) {
            found->setSelected(true);
        }
    }
}

void LayerTree::choosePath(const std::string& path) {
    if (QTreeWidgetItem* found = findItem(tree_->invisibleRootItem(), kPath, path)) {
        makeCurrent(*tree_, found);
        tree_->scrollToItem(found);
    }
}

bool LayerTree::choosePointer(const std::string& pointer) {
    for (std::string at = pointer; at.size() > 1; at = at.substr(0, at.rfind('/'))) {
        if (QTreeWidgetItem* found = findItem(tree_->invisibleRootItem(), kLayerTreePointer, at)) {
            makeCurrent(*tree_, found);
            tree_->scrollToItem(found);
            return true;
        }
    }
    return false;
}

void LayerTree::updateButtons() {
    const bool can = editable() && source_.isEditable();
    const std::vector<std::string> layers = selectedLayers();
    const std::vector<std::size_t> places = placesInList();
    const auto place = layers.empty() ? std::nullopt : placeOf(layers.front());
    const Json* list = place ? source_.given(place->list) : nullptr;
    const bool together = can && list != nullptr && !places.empty();
    const QString why = can ? QString() : tr("Only the layers of a sequential model can be edited");
    for (QPushButton* button : {add_, duplicate_, up_, down_, remove_}) {
        button->setVisible(can);
    }
    add_->setEnabled(can);
    duplicate_->setEnabled(together);
    remove_->setEnabled(can && !layers.empty());
    up_->setEnabled(together && places.front() > 0);
    down_->setEnabled(together && places.back() + 1 < list->size());
    tree_->setDragEnabled(can && tree_->selectedItems().size() == 1);
    convert_->setVisible(!can && draft_.isValid() && !draft_.isEmpty() &&
                         asSequential(draft_.config().section("model")).has_value());
}

} // namespace weft::ui
