// SPDX-License-Identifier: Apache-2.0
// One bucket of an S3-compatible store ("Amazon S3 API Reference": PutObject,
// CreateMultipartUpload, UploadPart, CompleteMultipartUpload, GetObject, ListObjectsV2,
// DeleteObject), addressed by path.
//
// What fails for a moment (no answer, a broken connection, 408, 429, 5xx) is tried again with
// growing pauses. An object appears whole or not at all. Every body that is sent is under a SHA-256
// that the store checks. One thread at a time.
#pragma once

#include "core/base/file.h"
#include "core/store/access.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weft::store {

struct ObjectInfo {
    std::string key;
    std::int64_t bytes = 0;
    std::string etag; // of this content; without quotes
};

/// How often a request is made before it counts as failed. The pause doubles each time, to 8 s at
/// most, and is cut by up to a half by chance, so that many do not come back at once.
struct Patience {
    int attempts = 6;
    double first_pause_s = 0.5;
};

/// Told of bytes that were moved, on the caller's thread.
using OnBytes = std::function<void(std::int64_t bytes)>;

class ObjectStore {
public:
    /// `address` names the bucket; its key is not used. `stop` ends any request, which then throws.
    ObjectStore(const Address& address, Access access, Patience patience = {},
                std::stop_token stop = {});
    ~ObjectStore();
    ObjectStore(const ObjectStore&) = delete;
    ObjectStore& operator=(const ObjectStore&) = delete;

    // All throw weft::Error{runtime} with the address, what the store said and what to do.

    void put(const std::string& key, std::string_view content);
    /// From `part_bytes` on as several parts; what was sent of an upload that fails is removed.
    void put_file(const std::string& key, const Path& file, const OnBytes& on_bytes = {},
                  std::int64_t part_bytes = kPartBytes);
    /// Nothing where there is no such object.
    std::optional<ObjectInfo> find(const std::string& key);
    std::string get(const std::string& key, std::int64_t most_bytes);
    /// Into `file`, which it replaces when all of it is there, in ranges of one and the same
    /// content: one that changes meanwhile is an error.
    void get_file(const ObjectInfo& object, const Path& file, const OnBytes& on_bytes = {},
                  std::int64_t range_bytes = kPartBytes);
    /// Every object whose key begins so, by key.
    std::vector<ObjectInfo> list(const std::string& prefix);
    /// One that is not there is fine.
    void remove(const std::string& key);

    /// S3 takes parts from 5 MiB on, and 10,000 of them; larger files get larger parts.
    static constexpr std::int64_t kPartBytes = std::int64_t{16} << 20;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace weft::store
