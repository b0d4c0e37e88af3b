// SPDX-License-Identifier: Apache-2.0
#include "core/store/address.h"

#include "core/base/error.h"
#include "core/base/text.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace weft::store {
namespace {

constexpr std::string_view kSchemes[] = {"s3://", "gs://"};

[[noreturn]] void not_an_address(std::string_view path, const std::string& text) {
    throw Error(ErrorKind::usage, shown(path), text, "Write s3://BUCKET/NAME or gs://BUCKET/NAME.");
}

void check_bucket(std::string_view path, std::string_view bucket) {
    const bool fits = std::all_of(bucket.begin(), bucket.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
    });
    if (bucket.empty() || !fits || bucket.find("..") != std::string_view::npos) {
        not_an_address(path, bucket.empty() ? "it names no bucket"
                                            : "'" + shown(bucket) + "' is no bucket's name");
    }
}

void check_key(std::string_view path, std::string_view key) {
    for (std::size_t at = 0; !key.empty() && at <= key.size();) {
        const std::size_t end = std::min(key.find('/', at), key.size());
        const std::string_view part = key.substr(at, end - at);
        if (part.empty() || part == "." || part == "..") {
            not_an_address(path, "a part of its name is empty, '.' or '..'");
        }
        at = end + 1;
    }
    if (std::any_of(key.begin(), key.end(),
                    [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
        not_an_address(path, "its name has a control character");
    }
}

} // namespace

std::string Address::text() const {
    return scheme + "://" + bucket + (key.empty() ? "" : "/" + key);
}

Address Address::below(std::string_view name) const {
    return {scheme, bucket, key.empty() ? std::string(name) : key + "/" + std::string(name)};
}

std::string Address::name() const {
    return key.substr(key.find_last_of('/') + 1);
}

Address Address::parent() const {
    Address out = *this;
    out.key.resize(key.size() - name().size());
    while (out.key.ends_with('/')) {
        out.key.pop_back();
    }
    return out;
}

bool is_address(std::string_view path) {
    return std::any_of(std::begin(kSchemes), std::end(kSchemes),
                       [path](std::string_view scheme) { return path.starts_with(scheme); });
}

Address parse_address(std::string_view path) {
    if (!is_address(path)) {
        not_an_address(path, "this is no address in a store");
    }
    Address out;
    out.scheme = path.substr(0, 2);
    std::string_view rest = path.substr(5);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    out.bucket = rest.substr(0, slash);
    rest.remove_prefix(std::min(slash + 1, rest.size()));
    if (rest.ends_with('/')) {
        rest.remove_suffix(1);
    }
    out.key = rest;
    check_bucket(path, out.bucket);
    check_key(path, out.key);
    return out;
}

std::string percent_encoded(std::string_view text, Slash slash) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = (byte < 0x80 && std::isalnum(byte) != 0) || c == '-' || c == '.' ||
                           c == '_' || c == '~' || (c == '/' && slash == Slash::kept);
        if (plain) {
            out += c;
        } else {
            char code[4];
            std::snprintf(code, sizeof code, "%%%02X", byte);
            out += code;
        }
    }
    return out;
}

} // namespace weft::store
