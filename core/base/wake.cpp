// SPDX-License-Identifier: Apache-2.0
#include "core/base/wake.h"

#include "core/base/file.h"

#include <cerrno>
#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

namespace weft {

Wake::Wake(const std::string& whose) : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) {
        throw Error(ErrorKind::runtime, whose, "cannot be waited for: " + system_error_text(errno),
                    "Close files or raise the limit with `ulimit -n`.");
    }
}

Wake::~Wake() {
    ::close(descriptor_);
}

void Wake::ring() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof one);
}

void Wake::quiet() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto drained = ::read(descriptor_, &count, sizeof count);
}

} // namespace weft
