// SPDX-License-Identifier: Apache-2.0
#include "core/foreign/arrays.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/checkpoint/safetensors.h"
#include "core/config/field.h"
#include "core/foreign/onnx.h"
#include "kernels/numbers.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

namespace weft::foreign {
namespace {

namespace fs = std::filesystem;
using checkpoint::SafetensorsEntry, checkpoint::SafetensorsFile;

constexpr const char* kIndexEnding = ".index.json";
constexpr const char* kWholeName = "model.safetensors";
constexpr const char* kIndexName = "model.safetensors.index.json";
constexpr std::int64_t kMostIndexBytes = 100 << 20; // as of the header of a file
constexpr std::size_t kMostIndexKeys = 2'000'000;
constexpr std::size_t kMostShards = 10'000;

[[noreturn]] void fail_index(const fs::path& path, const std::string& text) {
    throw Error(ErrorKind::checkpoint, path.string(), text,
                "the index is damaged or a shard is missing; get the folder again");
}

/// Where arrays lie: which file, and where in it.
struct Shelf {
    std::vector<SafetensorsFile> files;
    std::map<std::string, std::pair<std::size_t, const SafetensorsEntry*>> places;
};

Arrays arrays_on(std::shared_ptr<const Shelf> shelf, const fs::path& path) {
    Arrays out;
    out.path = path;
    for (const auto& [name, place] : shelf->places) {
        const SafetensorsEntry& entry = *place.second;
        out.list.push_back({name, entry.type, entry.stored + entry.shape});
    }
    out.read = [shelf = std::move(shelf)](const std::string& name, std::span<std::byte> into) {
        const auto& [file, entry] = shelf->places.at(name);
        checkpoint::read_safetensors_array(shelf->files[file], *entry, into);
    };
    return out;
}

Arrays open_file(const fs::path& path) {
    auto shelf = std::make_shared<Shelf>();
    shelf->files.push_back(checkpoint::read_safetensors(path));
    for (const SafetensorsEntry& entry : shelf->files[0].tensors) {
        shelf->places[entry.name] = {0, &entry};
    }
    return arrays_on(std::move(shelf), path);
}

/// Names of arrays by the name of the shard that is said to hold them.
std::map<std::string, std::vector<std::string>> read_index(const fs::path& path) {
    const config::Checked index =
        config::parse_json(read_file(path, kMostIndexBytes, ErrorKind::checkpoint), path.string(),
                           {.bytes = kMostIndexBytes, .keys = kMostIndexKeys});
    if (!index.ok()) {
        fail_index(path, "it cannot be read: " + to_text(index.diagnostics.front()));
    }
    const config::Json& root = index.value;
    if (!root.is_object() || !root.contains("weight_map") || !root["weight_map"].is_object()) {
        fail_index(path, "it has no object 'weight_map'");
    }
    std::map<std::string, std::vector<std::string>> out;
    for (const auto& [array, shard] : root["weight_map"].items()) {
        const std::string name = shard.is_string() ? shard.get<std::string>() : std::string();
        // A plain name: nothing outside the folder of the index is ever opened.
        if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.') ||
            name.find('\0') != std::string::npos || !checkpoint::is_safetensors(fs::path(name))) {
            fail_index(path, "the array '" + shown(array, 120) +
                                 "' lies in no file of this folder: '" + shown(name, 120) + "'");
        }
        out[name].push_back(array);
        if (out.size() > kMostShards) {
            fail_index(path, "it names more than " +
                                 format_thousands(static_cast<std::int64_t>(kMostShards)) +
                                 " shards");
        }
    }
    return out;
}

Arrays open_index(const fs::path& path) {
    auto shelf = std::make_shared<Shelf>();
    const auto index = read_index(path);
    shelf->files.reserve(index.size());
    for (const auto& [name, arrays] : index) {
        const fs::path file = path.parent_path() / name;
        std::error_code problem;
        if (!fs::is_regular_file(file, problem)) {
            fail_index(path, "its shard " + shown(name, 120) + " is not there");
        }
        const std::size_t at = shelf->files.size();
        shelf->files.push_back(checkpoint::read_safetensors(file));
        for (const std::string& array : arrays) {
            if (shelf->files[at].find(array) == nullptr) {
                fail_index(path, "the array '" + shown(array, 120) + "' is not in its shard " +
                                     shown(name, 120));
            }
        }
        for (const SafetensorsEntry& entry : shelf->files[at].tensors) {
            if (!shelf->places.try_emplace(entry.name, at, &entry).second) {
                fail_index(path, "the array '" + shown(entry.name, 120) + "' is in two shards, " +
                                     shown(name, 120) + " and another");
            }
        }
    }
    return arrays_on(std::move(shelf), path);
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

/// What open_weights opens of a folder; empty: nothing.
fs::path weights_in(const fs::path& folder) {
    std::error_code problem;
    for (const char* name : {kWholeName, kIndexName}) {
        if (fs::is_regular_file(folder / name, problem)) {
            return folder / name;
        }
    }
    return {};
}

} // namespace

const Array* Arrays::find(std::string_view name) const {
    const auto found =
        std::lower_bound(list.begin(), list.end(), name, [](const Array& one, std::string_view to) {
            return std::string_view(one.name) < to;
        });
    return found == list.end() || found->name != name ? nullptr : &*found;
}

std::vector<std::byte> read_array(const Arrays& source, const Array& array) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(array.type->bytes()));
    source.read(array.name, bytes);
    return bytes;
}

std::vector<float> read_floats(const Arrays& source, const Array& array) {
    if (!array.type || !ir::is_float(array.type->dtype)) {
        throw Error(ErrorKind::checkpoint, source.path.string(),
                    "the array '" + shown(array.name, 120) + "' has the element type of " +
                        array.text + ", where numbers are needed",
                    "use weights in f32, f16 or bf16");
    }
    std::vector<float> out(static_cast<std::size_t>(array.type->shape.elements()));
    if (array.type->dtype == ir::DType::f32) {
        source.read(array.name, std::as_writable_bytes(std::span(out)));
        return out;
    }
    const std::vector<std::byte> bytes = read_array(source, array);
    const auto size = static_cast<std::size_t>(ir::dtype_bytes(array.type->dtype));
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = wide(array.type->dtype, bytes.data() + i * size);
    }
    return out;
}

Arrays open_weights(const fs::path& path) {
    std::error_code problem;
    const fs::path file = fs::is_directory(path, problem) ? weights_in(path) : path;
    if (file.empty()) {
        throw Error(ErrorKind::checkpoint, path.string(),
                    std::string("the folder has neither ") + kWholeName + " nor " + kIndexName,
                    "name a file of safetensors, or a folder with one of these");
    }
    if (is_onnx(file)) {
        return open_onnx(file);
    }
    return file.string().ends_with(kIndexEnding) ? open_index(file) : open_file(file);
}

bool is_weights(const fs::path& path) {
    std::error_code problem;
    return checkpoint::is_safetensors(path) || path.string().ends_with(kIndexEnding) ||
           (is_onnx(path) && fs::is_regular_file(path, problem)) ||
           (fs::is_directory(path, problem) && !weights_in(path).empty());
}

} // namespace weft::foreign
