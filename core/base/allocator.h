// SPDX-License-Identifier: Apache-2.0
// What a program asks of its allocator. Most programs have mimalloc (WEFT_MIMALLOC), which is linked to
// programs and not to this library.
#pragma once

#include <chrono>

namespace weft {

/// Keeps freed memory for as long before the system gets it back. A program that makes one plan after
/// another, while the last one is still shown, else gives memory back and asks for it again each time,
/// page by page. Three seconds: from one edit to the next. Returns whether the program's allocator can do
/// so.
bool keep_freed_memory(std::chrono::milliseconds time = std::chrono::seconds(3));

} // namespace weft
