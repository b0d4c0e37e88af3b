// SPDX-License-Identifier: Apache-2.0
#include "core/base/hdf5_file.h"

#include "core/base/hdf5_image.h"
#include "core/base/hdf5_library.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

namespace weft {
namespace {

using hdf5::Handle;
using hdf5::kDeepestGroup;
using hdf5::kMostLinks;
using hdf5::Library;
using hdf5::library_reason;

/// Where a call stands, for its errors.
struct Place {
    const Path& path;
    ErrorKind kind;

    [[noreturn]] void fail(const std::string& name, const std::string& text,
                           std::string hint = {}) const {
        const std::string where =
            name.empty() ? path.string() : path.string() + ", data set '" + shown(name, 120) + "'";
        throw Error(kind, where, text, std::move(hint));
    }
};

constexpr std::string_view kDamagedHint =
    "The file is damaged or was not written by a complete save; use another copy or checkpoint.";
constexpr std::string_view kForeignHint =
    "Only plain contiguous data sets are read here; convert the file first.";
constexpr const char* kTypeAttribute = "dtype";
constexpr hsize_t kLongestAttribute = 16 << 20;

hid_t file_type(Hdf5Type type) {
    switch (type) {
    case Hdf5Type::u8: return H5T_STD_U8LE;
    case Hdf5Type::u16:
    case Hdf5Type::bf16:
    case Hdf5Type::f16: return H5T_STD_U16LE;
    case Hdf5Type::i32: return H5T_STD_I32LE;
    case Hdf5Type::i64: return H5T_STD_I64LE;
    case Hdf5Type::f32: return H5T_IEEE_F32LE;
    case Hdf5Type::f64: return H5T_IEEE_F64LE;
    }
    return H5T_STD_U8LE;
}

// ---- writing ------------------------------------------------------------------------------------

bool write_text_attribute(hid_t object, const std::string& key, const std::string& value) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type, std::max<size_t>(value.size(), 1));
    H5Tset_cset(type, H5T_CSET_UTF8);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle attribute(H5Acreate2(object, key.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose);
    return attribute.valid() && H5Awrite(attribute, type, value.c_str()) >= 0;
}

Handle create_file(Hdf5Image& image) {
    const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    // Times would make equal contents differ in bytes.
    H5Pset_obj_track_times(creation, false);
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_alignment(access, 4096, 4096);
    return {image.create(creation, access), H5Fclose};
}

// Groups on the way to `name`, made by hand: those that libhdf5 would make carry times.
void create_groups(hid_t file, const std::string& name, std::set<std::string>& existing,
                   const Place& place) {
    const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_obj_track_times(creation, false);
    for (size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
        const std::string group = name.substr(0, at);
        if (!existing.insert(group).second) {
            continue;
        }
        const Handle made(H5Gcreate2(file, group.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT),
                          H5Gclose);
        if (!made.valid()) {
            place.fail(name, "cannot create the group '" + group + "': " + library_reason());
        }
    }
}

Hdf5Dataset create_dataset(hid_t file, const Hdf5Spec& spec, const Place& place) {
    Hdf5Dataset out{spec.name, spec.type, spec.shape, 0, hdf5_type_bytes(spec.type)};
    std::vector<hsize_t> dimensions;
    for (const int64_t size : spec.shape) {
        if (size < 0 || __builtin_mul_overflow(out.bytes, size, &out.bytes)) {
            place.fail(spec.name, "the shape does not fit into 63 bits of bytes");
        }
        dimensions.push_back(static_cast<hsize_t>(size));
    }
    const Handle space(dimensions.empty() ? H5Screate(H5S_SCALAR)
                                          : H5Screate_simple(static_cast<int>(dimensions.size()),
                                                             dimensions.data(), nullptr),
                       H5Sclose);
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_obj_track_times(creation, false);
    // The offset must exist now, and nothing but our own pwrite fills the payload.
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    const Handle dataset(H5Dcreate2(file, spec.name.c_str(), file_type(spec.type), space,
                                    H5P_DEFAULT, creation, H5P_DEFAULT),
                         H5Dclose);
    if (!dataset.valid()) {
        place.fail(spec.name, "cannot create it: " + library_reason());
    }
    const bool marked = spec.type == Hdf5Type::bf16 || spec.type == Hdf5Type::f16;
    if (marked &&
        !write_text_attribute(dataset, kTypeAttribute, std::string(hdf5_type_name(spec.type)))) {
        place.fail(spec.name, "cannot write its attribute: " + library_reason());
    }
    if (out.bytes > 0) {
        const haddr_t offset = H5Dget_offset(dataset);
        if (offset == HADDR_UNDEF) {
            place.fail(spec.name, "no space was allocated: " + library_reason());
        }
        out.offset = static_cast<int64_t>(offset);
    }
    return out;
}

/// Leaves nothing behind when the disk is full; a file that was there before stays.
void store(const Hdf5Image& image, const Path& path) {
    if (std::filesystem::exists(path)) {
        throw Error(ErrorKind::checkpoint, path.string(), "a file of this name is there already");
    }
    try {
        image.store(path);
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
        throw;
    }
}

void check_name(const std::string& name, const Place& place) {
    for (const std::string& part : split(name, '/')) {
        if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) {
            place.fail(name, "not a usable name for a data set");
        }
    }
}

// ---- reading ------------------------------------------------------------------------------------

std::vector<hdf5::Link> links_of(hid_t group, const Place& place) {
    std::optional<std::vector<hdf5::Link>> links = hdf5::links_of(group);
    if (!links) {
        place.fail({}, "cannot list its contents: " + library_reason(), std::string(kDamagedHint));
    }
    return std::move(*links);
}

// The text of a scalar string attribute; empty optional for any other kind.
std::optional<std::string> read_text_attribute(hid_t attribute) {
    const Handle type(H5Aget_type(attribute), H5Tclose);
    const Handle space(H5Aget_space(attribute), H5Sclose);
    if (!type.valid() || H5Tget_class(type) != H5T_STRING ||
        H5Sget_simple_extent_npoints(space) != 1) {
        return std::nullopt;
    }
    const Handle memory(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_cset(memory, H5Tget_cset(type));
    if (H5Tis_variable_str(type) > 0) {
        H5Tset_size(memory, H5T_VARIABLE);
        char* text = nullptr;
        if (H5Aread(attribute, memory, &text) < 0 || text == nullptr) {
            return std::nullopt;
        }
        std::string out(text, strnlen(text, kLongestAttribute));
        H5free_memory(text);
        return out;
    }
    const size_t length = H5Tget_size(type);
    if (length == 0 || length > kLongestAttribute) {
        return std::nullopt;
    }
    std::string out(length, '\0');
    H5Tset_size(memory, length);
    H5Tset_strpad(memory, H5T_STR_NULLPAD);
    if (H5Aread(attribute, memory, out.data()) < 0) {
        return std::nullopt;
    }
    out.resize(strnlen(out.data(), length));
    return out;
}

Hdf5Attributes read_attributes(hid_t object) {
    Hdf5Attributes out;
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5A_info_t*, void* list) -> herr_t {
        try {
            static_cast<std::vector<std::string>*>(list)->emplace_back(name);
            return 0;
        } catch (...) {
            return -1;
        }
    };
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names);
    for (const std::string& name : names) {
        const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
        if (!attribute.valid()) {
            continue;
        }
        if (auto text = read_text_attribute(attribute)) {
            out.emplace(name, std::move(*text));
        }
    }
    return out;
}

Hdf5Type read_type(hid_t dataset, const std::string& name, const Place& place) {
    const Handle type(H5Dget_type(dataset), H5Tclose);
    constexpr std::array kPlain = {Hdf5Type::u8,  Hdf5Type::u16, Hdf5Type::i32,
                                   Hdf5Type::i64, Hdf5Type::f32, Hdf5Type::f64};
    for (const Hdf5Type known : kPlain) {
        if (H5Tequal(type, file_type(known)) <= 0) {
            continue;
        }
        if (known == Hdf5Type::u16 && H5Aexists(dataset, kTypeAttribute) > 0) {
            const std::string mark = read_attributes(dataset)[kTypeAttribute];
            return mark == "bf16" ? Hdf5Type::bf16 : mark == "f16" ? Hdf5Type::f16 : known;
        }
        return known;
    }
    place.fail(name, "its element type is not one of u8, u16, i32, i64, bf16, f16, f32, f64",
               std::string(kForeignHint));
}

void read_shape(hid_t dataset, Hdf5Dataset& out, const Place& place) {
    const Handle space(H5Dget_space(dataset), H5Sclose);
    const H5S_class_t kind = H5Sget_simple_extent_type(space);
    if (kind != H5S_SCALAR && kind != H5S_SIMPLE) {
        place.fail(out.name, "it has no shape", std::string(kForeignHint));
    }
    std::array<hsize_t, H5S_MAX_RANK> sizes{};
    const int rank = H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
    out.bytes = hdf5_type_bytes(out.type);
    for (int i = 0; i < rank; ++i) {
        const auto size = static_cast<int64_t>(sizes[static_cast<size_t>(i)]);
        if (size < 0 || __builtin_mul_overflow(out.bytes, size, &out.bytes)) {
            place.fail(out.name, "its shape is impossibly large", std::string(kDamagedHint));
        }
        out.shape.push_back(size);
    }
}

void check_storage(hid_t dataset, const std::string& name, const Place& place) {
    const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
    const H5D_layout_t layout = creation.valid() ? H5Pget_layout(creation) : H5D_LAYOUT_ERROR;
    if (layout == H5D_VIRTUAL) {
        place.fail(name, "it is virtual: its data lie in other files", std::string(kForeignHint));
    }
    if (layout == H5D_CONTIGUOUS && H5Pget_external_count(creation) != 0) {
        place.fail(name, "its data lie in other files", std::string(kForeignHint));
    }
    if (layout != H5D_CONTIGUOUS || H5Pget_nfilters(creation) != 0) {
        place.fail(name, "it is chunked, compact or compressed", std::string(kForeignHint));
    }
}

Hdf5Dataset describe_dataset(hid_t dataset, std::string name, int64_t file_bytes,
                             const Place& place) {
    Hdf5Dataset out;
    out.name = std::move(name);
    check_storage(dataset, out.name, place);
    out.type = read_type(dataset, out.name, place);
    read_shape(dataset, out, place);
    if (out.bytes == 0) {
        return out;
    }
    const haddr_t offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF) {
        place.fail(out.name, "it was declared and never stored", std::string(kDamagedHint));
    }
    out.offset = static_cast<int64_t>(offset);
    if (out.offset <= 0 || out.bytes > file_bytes || out.offset > file_bytes - out.bytes) {
        place.fail(out.name,
                   "its " + std::to_string(out.bytes) + " bytes at " + std::to_string(out.offset) +
                       " reach past the end of the file (" + std::to_string(file_bytes) + " bytes)",
                   std::string(kDamagedHint));
    }
    return out;
}

/// Walks the groups of one file; depth and number of links are bounded, since hard links may form
/// cycles and lattices.
class Walk {
public:
    Walk(const Place& place, int64_t file_bytes) : place_(place), file_bytes_(file_bytes) {}

    void visit(hid_t group, const std::string& prefix, int depth) {
        if (depth > kDeepestGroup) {
            place_.fail(prefix, "groups are nested deeper than " + std::to_string(kDeepestGroup),
                        std::string(kForeignHint));
        }
        for (const hdf5::Link& link : links_of(group, place_)) {
            const std::string name = prefix + link.name;
            if (++links_ > kMostLinks) {
                place_.fail({}, "it has more than " + format_thousands(kMostLinks) + " entries",
                            std::string(kForeignHint));
            }
            if (link.type != H5L_TYPE_HARD) {
                place_.fail(name, "it is a link to another place or file",
                            std::string(kForeignHint));
            }
            visit_object(group, link.name, name, depth);
        }
    }

    std::vector<Hdf5Dataset> found;

private:
    void visit_object(hid_t group, const std::string& link, const std::string& name, int depth) {
        const Handle object(H5Oopen(group, link.c_str(), H5P_DEFAULT), H5Oclose);
        switch (object.valid() ? H5Iget_type(object) : H5I_BADID) {
        case H5I_GROUP: visit(object, name + "/", depth + 1); return;
        case H5I_DATASET:
            found.push_back(describe_dataset(object, name, file_bytes_, place_));
            return;
        case H5I_BADID:
            place_.fail(name, "cannot be opened: " + library_reason(), std::string(kDamagedHint));
        default: place_.fail(name, "neither a group nor a data set", std::string(kForeignHint));
        }
    }

    const Place& place_;
    int64_t file_bytes_;
    int64_t links_ = 0;
};

} // namespace

int64_t hdf5_type_bytes(Hdf5Type type) {
    switch (type) {
    case Hdf5Type::u8: return 1;
    case Hdf5Type::u16:
    case Hdf5Type::bf16:
    case Hdf5Type::f16: return 2;
    case Hdf5Type::i32:
    case Hdf5Type::f32: return 4;
    case Hdf5Type::i64:
    case Hdf5Type::f64: return 8;
    }
    return 1;
}

std::string_view hdf5_type_name(Hdf5Type type) {
    switch (type) {
    case Hdf5Type::u8: return "u8";
    case Hdf5Type::u16: return "u16";
    case Hdf5Type::i32: return "i32";
    case Hdf5Type::i64: return "i64";
    case Hdf5Type::bf16: return "bf16";
    case Hdf5Type::f16: return "f16";
    case Hdf5Type::f32: return "f32";
    case Hdf5Type::f64: return "f64";
    }
    return "u8";
}

const Hdf5Dataset* Hdf5Index::find(std::string_view name) const {
    const auto found = std::lower_bound(
        datasets.begin(), datasets.end(), name,
        [](const Hdf5Dataset& dataset, std::string_view wanted) { return dataset.name < wanted; });
    return found != datasets.end() && found->name == name ? &*found : nullptr;
}

std::vector<Hdf5Dataset> create_hdf5(const Path& path, std::span<const Hdf5Spec> specs,
                                     const Hdf5Attributes& attributes) {
    const Library library;
    const Place place{path, ErrorKind::checkpoint};
    Hdf5Image image;
    Handle file = create_file(image);
    if (!file.valid()) {
        place.fail({}, "cannot create the file: " + library_reason());
    }
    std::vector<Hdf5Dataset> out;
    std::set<std::string> groups;
    for (const Hdf5Spec& spec : specs) {
        check_name(spec.name, place);
        create_groups(file, spec.name, groups, place);
        out.push_back(create_dataset(file, spec, place));
    }
    for (const auto& [key, value] : attributes) {
        if (!write_text_attribute(file, key, value)) {
            place.fail({}, "cannot write the attribute '" + key + "': " + library_reason());
        }
    }
    if (!file.close()) {
        place.fail({}, "cannot finish the file: " + library_reason());
    }
    store(image, path);
    return out;
}

Hdf5Index read_hdf5_index(const Path& path, ErrorKind kind) {
    const int64_t file_bytes = File(path, File::Mode::read, kind).size();
    const Library library;
    const Place place{path, kind};
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_file_locking(access, false, true);
    const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose);
    if (!file.valid()) {
        place.fail({}, "not a readable HDF5 file: " + library_reason(), std::string(kDamagedHint));
    }
    Walk walk(place, file_bytes);
    const Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
    walk.visit(root, {}, 0);
    std::sort(walk.found.begin(), walk.found.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return {std::move(walk.found), read_attributes(root)};
}

bool looks_like_hdf5(const Path& path) {
    constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
    const File file(path, File::Mode::read);
    std::array<char, 8> head{};
    if (file.size() < static_cast<int64_t>(head.size())) {
        return false;
    }
    file.read_at(std::as_writable_bytes(std::span(head)), 0);
    return std::string_view(head.data(), head.size()) == kSignature;
}

} // namespace weft
