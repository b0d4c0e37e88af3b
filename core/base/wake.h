// SPDX-License-Identifier: Apache-2.0
// What a thread that waits in poll() is woken by.
#pragma once

#include <string>

namespace weft {

/// A descriptor that is readable from the first ring() on, until quiet(). Any thread may ring.
class Wake {
public:
    /// `whose`: the place of the error, "signals". Throws Error{runtime} when no descriptor is
    /// left.
    explicit Wake(const std::string& whose);
    ~Wake();
    Wake(const Wake&) = delete;
    Wake& operator=(const Wake&) = delete;

    int descriptor() const { return descriptor_; }
    void ring() const;
    void quiet() const;

private:
    int descriptor_ = -1;
};

} // namespace weft
