// SPDX-License-Identifier: Apache-2.0
// Files of ARC tasks, as github.com/fchollet/ARC-AGI and the ARC Prize publish them.
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/config/json.h"
#include "core/data/puzzles/arc.h"

#include <algorithm>
#include <map>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::int64_t kMostTaskBytes = std::int64_t{1} << 30;
constexpr std::int64_t kSniffedTaskBytes = 4096;
constexpr int kSniffedEntries = 64;
constexpr std::string_view kChallenges = "_challenges.json";

[[noreturn]] void fail_task(const fs::path& file, const std::string& place, const std::string& text,
                            const std::string& hint) {
    throw Error(ErrorKind::data, file.string(), (place.empty() ? "" : place + ": ") + text, hint);
}

Json read_tasks_json(const fs::path& file) {
    try {
        return Json::parse(read_file(file, kMostTaskBytes, ErrorKind::data));
    } catch (const Json::parse_error& error) {
        fail_task(file, "byte " + std::to_string(error.byte), "the text is no JSON from here on",
                  "Copy the file again.");
    }
}

bool is_file_at(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

/// One file, from which errors are told.
class TaskFile {
public:
    explicit TaskFile(fs::path file) : file_(std::move(file)) {}

    std::vector<ArcTask> read() const {
        const Json all = read_tasks_json(file_);
        if (!all.is_object() || all.empty()) {
            fail_task(file_, "", "it is no object of tasks", kOneTask);
        }
        if (all.contains("train")) {
            return {task("", file_.stem().string(), all)};
        }
        const Json answers = solutions();
        std::vector<ArcTask> out;
        for (const auto& [name, one] : all.items()) {
            out.push_back(task("/" + name, name, one));
            if (answers.is_object()) {
                answer(out.back(), answers);
            }
        }
        return out;
    }

private:
    static constexpr const char* kOneTask =
        R"(A task is {"train": [{"input": [[0, 1], [1, 0]], "output": ...}], "test": [...]}.)";

    fs::path solutions_file() const {
        const std::string name = file_.filename().string();
        return name.ends_with(kChallenges)
                   ? file_.parent_path() /
                         (name.substr(0, name.size() - kChallenges.size()) + "_solutions.json")
                   : fs::path();
    }

    Json solutions() const {
        const fs::path file = solutions_file();
        return is_file_at(file) ? read_tasks_json(file) : Json();
    }

    ArcTask task(const std::string& place, const std::string& name, const Json& told) const {
        if (!told.is_object() || !told.contains("train") || !told.at("train").is_array()) {
            fail_task(file_, place, "there is no list \"train\"", kOneTask);
        }
        ArcTask out;
        out.name = name;
        out.train = pairs(place + "/train", told.at("train"), true);
        const Json test = told.value("test", Json::array());
        if (!test.is_array()) {
            fail_task(file_, place + "/test", "it is no list", kOneTask);
        }
        out.test = pairs(place + "/test", test, false);
        if (out.train.empty()) {
            fail_task(file_, place + "/train", "no pair shows the rule", kOneTask);
        }
        return out;
    }

    std::vector<ArcPair> pairs(const std::string& place, const Json& told, bool answered) const {
        std::vector<ArcPair> out;
        for (std::size_t i = 0; i < told.size(); ++i) {
            const std::string at = place + "/" + std::to_string(i);
            if (!told[i].is_object() || !told[i].contains("input") ||
                (answered && !told[i].contains("output"))) {
                fail_task(file_, at,
                          std::string("it has no \"input\"") +
                              (answered ? " or no \"output\"" : ""),
                          kOneTask);
            }
            ArcPair pair;
            pair.input = grid(file_, at + "/input", told[i].at("input"));
            if (told[i].contains("output") && !told[i].at("output").is_null()) {
                pair.output = grid(file_, at + "/output", told[i].at("output"));
            }
            out.push_back(std::move(pair));
        }
        return out;
    }

    /// Answers of a task's test pairs, which are not beside the questions.
    void answer(ArcTask& task, const Json& answers) const {
        const fs::path file = solutions_file();
        const Json own = answers.value(task.name, Json());
        if (!own.is_array() || own.size() != task.test.size()) {
            fail_task(file, "/" + task.name,
                      "there are not as many answers as the task has test pairs, which are " +
                          std::to_string(task.test.size()),
                      "Copy both files again: they belong together.");
        }
        for (std::size_t i = 0; i < own.size(); ++i) {
            task.test[i].output = grid(file, "/" + task.name + "/" + std::to_string(i), own[i]);
        }
    }

    static ArcGrid grid(const fs::path& file, const std::string& place, const Json& told) {
        if (!told.is_array() || told.empty() || told.size() > kArcSide || !told[0].is_array() ||
            told[0].empty() || told[0].size() > kArcSide) {
            fail_task(file, place, "it is no grid of 1 to 30 rows of 1 to 30 cells",
                      "A grid is a list of rows: [[0, 1], [1, 0]].");
        }
        ArcGrid out{.rows = static_cast<int>(told.size()),
                    .columns = static_cast<int>(told[0].size())};
        for (std::size_t row = 0; row < told.size(); ++row) {
            const std::string at = place + "/" + std::to_string(row);
            if (!told[row].is_array() || told[row].size() != told[0].size()) {
                fail_task(file, at,
                          "the row has not the " + std::to_string(told[0].size()) +
                              " cells of the first one",
                          "All rows of a grid are as long as the first.");
            }
            for (std::size_t column = 0; column < told[row].size(); ++column) {
                const Json& cell = told[row][column];
                if (!cell.is_number_integer() || cell < 0 || cell >= kArcColours) {
                    fail_task(file, at + "/" + std::to_string(column),
                              shown(cell.dump()) + " is no colour",
                              "Colours are whole numbers from 0 to 9.");
                }
                out.cells.push_back(cell.get<std::uint8_t>());
            }
        }
        return out;
    }

    fs::path file_;
};

std::vector<fs::path> entries_of(const fs::path& folder) {
    std::vector<fs::path> out;
    std::error_code unreadable;
    for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
        out.push_back(entry.path());
    }
    std::sort(out.begin(), out.end());
    return out;
}

bool is_task_file(const fs::path& path) {
    const std::string name = path.filename().string();
    return path.extension() == ".json" && is_file_at(path) && !name.ends_with("_solutions.json") &&
           !name.ends_with("sample_submission.json");
}

/// Tasks that belong together: a folder of them, or a file of many.
struct TaskSet {
    std::string name;
    std::vector<fs::path> files;
};

std::vector<TaskSet> sets_of(const fs::path& path) {
    if (is_file_at(path)) {
        return {{path.filename().string(), {path}}};
    }
    std::vector<TaskSet> out;
    TaskSet own{path.filename().string(), {}};
    for (const fs::path& entry : entries_of(path)) {
        if (is_task_file(entry)) {
            if (entry.filename().string().ends_with(kChallenges)) {
                out.push_back({entry.filename().string(), {entry}});
            } else {
                own.files.push_back(entry);
            }
            continue;
        }
        TaskSet inner{entry.filename().string(), {}};
        const std::vector<fs::path> files = entries_of(entry);
        std::copy_if(files.begin(), files.end(), std::back_inserter(inner.files), is_task_file);
        if (!inner.files.empty()) {
            out.push_back(std::move(inner));
        }
    }
    if (!own.files.empty()) {
        out.push_back(std::move(own));
    }
    return out;
}

/// Of the first entries of a folder, which may have very many; empty: there is none.
fs::path first_task_file(const fs::path& folder) {
    std::error_code unreadable;
    int looked = 0;
    for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
        if (is_task_file(entry.path())) {
            return entry.path();
        }
        if (++looked == kSniffedEntries) {
            break;
        }
    }
    return {};
}

bool is_evaluation(const TaskSet& set) {
    return set.name.find("evaluation") != std::string::npos;
}

} // namespace

std::vector<ArcTask> read_arc_tasks(const fs::path& path) {
    const std::vector<TaskSet> sets = sets_of(path);
    const bool parted = sets.size() > 1 && std::any_of(sets.begin(), sets.end(), is_evaluation);
    std::map<std::string, std::pair<ArcTask, fs::path>> found;
    for (const TaskSet& set : sets) {
        for (const fs::path& file : set.files) {
            for (ArcTask& task : TaskFile(file).read()) {
                task.judged = !parted || is_evaluation(set);
                const std::string name = task.name;
                const auto [at, added] = found.emplace(name, std::pair(std::move(task), file));
                if (!added) {
                    fail_task(
                        file, "", "task " + name + " is in " + at->second.second.string() + ", too",
                        "Leave one of the two out: what is learnt of a task goes by its name.");
                }
            }
        }
    }
    if (found.empty()) {
        fail_task(path, "", "there are no tasks of ARC here",
                  "A folder holds files of tasks, *.json, or folders of them.");
    }
    std::vector<ArcTask> out;
    for (auto& [name, one] : found) {
        out.push_back(std::move(one.first));
    }
    return out;
}

bool looks_like_arc_tasks(const fs::path& path) {
    fs::path found = path;
    for (const fs::path& folder : {path, path / "training", path / "evaluation"}) {
        if (!is_file_at(found)) {
            found = first_task_file(folder);
        }
    }
    if (!is_file_at(found) || found.extension() != ".json") {
        return false;
    }
    try {
        const File file(found, File::Mode::read, ErrorKind::data);
        const std::string begin =
            read_range(file, 0, std::min<std::int64_t>(file.size(), kSniffedTaskBytes));
        const auto has = [&](const char* word) { return begin.find(word) != std::string::npos; };
        return begin.starts_with("{") && has("\"input\"") &&
               (has("\"train\"") || has("\"test\"")) && has("[");
    } catch (const Error&) {
        return false;
    }
}

} // namespace weft::data
