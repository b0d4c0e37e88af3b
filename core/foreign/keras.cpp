// SPDX-License-Identifier: Apache-2.0
#include "core/foreign/keras.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hdf5_file.h"
#include "core/base/text.h"

#include <algorithm>
#include <map>
#include <span>

namespace weft::foreign {
namespace {

using config::Json;

/// The arrays of one layer by what follows the last '.': indices into the list.
struct KerasLayer {
    std::string scope;
    std::map<std::string, std::size_t> arrays;

    bool has(const char* name) const { return arrays.contains(name); }
};

std::vector<KerasLayer> layers_in_order(const std::vector<Array>& arrays) {
    std::vector<KerasLayer> out;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        const std::string& name = arrays[i].name;
        const std::size_t dot = name.rfind('.');
        const std::string scope = dot == std::string::npos ? std::string() : name.substr(0, dot);
        auto found = std::find_if(out.begin(), out.end(),
                                  [&](const KerasLayer& layer) { return layer.scope == scope; });
        if (found == out.end()) {
            out.push_back({scope, {}});
            found = std::prev(out.end());
        }
        found->arrays[dot == std::string::npos ? name : name.substr(dot + 1)] = i;
    }
    return out;
}

/// Whether the settings of a sequential model, or GPT-2's names, say so.
bool is_table(const std::string& scope, const Json& model) {
    if (scope == "wte" || scope == "wpe") {
        return true;
    }
    const Json* at = &model;
    const std::vector<std::string> parts = split(scope, '.');
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
        const bool indexed = std::all_of(parts[i + 1].begin(), parts[i + 1].end(),
                                         [](unsigned char c) { return c >= '0' && c <= '9'; });
        if (!at->is_object() || !at->contains(parts[i]) || !at->at(parts[i]).is_array() ||
            !indexed || parts[i + 1].size() > 6) {
            return false;
        }
        const std::size_t index = std::stoul(parts[i + 1]);
        if (index >= at->at(parts[i]).size()) {
            return false;
        }
        at = &at->at(parts[i])[index];
    }
    return at->is_object() && at->value("type", std::string()) == "embedding";
}

/// A class of Keras, as paths name it, and its variables in their order by our names.
struct KerasClass {
    const char* name = nullptr;
    std::vector<const char*> variables;
};

KerasClass class_of(const KerasLayer& layer, const std::vector<Array>& arrays, const Json& model) {
    if (!layer.has("weight") || !arrays[layer.arrays.at("weight")].type) {
        return {};
    }
    const std::size_t rank = arrays[layer.arrays.at("weight")].type->shape.rank();
    if (layer.has("running_mean")) {
        return {"batch_normalization", {"weight", "bias", "running_mean", "running_variance"}};
    }
    KerasClass out;
    out.variables = {"weight"};
    if (layer.has("bias")) {
        out.variables.push_back("bias");
    }
    if (rank == 1) {
        out.name = layer.has("bias") ? "layer_normalization" : "rms_normalization";
    } else if (rank == 2) {
        out.name = is_table(layer.scope, model) ? "embedding" : "dense";
    } else if (rank == 4) {
        out.name = "conv2d";
    }
    return out;
}

[[noreturn]] void no_such_layer(const std::string& scope) {
    throw Error(ErrorKind::checkpoint, scope, "no layer of Keras holds these arrays",
                "Export this model as safetensors or npz.");
}

} // namespace

std::vector<KerasVariable> keras_layout(const std::vector<Array>& arrays, const Json& model) {
    std::vector<KerasVariable> out;
    std::map<std::string, int> seen;
    for (const KerasLayer& layer : layers_in_order(arrays)) {
        const KerasClass found = class_of(layer, arrays, model);
        if (found.name == nullptr || found.variables.size() != layer.arrays.size()) {
            no_such_layer(layer.scope);
        }
        const int number = seen[found.name]++;
        const std::string folder = std::string("layers/") + found.name +
                                   (number == 0 ? "" : "_" + std::to_string(number)) + "/vars/";
        for (std::size_t i = 0; i < found.variables.size(); ++i) {
            const auto array = layer.arrays.find(found.variables[i]);
            if (array == layer.arrays.end()) {
                no_such_layer(layer.scope);
            }
            out.push_back({folder + std::to_string(i), array->second});
        }
    }
    return out;
}

void write_keras(const std::filesystem::path& path, const Arrays& weights, const Json& model) {
    const std::vector<KerasVariable> layout = keras_layout(weights.list, model);
    std::vector<Hdf5Spec> specs;
    for (const KerasVariable& variable : layout) {
        const ir::Shape& shape = weights.list[variable.array].type->shape;
        specs.push_back({variable.path, Hdf5Type::f32, {shape.begin(), shape.end()}});
    }
    std::filesystem::path part = path;
    part += ".part";
    remove_tree(part);
    try {
        const std::vector<Hdf5Dataset> places = create_hdf5(part, specs);
        File file(part, File::Mode::read_write, ErrorKind::checkpoint);
        for (std::size_t i = 0; i < layout.size(); ++i) {
            const std::vector<float> numbers = read_floats(weights, weights.list[layout[i].array]);
            file.write_at(std::as_bytes(std::span(numbers)), places[i].offset);
        }
        file.sync();
        file.close();
        rename_durably(part, path);
    } catch (const Error&) {
        remove_tree(part);
        throw;
    }
}

} // namespace weft::foreign
