// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/pointer.h"

#include "core/base/file.h"
#include "core/checkpoint/manifest_json.h"

#include <algorithm>
#include <span>

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr int kPointerVersion = 1;
constexpr std::int64_t kMostPointerBytes = 64 << 10;

// What makes a folder a run or a checkpoint: one of these.
constexpr const char* kRunFiles[] = {"run.json", "events.jsonl"};
constexpr const char* kCheckpointFiles[] = {kManifestName};

struct Kind {
    const char* what; // also the member that says where
    std::span<const char* const> files;
};

Json read_pointer(const fs::path& path) {
    Json json = config::json_or_discarded(read_file(path, kMostPointerBytes, ErrorKind::usage));
    const auto version = json.is_object() ? json.find("schema_version") : json.end();
    if (version == json.end() || !version->is_number_integer()) {
        throw Error(ErrorKind::usage, path.string(), "does not point to a run or a checkpoint",
                    "open the folder of the run itself");
    }
    if (version->get<std::int64_t>() > kPointerVersion) {
        throw Error(ErrorKind::usage, path.string(),
                    "was written by a newer version of Weft (schema_version " + version->dump() +
                        "; this one reads " + std::to_string(kPointerVersion) + ")",
                    "open the folder it lies in, or update Weft");
    }
    return json;
}

} // namespace

std::string run_pointer_text() {
    return Json({{"schema_version", kPointerVersion}, {"run", "."}}).dump(2) + "\n";
}

std::string checkpoint_pointer_text(std::int64_t step) {
    return Json({{"schema_version", kPointerVersion}, {"checkpoint", "."}, {"step", step}})
               .dump(2) +
           "\n";
}

bool is_run_pointer(const fs::path& path) {
    return path.extension() == fs::path(kRunPointerName).extension();
}

bool is_checkpoint_pointer(const fs::path& path) {
    return path.extension() == fs::path(kCheckpointPointerName).extension();
}

fs::path follow_pointer(const fs::path& path) {
    std::error_code problem;
    if ((!is_run_pointer(path) && !is_checkpoint_pointer(path)) ||
        fs::is_directory(path, problem)) {
        return path;
    }
    const Kind kind =
        is_run_pointer(path) ? Kind{"run", kRunFiles} : Kind{"checkpoint", kCheckpointFiles};
    const Json json = read_pointer(path);
    const auto place = json.find(kind.what);
    if (place == json.end() || !place->is_string()) {
        throw Error(ErrorKind::usage, path.string(),
                    std::string("does not say where its ") + kind.what + " is",
                    std::string("open the folder of the ") + kind.what + " itself");
    }
    fs::path folder =
        (fs::absolute(path).parent_path() / place->get<std::string>()).lexically_normal();
    folder = folder.has_filename() ? folder : folder.parent_path();
    if (std::none_of(kind.files.begin(), kind.files.end(), [&](const char* name) {
            return fs::is_regular_file(folder / name, problem);
        })) {
        throw Error(ErrorKind::usage, path.string(),
                    std::string("this file only points to a ") + kind.what + ", and there is no " +
                        kind.what + " in " + folder.string(),
                    std::string("open it where it was made, in the folder of the ") + kind.what);
    }
    return folder;
}

} // namespace weft::checkpoint
