// SPDX-License-Identifier: Apache-2.0
// A small S3-compatible server of the tests' own, on a port of this machine: objects in memory,
// multipart uploads, ranges, listings in pages, and faults as a test orders them. Every request's
// signature is worked out anew.
#pragma once

#include "tests/support/signature_v4.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weft::test {

struct WireReply {
    int status = 200;
    std::string body{};
    std::map<std::string, std::string> headers{};
    /// The connection breaks after so many bytes of the body; -1: it does not.
    int cut_after = -1;
};

class StoreServer {
public:
    static constexpr const char* kKeyId = "TESTKEY";
    static constexpr const char* kSecret = "test/secret+key";

    StoreServer();
    ~StoreServer();
    StoreServer(const StoreServer&) = delete;
    StoreServer& operator=(const StoreServer&) = delete;

    /// "http://127.0.0.1:PORT"
    std::string endpoint() const;
    /// Content by "/bucket/key".
    std::map<std::string, std::string> objects() const;
    void set(const std::string& path, const std::string& content);
    /// "PUT /bucket/key?partNumber=1", in the order of their coming.
    std::vector<std::string> requests() const;
    /// What was wrong with signatures; such requests are answered with 403.
    std::vector<std::string> bad_signatures() const;
    /// Uploads that were begun, neither completed nor abandoned.
    std::size_t open_uploads() const;
    /// Asked before each request; what it answers is the reply.
    void order(std::function<std::optional<WireReply>(const WireRequest&)> fault);
    /// Objects on a page of a listing.
    void set_page(std::size_t objects);

private:
    void serve();
    void serve_connection(int connection);
    WireReply answer(const WireRequest& request);
    WireReply answer_upload(const WireRequest& request);
    WireReply listing(const WireRequest& request) const;

    mutable std::mutex mutex_; // of what follows
    std::map<std::string, std::string> objects_;
    std::map<std::string, std::map<int, std::string>> uploads_;
    std::vector<std::string> requests_;
    std::vector<std::string> bad_signatures_;
    std::function<std::optional<WireReply>(const WireRequest&)> fault_;
    std::size_t page_ = 1000;
    int next_upload_ = 1;
    int connection_ = -1; // that is being served

    int listener_ = -1;
    int port_ = 0;
    std::jthread thread_;
};

} // namespace weft::test
