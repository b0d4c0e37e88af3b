// SPDX-License-Identifier: Apache-2.0
#include "core/store/access.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"

#include <cstdlib>
#include <initializer_list>
#include <map>
#include <sstream>

namespace weft::store {
namespace {

constexpr std::int64_t kMostProfileBytes = 1 << 20;

std::string first_of(const Lookup& variable, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        if (std::string value = variable(name); !value.empty()) {
            return value;
        }
    }
    return {};
}

/// The settings of one section of an INI file; nothing where it is not there.
std::map<std::string, std::string> section_of(const Path& path, const std::string& section) {
    std::error_code code;
    if (!std::filesystem::is_regular_file(path, code)) {
        return {};
    }
    std::map<std::string, std::string> out;
    std::istringstream lines(read_file(path, kMostProfileBytes, ErrorKind::usage));
    bool within = false;
    for (std::string line; std::getline(lines, line);) {
        line = trim(line);
        if (line.empty() || line.front() == '#' || line.front() == ';') {
            continue;
        }
        if (line.front() == '[') {
            within = line == "[" + section + "]" || line == "[profile " + section + "]";
        } else if (const std::size_t equals = line.find('=');
                   within && equals != std::string::npos) {
            out[std::string(trim(line.substr(0, equals)))] = trim(line.substr(equals + 1));
        }
    }
    return out;
}

std::string endpoint_of(const Address& address, const Lookup& variable, const std::string& region,
                        const std::string& configured) {
    std::string endpoint = first_of(variable, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
    if (endpoint.empty()) {
        endpoint = configured;
    }
    if (endpoint.empty()) {
        return address.scheme == "gs" ? "https://storage.googleapis.com"
                                      : "https://s3." + region + ".amazonaws.com";
    }
    while (endpoint.ends_with('/')) {
        endpoint.pop_back();
    }
    if (!endpoint.starts_with("http://") && !endpoint.starts_with("https://")) {
        throw Error(ErrorKind::usage, "AWS_ENDPOINT_URL",
                    "it is no http or https address", // which may hold a password
                    "Write it as https://HOST or http://HOST:PORT.");
    }
    return endpoint;
}

} // namespace

Access access_of(const Address& address, const Lookup& variable) {
    const Path home = variable("HOME");
    const std::string named = first_of(variable, {"AWS_PROFILE"});
    const std::string profile = named.empty() ? "default" : named;
    const std::string credentials_file = first_of(variable, {"AWS_SHARED_CREDENTIALS_FILE"});
    const std::string config_file = first_of(variable, {"AWS_CONFIG_FILE"});
    const Path credentials_path =
        credentials_file.empty() ? home / ".aws/credentials" : Path(credentials_file);
    const Path config_path = config_file.empty() ? home / ".aws/config" : Path(config_file);
    auto settings = section_of(config_path, profile);
    Access out;
    out.region = first_of(variable, {"AWS_REGION", "AWS_DEFAULT_REGION"});
    if (out.region.empty()) {
        out.region = settings["region"];
    }
    if (out.region.empty()) {
        out.region = address.scheme == "gs" ? "auto" : "us-east-1";
    }
    out.endpoint = endpoint_of(address, variable, out.region, settings["endpoint_url"]);
    out.key_id = first_of(variable, {"AWS_ACCESS_KEY_ID"});
    out.secret = first_of(variable, {"AWS_SECRET_ACCESS_KEY"});
    out.session_token = first_of(variable, {"AWS_SESSION_TOKEN"});
    if (out.key_id.empty() || out.secret.empty()) {
        auto saved = section_of(credentials_path, profile);
        if (!saved["aws_access_key_id"].empty() && !saved["aws_secret_access_key"].empty()) {
            out.key_id = saved["aws_access_key_id"];
            out.secret = saved["aws_secret_access_key"];
            out.session_token = saved["aws_session_token"];
        }
    }
    if (out.key_id.empty() || out.secret.empty()) {
        throw Error(ErrorKind::usage, address.text(), "there are no credentials for this store",
                    "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write the profile '" +
                        profile + "' into " + credentials_path.string() +
                        (address.scheme == "gs" ? "; gs:// takes an HMAC key." : "."));
    }
    return out;
}

Access access_of(const Address& address) {
    return access_of(address, [](const char* name) {
        const char* value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    });
}

} // namespace weft::store
