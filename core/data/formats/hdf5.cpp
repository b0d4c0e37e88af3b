// SPDX-License-Identifier: Apache-2.0
// hdf5: two data sets of one file, inputs and targets. Plain ones are read from the file sample by
// sample; chunked, compressed and converted ones lie in memory. What is too large for that is read
// block by block.
#include "core/base/hdf5_arrays.h"
#include "core/base/hdf5_rows.h"
#include "core/base/machine.h"
#include "core/base/text.h"
#include "core/data/arrays/array_source.h"
#include "core/data/formats/format_list.h"
#include "core/data/sampler.h"

#include <algorithm>
#include <array>

namespace weft::data {
namespace {

namespace fs = std::filesystem;
using config::Json;

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kHdf5Names = {{
    {"x_train", "y_train"},
    {"X_train", "y_train"},
    {"train_x", "train_y"},
    {"train_set_x", "train_set_y"},
    {"inputs", "targets"},
    {"features", "targets"},
    {"images", "labels"},
    {"data", "labels"},
    {"data", "label"},
    {"x", "y"},
    {"X", "y"},
}};

enum class Load : std::uint8_t { yes, no };

// Chunks of rows that are read in an order of chance, block by block.
constexpr std::int64_t kMostChunksInRow = 4;
constexpr std::int64_t kMostTogetherBytes = kShuffleWindowBytes / 2;
constexpr std::int64_t kLeastChunkBytes = 4096;
constexpr std::int64_t kManyChunks = 1000;
constexpr std::int64_t kGoodChunkBytes = std::int64_t{1} << 20;

Element element_of(Hdf5Type type) {
    switch (type) {
    case Hdf5Type::u8: return Element::u1;
    case Hdf5Type::i64: return Element::i8;
    case Hdf5Type::f32: return Element::f4;
    default: return Element::f8;
    }
}

[[noreturn]] void fail_hdf5(const fs::path& path, const std::string& text,
                            const std::string& hint) {
    throw Error(ErrorKind::data, path.string(), text, hint);
}

std::string listed(const std::vector<Hdf5Array>& arrays) {
    std::vector<std::string> names;
    for (const Hdf5Array& array : arrays) {
        names.push_back("'" + shown(array.name) + "'" +
                        (array.problem.empty() ? "" : " (" + array.problem + ")"));
    }
    names.resize(std::min<std::size_t>(names.size(), 12));
    return names.empty() ? "there are none" : "there are " + join(names, ", ");
}

const Hdf5Array* find_array(const std::vector<Hdf5Array>& arrays, std::string_view name) {
    const auto found = std::find_if(arrays.begin(), arrays.end(),
                                    [name](const Hdf5Array& array) { return array.name == name; });
    return found == arrays.end() ? nullptr : &*found;
}

const Hdf5Array& named(const fs::path& path, const std::vector<Hdf5Array>& arrays,
                       std::string name) {
    name.erase(0, name.find_first_not_of('/'));
    const Hdf5Array* array = find_array(arrays, name);
    if (array == nullptr) {
        fail_hdf5(path, "there is no data set '" + shown(name) + "'",
                  "In the file " + listed(arrays) + ".");
    }
    if (!array->problem.empty()) {
        fail_hdf5(path, "the data set '" + shown(name) + "' cannot be read: " + array->problem,
                  "Choose another.");
    }
    return *array;
}

struct Choice {
    const Hdf5Array* inputs = nullptr;
    const Hdf5Array* targets = nullptr;
};

std::int64_t row_bytes(const Hdf5Array& array) {
    return array.bytes / array.shape.front();
}

/// By well-known names, or the two data sets that have as many rows: the wider one goes in.
Choice guess(const std::vector<Hdf5Array>& arrays) {
    for (const auto& [inputs, targets] : kHdf5Names) {
        const Choice choice{find_array(arrays, inputs), find_array(arrays, targets)};
        if (choice.inputs != nullptr && choice.targets != nullptr &&
            choice.inputs->problem.empty() && choice.targets->problem.empty()) {
            return choice;
        }
    }
    std::vector<const Hdf5Array*> fit;
    for (const Hdf5Array& array : arrays) {
        if (array.problem.empty() && !array.shape.empty()) {
            fit.push_back(&array);
        }
    }
    if (fit.size() != 2 || fit[0]->shape[0] != fit[1]->shape[0] ||
        row_bytes(*fit[0]) == row_bytes(*fit[1])) {
        return {};
    }
    const bool first = row_bytes(*fit[0]) > row_bytes(*fit[1]);
    return first ? Choice{fit[0], fit[1]} : Choice{fit[1], fit[0]};
}

struct Chosen {
    std::vector<Hdf5Array> arrays;
    Choice choice;
};

Chosen choose(const fs::path& path, const Json& settings, const OpenContext& context,
              Notes& notes) {
    std::error_code code;
    if (!fs::is_regular_file(path, code)) {
        fail_hdf5(path, "there is no such file", "Check data.train.path.");
    }
    Chosen out;
    out.arrays = list_hdf5_arrays(path);
    const Json& inputs = settings.at("inputs");
    const Json& targets = settings.at("targets");
    const bool needs_targets = context.targets == OpenContext::Targets::needed;
    if (!inputs.is_null()) {
        out.choice.inputs = &named(path, out.arrays, inputs.get<std::string>());
    }
    if (!targets.is_null()) {
        out.choice.targets = &named(path, out.arrays, targets.get<std::string>());
    }
    if (out.choice.inputs == nullptr && out.arrays.size() == 1 && !needs_targets) {
        out.choice.inputs = &named(path, out.arrays, out.arrays.front().name);
    }
    if (out.choice.inputs != nullptr && (out.choice.targets != nullptr || !needs_targets)) {
        return out;
    }
    const Choice guessed = guess(out.arrays);
    if (guessed.inputs == nullptr) {
        fail_hdf5(path,
                  "it is not clear which data sets are inputs and targets: " + listed(out.arrays),
                  "Set data.train.inputs and data.train.targets.");
    }
    out.choice.inputs = out.choice.inputs != nullptr ? out.choice.inputs : guessed.inputs;
    out.choice.targets = out.choice.targets != nullptr ? out.choice.targets : guessed.targets;
    notes.push_back(Note::decision("data set '" + shown(out.choice.inputs->name) +
                                   "' is taken as inputs, '" + shown(out.choice.targets->name) +
                                   "' as targets"));
    return out;
}

void require_memory(const fs::path& path, const Hdf5Array& array) {
    const std::int64_t free = read_machine().memory_free_bytes;
    if (array.bytes > free) {
        fail_hdf5(
            path,
            "the data set '" + shown(array.name) + "' takes " + format_bytes(array.bytes) +
                " in memory, of which " + format_bytes(free) + " are free",
            "Store it without chunks and compression (h5repack -l CONTI), so that it can be read "
            "piece by piece.");
    }
}

std::vector<std::byte> read_whole(const fs::path& path, const Hdf5Array& array,
                                  const OpenContext& context) {
    require_memory(path, array);
    std::vector<std::byte> out(static_cast<std::size_t>(array.bytes));
    OpeningWatch watch(context, {.name = path.filename().string() + "/" + array.name,
                                 .unit = "rows",
                                 .total = array.shape.front(),
                                 .total_bytes = array.bytes});
    const std::int64_t row = row_bytes(array);
    read_hdf5_array(path, array, out, [&](std::int64_t rows) { watch.reached(rows, rows * row); });
    return out;
}

/// Where an array is read from.
enum class ReadFrom : std::uint8_t { file, file_or_memory, memory, nowhere };

std::shared_ptr<const ArrayData> open_array(const fs::path& path, const Hdf5Array& array,
                                            ReadFrom from, const OpenContext& context) {
    if (array.shape.empty()) {
        fail_hdf5(path, "the data set '" + shown(array.name) + "' is a single number",
                  "The first dimension counts samples.");
    }
    auto out = std::make_shared<ArrayData>();
    out->name = path.string() + ", data set '" + shown(array.name) + "'";
    out->element = element_of(array.type);
    out->shape = array.shape;
    if (array.offset >= 0 && from != ReadFrom::memory) {
        out->file = File(path, File::Mode::read, ErrorKind::data);
        out->offset = array.offset;
    } else if (from == ReadFrom::file) {
        out->packed = std::make_shared<const Hdf5Rows>(path, array);
    } else if (from != ReadFrom::nowhere) {
        out->memory = read_whole(path, array, context);
    }
    return out;
}

fs::path hdf5_path(const Json& settings, const OpenContext& context) {
    return resolve(context.base_dir, settings.at("path").get<std::string>());
}

/// Inputs of an outline are not read, but from a plain file.
ArrayPair open_hdf5_pair(const Json& settings, const OpenContext& context, Load load,
                         Notes& notes) {
    const fs::path path = hdf5_path(settings, context);
    const Chosen chosen = choose(path, settings, context, notes);
    const Hdf5Array& inputs = *chosen.choice.inputs;
    const Hdf5Array* targets = chosen.choice.targets;
    ArrayPair out;
    out.streams = streams(inputs.bytes + (targets != nullptr ? targets->bytes : 0), context.cache);
    const ReadFrom from = out.streams                      ? ReadFrom::file
                          : load == Load::no               ? ReadFrom::nowhere
                          : context.cache == Cache::memory ? ReadFrom::memory
                                                           : ReadFrom::file_or_memory;
    out.inputs = open_array(path, inputs, from, context);
    if (targets != nullptr) {
        // Those of an outline too: their values tell the classes.
        out.targets = open_array(path, *targets,
                                 out.streams ? ReadFrom::file : ReadFrom::file_or_memory, context);
    }
    out.description = path.filename().string();
    return out;
}

std::shared_ptr<const Source> open_hdf5(const Json& settings, const OpenContext& context, Part,
                                        Notes& notes) {
    ArrayPair pair = open_hdf5_pair(settings, context, Load::yes, notes);
    return open_arrays(std::move(pair), settings, context, notes);
}

PartOutline outline_hdf5(const Json& settings, const OpenContext& context, Part, Files) {
    Notes notes;
    const Chosen chosen = choose(hdf5_path(settings, context), settings, context, notes);
    const ArrayPair pair = open_hdf5_pair(settings, context, Load::no, notes);
    PartOutline out = outline_arrays(pair, settings, context);
    const bool whole = context.cache == Cache::memory;
    const Hdf5Array& inputs = *chosen.choice.inputs;
    out.cache_bytes += !pair.streams && (whole || inputs.offset < 0) ? inputs.bytes : 0;
    const Hdf5Array* targets = chosen.choice.targets;
    const bool keeps_targets = targets != nullptr && targets->offset < 0;
    out.cache_bytes += !pair.streams && keeps_targets ? targets->bytes : 0;
    return out;
}

/// "1,000 × 64"
std::string extents_text(std::span<const std::int64_t> extents, const char* between) {
    std::string out;
    for (const std::int64_t extent : extents) {
        out += (out.empty() ? "" : between) + std::to_string(extent);
    }
    return out;
}

/// What is wrong with chunks whose rows are read in an order of chance; empty: nothing.
std::string fault_of_chunks(const Hdf5Array& array, std::span<const std::int64_t> chunk) {
    const std::int64_t rows = std::min(chunk.front(), array.shape.front());
    const std::int64_t together = rows * row_bytes(array);
    std::int64_t in_row = 1;
    std::int64_t bytes = hdf5_type_bytes(array.type) * chunk.front();
    for (std::size_t d = 1; d < chunk.size(); ++d) {
        in_row *= (array.shape[d] + chunk[d] - 1) / chunk[d];
        bytes *= chunk[d];
    }
    if (in_row > kMostChunksInRow) {
        return "a row lies in " + format_thousands(in_row) + " chunks, and " +
               format_thousands(rows) + " rows, " + format_bytes(together) +
               ", are unpacked to read one";
    }
    if (together > kMostTogetherBytes) {
        return format_thousands(rows) + " rows, " + format_bytes(together) +
               ", are unpacked together: no two such stretches fit data.shuffle_window as it is "
               "by default, so that rows are mixed within one alone";
    }
    const std::int64_t chunks = (array.shape.front() + rows - 1) / rows * in_row;
    return bytes < kLeastChunkBytes && chunks > kManyChunks
               ? "each holds " + format_bytes(bytes) + ", and " + format_thousands(chunks) +
                     " are looked up one by one"
               : "";
}

/// One sentence where chunks do not suit the reading of rows, with those that do.
std::optional<Note> chunk_warning(const fs::path& path, const Hdf5Array& array) {
    if (array.offset >= 0) {
        return std::nullopt;
    }
    const Hdf5Rows rows(path, array);
    const std::span<const std::int64_t> chunk = rows.chunk();
    const std::string fault = chunk.empty() ? "" : fault_of_chunks(array, chunk);
    if (fault.empty()) {
        return std::nullopt;
    }
    std::vector<std::int64_t> better = array.shape;
    better.front() =
        std::clamp<std::int64_t>(kGoodChunkBytes / row_bytes(array), 1, array.shape.front());
    return Note("the chunks of '" + shown(array.name) + "', " + extents_text(chunk, " × ") +
                ", do not suit the reading of rows: " + fault + "; " + extents_text(better, " × ") +
                " (" + format_bytes(better.front() * row_bytes(array)) + ") would: h5repack -l " +
                array.name + ":CHUNK=" + extents_text(better, "x"));
}

Look look_at_hdf5(const Json& settings, const OpenContext& context) {
    Notes notes;
    const ArrayPair pair = open_hdf5_pair(settings, context, Load::no, notes);
    Look out = look_at_arrays(pair, settings, context);
    const fs::path path = hdf5_path(settings, context);
    Notes again;
    const Chosen chosen = choose(path, settings, context, again);
    if (auto warning = chunk_warning(path, *chosen.choice.inputs)) {
        notes.push_back(std::move(*warning));
    }
    out.notes.insert(out.notes.begin(), notes.begin(), notes.end());
    return out;
}

config::FieldTable hdf5_fields() {
    config::FieldTable fields = {
        config::path_field("path", nullptr, "HDF5 file.").must_be_given(),
        config::text_field("inputs", nullptr,
                           "Data set [samples, features], [samples, height, width] or [samples, "
                           "height, width, channels]; null: by name, or the wider of two.")
            .or_null(),
        config::text_field(
            "targets", nullptr,
            "Data set of whole numbers for classes (-1: none), or numbers to predict; "
            "null: by name, or the narrower of two.")
            .or_null()};
    const config::FieldTable shared = array_fields();
    fields.insert(fields.end(), shared.begin(), shared.end());
    return fields;
}

bool sniff_hdf5(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) && looks_like_hdf5(path);
}

Json propose_hdf5(const fs::path& path, const OpenContext&) {
    const std::vector<Hdf5Array> arrays = list_hdf5_arrays(path);
    const Choice choice = guess(arrays);
    Json train = {{"type", "hdf5"}, {"path", path.string()}};
    train["inputs"] = choice.inputs != nullptr ? Json(choice.inputs->name) : Json();
    train["targets"] = choice.targets != nullptr ? Json(choice.targets->name) : Json();
    Json section = {{"train", train}, {"validation", {{"split", 0.1}}}};
    const auto other = [&](const Hdf5Array* array) -> const Hdf5Array* {
        const std::size_t at = array == nullptr ? std::string::npos : array->name.find("train");
        return at == std::string::npos
                   ? nullptr
                   : find_array(arrays, std::string(array->name).replace(at, 5, "test"));
    };
    if (other(choice.inputs) != nullptr && other(choice.targets) != nullptr) {
        section["test"] = train;
        section["test"]["inputs"] = other(choice.inputs)->name;
        section["test"]["targets"] = other(choice.targets)->name;
    }
    return section;
}

bool hdf5_has_test(const Json&, const OpenContext&) {
    return false;
}

Json hdf5_for_input(Json settings, const fs::path& path) {
    settings["path"] = path.string();
    settings["targets"] = nullptr;
    return settings;
}

} // namespace

const FormatDef kHdf5Format = {.name = "hdf5",
                               .help = "Two data sets of an HDF5 file: inputs and targets.",
                               .split_rule = SplitRule::by_class,
                               .fields = hdf5_fields,
                               .sniff = sniff_hdf5,
                               .has_test = hdf5_has_test,
                               .open = open_hdf5,
                               .outline = outline_hdf5,
                               .outline_of_named_files = true,
                               .propose = propose_hdf5,
                               .look = look_at_hdf5,
                               .fitted = fit_arrays,
                               .for_input = hdf5_for_input};

} // namespace weft::data
