// SPDX-License-Identifier: Apache-2.0
#include "core/base/hdf5_arrays.h"

#include "core/base/check.h"
#include "core/base/hdf5_child.h"
#include "core/base/hdf5_library.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <optional>

namespace weft {
namespace {

using hdf5::Handle;
using hdf5::Library;
using hdf5::library_reason;
using hdf5::memory_type;

constexpr int64_t kPieceBytes = 8 << 20;
/// What elements of a type are read as; nothing for texts, compounds and their like. h5py stores
/// bool as an enumeration of bytes.
std::optional<Hdf5Type> read_as(hid_t type) {
    const size_t bytes = H5Tget_size(type);
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
        return bytes == 1 && H5Tget_sign(type) == H5T_SGN_NONE ? Hdf5Type::u8 : Hdf5Type::i64;
    case H5T_ENUM: return bytes == 1 ? std::optional(Hdf5Type::i64) : std::nullopt;
    case H5T_FLOAT: return bytes <= 4 ? Hdf5Type::f32 : Hdf5Type::f64;
    default: return std::nullopt;
    }
}

/// Fills offset; a reason when the data are not in this file.
std::string read_storage(hid_t dataset, hid_t type, int64_t file_bytes, Hdf5Array& out) {
    const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
    const H5D_layout_t layout = creation.valid() ? H5Pget_layout(creation) : H5D_LAYOUT_ERROR;
    if (layout == H5D_VIRTUAL ||
        (layout == H5D_CONTIGUOUS && H5Pget_external_count(creation) != 0)) {
        return "its data lie in other files";
    }
    const auto stored = static_cast<int64_t>(H5Dget_storage_size(dataset));
    if (stored == 0) {
        return "it was declared and never stored";
    }
    // Eight: a byte may be read as 64 bits.
    if (out.bytes / (8 * hdf5::kBestRatio) > std::min(stored, file_bytes)) {
        return "its shape announces more data than a file of this size can hold";
    }
    const haddr_t offset = layout == H5D_CONTIGUOUS ? H5Dget_offset(dataset) : HADDR_UNDEF;
    if (offset == HADDR_UNDEF) {
        return "";
    }
    const auto begin = static_cast<int64_t>(offset);
    if (begin <= 0 || stored > file_bytes || begin > file_bytes - stored) {
        return "its data reach past the end of the file";
    }
    out.offset = H5Tequal(type, memory_type(out.type)) > 0 ? begin : -1;
    return "";
}

Hdf5Array describe_array(hid_t dataset, std::string name, int64_t file_bytes) {
    Hdf5Array out;
    out.name = std::move(name);
    const Handle type(H5Dget_type(dataset), H5Tclose);
    const std::optional<Hdf5Type> as = read_as(type);
    if (!as) {
        out.problem = "its elements are no numbers";
        return out;
    }
    out.type = *as;
    out.problem = hdf5::read_extents(dataset, out);
    if (out.problem.empty()) {
        out.problem = read_storage(dataset, type, file_bytes, out);
    }
    return out;
}

void visit(hid_t group, const std::string& prefix, int depth, int64_t file_bytes, int64_t& links,
           std::vector<Hdf5Array>& found) {
    const auto names = hdf5::links_of(group);
    if (!names || depth > hdf5::kDeepestGroup) {
        return;
    }
    for (const hdf5::Link& link : *names) {
        if (link.type != H5L_TYPE_HARD || ++links > hdf5::kMostLinks) {
            continue;
        }
        const Handle object(H5Oopen(group, link.name.c_str(), H5P_DEFAULT), H5Oclose);
        const H5I_type_t kind = object.valid() ? H5Iget_type(object) : H5I_BADID;
        if (kind == H5I_GROUP) {
            visit(object, prefix + link.name + "/", depth + 1, file_bytes, links, found);
        } else if (kind == H5I_DATASET) {
            found.push_back(describe_array(object, prefix + link.name, file_bytes));
        }
    }
}

/// Rows of some MiB together, whole chunks: the library would unpack a chunk once per part of it.
int64_t rows_at_once(hid_t dataset, int64_t row_bytes) {
    const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
    std::array<hsize_t, H5S_MAX_RANK> chunk{};
    const bool chunked = creation.valid() && H5Pget_layout(creation) == H5D_CHUNKED &&
                         H5Pget_chunk(creation, H5S_MAX_RANK, chunk.data()) > 0;
    const int64_t least = chunked ? static_cast<int64_t>(chunk[0]) : 1;
    return least * std::max<int64_t>(1, kPieceBytes / std::max<int64_t>(1, row_bytes * least));
}

} // namespace

std::vector<Hdf5Array> list_hdf5_arrays(const Path& path) {
    read_in_child_first(path);
    const int64_t file_bytes = File(path, File::Mode::read, ErrorKind::data).size();
    const Library library;
    const Handle file = hdf5::open_foreign(path);
    const Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
    std::vector<Hdf5Array> found;
    int64_t links = 0;
    visit(root, {}, 0, file_bytes, links, found);
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return found;
}

void read_hdf5_array(const Path& path, const Hdf5Array& array, std::span<std::byte> out,
                     const std::function<void(int64_t rows)>& reached) {
    WEFT_CHECK(static_cast<int64_t>(out.size()) == array.bytes, "the array fills its buffer");
    const Library library;
    const Handle file = hdf5::open_foreign(path);
    const Handle dataset = hdf5::open_foreign(file, path, array);
    const int64_t rows = array.shape.empty() ? 1 : array.shape.front();
    const int64_t row_bytes = array.bytes / rows;
    const int64_t piece = array.shape.empty() ? 1 : rows_at_once(dataset, row_bytes);
    for (int64_t first = 0; first < rows; first += piece) {
        if (reached) {
            reached(first);
        }
        const int64_t count = std::min(piece, rows - first);
        if (!hdf5::read_rows(dataset, array, first, count, out.data() + first * row_bytes)) {
            hdf5::fail_foreign(path, array.name, "it cannot be read: " + library_reason(),
                               hdf5::kNoFilterHint);
        }
    }
}

} // namespace weft
