// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/manifest_json.h"

#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/text.h"

#include <algorithm>

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostManifestBytes = 256 << 20;
constexpr std::size_t kChunkBytes = 4 << 20;

/// Opening a pipe or a device would wait or worse.
void require_file(const fs::path& path, const std::string& what) {
    std::error_code code;
    const fs::file_status status = fs::status(path, code);
    if (!fs::exists(status)) {
        fail(path, what + " is missing");
    }
    if (!fs::is_regular_file(status)) {
        fail(path, what + " is not a regular file");
    }
}

std::uint32_t payload_crc32c(const File& file, const TensorInfo& tensor) {
    const std::int64_t end = tensor.offset + tensor.type.bytes();
    std::vector<std::byte> chunk(
        static_cast<std::size_t>(std::min<std::int64_t>(tensor.type.bytes(), kChunkBytes)));
    std::uint32_t crc = 0;
    for (std::int64_t at = tensor.offset; at < end;) {
        const auto bytes =
            std::min<std::int64_t>(end - at, static_cast<std::int64_t>(chunk.size()));
        const auto part = std::span(chunk).first(static_cast<std::size_t>(bytes));
        file.read_at(part, at);
        crc = crc32c(part, crc);
        at += bytes;
    }
    return crc;
}

std::string checksum_problem(const TensorInfo& tensor) {
    return "array '" + shown(tensor.name, 120) +
           "': the checksum does not match: its bytes were changed";
}

/// Compares the shard's own table of contents with the manifest.
void verify_contents(const Manifest& manifest, const ShardInfo& shard,
                     std::vector<std::string>& problems) {
    const Hdf5Index index = read_hdf5_index(manifest.path / shard.file);
    std::size_t expected = 0;
    for (const TensorInfo& tensor : manifest.tensors) {
        if (tensor.shard != shard.file) {
            continue;
        }
        ++expected;
        const Hdf5Dataset* dataset = index.find(dataset_name(tensor.kind, tensor.name));
        const ir::Shape& shape = tensor.type.shape;
        if (dataset == nullptr) {
            problems.push_back(shard.file + ": array '" + shown(tensor.name, 120) + "' is missing");
        } else if (dataset->type != hdf5_type(tensor.type.dtype) ||
                   !std::equal(dataset->shape.begin(), dataset->shape.end(), shape.begin(),
                               shape.end()) ||
                   dataset->bytes != tensor.type.bytes() ||
                   (dataset->bytes > 0 && dataset->offset != tensor.offset)) {
            problems.push_back(shard.file + ": array '" + shown(tensor.name, 120) +
                               "' has another type, shape or place than in the manifest");
        }
    }
    if (index.datasets.size() != expected) {
        problems.push_back(shard.file + ": it has arrays that the manifest does not know");
    }
}

void verify_shard(const Manifest& manifest, const ShardInfo& shard,
                  std::vector<std::string>& problems) {
    const File file(manifest.path / shard.file, File::Mode::read, ErrorKind::checkpoint);
    const std::vector<ByteRange> payload = payload_ranges(manifest, shard.file);
    for (std::size_t i = 1; i < payload.size(); ++i) {
        if (payload[i].first < payload[i - 1].second) {
            problems.push_back(shard.file + ": arrays overlap");
            return;
        }
    }
    if (structure_crc32c(file, payload) != shard.structure_crc32c) {
        problems.push_back(shard.file +
                           ": the checksum of the file's structure does not match: its "
                           "bytes were changed");
    } else {
        verify_contents(manifest, shard, problems);
    }
    for (const TensorInfo& tensor : manifest.tensors) {
        if (tensor.shard == shard.file && payload_crc32c(file, tensor) != tensor.crc32c) {
            problems.push_back(shard.file + ": " + checksum_problem(tensor));
        }
    }
}

} // namespace

const TensorInfo* Manifest::find(std::string_view name) const {
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const TensorInfo& tensor) { return tensor.name == name; });
    return found == tensors.end() ? nullptr : &*found;
}

Manifest read_manifest(const fs::path& folder) {
    std::error_code code;
    if (!fs::is_directory(folder, code)) {
        fail(folder, "there is no checkpoint folder here", "Check the path.");
    }
    const fs::path path = folder / kManifestName;
    require_file(path, "the manifest, which is written last,");
    const std::string text = read_file(path, kMostManifestBytes, ErrorKind::checkpoint);
    Manifest manifest = parse_manifest(text, folder);
    manifest.bytes = static_cast<std::int64_t>(text.size());
    for (const ShardInfo& shard : manifest.shards) {
        require_file(folder / shard.file, "a part of the checkpoint");
        const std::int64_t bytes =
            File(folder / shard.file, File::Mode::read, ErrorKind::checkpoint).size();
        if (bytes != shard.bytes) {
            fail(folder / shard.file, "the file has " + format_thousands(bytes) +
                                          " bytes; the manifest says " +
                                          format_thousands(shard.bytes));
        }
        manifest.bytes += bytes;
    }
    return manifest;
}

void read_tensor(const Manifest& manifest, std::string_view name, std::span<std::byte> into) {
    const TensorInfo* tensor = manifest.find(name);
    if (tensor == nullptr) {
        fail(manifest.path, "the checkpoint has no array '" + shown(name, 120) + "'",
             "It belongs to another model; use the configuration that it was saved with.");
    }
    WEFT_CHECK(static_cast<std::int64_t>(into.size()) == tensor->type.bytes(),
               "the buffer has the bytes of the array " + tensor->name);
    const File file(manifest.path / tensor->shard, File::Mode::read, ErrorKind::checkpoint);
    file.read_at(into, tensor->offset);
    if (crc32c(into) != tensor->crc32c) {
        fail(manifest.path / tensor->shard, checksum_problem(*tensor));
    }
}

std::vector<std::string> verify(const Manifest& manifest) {
    std::vector<std::string> problems;
    try {
        // The folder may have changed since the manifest was read.
        const Manifest now = read_manifest(manifest.path);
        for (const ShardInfo& shard : now.shards) {
            try {
                verify_shard(now, shard, problems);
            } catch (const Error& error) {
                problems.push_back(error.message());
            }
        }
    } catch (const Error& error) {
        problems.push_back(error.message());
    }
    return problems;
}

} // namespace weft::checkpoint
