// SPDX-License-Identifier: Apache-2.0
#include "core/data/recognise.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/data/formats/format_list.h"

#include <algorithm>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

/// The section of a format for a path; nothing when the format does not know it. What keeps a
/// format from saying so is one of its problems.
std::optional<Recognised> proposed_by(const FormatDef& format, const fs::path& path,
                                      const OpenContext& context) {
    try {
        if (format.propose == nullptr || !format.sniff(path)) {
            return std::nullopt;
        }
        Recognised out;
        out.format = format.name;
        out.data = format.propose(path, context);
        return out;
    } catch (const Error& error) {
        Recognised out;
        out.format = format.name;
        out.problems.push_back(error.message());
        return out;
    }
}

bool begins_with(const fs::path& path, std::string_view magic) {
    std::error_code unreadable;
    if (!fs::is_regular_file(path, unreadable)) {
        return false;
    }
    const File file(path, File::Mode::read, ErrorKind::data);
    const auto bytes = static_cast<std::int64_t>(magic.size());
    return file.size() >= bytes && read_range(file, 0, bytes) == magic;
}

/// Why no format knows a path, as well as it can be said.
std::string unknown(const fs::path& path) {
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (!fs::exists(status)) {
        return "There is no such file or folder.";
    }
    if (fs::is_regular_file(status) && fs::is_empty(path, code)) {
        return "The file is empty.";
    }
    const std::string ending = path.extension().string();
    if (ending == ".npz") {
        return "Archives of arrays are not read: save each with numpy.save as .npy, or use HDF5.";
    }
    if (ending == ".zip" || ending == ".gz" || ending == ".tar" || ending == ".7z") {
        return "This is an archive: unpack it first.";
    }
    if (ending == ".xlsx" || ending == ".xls" || ending == ".ods") {
        return "This is a spreadsheet: save it as CSV in UTF-8.";
    }
    if (ending == ".parquet" || begins_with(path, "PAR1")) {
        return "This is a Parquet file, for which Debian has no library: make a table of it by "
               "python3 "
               "-c \"import pandas, sys; pandas.read_parquet(sys.argv[1]).to_csv(sys.argv[2], "
               "index=False)\" table.parquet table.csv";
    }
    if (ending == ".feather" || ending == ".arrow") {
        return "Columns of this kind are not read: save the table as CSV, or arrays as .npy.";
    }
    return fs::is_directory(status)
               ? "The folder holds no data that is known: folders of PNG or JPEG files, one per "
                 "class; text files; arrays with targets beside them (X.npy, y.npy); MNIST files."
               : "The file is none of these: a table (CSV), a text, JSON lines, an array of numpy, "
                 "HDF5, MNIST's images.";
}

} // namespace

Recognised describe(const Json& data_section, const OpenContext& context) {
    Recognised out;
    out.data = data_section;
    try {
        const Json section = checked_section(data_section);
        const FormatDef& format = format_of(section.at("train"));
        out.format = format.name;
        if (format.look != nullptr) {
            Look look = format.look(section.at("train"), context);
            out.summary = std::move(look.summary);
            out.columns = std::move(look.columns);
            out.classes = std::move(look.classes);
            out.notes = std::move(look.notes);
        }
        if (!context.stop.stop_requested()) {
            out.outline = outline_data(section, context);
            out.summary = out.summary.empty() ? out.outline->sample.description : out.summary;
        }
    } catch (const Error& error) {
        out.problems.push_back(error.message());
    }
    return out;
}

Recognition recognise(const fs::path& path, const OpenContext& given) {
    Recognition out;
    const fs::path full = fs::absolute(path).lexically_normal();
    std::error_code ignored;
    if (fs::is_regular_file(full, ignored)) {
        try {
            const File readable(full, File::Mode::read, ErrorKind::data);
        } catch (const Error& error) {
            out.problems.push_back(error.message());
            return out;
        }
    }
    OpenContext context = given;
    context.base_dir.clear(); // what is proposed has absolute paths
    for (const FormatDef* format : kFormats) {
        if (context.stop.stop_requested()) {
            break;
        }
        if (auto found = proposed_by(*format, full, context)) {
            out.formats.push_back(found->problems.empty() ? describe(found->data, context)
                                                          : std::move(*found));
        }
    }
    // What can be read comes before what only looks like it.
    std::stable_partition(out.formats.begin(), out.formats.end(),
                          [](const Recognised& one) { return one.problems.empty(); });
    if (out.formats.empty()) {
        out.problems.push_back(unknown(full));
    }
    return out;
}

} // namespace weft::data
