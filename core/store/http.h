// SPDX-License-Identifier: Apache-2.0
// Signed HTTP requests over libcurl (AWS Signature Version 4, which libcurl computes). One
// connection, used again; one thread at a time. For object_store.cpp only.
#pragma once

#include "core/store/access.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

namespace weft::store {

struct Request {
    std::string method = "GET";
    std::string path;                         // percent-encoded, begins with '/'
    std::map<std::string, std::string> query; // not encoded; by name, as they are signed
    std::map<std::string, std::string> headers;
    std::span<const std::byte> body{};
    std::int64_t most_bytes = 0; // of the answer's body; more is an error
};

struct Response {
    long status = 0;       // 0: no answer
    std::string problem;   // why there is none
    bool hopeless = false; // a stop was asked for, or the answer is longer than may be
    std::map<std::string, std::string> headers; // names in lower case
    std::string body;

    bool ok() const { return status >= 200 && status < 300; }
    /// Whether the same request may succeed a little later: no answer, 408, 429, 5xx.
    bool may_pass() const;
    /// Of a header; empty: it is not there.
    std::string header(const std::string& name) const;
};

class Http {
public:
    explicit Http(Access access);
    ~Http();
    Http(const Http&) = delete;
    Http& operator=(const Http&) = delete;

    /// Follows no redirect. A transfer below a KiB per second for a minute counts as no answer.
    Response send(const Request& request, const std::stop_token& stop);

private:
    struct Curl;
    Access access_;
    std::unique_ptr<Curl> curl_;
};

} // namespace weft::store
