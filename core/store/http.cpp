// SPDX-License-Identifier: Apache-2.0
#include "core/store/http.h"

#include "core/base/check.h"

#include <curl/curl.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace weft::store {
namespace {

constexpr long kConnectSeconds = 20;
constexpr long kSlowBytesPerSecond = 1024;
constexpr long kSlowSeconds = 60;

/// What the callbacks of one request fill.
struct Transfer {
    Response response;
    std::int64_t most_bytes = 0;
    bool too_long = false;
    std::stop_token stop;
};

std::size_t on_body(char* bytes, std::size_t one, std::size_t count, void* to) {
    auto& transfer = *static_cast<Transfer*>(to);
    if (static_cast<std::int64_t>(transfer.response.body.size() + one * count) >
        transfer.most_bytes) {
        transfer.too_long = true;
        return 0; // ends the transfer
    }
    transfer.response.body.append(bytes, one * count);
    return one * count;
}

std::size_t on_header(char* bytes, std::size_t one, std::size_t count, void* to) {
    auto& headers = static_cast<Transfer*>(to)->response.headers;
    const std::string_view line(bytes, one * count);
    if (line.starts_with("HTTP/")) {
        headers.clear(); // what came before was "100 Continue"
    }
    if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
        std::string name(line.substr(0, colon));
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        const std::size_t first = std::min(line.find_first_not_of(" \t", colon + 1), line.size());
        const std::size_t last = line.find_last_not_of(" \t\r\n") + 1;
        headers[name] = line.substr(first, last > first ? last - first : 0);
    }
    return one * count;
}

int on_progress(void* from, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Transfer*>(from)->stop.stop_requested() ? 1 : 0;
}

std::string url_of(const Access& access, const Request& request) {
    std::string url = access.endpoint + request.path;
    char separator = '?';
    for (const auto& [name, value] : request.query) {
        url += separator + percent_encoded(name, Slash::encoded) + "=" +
               percent_encoded(value, Slash::encoded);
        separator = '&';
    }
    return url;
}

/// Of the body, in hexadecimal digits.
std::string sha256_of(std::span<const std::byte> bytes) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int count = 0;
    WEFT_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest, &count, EVP_sha256(), nullptr) == 1,
               "libcrypto has SHA-256");
    std::string out;
    for (unsigned int i = 0; i < count; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", digest[i]);
        out += digits;
    }
    return out;
}

/// Once for the process, before the first thread uses the library.
void start_library() {
    static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
    WEFT_CHECK(started == CURLE_OK, "libcurl starts");
}

} // namespace

struct Http::Curl {
    Curl() {
        start_library();
        handle = curl_easy_init();
        WEFT_CHECK(handle != nullptr, "libcurl gives a handle");
    }
    ~Curl() { curl_easy_cleanup(handle); }
    Curl(const Curl&) = delete;
    Curl& operator=(const Curl&) = delete;

    CURL* handle = nullptr;
};

bool Response::may_pass() const {
    return !hopeless && (status == 0 || status == 408 || status == 429 || status >= 500);
}

std::string Response::header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
}

Http::Http(Access access) : access_(std::move(access)), curl_(std::make_unique<Curl>()) {}

Http::~Http() = default;

Response Http::send(const Request& request, const std::stop_token& stop) {
    Transfer transfer;
    transfer.most_bytes = request.most_bytes;
    transfer.stop = stop;
    CURL* const curl = curl_->handle;
    curl_easy_reset(curl); // connections stay
    char reason[CURL_ERROR_SIZE] = "";
    const std::string url = url_of(access_, request);
    const std::string signing = "aws:amz:" + access_.region + ":s3";
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, signing.c_str());
    curl_easy_setopt(curl, CURLOPT_USERNAME, access_.key_id.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, access_.secret.c_str());
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, kSlowBytesPerSecond);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kSlowSeconds);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
    if (request.method == "HEAD") {
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    } else if (request.method == "PUT" || request.method == "POST") {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                         static_cast<curl_off_t>(request.body.size()));
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS,
                         request.body.empty() ? ""
                                              : reinterpret_cast<const char*>(request.body.data()));
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    } else if (request.method != "GET") {
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    std::map<std::string, std::string> headers = request.headers;
    headers["x-amz-content-sha256"] = sha256_of(request.body); // which the store checks
    if (!access_.session_token.empty()) {
        headers["x-amz-security-token"] = access_.session_token;
    }
    if (request.method == "PUT" || request.method == "POST") {
        headers["Content-Type"] = "application/octet-stream";
    }
    curl_slist* list = nullptr;
    for (const auto& [name, value] : headers) {
        list = curl_slist_append(list, (name + ": " + value).c_str());
    }
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    const CURLcode code = curl_easy_perform(curl);
    curl_slist_free_all(list);
    Response& out = transfer.response;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &out.status);
    if (code != CURLE_OK) {
        out.status = 0; // what came is not all
        out.hopeless = code == CURLE_ABORTED_BY_CALLBACK || code == CURLE_URL_MALFORMAT ||
                       code == CURLE_UNSUPPORTED_PROTOCOL || transfer.too_long;
        out.problem = transfer.too_long   ? "the answer is longer than was asked for"
                      : reason[0] != '\0' ? std::string(reason)
                                          : std::string(curl_easy_strerror(code));
    }
    return std::move(transfer.response);
}

} // namespace weft::store
