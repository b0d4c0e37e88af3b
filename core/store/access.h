// SPDX-License-Identifier: Apache-2.0
// Where a store answers, and the right to use it. Secrets come from the environment or from the
// files of the AWS command line and go nowhere but into signatures: no configuration, plan, event
// or message ever holds one.
//
//   AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
//   AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials), AWS_CONFIG_FILE (~/.aws/config), AWS_PROFILE
//   AWS_REGION, AWS_DEFAULT_REGION
//   AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL: any S3-compatible server
//
// gs:// is reached over Google's S3-compatible XML interface with an HMAC key, in the same
// variables ("Cloud Storage: HMAC keys").
#pragma once

#include "core/store/address.h"

#include <functional>
#include <string>

namespace weft::store {

struct Access {
    std::string endpoint; // "https://s3.eu-west-1.amazonaws.com", without a '/' at its end
    std::string region;
    std::string key_id;
    std::string secret;
    std::string session_token; // may be empty
};

/// What an environment variable says; empty: nothing.
using Lookup = std::function<std::string(const char*)>;

/// Throws weft::Error{usage} when there are no credentials, or the endpoint is no http or https
/// address; says where they were looked for.
Access access_of(const Address& address, const Lookup& variable);
/// By the environment of this process.
Access access_of(const Address& address);

} // namespace weft::store
