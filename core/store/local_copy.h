// SPDX-License-Identifier: Apache-2.0
// Objects as files of this machine: downloaded once, again when the store has other content.
#pragma once

#include "core/base/file.h"
#include "core/store/object_store.h"

#include <functional>
#include <stop_token>
#include <string>

namespace weft::store {

/// Where copies lie: $XDG_CACHE_HOME/weft/stores, else ~/.cache/weft/stores. They may be deleted
/// whenever nothing uses them.
Path copies_folder();
/// Where the copy of an object lies, or would: below `folder` by its address.
Path copy_path(const Path& folder, const Address& object);

struct LocalCopy {
    Path path;
    /// Why it may be old: the store could not be asked. Empty: it is what the store has.
    std::string doubt;
};

struct CopyOptions {
    Path folder; // copies_folder()
    /// Told of bytes so far and of all.
    std::function<void(std::int64_t done, std::int64_t total)> on_bytes{};
    /// A copy that is here is taken without asking the store.
    bool any_age = false;
};

/// The object as a file. Size and ETag that it had are kept beside it ("<name>.etag"). Where the
/// store does not answer, a copy that is here serves. Throws weft::Error: no such object, a full
/// disk, the store when there is no copy.
LocalCopy local_copy(ObjectStore& store, const Address& object, const CopyOptions& options);

} // namespace weft::store
