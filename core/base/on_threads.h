// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace weft {

/// Calls work(0) ... work(count - 1) on so many threads, this one among them, in about this order.
/// After a fault no further ones begin; when all have ended, that of the lowest number is thrown.
void for_each_on(int threads, std::size_t count, const std::function<void(std::size_t)>& work);

} // namespace weft
