// SPDX-License-Identifier: GPL-3.0-or-later
// What the buttons, keys and drags of the layer tree do to the draft.
#include "core/config/pointer.h"
#include "ui/bridge/convert.h"
#include "ui/pages/model/layer_tree.h"

#include <QMenu>

#include <algorithm>

namespace weft::ui {

using config::Json;

std::string LayerTree::listOf(QTreeWidgetItem* item) const {
    const std::string at = pointerOf(item);
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

/// Behind the last of them, in their order.
void LayerTree::duplicate() {
    const std::vector<std::size_t> places = placesInList();
    if (!editable() || places.empty()) {
        return;
    }
    const std::string list = placeOf(selectedLayers().front())->list;
    Json changed = model();
    std::vector<std::size_t> copies;
    for (const std::size_t place : places) {
        copies.push_back(places.back() + 1 + copies.size());
        changed = withLayer(changed, list, copies.back(),
                            *source_.given(config::pointer_to(list, place)));
    }
    change(changed, {});
    selectLayers(list, copies);
}

void LayerTree::remove() {
    std::vector<std::string> layers = selectedLayers();
    if (!editable() || layers.empty()) {
        return;
    }
    Json changed = model();
    for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
        changed = withoutLayer(changed, *layer);
    }
    change(changed, {}); // the row that is there then, or the one before
}

void LayerTree::shift(int by) {
    std::vector<std::size_t> places = placesInList();
    if (!editable() || places.empty()) {
        return;
    }
    const std::string list = placeOf(selectedLayers().front())->list;
    const std::size_t count = source_.given(list)->size();
    if (by < 0 ? places.front() == 0 : places.back() + 1 >= count) {
        return;
    }
    Json changed = model();
    const auto move = [&](std::size_t& place) {
        const std::string from = config::pointer_to(list, place);
        place += static_cast<std::size_t>(by); // may be one less
        changed = withLayerMoved(changed, from, list, by > 0 ? place + 1 : place);
    };
    by < 0 ? (void)std::for_each(places.begin(), places.end(), move)
           : (void)std::for_each(places.rbegin(), places.rend(), move);
    change(changed, {});
    selectLayers(list, places);
}

void LayerTree::moved(QTreeWidgetItem* row, QTreeWidgetItem* parent, int index) {
    const std::string from = pointerOf(row);
    std::string list = listOf(parent);
    auto at = static_cast<std::size_t>(index);
    if (list.empty()) { // dropped on a layer that holds none: behind it
        const auto place = placeOf(pointerOf(parent));
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
