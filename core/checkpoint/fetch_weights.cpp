// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/fetch_weights.h"

#include "core/base/error.h"
#include "core/checkpoint/manifest_json.h"
#include "core/checkpoint/remote.h"
#include "core/store/local_copy.h"

#include <algorithm>

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kArraysEndings[] = {".safetensors", ".onnx"};
constexpr std::string_view kIndexEnding = ".index.json";
// config.json, adapter_config.json, tokenizers: small files that say what weights are.
constexpr std::string_view kDescribing[] = {".json", ".model", ".txt"};
constexpr std::int64_t kMostDescribingBytes = 100 << 20;

template <class Endings>
bool ends_with_one(const std::string& name, const Endings& endings) {
    return std::any_of(std::begin(endings), std::end(endings),
                       [&](std::string_view ending) { return name.ends_with(ending); });
}

/// Whether an object belongs to weights in its folder: what describes them, and arrays where
/// `arrays` is set.
bool is_wanted(const store::ObjectInfo& object, const std::string& folder, bool arrays) {
    const std::string name = object.key.substr(folder.size());
    return !name.empty() && name.find('/') == std::string::npos &&
           ((arrays && ends_with_one(name, kArraysEndings)) ||
            (object.bytes <= kMostDescribingBytes && ends_with_one(name, kDescribing)));
}

fs::path fetch_files(store::ObjectStore& from, const store::Address& named) {
    const store::CopyOptions options{.folder = store::copies_folder()};
    const auto listed = from.list(named.key);
    const bool file = std::any_of(listed.begin(), listed.end(), [&](const store::ObjectInfo& one) {
        return one.key == named.key;
    });
    const store::Address folder = file ? named.parent() : named;
    const std::string prefix = folder.key.empty() ? "" : folder.key + "/";
    const bool whole = !file || named.key.ends_with(kIndexEnding);
    bool found = file;
    for (const store::ObjectInfo& object : from.list(prefix)) {
        if (object.key == named.key || is_wanted(object, prefix, whole)) {
            store::local_copy(from, folder.below(object.key.substr(prefix.size())), options);
            found = true;
        }
    }
    if (!found) {
        throw Error(
            ErrorKind::checkpoint, named.text(), "there are no weights",
            "Name a checkpoint, a run, a file of safetensors, or a folder with such files.");
    }
    return store::copy_path(options.folder, named);
}

} // namespace

fs::path fetch_weights(const store::Address& named) {
    store::ObjectStore store(named, store::access_of(named));
    const bool one = step_of_folder(named.name()).has_value();
    if (!one && !is_remote_run(store, named)) {
        return fetch_files(store, named);
    }
    const store::Address address = one ? named : find_remote(store, named);
    return fetch_checkpoint(store, address,
                            store::copy_path(store::copies_folder(), address.parent()));
}

} // namespace weft::checkpoint
