// SPDX-License-Identifier: Apache-2.0
// manifest.json: a manifest as text and back. The text is a JSON object whose last member
// "committed" is the CRC-32C of everything before it, so that a manifest that was cut short or
// changed never passes. A checkpoint of one writer with whole arrays has schema version 1, which
// every version of Weft reads; pieces, writers and the mesh need version 2.
#pragma once

#include "core/checkpoint/checkpoint.h"

#include "core/base/hdf5_file.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace weft::checkpoint {

inline constexpr const char* kManifestName = "manifest.json";
inline constexpr const char* kFormat = "weft-checkpoint";
inline constexpr int kSchemaVersion = 2;
inline constexpr std::int64_t kMostManifestBytes = 256 << 20;

/// The sealed text. Numbers that are not finite become null.
std::string manifest_text(const Manifest& manifest);

/// Checks the seal and every field; sizes and places are checked against each other without
/// overflow. Throws weft::Error{checkpoint}: cut short, damaged, of another program, of a newer
/// version.
Manifest parse_manifest(std::string_view text, const std::filesystem::path& folder);

/// What both sides say about a damaged checkpoint.
inline constexpr const char* kUseAnotherHint =
    "Use another checkpoint of this run (`weft checkpoint list`).";

[[noreturn]] void fail(const std::filesystem::path& where, const std::string& text,
                       const std::string& hint = kUseAnotherHint);

/// The end of a manifest whose text so far has this checksum.
std::string seal_of(std::uint32_t crc);

/// The data set of an array or of a piece of it.
std::string dataset_name(const std::string& kind, const std::string& name, const Box& box,
                         const ir::Shape& array);
std::int64_t piece_bytes(const TensorInfo& tensor, const PieceInfo& piece);
/// What is said when the bytes of a piece have another checksum.
std::string checksum_problem(const TensorInfo& tensor, const PieceInfo& piece);
/// What is said when the bytes of a shard around the pieces have another checksum.
inline constexpr const char* kStructureProblem =
    "the checksum of the file's structure does not match: its bytes were changed";
Hdf5Type hdf5_type(ir::DType dtype);

/// First and last-plus-one byte of something in a file.
using ByteRange = std::pair<std::int64_t, std::int64_t>;
/// Where the arrays of a shard lie, ascending; empty arrays are left out.
std::vector<ByteRange> payload_ranges(const Manifest& manifest, const std::string& shard);
/// CRC-32C of the bytes of a file outside `payload` (ascending, not overlapping).
std::uint32_t structure_crc32c(const File& file, std::span<const ByteRange> payload);

/// Writes the arrays into shards in `folder`, one thread per shard up to the number of cores, and
/// describes them in `out`. Every shard is on the medium on return.
void write_shards(const std::filesystem::path& folder, std::span<const TensorView> tensors,
                  const WriteElsewhere& elsewhere, Manifest& out);

/// The step in a name that folder_name gives; none in other names.
std::optional<std::int64_t> step_of_folder(std::string_view name);
/// What is wrong with a folder whose name says another step.
std::string another_step(const Manifest& manifest);
/// read_manifest, also where the folder has the name of another step.
Manifest read_manifest_of_any_step(const std::filesystem::path& folder);

/// Gives a complete checkpoint the record that `change` makes of the one on disk; nobody else
/// changes it meanwhile. Step and mesh stay. Throws weft::Error{checkpoint}.
Manifest rewrite_record(const std::filesystem::path& folder,
                        const std::function<Record(const Record&)>& change);
bool is_pinned(const Record& record);
/// Whether a living process is writing the checkpoint in this temporary folder.
bool is_being_written(const std::filesystem::path& temporary);
/// In a temporary folder: locked by its writer.
inline constexpr const char* kWritingName = "writing";

/// Name of the folder in which `step` is written or removed.
std::string temporary_name(std::int64_t step);
inline constexpr const char* kTemporaryPrefix = ".tmp-";
/// Before the name of a folder that set_aside moved.
inline constexpr const char* kUnusablePrefix = "unusable-";

} // namespace weft::checkpoint
