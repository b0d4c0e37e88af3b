// SPDX-License-Identifier: Apache-2.0
#include "core/store/object_store.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/philox.h"
#include "core/base/text.h"
#include "core/store/http.h"
#include "core/store/xml.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>

namespace weft::store {
namespace {

constexpr std::int64_t kMostAnswerBytes = 16 << 20; // of listings and faults
constexpr std::int64_t kMostParts = 9000;
constexpr double kLongestPauseS = 8;
constexpr int kMostPages = 10'000; // of a listing, a thousand objects each

std::string without_quotes(const std::string& etag) {
    return etag.size() >= 2 && etag.front() == '"' && etag.back() == '"'
               ? etag.substr(1, etag.size() - 2)
               : etag;
}

std::int64_t whole_number(const std::string& text) {
    std::int64_t out = -1;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return read.ec == std::errc() && read.ptr == text.data() + text.size() ? out : -1;
}

std::string hint_for(const Response& response) {
    switch (response.status) {
    case 0: return "Check the network and AWS_ENDPOINT_URL, then try again.";
    case 301:
    case 307: return "The bucket is in another region: set AWS_REGION.";
    case 400: return "Check AWS_REGION and the address.";
    case 401:
    case 403: return "Check the credentials, what they allow, and this machine's clock.";
    case 404: return "Check the address.";
    case 412: return "It was replaced while it was read; read it again.";
    default: return "Try again later.";
    }
}

/// "503 SlowDown: Please reduce your request rate."
std::string what_was_said(const Response& response) {
    if (response.status == 0) {
        return response.problem;
    }
    std::string out = "the store answers " + std::to_string(response.status);
    if (const auto fault = read_xml(response.body, ""); fault && fault->root == "Error") {
        const auto part = [&](const char* name) {
            const auto found = fault->rest.find(name);
            return found == fault->rest.end() ? std::string() : shown(found->second, 200);
        };
        out += " " + part("Code");
        if (const std::string message = part("Message"); !message.empty()) {
            out += ": " + message;
        }
    }
    return out;
}

} // namespace

struct ObjectStore::State {
    State(Address bucket_address, Access access, Patience patience_of, std::stop_token stop_of)
        : bucket(std::move(bucket_address)), patience(patience_of), stop(std::move(stop_of)),
          http(std::move(access)) {
        bucket.key.clear();
    }

    Address bucket;
    Patience patience;
    std::stop_token stop;
    Http http;
    std::uint64_t pauses = 0; // so far, for chance

    std::string path_of(const std::string& key) const {
        return "/" + bucket.bucket + (key.empty() ? "" : "/" + percent_encoded(key, Slash::kept));
    }

    [[noreturn]] void fail(const std::string& key, const Response& response) const {
        if (stop.stop_requested()) {
            throw Error(ErrorKind::runtime, bucket.below(key).text(), "stopped on request");
        }
        throw Error(ErrorKind::runtime, bucket.below(key).text(), what_was_said(response),
                    hint_for(response));
    }

    void pause(int attempt) {
        const double whole_s =
            std::min(kLongestPauseS, patience.first_pause_s * static_cast<double>(1 << attempt));
        const double chance = static_cast<double>(mix_bits(++pauses) % 1024) / 1024;
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any().wait_for(
            lock, stop, std::chrono::duration<double>(whole_s * (1 - chance / 2)),
            [] { return false; });
    }

    Response send(const Request& request) {
        for (int attempt = 0;; ++attempt) {
            Response response = http.send(request, stop);
            if (!response.may_pass() || attempt + 1 >= patience.attempts || stop.stop_requested()) {
                return response;
            }
            pause(attempt);
        }
    }

    Response send_or_fail(const std::string& key, const Request& request) {
        Response response = send(request);
        if (!response.ok()) {
            fail(key, response);
        }
        return response;
    }

    Response put(const std::string& key, std::span<const std::byte> body,
                 std::map<std::string, std::string> query = {}) {
        return send_or_fail(key, {.method = "PUT",
                                  .path = path_of(key),
                                  .query = std::move(query),
                                  .headers = {},
                                  .body = body,
                                  .most_bytes = kMostAnswerBytes});
    }

    std::string begin_upload(const std::string& key) {
        const Response response = send_or_fail(key, {.method = "POST",
                                                     .path = path_of(key),
                                                     .query = {{"uploads", ""}},
                                                     .headers = {},
                                                     .most_bytes = kMostAnswerBytes});
        const auto answer = read_xml(response.body, "");
        if (!answer || !answer->rest.contains("UploadId")) {
            throw Error(ErrorKind::runtime, bucket.below(key).text(),
                        "the store began an upload and did not name it",
                        "Is this an S3-compatible server?");
        }
        return answer->rest.at("UploadId");
    }

    // The answer is 200 before the store is done: a fault may come as its body.
    void complete_upload(const std::string& key, const std::string& upload,
                         const std::vector<std::string>& etags) {
        std::string document = "<CompleteMultipartUpload>";
        for (std::size_t i = 0; i < etags.size(); ++i) {
            document += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" +
                        xml_escaped(etags[i]) + "</ETag></Part>";
        }
        document += "</CompleteMultipartUpload>";
        const Request request{.method = "POST",
                              .path = path_of(key),
                              .query = {{"uploadId", upload}},
                              .headers = {},
                              .body = std::as_bytes(std::span(document)),
                              .most_bytes = kMostAnswerBytes};
        for (int attempt = 0;; ++attempt) {
            const Response response = send_or_fail(key, request);
            const auto answer = read_xml(response.body, "");
            if (answer && answer->root == "CompleteMultipartUploadResult") {
                return;
            }
            if (attempt + 1 >= patience.attempts) {
                fail(key, response);
            }
            pause(attempt);
        }
    }

    void abandon_upload(const std::string& key, const std::string& upload) {
        // Also when a stop was asked for, once: parts that lie about cost money.
        http.send({.method = "DELETE",
                   .path = path_of(key),
                   .query = {{"uploadId", upload}},
                   .headers = {},
                   .most_bytes = kMostAnswerBytes},
                  {});
    }
};

ObjectStore::ObjectStore(const Address& address, Access access, Patience patience,
                         std::stop_token stop)
    : state_(std::make_unique<State>(address, std::move(access), patience, std::move(stop))) {}

ObjectStore::~ObjectStore() = default;

void ObjectStore::put(const std::string& key, std::string_view content) {
    state_->put(key, std::as_bytes(std::span(content)));
}

void ObjectStore::put_file(const std::string& key, const Path& path, const OnBytes& on_bytes,
                           std::int64_t part_bytes) {
    const File file(path, File::Mode::read);
    const std::int64_t bytes = file.size();
    part_bytes = std::max(part_bytes, (bytes + kMostParts - 1) / kMostParts);
    std::vector<std::byte> part(static_cast<std::size_t>(std::min(bytes, part_bytes)));
    const auto told = [&on_bytes](std::int64_t count) {
        if (on_bytes) {
            on_bytes(count);
        }
    };
    if (bytes <= part_bytes) {
        file.read_at(part, 0);
        state_->put(key, part);
        told(bytes);
        return;
    }
    const std::string upload = state_->begin_upload(key);
    try {
        std::vector<std::string> etags;
        for (std::int64_t at = 0; at < bytes; at += part_bytes) {
            const auto chunk =
                std::span(part).first(static_cast<std::size_t>(std::min(part_bytes, bytes - at)));
            file.read_at(chunk, at);
            etags.push_back(
                state_
                    ->put(key, chunk,
                          {{"partNumber", std::to_string(etags.size() + 1)}, {"uploadId", upload}})
                    .header("etag"));
            told(std::ssize(chunk));
        }
        state_->complete_upload(key, upload, etags);
    } catch (...) {
        state_->abandon_upload(key, upload);
        throw;
    }
}

std::optional<ObjectInfo> ObjectStore::find(const std::string& key) {
    const Response response =
        state_->send({.method = "HEAD", .path = state_->path_of(key), .query = {}, .headers = {}});
    if (response.status == 404) {
        return std::nullopt;
    }
    if (!response.ok()) {
        state_->fail(key, response);
    }
    const std::int64_t bytes = whole_number(response.header("content-length"));
    if (bytes < 0) {
        throw Error(ErrorKind::runtime, state_->bucket.below(key).text(),
                    "the store does not say how long it is", "Is this an S3-compatible server?");
    }
    return ObjectInfo{key, bytes, without_quotes(response.header("etag"))};
}

std::string ObjectStore::get(const std::string& key, std::int64_t most_bytes) {
    return state_
        ->send_or_fail(
            key,
            {.path = state_->path_of(key), .query = {}, .headers = {}, .most_bytes = most_bytes})
        .body;
}

void ObjectStore::get_file(const ObjectInfo& object, const Path& path, const OnBytes& on_bytes,
                           std::int64_t range_bytes) {
    FileReplacement replacement(path);
    for (std::int64_t at = 0; at < object.bytes; at += range_bytes) {
        const std::int64_t count = std::min(range_bytes, object.bytes - at);
        Request request{.path = state_->path_of(object.key),
                        .query = {},
                        .headers = {{"Range", "bytes=" + std::to_string(at) + "-" +
                                                  std::to_string(at + count - 1)}},
                        .most_bytes = count};
        if (!object.etag.empty() && !object.etag.starts_with("W/")) { // a weak one matches nothing
            request.headers["If-Match"] = "\"" + object.etag + "\"";
        }
        const Response response = state_->send_or_fail(object.key, request);
        if (std::ssize(response.body) != count) {
            throw Error(ErrorKind::runtime, state_->bucket.below(object.key).text(),
                        "the store sent " + format_thousands(std::ssize(response.body)) + " of " +
                            format_thousands(count) + " bytes from " + format_thousands(at) + " on",
                        "It may have been replaced; try again.");
        }
        replacement.part().write_at(std::as_bytes(std::span(response.body)), at);
        if (on_bytes) {
            on_bytes(count);
        }
    }
    replacement.commit();
}

std::vector<ObjectInfo> ObjectStore::list(const std::string& prefix) {
    std::vector<ObjectInfo> out;
    std::string token;
    for (int page = 0; page < kMostPages; ++page) {
        std::map<std::string, std::string> query{{"list-type", "2"}, {"prefix", prefix}};
        if (!token.empty()) {
            query["continuation-token"] = token;
        }
        const Response response = state_->send_or_fail(prefix, {.path = state_->path_of(""),
                                                                .query = std::move(query),
                                                                .headers = {},
                                                                .most_bytes = kMostAnswerBytes});
        auto answer = read_xml(response.body, "Contents");
        if (!answer || answer->root != "ListBucketResult") {
            throw Error(ErrorKind::runtime, state_->bucket.below(prefix).text(),
                        "the store's listing cannot be read", "Is this an S3-compatible server?");
        }
        for (XmlTexts::Record& object : answer->groups) {
            out.push_back(
                {object["Key"], whole_number(object["Size"]), without_quotes(object["ETag"])});
        }
        token = answer->rest["NextContinuationToken"];
        if (token.empty() || answer->rest["IsTruncated"] != "true") {
            break;
        }
    }
    return out;
}

void ObjectStore::remove(const std::string& key) {
    const Response response = state_->send({.method = "DELETE",
                                            .path = state_->path_of(key),
                                            .query = {},
                                            .headers = {},
                                            .most_bytes = kMostAnswerBytes});
    if (!response.ok() && response.status != 404) {
        state_->fail(key, response);
    }
}

} // namespace weft::store
