// SPDX-License-Identifier: Apache-2.0
#include "core/base/hdf5_library.h"

#include "core/base/text.h"

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

} // namespace weft::hdf5
