// SPDX-License-Identifier: Apache-2.0
// How a value is laid over a device mesh (Spec) and over memory (Layout). On one device every Spec is
// empty and every Layout is dense; the fields are part of the program text from the first day.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::ir {

/// Sharding of one value: per dimension the mesh axes that split it, major to minor, and the axes over
/// which the value is still a partial sum. Dimensions beyond `dims` are replicated. JAX text form:
/// P('data', None, ('fsdp', 'model')); partial sums print as "partial('model')".
struct Spec {
    std::vector<std::vector<std::string>> dims;
    std::vector<std::string> partial;

    bool replicated() const { return dims.empty() && partial.empty(); }
    friend bool operator==(const Spec&, const Spec&) = default;
};

/// Memory layout of one value: dense row-major, or an opaque format owned by a kernel.
struct Layout {
    std::string format;             // empty: dense row-major
    std::int64_t packed_bytes = 0;  // size of the opaque form

    bool dense() const { return format.empty(); }
    friend bool operator==(const Layout&, const Layout&) = default;
};

} // namespace weft::ir
