// SPDX-License-Identifier: Apache-2.0
#include "core/base/check.h"
#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "core/checkpoint/array_reader.h"
#include "core/checkpoint/block_sums.h"
#include "core/checkpoint/manifest_json.h"
#include "core/checkpoint/pointer.h"

#include <algorithm>

namespace weft::checkpoint {
namespace {

namespace fs = std::filesystem;

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

/// Bytes that are checked so far, of all.
class Checked {
public:
    Checked(const Manifest& manifest, const Progress& progress) : progress_(progress) {
        for (const TensorInfo& tensor : manifest.tensors) {
            total_ += tensor.type.bytes();
        }
    }
    void add(std::int64_t bytes) {
        done_ += bytes;
        if (progress_ && total_ > 0) {
            progress_(static_cast<double>(done_) / static_cast<double>(total_));
        }
    }

private:
    const Progress& progress_;
    std::int64_t total_ = 0;
    std::int64_t done_ = 0;
};

/// Calls fn for every piece in a shard.
template <typename Fn>
void for_each_piece(const Manifest& manifest, const std::string& shard, const Fn& fn) {
    for (const TensorInfo& tensor : manifest.tensors) {
        for (const PieceInfo& piece : tensor.pieces) {
            if (piece.shard == shard) {
                fn(tensor, piece);
            }
        }
    }
}

/// Compares the shard's own table of contents with the manifest.
void verify_contents(const Manifest& manifest, const ShardInfo& shard,
                     std::vector<std::string>& problems) {
    const Hdf5Index index = read_hdf5_index(manifest.path / shard.file);
    std::size_t expected = 0;
    for_each_piece(manifest, shard.file, [&](const TensorInfo& tensor, const PieceInfo& piece) {
        ++expected;
        const std::string name =
            dataset_name(tensor.kind, tensor.name, piece.box, tensor.type.shape);
        const Hdf5Dataset* dataset = index.find(name);
        const ir::Shape& shape = piece.box.count;
        const std::int64_t bytes = piece_bytes(tensor, piece);
        if (dataset == nullptr) {
            problems.push_back(shard.file + ": array '" + shown(tensor.name, 120) + "' is missing");
        } else if (dataset->type != hdf5_type(tensor.type.dtype) ||
                   !std::equal(dataset->shape.begin(), dataset->shape.end(), shape.begin(),
                               shape.end()) ||
                   dataset->bytes != bytes || (bytes > 0 && dataset->offset != piece.offset)) {
            problems.push_back(shard.file + ": array '" + shown(tensor.name, 120) +
                               "' has another type, shape or place than in the manifest");
        }
    });
    if (index.datasets.size() != expected) {
        problems.push_back(shard.file + ": it has arrays that the manifest does not know");
    }
}

void verify_shard(const Manifest& manifest, const ShardInfo& shard,
                  std::vector<std::string>& problems, Checked& checked) {
    const File file(manifest.path / shard.file, File::Mode::read, ErrorKind::checkpoint);
    const std::vector<ByteRange> payload = payload_ranges(manifest, shard.file);
    for (std::size_t i = 1; i < payload.size(); ++i) {
        if (payload[i].first < payload[i - 1].second) {
            problems.push_back(shard.file + ": arrays overlap");
            return;
        }
    }
    if (structure_crc32c(file, payload) != shard.structure_crc32c) {
        problems.push_back(shard.file + ": " + kStructureProblem);
    } else {
        verify_contents(manifest, shard, problems);
    }
    for_each_piece(manifest, shard.file, [&](const TensorInfo& tensor, const PieceInfo& piece) {
        const BlockSums sums = block_sums(file, piece.offset, piece_bytes(tensor, piece),
                                          [&](std::int64_t bytes) { checked.add(bytes); });
        const bool parts = piece.block_crc32c.empty() || piece.block_crc32c == sums.blocks();
        if (sums.crc() != piece.crc32c || !parts) {
            problems.push_back(shard.file + ": " + checksum_problem(tensor, piece));
        }
    });
}

} // namespace

const TensorInfo* Manifest::find(std::string_view name) const {
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const TensorInfo& tensor) { return tensor.name == name; });
    return found == tensors.end() ? nullptr : &*found;
}

int Manifest::writer(std::string_view shard) const {
    const auto found = std::find_if(shards.begin(), shards.end(),
                                    [&](const ShardInfo& info) { return info.file == shard; });
    WEFT_CHECK(found != shards.end(), "a shard of the checkpoint: " + std::string(shard));
    return found->writer;
}

std::string another_step(const Manifest& manifest) {
    return "the folder was renamed or copied: it holds step " +
           format_thousands(manifest.record.step);
}

Manifest read_manifest(const fs::path& folder) {
    Manifest manifest = read_manifest_of_any_step(folder);
    const std::optional<std::int64_t> step = step_of_folder(folder.filename().string());
    if (step && *step != manifest.record.step) {
        fail(folder, another_step(manifest),
             "Give it its own name back: " + folder_name(manifest.record.step) + ".");
    }
    return manifest;
}

Manifest read_manifest_of_any_step(const fs::path& folder) {
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
    if (manifest.tokenizer) {
        require_file(folder / kTokenizerName, "the tokenizer of its data");
        const std::int64_t bytes =
            File(folder / kTokenizerName, File::Mode::read, ErrorKind::checkpoint).size();
        if (bytes != manifest.tokenizer->bytes) {
            fail(folder / kTokenizerName, "the file has " + format_thousands(bytes) +
                                              " bytes; the manifest says " +
                                              format_thousands(manifest.tokenizer->bytes));
        }
        manifest.bytes += bytes;
    }
    // Nothing rests on the pointer: it may be missing.
    const auto pointer_bytes = fs::file_size(folder / kCheckpointPointerName, code);
    manifest.bytes += code ? 0 : static_cast<std::int64_t>(pointer_bytes);
    return manifest;
}

std::string read_tokenizer_of(const Manifest& manifest) {
    if (!manifest.tokenizer) {
        return {};
    }
    const fs::path path = manifest.path / kTokenizerName;
    std::string out = read_file(path, manifest.tokenizer->bytes, ErrorKind::checkpoint);
    if (crc32c(out) != manifest.tokenizer->crc32c) {
        fail(path, "the checksum does not match: its bytes were changed");
    }
    return out;
}

void read_tensor(const Manifest& manifest, std::string_view name, std::span<std::byte> into) {
    const TensorInfo* tensor = manifest.find(name);
    if (tensor == nullptr) {
        fail(manifest.path, "the checkpoint has no array '" + shown(name, 120) + "'",
             "It belongs to another model; use the configuration that it was saved with.");
    }
    WEFT_CHECK(static_cast<std::int64_t>(into.size()) == tensor->type.bytes(),
               "the buffer has the bytes of the array " + tensor->name);
    ArrayReader(manifest).read(*tensor, dense(whole_box(tensor->type.shape)), into);
}

std::vector<std::byte> read_tensor(const Manifest& manifest, const TensorInfo& tensor) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.type.bytes()));
    read_tensor(manifest, tensor.name, bytes);
    return bytes;
}

std::vector<std::string> verify(const Manifest& manifest, const Progress& progress) {
    std::vector<std::string> problems;
    try {
        // The folder may have changed since the manifest was read.
        const Manifest now = read_manifest(manifest.path);
        Checked checked(now, progress);
        read_tokenizer_of(now);
        for (const ShardInfo& shard : now.shards) {
            try {
                verify_shard(now, shard, problems, checked);
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
