// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/layer_edit.h"

#include "core/config/pointer.h"
#include "ui/forms/number_text.h"

#include <algorithm>

namespace weft::ui {
namespace {

using config::Json;
using Pointer = Json::json_pointer;

constexpr double kSmallCount = 4096; // fields that count parts, not units

bool isDigits(const std::string& text) {
    return !text.empty() && text.size() < 9 &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void describeSettings(const Json& layer, LayerNode& node) {
    const auto add = [](std::string& list, const std::string& text) {
        list += (list.empty() ? "" : ", ") + text;
    };
    for (const auto& [key, value] : layer.items()) {
        if (key == "type" || value.is_structured()) {
            continue;
        }
        const std::string text =
            value.is_string() ? value.get<std::string>() : numberText(value).toStdString();
        add(node.summary, key + " " + text);
        if (value.is_string() || value.is_number()) { // a lone "false" says nothing
            add(node.values, text);
        }
    }
}

std::vector<LayerNode> listNodes(const Json& list, const std::string& pointer,
                                 const std::string& path);

LayerNode layerNode(const Json& layer, const std::string& pointer, const std::string& path) {
    LayerNode node{pointer, path, {}, {}, {}, {}};
    if (!layer.is_object()) {
        node.type = "?";
        return node;
    }
    const auto type = layer.find("type");
    node.type = type != layer.end() && type->is_string() ? type->get<std::string>() : "?";
    describeSettings(layer, node);
    if (const auto layers = layer.find("layers"); layers != layer.end()) {
        const std::string inner = node.type == "repeat" ? path + ".copies.0" : path;
        node.children = listNodes(*layers, pointer + "/layers", inner + ".layers");
    }
    if (const auto branches = layer.find("branches");
        branches != layer.end() && branches->is_array()) {
        for (std::size_t i = 0; i < branches->size(); ++i) {
            const std::string number = std::to_string(i);
            const std::string below = path + ".branches." + number;
            const std::string at = pointer + "/branches/" + number;
            node.children.push_back(
                {at, below, {}, {}, {}, listNodes((*branches)[i], at, below + ".layers")});
        }
    }
    return node;
}

std::vector<LayerNode> listNodes(const Json& list, const std::string& pointer,
                                 const std::string& path) {
    std::vector<LayerNode> out;
    for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
        out.push_back(
            layerNode(list[i], config::pointer_to(pointer, i), path + "." + std::to_string(i)));
    }
    return out;
}

/// Pointers below the model section.
std::string below(const std::string& pointer) {
    return pointer.starts_with("/model") ? pointer.substr(6) : pointer;
}

bool hasList(const Json& model, const std::string& list) {
    return model.contains(Pointer(list)) && model.at(Pointer(list)).is_array();
}

} // namespace

bool isSequential(const Json& model) {
    return model.is_object() && model.value("type", Json()) == "sequential";
}

std::vector<LayerNode> layerTree(const Json& model) {
    return isSequential(model) && model.contains("layers")
               ? listNodes(model.at("layers"), "/model/layers", "layers")
               : std::vector<LayerNode>{};
}

Json newLayer(const config::Field& layers, const std::string& type) {
    Json out = {{"type", type}};
    for (const config::RecordType& record : layers.item.front().records) {
        if (record.name != type) {
            continue;
        }
        for (const config::Field& field : record.fields) {
            if (!field.required && field.type != config::FieldType::list) {
                continue;
            }
            if (field.type == config::FieldType::list) {
                if (field.required || field.default_value.is_null()) {
                    const bool of_lists = field.item.front().type == config::FieldType::list;
                    out[field.name] =
                        of_lists ? Json::array({Json::array(), Json::array()}) : Json::array();
                }
            } else if (field.type == config::FieldType::integer) {
                // Something that trains; the form is open to say better.
                out[field.name] = field.maximum <= kSmallCount ? 2 : 64;
            } else if (field.type == config::FieldType::choice) {
                out[field.name] = field.choices.front();
            }
        }
    }
    return out;
}

Json withLayer(const Json& model, const std::string& list, std::size_t index, const Json& layer) {
    Json out = model;
    const std::string at = below(list);
    if (!hasList(out, at)) {
        return model;
    }
    Json& items = out[Pointer(at)];
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(std::min(index, items.size())), layer);
    return out;
}

Json withoutLayer(const Json& model, const std::string& layer) {
    const auto place = placeOf(below(layer));
    if (!place || !hasList(model, place->list) ||
        place->index >= model.at(Pointer(place->list)).size()) {
        return model;
    }
    Json out = model;
    out[Pointer(place->list)].erase(place->index);
    return out;
}

Json withLayerMoved(const Json& model, const std::string& layer, const std::string& list,
                    std::size_t index) {
    const std::string from = below(layer);
    std::string to = below(list);
    const auto place = placeOf(from);
    if (!place || !model.contains(Pointer(from)) || !hasList(model, to) || to == from ||
        to.starts_with(from + "/")) {
        return model;
    }
    const Json moved = model.at(Pointer(from));
    Json out = withoutLayer(model, from);
    // Taking it out moved what stood behind it in the same list.
    if (to == place->list) {
        index -= index > place->index ? 1 : 0;
    } else if (to.starts_with(place->list + "/")) {
        const std::string rest = to.substr(place->list.size() + 1);
        const std::string number = rest.substr(0, rest.find('/'));
        if (isDigits(number) && std::stoul(number) > place->index) {
            to = place->list + "/" + std::to_string(std::stoul(number) - 1) +
                 rest.substr(number.size());
        }
    }
    return withLayer(out, to, index, moved);
}

std::optional<LayerPlace> placeOf(const std::string& layer) {
    const std::size_t slash = layer.rfind('/');
    if (slash == std::string::npos || !isDigits(layer.substr(slash + 1))) {
        return std::nullopt;
    }
    return LayerPlace{layer.substr(0, slash), std::stoul(layer.substr(slash + 1))};
}

std::optional<Json> asSequential(const Json& model) {
    if (!model.is_object() || model.value("type", Json()) != "mlp") {
        return std::nullopt;
    }
    Json layers = Json::array({{{"type", "flatten"}}});
    const double dropout = model.at("dropout").get<double>();
    for (const Json& width : model.at("hidden")) {
        layers.push_back({{"type", "linear"}, {"units", width}});
        layers.push_back({{"type", model.at("activation")}});
        if (dropout > 0) {
            layers.push_back({{"type", "dropout"}, {"rate", dropout}});
        }
    }
    layers.push_back({{"type", "linear"}});
    return Json{{"type", "sequential"}, {"layers", layers}};
}

} // namespace weft::ui
