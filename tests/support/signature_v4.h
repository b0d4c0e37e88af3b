// SPDX-License-Identifier: Apache-2.0
// AWS Signature Version 4 worked out anew from a request as it came over the wire ("Authenticating
// Requests: Using the Authorization Header", Amazon S3 API Reference): the oracle of what libcurl
// signs.
#pragma once

#include <map>
#include <string>

namespace weft::test {

/// A request as a server reads it.
struct WireRequest {
    std::string method;
    std::string path;                           // as sent
    std::map<std::string, std::string> query;   // as sent, by name
    std::map<std::string, std::string> headers; // names in lower case
    std::string body;
};

/// What the hexadecimal signature must be, by the date, scope and signed headers that the request
/// names.
std::string signature_v4(const WireRequest& request, const std::string& secret);
/// What is wrong with a request's signature or with its hash of the body; empty: nothing.
std::string signature_problem(const WireRequest& request, const std::string& key_id,
                              const std::string& secret);

} // namespace weft::test
