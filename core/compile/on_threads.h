// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace weft::compile {

/// Calls work(0) ... work(count - 1) on so many threads, this one among them; when all have ended,
/// the first fault is thrown.
void for_each_on(int threads, std::size_t count, const std::function<void(std::size_t)>& work);

} // namespace weft::compile
