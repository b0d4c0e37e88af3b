// SPDX-License-Identifier: Apache-2.0
#include "core/base/allocator.h"

#if __has_include(<mimalloc.h>)
#include <mimalloc.h>

// There only in a program that is linked with it.
extern "C" __attribute__((weak)) void mi_option_set(mi_option_t option, long value);
#endif

namespace weft {

bool keep_freed_memory([[maybe_unused]] std::chrono::milliseconds time) {
#if __has_include(<mimalloc.h>)
#if MI_MALLOC_VERSION < 210
    constexpr mi_option_t kDelay = mi_option_decommit_delay;
#else
    constexpr mi_option_t kDelay = mi_option_purge_delay;
#endif
    if (&mi_option_set != nullptr) {
        mi_option_set(kDelay, static_cast<long>(time.count()));
        return true;
    }
#endif
    return false;
}

} // namespace weft
