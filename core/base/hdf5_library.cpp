// SPDX-License-Identifier: Apache-2.0
#include "core/base/hdf5_library.h"

#include "core/base/text.h"

#include <array>

namespace weft::hdf5 {
namespace {

// libhdf5 keeps global state, so one lock for the process is the only correct scope.
std::mutex& library_mutex() {
    static std::mutex mutex;
    return mutex;
}

} // namespace

Library::Library() : lock_(library_mutex()) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

std::string library_reason() {
    std::string reason;
    const auto take_first = [](unsigned, const H5E_error2_t* entry, void* out) -> herr_t {
        auto& text = *static_cast<std::string*>(out);
        if (text.empty() && entry->desc != nullptr) {
            text = entry->desc;
        }
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
    return reason.empty() ? "unknown reason" : shown(reason, 200);
}

std::optional<std::vector<Link>> links_of(hid_t group) {
    std::vector<Link> links;
    const auto add = [](hid_t, const char* name, const H5L_info_t* info, void* out) -> herr_t {
        try {
            static_cast<std::vector<Link>*>(out)->push_back({name, info->type});
            return 0;
        } catch (...) {
            return -1; // no exception may cross the C library
        }
    };
    if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &links) < 0) {
        return std::nullopt;
    }
    return links;
}

void fail_foreign(const Path& path, const std::string& name, const std::string& text,
                  std::string hint) {
    const std::string where =
        name.empty() ? path.string() : path.string() + ", data set '" + shown(name, 120) + "'";
    throw Error(ErrorKind::data, where, text, std::move(hint));
}

Handle open_foreign(const Path& path) {
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);
    Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
    if (!file.valid()) {
        fail_foreign(path, {}, "not a readable HDF5 file: " + library_reason(), kUnreadableHint);
    }
    return file;
}

Handle open_foreign(const Handle& file, const Path& path, const Hdf5Array& array) {
    Handle dataset(H5Dopen2(file, array.name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.valid()) {
        fail_foreign(path, array.name, "it cannot be opened: " + library_reason(), kUnreadableHint);
    }
    Hdf5Array now;
    now.type = array.type;
    if (!read_extents(dataset, now).empty() || now.shape != array.shape) {
        fail_foreign(path, array.name, "it changed while it was read",
                     "Leave the file alone meanwhile.");
    }
    return dataset;
}

hid_t memory_type(Hdf5Type type) {
    switch (type) {
    case Hdf5Type::u8: return H5T_NATIVE_UINT8;
    case Hdf5Type::i64: return H5T_NATIVE_INT64;
    case Hdf5Type::f32: return H5T_NATIVE_FLOAT;
    default: return H5T_NATIVE_DOUBLE;
    }
}

std::string read_extents(hid_t dataset, Hdf5Array& out) {
    const Handle space(H5Dget_space(dataset), H5Sclose);
    if (H5Sget_simple_extent_type(space) != H5S_SIMPLE) {
        return "it is no array";
    }
    std::array<hsize_t, H5S_MAX_RANK> sizes{};
    const int rank = H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
    out.bytes = hdf5_type_bytes(out.type);
    for (int i = 0; i < rank; ++i) {
        const auto size = static_cast<int64_t>(sizes[static_cast<size_t>(i)]);
        if (size < 0 || __builtin_mul_overflow(out.bytes, size, &out.bytes)) {
            return "its shape is impossibly large";
        }
        out.shape.push_back(size);
    }
    return out.bytes == 0 ? "it is empty" : "";
}

bool read_rows(hid_t dataset, const Hdf5Array& array, int64_t first, int64_t count,
               std::byte* out) {
    if (array.shape.empty()) {
        return H5Dread(dataset, memory_type(array.type), H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0;
    }
    const std::size_t rank = array.shape.size();
    std::vector<hsize_t> begin(rank, 0);
    std::vector<hsize_t> size(array.shape.begin(), array.shape.end());
    begin[0] = static_cast<hsize_t>(first);
    size[0] = static_cast<hsize_t>(count);
    const Handle from(H5Dget_space(dataset), H5Sclose);
    const Handle to(H5Screate_simple(static_cast<int>(rank), size.data(), nullptr), H5Sclose);
    return to.valid() &&
           H5Sselect_hyperslab(from, H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr) >=
               0 &&
           H5Dread(dataset, memory_type(array.type), to, from, H5P_DEFAULT, out) >= 0;
}

} // namespace weft::hdf5
