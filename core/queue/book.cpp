// SPDX-License-Identifier: Apache-2.0
#include "core/queue/book.h"

#include "core/base/text.h"

#include <algorithm>

namespace weft::queue {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr int kFormat = 1;
constexpr std::int64_t kMostBookBytes = 256 << 20;

Path book_file(const Path& folder) {
    return folder / "queue.json";
}

Json to_json(const Book& book) {
    Json entries = Json::array();
    for (const Entry& entry : book.entries) {
        entries.push_back(queue::to_json(entry));
    }
    Json sweeps = Json::array();
    for (const Sweep& sweep : book.sweeps) {
        sweeps.push_back(queue::to_json(sweep));
    }
    return {{"format", kFormat},
            {"next_id", book.next_id},
            {"entries", std::move(entries)},
            {"sweeps", std::move(sweeps)}};
}

Book book_of(const Json& json) {
    Book out;
    out.next_id = json.at("next_id").get<std::int64_t>();
    for (const Json& entry : json.at("entries")) {
        out.entries.push_back(entry_of(entry));
        out.next_id = std::max(out.next_id, out.entries.back().id + 1);
    }
    for (const Json& sweep : json.at("sweeps")) {
        out.sweeps.push_back(sweep_of(sweep));
    }
    return out;
}

std::string text_of(const Book& book) {
    return to_json(book).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Empty when there is no file yet.
std::string text_in(const Path& folder) {
    std::error_code problem;
    return fs::exists(book_file(folder), problem) ? read_file(book_file(folder), kMostBookBytes)
                                                  : std::string();
}

Book parse_book(const std::string& text, const Path& folder) {
    if (text.empty()) {
        return {};
    }
    const Json json = config::json_or_discarded(text);
    const bool newer = json.is_object() && json.contains("format") &&
                       json["format"].is_number_integer() && json["format"].get<int>() > kFormat;
    if (newer) {
        throw Error(ErrorKind::runtime, book_file(folder).string(),
                    "the queue was written by a newer version of Weft",
                    "Use that version; this one would lose what it does not know.");
    }
    try {
        return book_of(json);
    } catch (const Json::exception& fault) {
        throw Error(ErrorKind::runtime, book_file(folder).string(),
                    "the queue cannot be read: " + shown(fault.what(), 200),
                    "Mend the file or move it away; the runs are in their own folders.");
    }
}

} // namespace

Entry* Book::find(std::int64_t id) {
    return const_cast<Entry*>(std::as_const(*this).find(id));
}

const Entry* Book::find(std::int64_t id) const {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [id](const Entry& entry) { return entry.id == id; });
    return found == entries.end() ? nullptr : &*found;
}

const Sweep* Book::find_sweep(std::string_view name) const {
    const auto found = std::find_if(sweeps.begin(), sweeps.end(),
                                    [name](const Sweep& sweep) { return sweep.name == name; });
    return found == sweeps.end() ? nullptr : &*found;
}

Entry& Book::add(Entry entry) {
    entry.id = next_id++;
    entries.push_back(std::move(entry));
    return entries.back();
}

std::vector<std::size_t> Book::trials_of(std::string_view sweep) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!sweep.empty() && entries[i].sweep == sweep) {
            out.push_back(i);
        }
    }
    std::sort(out.begin(), out.end(),
              [this](std::size_t a, std::size_t b) { return entries[a].trial < entries[b].trial; });
    return out;
}

Path folder_under(const Path& runs_root) {
    return runs_root / "queue";
}

Book read_book(const Path& folder) {
    return parse_book(text_in(folder), folder);
}

std::string stamp_of(const Path& folder) {
    std::error_code problem;
    const auto time = fs::last_write_time(book_file(folder), problem);
    const auto bytes = problem ? 0 : fs::file_size(book_file(folder), problem);
    return problem ? std::string()
                   : std::to_string(time.time_since_epoch().count()) + " " + std::to_string(bytes);
}

void change_book(const Path& folder, const std::function<void(Book&)>& change) {
    make_directories(folder);
    FileReplacement replacement(book_file(folder));
    const std::string before = text_in(folder);
    Book book = parse_book(before, folder);
    change(book);
    const std::string after = text_of(book);
    if (after != before) {
        replacement.part().write(after);
        replacement.commit();
    }
}

Path config_file(const Path& folder, std::int64_t id) {
    return folder / "configs" / (std::to_string(id) + ".json");
}

Path log_file(const Path& folder, std::int64_t id) {
    return folder / "logs" / (std::to_string(id) + ".txt");
}

} // namespace weft::queue
