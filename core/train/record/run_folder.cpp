// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/run_folder.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/checkpoint/pointer.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <sys/stat.h>

namespace weft::train {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr int kMostRunsPerDay = 100000;
constexpr std::size_t kMostSlugBytes = 40;

// "Fashion MLP (v2)" -> "fashion-mlp-v2"; letters beyond ASCII stay: "Häuser" -> "häuser".
std::string slug(const std::string& name) {
    const bool utf8 = is_utf8(name);
    std::string out;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        const bool begins = (byte & 0xc0) != 0x80; // a character, or goes on with one
        if (out.size() >= kMostSlugBytes && begins) {
            break;
        }
        if (byte >= 0x80 ? utf8 : std::isalnum(byte) != 0) {
            out += byte < 0x80 ? static_cast<char>(std::tolower(byte)) : c;
        } else if (!out.empty() && out.back() != '-') {
            out += '-';
        }
    }
    while (!out.empty() && out.back() == '-') {
        out.pop_back();
    }
    return out.empty() ? "run" : out;
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", &local);
    return text;
}

// True when the folder is new; false when it exists.
bool make_new_folder(const fs::path& folder) {
    if (::mkdir(folder.c_str(), 0777) == 0) {
        return true;
    }
    const int number = errno;
    if (number == EEXIST) {
        return false;
    }
    throw Error(ErrorKind::runtime, folder.string(),
                "cannot create the run folder: " + system_error_text(number),
                "choose another place with --run-dir");
}

constexpr const char* kParts[] = {"checkpoints", "metrics", "samples", "logs", "profile"};

void make_parts(const fs::path& folder) {
    for (const char* part : kParts) {
        make_directories(folder / part);
    }
    write_file_atomically(folder / checkpoint::kRunPointerName, checkpoint::run_pointer_text());
}

// Nothing in it but the pointer and the empty parts of a run, logs and `config`.
bool holds_no_run(const fs::path& folder, const fs::path& config) {
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        const bool part = std::find(std::begin(kParts), std::end(kParts), name) != std::end(kParts);
        std::error_code problem;
        if (name == checkpoint::kRunPointerName) {
            continue;
        }
        if (part ? name != "logs" && !fs::is_empty(entry.path(), problem)
                 : config.empty() || !fs::equivalent(entry.path(), config, problem)) {
            return false;
        }
    }
    return true;
}

constexpr const char* kNoNumberLeft = "there is no free run number left for today";

fs::path numbered_folder(const fs::path& root, const std::string& name, int number) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%03d", number);
    return root / (today() + "_" + slug(name) + "_" + digits);
}

template <typename T>
void read_key(const Json& json, const char* key, T& into) {
    if (const auto found = json.find(key); found != json.end()) {
        into = found->get<T>();
    }
}

} // namespace

fs::path create_run_folder(const fs::path& root, const std::string& name) {
    make_directories(root);
    for (int number = 1; number < kMostRunsPerDay; ++number) {
        const fs::path folder = numbered_folder(root, name, number);
        if (make_new_folder(folder)) {
            make_parts(folder);
            return folder;
        }
    }
    throw Error(ErrorKind::runtime, root.string(), kNoNumberLeft,
                "choose another name or --run-dir");
}

fs::path next_run_folder(const fs::path& root, const std::string& name) {
    std::error_code problem;
    for (int number = 1; number < kMostRunsPerDay; ++number) {
        if (fs::path folder = numbered_folder(root, name, number); !fs::exists(folder, problem)) {
            return folder;
        }
    }
    throw Error(ErrorKind::runtime, root.string(), kNoNumberLeft,
                "choose another name or --run-dir");
}

void create_run_folder_at(const fs::path& folder, const fs::path& config) {
    std::error_code problem;
    if (fs::exists(folder, problem) && !fs::is_directory(folder, problem)) {
        throw Error(ErrorKind::usage, folder.string(), "is a file, not a folder",
                    "name a folder that is new or empty");
    }
    if (fs::is_directory(folder, problem) && !holds_no_run(folder, config)) {
        throw Error(ErrorKind::usage, folder.string(),
                    "the folder is not empty, and a run never overwrites another",
                    "name a new folder, or go on with `weft resume`");
    }
    make_directories(folder);
    make_parts(folder);
}

void write_run_info(const fs::path& folder, const RunInfo& info) {
    Json out = Json::object();
    out["schema_version"] = 1;
    out["id"] = info.id;
    out["name"] = info.name;
    out["parent"] = info.parent.empty() ? Json(nullptr)
                                        : Json({{"run", info.parent}, {"step", info.parent_step}});
    out["state"] = info.state;
    out["message"] = info.message;
    out["created"] = info.created;
    out["seconds"] = info.seconds;
    out["total_steps"] = info.total_steps;
    out["parameters"] = info.parameters;
    out["model"] = info.model;
    out["data"] = info.data;
    out["data_fingerprint"] = info.data_fingerprint;
    out["environment"] = info.environment;
    out["base_dir"] = info.base_dir;
    write_file_atomically(folder / "run.json",
                          out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

RunInfo read_run_info(const fs::path& folder) {
    const fs::path path = folder / "run.json";
    const Json json = config::json_or_discarded(read_file(path, 16 << 20));
    if (!json.is_object()) {
        throw Error(ErrorKind::runtime, path.string(), "is not a JSON object",
                    "the checkpoints of the run can still be used by their own paths");
    }
    RunInfo info;
    try {
        read_key(json, "id", info.id);
        read_key(json, "name", info.name);
        if (const auto parent = json.find("parent"); parent != json.end() && parent->is_object()) {
            read_key(*parent, "run", info.parent);
            read_key(*parent, "step", info.parent_step);
        }
        read_key(json, "state", info.state);
        read_key(json, "message", info.message);
        read_key(json, "created", info.created);
        read_key(json, "seconds", info.seconds);
        read_key(json, "total_steps", info.total_steps);
        read_key(json, "parameters", info.parameters);
        read_key(json, "model", info.model);
        read_key(json, "data", info.data);
        read_key(json, "data_fingerprint", info.data_fingerprint);
        read_key(json, "environment", info.environment);
        read_key(json, "base_dir", info.base_dir);
    } catch (const Json::exception& fault) {
        throw Error(ErrorKind::runtime, path.string(),
                    std::string("holds a value of the wrong type: ") + fault.what());
    }
    return info;
}

compile::CheckedRun read_frozen_config(const fs::path& folder,
                                       const std::vector<std::string>& overrides) {
    const fs::path path = folder / "config.json";
    std::string text;
    std::string base_dir;
    try {
        text = read_file(path, 16 << 20, ErrorKind::usage);
        base_dir = read_run_info(folder).base_dir;
    } catch (const Error& fault) {
        if (text.empty()) {
            compile::CheckedRun out;
            out.diagnostics.push_back(
                {"", config::Severity::error, fault.message(), "name the folder of a run"});
            return out;
        }
        // Without run.json relative paths count from the run folder.
    }
    return compile::read_run_config(std::string_view(text),
                                    base_dir.empty() ? folder : fs::path(base_dir), overrides);
}

bool is_run_folder(const fs::path& folder) {
    std::error_code problem;
    return fs::is_regular_file(folder / "run.json", problem) ||
           fs::is_regular_file(folder / "events.jsonl", problem);
}

fs::path default_runs_root(const fs::path& variable, const fs::path& home) {
    return fs::absolute(variable.empty() ? home / "WeftRuns" : variable);
}

} // namespace weft::train
