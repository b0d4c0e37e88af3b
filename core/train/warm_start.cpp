// SPDX-License-Identifier: Apache-2.0
#include "core/train/warm_start.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/safetensors.h"
#include "core/train/engine.h"
#include "kernels/numbers.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>

namespace weft::train {
namespace {

namespace fs = std::filesystem;

/// Arrays by name, wherever they lie.
struct Source {
    struct Array {
        std::string name;
        std::optional<ir::Type> type; // none: of an element type that we do not have
        std::string text;             // "F16[768,3072]"
    };
    fs::path path;
    bool averaged = false; // reads the moving average of a weight where there is one
    std::vector<Array> arrays;
    std::function<void(const std::string& name, std::span<std::byte> into)> read;

    const Array* find(std::string_view name) const {
        const auto found = std::find_if(arrays.begin(), arrays.end(),
                                        [&](const Array& array) { return array.name == name; });
        return found == arrays.end() ? nullptr : &*found;
    }
};

Source open_safetensors(const fs::path& path) {
    const checkpoint::SafetensorsFile file = checkpoint::read_safetensors(path);
    Source source;
    source.path = path;
    for (const checkpoint::SafetensorsEntry& entry : file.tensors) {
        source.arrays.push_back({entry.name, entry.type, entry.stored + entry.shape});
    }
    source.read = [file](const std::string& name, std::span<std::byte> into) {
        checkpoint::read_safetensors_array(file, *file.find(name), into);
    };
    return source;
}

/// Whether a run was measured with its averaged weights: then these are what it has to give.
bool evaluates_average(const checkpoint::Manifest& manifest) {
    const auto is_average = [](const checkpoint::TensorInfo& tensor) {
        return tensor.name.starts_with(kAveragePrefix);
    };
    const config::Json::json_pointer setting("/evaluation/use_ema");
    const config::Json& config = manifest.record.config;
    return std::any_of(manifest.tensors.begin(), manifest.tensors.end(), is_average) &&
           (!config.contains(setting) || config.at(setting) != false);
}

Source open_source(const fs::path& path) {
    if (checkpoint::is_safetensors(path)) {
        return open_safetensors(path);
    }
    const checkpoint::Manifest manifest =
        checkpoint::read_manifest(find_checkpoint(path, "latest"));
    Source source;
    source.path = manifest.path;
    const bool averaged = evaluates_average(manifest);
    for (const checkpoint::TensorInfo& tensor : manifest.tensors) {
        if (tensor.kind != "optimizer") {
            source.arrays.push_back({tensor.name, tensor.type, ir::to_text(tensor.type)});
        }
    }
    source.averaged = averaged;
    source.read = [manifest, averaged](const std::string& name, std::span<std::byte> into) {
        const std::string average = std::string(kAveragePrefix) + name;
        const bool has_average = averaged && manifest.find(average) != nullptr;
        checkpoint::read_tensor(manifest, has_average ? average : name, into);
    };
    return source;
}

float wide(ir::DType dtype, const std::byte* at) {
    if (dtype == ir::DType::f64) {
        double value = 0;
        std::memcpy(&value, at, sizeof value);
        return static_cast<float>(value);
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return dtype == ir::DType::f16 ? kernels::to_float(kernels::f16{bits})
                                   : kernels::to_float(kernels::bf16{bits});
}

/// Whether an array can become a slot: the same extents, and a float where the slot keeps f32.
bool fits(const Source::Array& array, const ir::Type& slot) {
    if (!array.type || !(array.type->shape == slot.shape)) {
        return false;
    }
    return array.type->dtype == slot.dtype ||
           (slot.dtype == ir::DType::f32 && ir::is_float(array.type->dtype));
}

std::vector<std::byte> read_as(const Source& source, const Source::Array& array,
                               const ir::Type& slot) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(array.type->bytes()));
    source.read(array.name, bytes);
    if (array.type->dtype == slot.dtype) {
        return bytes;
    }
    const auto size = static_cast<std::size_t>(ir::dtype_bytes(array.type->dtype));
    std::vector<std::byte> out(static_cast<std::size_t>(slot.bytes()));
    for (std::size_t i = 0; i < bytes.size() / size; ++i) {
        const float value = wide(array.type->dtype, bytes.data() + i * size);
        std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
    }
    return out;
}

std::string named_list(const std::vector<std::string>& names) {
    constexpr std::size_t kNamed = 8;
    std::vector<std::string> shown(
        names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamed)));
    const std::string text = join(shown, ", ");
    return names.size() > kNamed ? text + " and " + std::to_string(names.size() - kNamed) + " more"
                                 : text;
}

bool is_weight(const plan::StateSlot& slot) {
    return slot.saved && slot.category != plan::Category::optimizer &&
           !slot.name.starts_with(kAveragePrefix);
}

void check_strict(const WarmStart& start, const std::vector<std::string>& missing_parameters) {
    if (missing_parameters.empty() && start.misfits.empty()) {
        return;
    }
    std::string text;
    if (!missing_parameters.empty()) {
        text = "lacks " + named_list(missing_parameters);
    }
    if (!start.misfits.empty()) {
        text += (text.empty() ? "" : "; ") + std::string("has another shape: ") +
                named_list(start.misfits);
    }
    if (!start.unused.empty()) {
        text += "; it has besides " + named_list(start.unused);
    }
    throw Error(ErrorKind::checkpoint, start.source.string(), text,
                "set init.strict to false to start the others anew, or use the model that the "
                "weights were made for");
}

} // namespace

WarmStart load_start_weights(exec::Executor& executor, const compile::RunConfig& config) {
    const fs::path from = config.section("init").at("from").get<std::string>();
    const bool strict = config.section("init").at("strict").get<bool>();
    const Source source = open_source(from.is_absolute() ? from : config.base_dir / from);
    WarmStart start;
    start.source = source.path;
    start.averaged = source.averaged;
    std::set<std::string_view> used;
    std::vector<std::string> missing_parameters;
    std::vector<std::pair<const plan::StateSlot*, const Source::Array*>> pairs;
    for (const plan::StateSlot& slot : executor.plan().state_slots) {
        if (!is_weight(slot)) {
            continue;
        }
        const Source::Array* array = source.find(slot.name);
        if (array == nullptr) {
            start.missing.push_back(slot.name);
            if (slot.category == plan::Category::parameters) {
                missing_parameters.push_back(slot.name);
            }
            continue;
        }
        used.insert(array->name);
        if (fits(*array, slot.whole)) {
            pairs.emplace_back(&slot, array);
        } else {
            start.misfits.push_back(slot.name + " (" + array->text + " there, " +
                                    ir::to_text(slot.whole) + " here)");
        }
    }
    for (const Source::Array& array : source.arrays) {
        if (!used.contains(array.name) && !array.name.starts_with(kAveragePrefix)) {
            start.unused.push_back(array.name);
        }
    }
    if (strict) {
        check_strict(start, missing_parameters); // before anything is overwritten
    }
    if (pairs.empty()) {
        throw Error(ErrorKind::checkpoint, source.path.string(),
                    "none of its arrays has the name and shape of one of the model's; it has " +
                        named_list(start.unused),
                    "`weft checkpoint show` lists the names of a saved model");
    }
    for (const auto& [slot, array] : pairs) {
        executor.write_slot(slot->name, read_as(source, *array, slot->whole));
        ++start.loaded;
    }
    for (const plan::StateSlot& slot : executor.plan().state_slots) {
        if (slot.name.starts_with(kAveragePrefix)) {
            executor.write_slot(slot.name,
                                executor.read_slot(slot.name.substr(kAveragePrefix.size())));
        }
    }
    return start;
}

std::string to_text(const WarmStart& start) {
    std::string text = "started with " + std::to_string(start.loaded) + " arrays of " +
                       start.source.filename().string() +
                       (start.averaged ? ", the averaged weights" : "");
    if (!start.missing.empty()) {
        text += "; not there, so they start anew: " + named_list(start.missing);
    }
    if (!start.misfits.empty()) {
        text += "; of another shape, so they start anew: " + named_list(start.misfits);
    }
    if (!start.unused.empty()) {
        text += "; not used: " + named_list(start.unused);
    }
    return text;
}

} // namespace weft::train
