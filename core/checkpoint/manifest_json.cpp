// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/manifest_json.h"

#include "core/base/crc32c.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace weft::checkpoint {
namespace {

constexpr int kWholeArraysVersion = 1;

std::vector<std::int64_t> numbers(const ir::Shape& shape) {
    return {shape.begin(), shape.end()};
}

bool is_whole(const TensorInfo& tensor) {
    return tensor.pieces.size() == 1 && tensor.pieces[0].box == whole_box(tensor.type.shape);
}

/// Whether the first version of the format can say it.
bool one_writer(const Manifest& manifest) {
    return manifest.record.mesh.empty() &&
           std::all_of(manifest.tensors.begin(), manifest.tensors.end(), is_whole) &&
           std::all_of(manifest.shards.begin(), manifest.shards.end(),
                       [](const ShardInfo& shard) { return shard.writer == 0; });
}

/// Where a piece lies and its checksums.
void add_place(const PieceInfo& piece, Json& out) {
    out["shard"] = piece.shard;
    out["offset"] = piece.offset;
    out["crc32c"] = piece.crc32c;
    if (!piece.block_crc32c.empty()) {
        out["mib_crc32c"] = piece.block_crc32c;
    }
}

Json piece_json(const PieceInfo& piece) {
    Json out = {{"start", numbers(piece.box.start)}, {"count", numbers(piece.box.count)}};
    add_place(piece, out);
    return out;
}

Json tensor_json(const TensorInfo& tensor, int version) {
    Json out = {{"name", tensor.name},
                {"kind", tensor.kind},
                {"dtype", std::string(ir::dtype_name(tensor.type.dtype))},
                {"shape", numbers(tensor.type.shape)},
                {"spec", tensor.spec},
                {"bytes", tensor.type.bytes()}};
    if (version == kWholeArraysVersion) {
        add_place(tensor.pieces.front(), out);
        return out;
    }
    for (const PieceInfo& piece : tensor.pieces) {
        out["pieces"].push_back(piece_json(piece));
    }
    return out;
}

Json shard_json(const ShardInfo& shard, int version) {
    Json out = {
        {"file", shard.file}, {"bytes", shard.bytes}, {"structure_crc32c", shard.structure_crc32c}};
    if (version != kWholeArraysVersion) {
        out["writer"] = shard.writer;
    }
    return out;
}

Json mesh_json(const Record& record) {
    Json out = Json::array();
    for (const auto& [axis, size] : record.mesh) {
        out.push_back(Json::array({axis, size}));
    }
    return out;
}

} // namespace

void fail(const std::filesystem::path& where, const std::string& text, const std::string& hint) {
    throw Error(ErrorKind::checkpoint, where.string(), text, hint);
}

std::string seal_of(std::uint32_t crc) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", crc);
    return std::string("  \"committed\": \"crc32c ") + digits.data() + "\"\n}\n";
}

std::string dataset_name(const std::string& kind, const std::string& name, const Box& box,
                         const ir::Shape& array) {
    std::string out = kind + "/" + name;
    if (box == whole_box(array)) {
        return out;
    }
    for (int dim = 0; dim < array.rank(); ++dim) {
        out += (dim == 0 ? "/" : ",") + std::to_string(box.start[dim]);
    }
    return out;
}

std::int64_t piece_bytes(const TensorInfo& tensor, const PieceInfo& piece) {
    return piece.box.elements() * ir::dtype_bytes(tensor.type.dtype);
}

std::string checksum_problem(const TensorInfo& tensor, const PieceInfo& piece) {
    const bool whole = piece.box == whole_box(tensor.type.shape);
    return "array '" + shown(tensor.name, 120) + "'" + (whole ? "" : " " + to_text(piece.box)) +
           ": the checksum does not match: its bytes were changed";
}

Hdf5Type hdf5_type(ir::DType dtype) {
    switch (dtype) {
    case ir::DType::f32: return Hdf5Type::f32;
    case ir::DType::bf16: return Hdf5Type::bf16;
    case ir::DType::f16: return Hdf5Type::f16;
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
        for (const PieceInfo& piece : tensor.pieces) {
            const std::int64_t bytes = piece_bytes(tensor, piece);
            if (piece.shard == shard && bytes > 0) {
                ranges.emplace_back(piece.offset, piece.offset + bytes);
            }
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
    const int version = one_writer(manifest) ? kWholeArraysVersion : kSchemaVersion;
    Json shards = Json::array();
    for (const ShardInfo& shard : manifest.shards) {
        shards.push_back(shard_json(shard, version));
    }
    Json tensors = Json::array();
    for (const TensorInfo& tensor : manifest.tensors) {
        tensors.push_back(tensor_json(tensor, version));
    }
    const auto mesh = record.config.find("mesh");
    Json root = {{"format", kFormat},
                 {"schema_version", version},
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
    if (version != kWholeArraysVersion) {
        root["mesh_axes"] = mesh_json(record);
    }
    if (manifest.tokenizer) {
        root["tokenizer"] = {{"bytes", manifest.tokenizer->bytes},
                             {"crc32c", manifest.tokenizer->crc32c}};
    }
    std::string text = root.dump(2, ' ', false, Json::error_handler_t::replace);
    text.resize(text.size() - 2); // the closing brace and its line
    text += ",\n";
    return text + seal_of(crc32c(text));
}

} // namespace weft::checkpoint
