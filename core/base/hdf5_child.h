// SPDX-License-Identifier: Apache-2.0
// HDF5 files of others are first read by a child process, because libhdf5 can be made to crash or
// to hang by what a file says of itself. The child is this program started anew, which sees its
// argument before main() and does nothing else: no writing, no network, no other program (seccomp),
// a limit on memory and on time. What happens there happens to it alone.
#pragma once

#include "core/base/file.h"

namespace weft {

/// Returns when a child has read the file's structure, all of its small arrays and parts of large
/// ones, or has found a fault that it could tell of: the caller will find it too. At once when this
/// very file (device, number, size, time of change) has been read before, and in the child. Throws
/// Error{data} when the child crashed, took too long or too much memory.
void read_in_child_first(const Path& path);

} // namespace weft
