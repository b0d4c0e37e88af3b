// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/safetensors.h"

#include "core/base/check.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <algorithm>
#include <cstring>

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostHeaderBytes = 100 << 20; // the limit of the format's own library
constexpr std::size_t kMostHeaderKeys = 2'000'000;   // four for an array

[[noreturn]] void fail_safetensors(const fs::path& path, const std::string& text) {
    throw Error(ErrorKind::checkpoint, path.string(), text,
                "the file is damaged or no safetensors file; get it again");
}

struct Stored {
    const char* name;
    int bytes;
    std::optional<ir::DType> as;
};
constexpr Stored kStored[] = {
    {"F32", 4, ir::DType::f32}, {"F16", 2, ir::DType::f16},   {"BF16", 2, ir::DType::bf16},
    {"F64", 8, ir::DType::f64}, {"I32", 4, ir::DType::i32},   {"I64", 8, ir::DType::i64},
    {"U8", 1, ir::DType::u8},   {"I8", 1, std::nullopt},      {"I16", 2, std::nullopt},
    {"U16", 2, std::nullopt},   {"U32", 4, std::nullopt},     {"U64", 8, std::nullopt},
    {"BOOL", 1, std::nullopt},  {"F8_E5M2", 1, std::nullopt}, {"F8_E4M3", 1, std::nullopt},
};

const Stored* find_stored(const std::string& name) {
    const auto found = std::find_if(std::begin(kStored), std::end(kStored),
                                    [&](const Stored& one) { return name == one.name; });
    return found == std::end(kStored) ? nullptr : found;
}

/// A name that is there twice is an error of the format, too.
Json parse_header(const fs::path& path, const std::string& text) {
    config::Checked header = config::parse_json(
        text, path.string(), {.bytes = kMostHeaderBytes, .keys = kMostHeaderKeys});
    if (!header.ok()) {
        fail_safetensors(path, "its header cannot be read: " + to_text(header.diagnostics.front()));
    }
    if (!header.value.is_object()) {
        fail_safetensors(path, "the header is not a JSON object");
    }
    return std::move(header.value);
}

std::vector<std::int64_t> read_numbers(const fs::path& path, const std::string& name,
                                       const Json& entry, const char* key) {
    const auto found = entry.find(key);
    if (found == entry.end() || !found->is_array()) {
        fail_safetensors(path, "the array '" + shown(name, 120) + "' has no list '" + key + "'");
    }
    std::vector<std::int64_t> out;
    for (const Json& number : *found) {
        if (!number.is_number_unsigned() || number.get<std::uint64_t>() > std::uint64_t{1} << 62) {
            fail_safetensors(path, "the array '" + shown(name, 120) + "' has a bad number in '" +
                                       key + "'");
        }
        out.push_back(number.get<std::int64_t>());
    }
    return out;
}

SafetensorsEntry read_entry(const fs::path& path, const std::string& name, const Json& json,
                            std::int64_t data_at, std::int64_t data_bytes) {
    const std::string array = "the array '" + shown(name, 120) + "' ";
    if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string()) {
        fail_safetensors(path, array + "has no element type");
    }
    SafetensorsEntry entry;
    entry.name = name;
    entry.stored = json["dtype"].get<std::string>();
    const Stored* stored = find_stored(entry.stored);
    if (stored == nullptr) {
        fail_safetensors(path,
                         array + "has the unknown element type '" + shown(entry.stored) + "'");
    }
    const std::vector<std::int64_t> extents = read_numbers(path, name, json, "shape");
    const std::vector<std::int64_t> range = read_numbers(path, name, json, "data_offsets");
    std::int64_t bytes = stored->bytes;
    std::vector<std::string> words;
    for (const std::int64_t extent : extents) {
        words.push_back(std::to_string(extent));
        if (__builtin_mul_overflow(bytes, extent, &bytes)) {
            fail_safetensors(path, array + "is larger than any memory");
        }
    }
    entry.shape = "[" + join(words, ",") + "]";
    if (range.size() != 2 || range[1] < range[0] || range[1] > data_bytes ||
        range[1] - range[0] != bytes) {
        fail_safetensors(path, array + "says that it is where it cannot be");
    }
    entry.offset = data_at + range[0];
    entry.bytes = bytes;
    if (stored->as && extents.size() <= ir::Shape::kMaxRank) {
        entry.type = ir::Type{*stored->as, ir::Shape(extents)};
    }
    return entry;
}

/// Arrays must lie one after the other and fill the file: neither holes nor overlaps.
void check_ranges(const SafetensorsFile& file, std::int64_t data_at) {
    std::vector<const SafetensorsEntry*> order;
    for (const SafetensorsEntry& entry : file.tensors) {
        order.push_back(&entry);
    }
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
    });
    std::int64_t at = data_at;
    for (const SafetensorsEntry* entry : order) {
        if (entry->offset != at) {
            fail_safetensors(file.path, "the array '" + shown(entry->name, 120) +
                                            "' overlaps another one or leaves a hole before it");
        }
        at += entry->bytes;
    }
    if (at != file.bytes) {
        fail_safetensors(file.path, "it has " + format_thousands(file.bytes - at) +
                                        " bytes that belong to no array");
    }
}

} // namespace

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
    const auto found = std::lower_bound(
        tensors.begin(), tensors.end(), name,
        [](const SafetensorsEntry& entry, std::string_view wanted) { return entry.name < wanted; });
    return found == tensors.end() || found->name != name ? nullptr : &*found;
}

bool is_safetensors(const fs::path& path) {
    return path.extension() == ".safetensors";
}

SafetensorsFile read_safetensors(const fs::path& path) {
    std::error_code problem;
    if (!fs::is_regular_file(path, problem)) {
        throw Error(ErrorKind::checkpoint, path.string(), "there is no such file",
                    "check the path");
    }
    const File file(path, File::Mode::read, ErrorKind::checkpoint);
    SafetensorsFile out;
    out.path = path;
    out.bytes = file.size();
    std::uint64_t length = 0;
    if (out.bytes < 8) {
        fail_safetensors(path, "it is shorter than a header");
    }
    file.read_at(std::as_writable_bytes(std::span(&length, 1)), 0);
    if (length > static_cast<std::uint64_t>(std::min(kMostHeaderBytes, out.bytes - 8))) {
        fail_safetensors(path, "its header says to be larger than the file or the limit of 100 MB");
    }
    std::string text(length, '\0');
    file.read_at(std::as_writable_bytes(std::span(text)), 8);
    const std::int64_t data_at = 8 + static_cast<std::int64_t>(length);
    const Json header = parse_header(path, text);
    for (const auto& [name, entry] : header.items()) {
        if (name != "__metadata__") {
            out.tensors.push_back(read_entry(path, name, entry, data_at, out.bytes - data_at));
            continue;
        }
        for (const auto& [key, value] : entry.items()) {
            if (value.is_string()) {
                out.metadata[key] = value.get<std::string>();
            }
        }
    }
    std::sort(out.tensors.begin(), out.tensors.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    check_ranges(out, data_at);
    return out;
}

void read_safetensors_array(const SafetensorsFile& file, const SafetensorsEntry& entry,
                            std::span<std::byte> into) {
    WEFT_CHECK(entry.type && static_cast<std::int64_t>(into.size()) == entry.type->bytes(),
               "the buffer has the bytes of the array " + entry.name);
    const File source(file.path, File::Mode::read, ErrorKind::checkpoint);
    source.read_at(into, entry.offset);
}

} // namespace weft::checkpoint
