// SPDX-License-Identifier: Apache-2.0
// Which files a tar archive holds, and where in it: POSIX.1-1988 ustar, the longer names of pax
// (POSIX.1-2001) and of GNU tar. Nothing is unpacked: members are read where they lie.
#pragma once

#include "core/base/file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::data {

struct TarMember {
    std::string name;
    std::int64_t offset = 0; // of its content
    std::int64_t bytes = 0;
};

/// Whether a file begins with the header of a member.
bool looks_like_tar(const Path& path);

/// Regular files, in the order of the archive. Throws weft::Error{data} with the place in it for a
/// damaged header, and for a member that reaches past the end.
std::vector<TarMember> list_tar(const Path& path);

} // namespace weft::data
