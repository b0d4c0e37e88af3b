// SPDX-License-Identifier: Apache-2.0
// Names of what lies in object stores: s3://bucket/key, gs://bucket/key. Pure.
#pragma once

#include <string>
#include <string_view>

namespace weft::store {

struct Address {
    std::string scheme; // "s3" or "gs"
    std::string bucket;
    std::string key; // without '/' at either end; empty: the bucket itself

    /// "s3://bucket/key"
    std::string text() const;
    /// Of what lies below.
    Address below(std::string_view name) const;
    /// What follows the last '/'.
    std::string name() const;
    /// What it lies in; the bucket lies in itself.
    Address parent() const;
};

/// Whether a path of a user's names something in a store.
bool is_address(std::string_view path);
/// Throws weft::Error{usage}: no bucket, a part of the key that is empty, "." or "..", a control
/// character.
Address parse_address(std::string_view path);

/// Bytes that are not unreserved (RFC 3986, 2.3) as %XX; '/' stays where it parts names.
enum class Slash : bool { encoded, kept };
std::string percent_encoded(std::string_view text, Slash slash);

} // namespace weft::store
