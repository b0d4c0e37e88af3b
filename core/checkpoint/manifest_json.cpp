// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/manifest_json.h"

#include "core/base/crc32c.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

namespace weft::checkpoint {
namespace {

constexpr const char* kFormat = "weft-checkpoint";

/// The end of a manifest whose text so far has this checksum.
std::string seal_of(std::uint32_t crc) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", crc);
    return std::string("  \"committed\": \"crc32c ") + digits.data() + "\"\n}\n";
}

/// Typed access to members of hostile JSON.
class Members {
public:
    Members(const Json& value, const std::filesystem::path& file, std::string place)
        : value_(value), file_(file), place_(std::move(place)) {
        if (!value.is_object()) {
            wrong("", "an object");
        }
    }

    const Json& any(const char* key) const {
        const auto found = value_.find(key);
        if (found == value_.end()) {
            fail(file_, "the manifest has no " + place_ + "/" + key);
        }
        return *found;
    }
    const Json& object(const char* key) const {
        return of_kind(key, "an object", any(key).is_object());
    }
    const Json& list(const char* key) const { return of_kind(key, "a list", any(key).is_array()); }
    const std::string& text(const char* key) const {
        return of_kind(key, "a text", any(key).is_string()).get_ref<const std::string&>();
    }
    double number(const char* key) const {
        return of_kind(key, "a number", any(key).is_number()).get<double>();
    }
    std::int64_t integer(const char* key) const { return as_integer(any(key), key); }
    std::int64_t size(const char* key) const {
        const std::int64_t value = integer(key);
        of_kind(key, "0 or more", value >= 0);
        return value;
    }
    std::uint32_t checksum(const char* key) const {
        const std::int64_t value = size(key);
        of_kind(key, "a 32-bit number", value <= 0xffffffff);
        return static_cast<std::uint32_t>(value);
    }
    std::int64_t as_integer(const Json& value, const char* key) const {
        // Unsigned numbers above the largest signed one come out negative and fail the range
        // checks.
        return of_kind(key, "an integer", value.is_number_integer(), value).get<std::int64_t>();
    }
    [[noreturn]] void wrong(const std::string& key, const std::string& wanted) const {
        fail(file_, "the manifest's " + place_ + "/" + key + " is not " + wanted);
    }

private:
    const Json& of_kind(const char* key, const char* wanted, bool right) const {
        return of_kind(key, wanted, right, any(key));
    }
    const Json& of_kind(const char* key, const char* wanted, bool right, const Json& value) const {
        if (!right) {
            wrong(key, wanted);
        }
        return value;
    }

    const Json& value_;
    const std::filesystem::path& file_;
    std::string place_;
};

Json tensor_json(const TensorInfo& tensor) {
    return {
        {"name", tensor.name},
        {"kind", tensor.kind},
        {"dtype", std::string(ir::dtype_name(tensor.type.dtype))},
        {"shape", std::vector<std::int64_t>(tensor.type.shape.begin(), tensor.type.shape.end())},
        {"spec", "P()"}, // what is saved is whole: no dimension is split
        {"shard", tensor.shard},
        {"offset", tensor.offset},
        {"bytes", tensor.type.bytes()},
        {"crc32c", tensor.crc32c}};
}

ir::Type parse_type(const Members& members) {
    const auto dtype = ir::parse_dtype(members.text("dtype"));
    if (!dtype) {
        members.wrong("dtype", "an element type of this program");
    }
    const Json& extents = members.list("shape");
    if (extents.size() > static_cast<std::size_t>(ir::Shape::kMaxRank)) {
        members.wrong("shape", "of at most 8 dimensions");
    }
    ir::Type type{*dtype, {}};
    std::int64_t bytes = ir::dtype_bytes(*dtype);
    for (const Json& entry : extents) {
        const std::int64_t extent = members.as_integer(entry, "shape");
        if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) {
            members.wrong("shape", "a size that fits into 63 bits");
        }
        type.shape.push_back(extent);
    }
    if (bytes != members.size("bytes")) {
        members.wrong("bytes", "the size of its shape");
    }
    return type;
}

void parse_shards(const Members& root, const std::filesystem::path& file, Manifest& out) {
    const Json& list = root.list("shards");
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Members members(list[i], file, "/shards/" + std::to_string(i));
        ShardInfo shard{members.text("file"), members.size("bytes"),
                        members.checksum("structure_crc32c")};
        const std::filesystem::path name(shard.file);
        if (shard.file.empty() || shard.file.front() == '.' || name.filename() != name ||
            shard.file.find('\0') != std::string::npos) {
            members.wrong("file", "a plain file name");
        }
        out.shards.push_back(std::move(shard));
    }
}

void parse_tensors(const Members& root, const std::filesystem::path& file, Manifest& out) {
    std::set<std::string_view> names;
    const Json& list = root.list("tensors");
    out.tensors.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Members members(list[i], file, "/tensors/" + std::to_string(i));
        TensorInfo tensor{members.text("name"),   members.text("kind"),
                          parse_type(members),    members.text("shard"),
                          members.size("offset"), members.checksum("crc32c")};
        const auto shard =
            std::find_if(out.shards.begin(), out.shards.end(),
                         [&](const auto& entry) { return entry.file == tensor.shard; });
        if (shard == out.shards.end()) {
            members.wrong("shard", "one of the shards");
        }
        if (tensor.type.bytes() > shard->bytes ||
            tensor.offset > shard->bytes - tensor.type.bytes()) {
            members.wrong("offset",
                          "inside the shard of " + format_thousands(shard->bytes) + " bytes");
        }
        out.tensors.push_back(std::move(tensor));
        if (!names.insert(out.tensors.back().name).second) {
            members.wrong("name", "used once");
        }
    }
}

Record parse_record(const Members& root) {
    Record record;
    record.step = root.size("step");
    record.epoch = root.number("epoch");
    record.counters = root.object("counters");
    record.metrics = root.object("metrics");
    record.metric_step = root.integer("metric_step");
    record.environment = root.object("environment");
    record.config = root.object("config");
    for (const Json& reason : root.list("kept_for")) {
        if (!reason.is_string()) {
            root.wrong("kept_for", "a list of texts");
        }
        record.kept_for.push_back(reason.get<std::string>());
    }
    return record;
}

void check_format(const Json& value, const std::filesystem::path& file) {
    const Members root(value, file, "");
    if (root.text("format") != kFormat) {
        fail(file, "this is not a checkpoint of Weft", "Check the path.");
    }
    if (const std::int64_t version = root.integer("schema_version"); version > kSchemaVersion) {
        fail(file,
             "it was written by a newer version of Weft (schema " + std::to_string(version) +
                 "; this program reads up to " + std::to_string(kSchemaVersion) + ")",
             "Update Weft.");
    }
}

} // namespace

void fail(const std::filesystem::path& where, const std::string& text, const std::string& hint) {
    throw Error(ErrorKind::checkpoint, where.string(), text, hint);
}

std::string dataset_name(const std::string& kind, const std::string& name) {
    return kind + "/" + name;
}

Hdf5Type hdf5_type(ir::DType dtype) {
    switch (dtype) {
    case ir::DType::f32: return Hdf5Type::f32;
    case ir::DType::bf16: return Hdf5Type::bf16;
    case ir::DType::f64: return Hdf5Type::f64;
    case ir::DType::i32: return Hdf5Type::i32;
    case ir::DType::i64: return Hdf5Type::i64;
    case ir::DType::u8: return Hdf5Type::u8;
    }
    return Hdf5Type::u8;
}

std::vector<ByteRange> payload_ranges(const Manifest& manifest, const std::string& shard) {
    std::vector<ByteRange> ranges;
    for (const TensorInfo& tensor : manifest.tensors) {
        if (tensor.shard == shard && tensor.type.bytes() > 0) {
            ranges.emplace_back(tensor.offset, tensor.offset + tensor.type.bytes());
        }
    }
    std::sort(ranges.begin(), ranges.end());
    return ranges;
}

std::uint32_t structure_crc32c(const File& file, std::span<const ByteRange> payload) {
    std::vector<std::byte> chunk(64 * 1024);
    std::uint32_t crc = 0;
    std::int64_t at = 0;
    const auto skip_to = [&](std::int64_t end) {
        while (at < end) {
            const auto bytes =
                std::min<std::int64_t>(end - at, static_cast<std::int64_t>(chunk.size()));
            const auto part = std::span(chunk).first(static_cast<std::size_t>(bytes));
            file.read_at(part, at);
            crc = crc32c(part, crc);
            at += bytes;
        }
    };
    for (const auto& [first, end] : payload) {
        skip_to(first);
        at = std::max(at, end);
    }
    skip_to(file.size());
    return crc;
}

std::string temporary_name(std::int64_t step) {
    return kTemporaryPrefix + folder_name(step);
}

std::string manifest_text(const Manifest& manifest) {
    const Record& record = manifest.record;
    Json shards = Json::array();
    for (const ShardInfo& shard : manifest.shards) {
        shards.push_back({{"file", shard.file},
                          {"bytes", shard.bytes},
                          {"structure_crc32c", shard.structure_crc32c}});
    }
    Json tensors = Json::array();
    for (const TensorInfo& tensor : manifest.tensors) {
        tensors.push_back(tensor_json(tensor));
    }
    const auto mesh = record.config.find("mesh");
    const Json root = {{"format", kFormat},
                       {"schema_version", kSchemaVersion},
                       {"saved_time", manifest.saved_time},
                       {"step", record.step},
                       {"epoch", record.epoch},
                       {"counters", record.counters},
                       {"metrics", record.metrics},
                       {"metric_step", record.metric_step},
                       {"environment", record.environment},
                       {"config", record.config},
                       {"kept_for", Json(record.kept_for)},
                       {"mesh", mesh == record.config.end() ? Json() : *mesh},
                       {"shards", std::move(shards)},
                       {"tensors", std::move(tensors)}};
    std::string text = root.dump(2, ' ', false, Json::error_handler_t::replace);
    text.resize(text.size() - 2); // the closing brace and its line
    text += ",\n";
    return text + seal_of(crc32c(text));
}

Manifest parse_manifest(std::string_view text, const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / kManifestName;
    config::Checked parsed = config::parse_json(text, file.string());
    if (parsed.ok()) {
        // Of a newer version not even the seal is known.
        check_format(parsed.value, file);
    }
    const std::size_t seal_bytes = seal_of(0).size();
    const std::size_t body_bytes = text.size() - std::min(text.size(), seal_bytes);
    if (text.substr(body_bytes) != seal_of(crc32c(text.substr(0, body_bytes)))) {
        fail(file, "the commit marker is missing or does not match: the manifest was cut short or "
                   "changed");
    }
    if (!parsed.ok()) {
        fail(file, "the manifest is not valid JSON: " + to_text(parsed.diagnostics.front()));
    }
    const Members root(parsed.value, file, "");
    Manifest out;
    out.path = folder;
    out.record = parse_record(root);
    out.saved_time = root.number("saved_time");
    parse_shards(root, file, out);
    parse_tensors(root, file, out);
    return out;
}

} // namespace weft::checkpoint
