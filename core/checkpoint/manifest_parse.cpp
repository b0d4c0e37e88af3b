// SPDX-License-Identifier: Apache-2.0
// Everything that a manifest says is checked here, once.
#include "core/checkpoint/manifest_json.h"

#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "core/checkpoint/block_sums.h"

#include <algorithm>
#include <limits>
#include <set>

namespace weft::checkpoint {
namespace {

/// Of all blocks of an array: more than a thousand devices make, and no burden on memory.
constexpr std::size_t kMostCorners = std::size_t{1} << 22;
constexpr config::JsonLimits kManifestLimits{.bytes = kMostManifestBytes, .keys = 16'000'000};
constexpr std::int64_t kMostWriter = std::numeric_limits<int>::max();

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
    std::uint32_t checksum(const char* key) const { return as_checksum(any(key), key); }
    std::uint32_t as_checksum(const Json& value, const char* key) const {
        const std::int64_t number = as_integer(value, key);
        of_kind(key, "a 32-bit number", number >= 0 && number <= 0xffffffff);
        return static_cast<std::uint32_t>(number);
    }
    bool has(const char* key) const { return value_.contains(key); }
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

void parse_shards(const Members& root, const std::filesystem::path& file, std::int64_t version,
                  Manifest& out) {
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
        if (version > 1) {
            const std::int64_t writer = members.size("writer");
            if (writer > kMostWriter) {
                members.wrong("writer", "the number of a device");
            }
            shard.writer = static_cast<int>(writer);
        }
        out.shards.push_back(std::move(shard));
    }
}

/// Place and checksum of a block of an array; the block itself was checked.
PieceInfo parse_piece(const Members& members, Box box, const ir::Type& type,
                      const std::vector<ShardInfo>& shards) {
    PieceInfo piece{box, members.text("shard"), members.size("offset"), members.checksum("crc32c")};
    const auto shard = std::find_if(shards.begin(), shards.end(),
                                    [&](const auto& entry) { return entry.file == piece.shard; });
    if (shard == shards.end()) {
        members.wrong("shard", "one of the shards");
    }
    const std::int64_t bytes = box.elements() * ir::dtype_bytes(type.dtype);
    if (bytes > shard->bytes || piece.offset > shard->bytes - bytes) {
        members.wrong("offset", "inside the shard of " + format_thousands(shard->bytes) + " bytes");
    }
    if (members.has("mib_crc32c")) {
        const Json& sums = members.list("mib_crc32c");
        if (static_cast<std::int64_t>(sums.size()) != blocks_in(bytes)) {
            members.wrong("mib_crc32c", "one checksum per MiB");
        }
        for (const Json& sum : sums) {
            piece.block_crc32c.push_back(members.as_checksum(sum, "mib_crc32c"));
        }
    }
    return piece;
}

ir::Shape parse_numbers(const Members& members, const char* key, int rank) {
    const Json& list = members.list(key);
    if (list.size() != static_cast<std::size_t>(rank)) {
        members.wrong(key, "one number per dimension");
    }
    ir::Shape out;
    for (const Json& entry : list) {
        out.push_back(members.as_integer(entry, key));
    }
    return out;
}

std::vector<PieceInfo> parse_pieces(const Members& tensor, const std::filesystem::path& file,
                                    const std::string& place, const ir::Type& type,
                                    const std::vector<ShardInfo>& shards) {
    std::vector<PieceInfo> out;
    std::vector<Box> boxes;
    const Json& list = tensor.list("pieces");
    if (list.size() << type.shape.rank() > kMostCorners) {
        tensor.wrong("pieces", "a list that can be checked: it is too long");
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Members members(list[i], file, place + "/pieces/" + std::to_string(i));
        const int rank = type.shape.rank();
        const Box box{parse_numbers(members, "start", rank), parse_numbers(members, "count", rank)};
        if (!inside(box, type.shape)) {
            members.wrong("start", "a block of the array");
        }
        out.push_back(parse_piece(members, box, type, shards));
        boxes.push_back(box);
    }
    if (list.empty() || !tiles(type.shape, boxes)) {
        tensor.wrong("pieces", "a list of blocks that hold each element of the array once");
    }
    return out;
}

void parse_tensors(const Members& root, const std::filesystem::path& file, std::int64_t version,
                   Manifest& out) {
    std::set<std::string_view> names;
    const Json& list = root.list("tensors");
    out.tensors.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string place = "/tensors/" + std::to_string(i);
        const Members members(list[i], file, place);
        TensorInfo tensor{members.text("name"),
                          members.text("kind"),
                          parse_type(members),
                          members.text("spec"),
                          {}};
        if (version == 1) {
            tensor.pieces = {
                parse_piece(members, whole_box(tensor.type.shape), tensor.type, out.shards)};
        } else {
            tensor.pieces = parse_pieces(members, file, place, tensor.type, out.shards);
        }
        out.tensors.push_back(std::move(tensor));
        if (!names.insert(out.tensors.back().name).second) {
            members.wrong("name", "used once");
        }
    }
}

std::vector<std::pair<std::string, std::int64_t>> parse_mesh(const Members& root) {
    std::vector<std::pair<std::string, std::int64_t>> out;
    for (const Json& axis : root.list("mesh_axes")) {
        if (!axis.is_array() || axis.size() != 2 || !axis[0].is_string() ||
            !axis[1].is_number_integer()) {
            root.wrong("mesh_axes", "a list of names with sizes");
        }
        out.emplace_back(axis[0].get<std::string>(), axis[1].get<std::int64_t>());
    }
    return out;
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

/// The version.
std::int64_t check_format(const Json& value, const std::filesystem::path& file) {
    const Members root(value, file, "");
    if (root.text("format") != kFormat) {
        fail(file, "this is not a checkpoint of Weft", "Check the path.");
    }
    const std::int64_t version = root.integer("schema_version");
    if (version < 1) {
        root.wrong("schema_version", "1 or more");
    }
    if (version > kSchemaVersion) {
        fail(file,
             "it was written by a newer version of Weft (schema " + std::to_string(version) +
                 "; this program reads up to " + std::to_string(kSchemaVersion) + ")",
             "Update Weft.");
    }
    return version;
}

} // namespace

Manifest parse_manifest(std::string_view text, const std::filesystem::path& folder) {
    const std::filesystem::path file = folder / kManifestName;
    config::Checked parsed = config::parse_json(text, file.string(), kManifestLimits);
    // Of a newer version not even the seal is known.
    const std::int64_t version = parsed.ok() ? check_format(parsed.value, file) : 0;
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
    if (version > 1) {
        out.record.mesh = parse_mesh(root);
    }
    if (root.has("tokenizer")) {
        const Members tokenizer(root.any("tokenizer"), file, "/tokenizer");
        out.tokenizer = {tokenizer.size("bytes"), tokenizer.checksum("crc32c")};
    }
    parse_shards(root, file, version, out);
    parse_tensors(root, file, version, out);
    return out;
}

} // namespace weft::checkpoint
